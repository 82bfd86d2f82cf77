// SPDX-License-Identifier: Apache-2.0
// Where polls were not recorded the kernel still told when a task's thread had no CPU, and samples
// which task it ran: this is drawn over the hatching, so that "not probed" is not "nothing known".
import * as api from './api';
import { openTask } from './actions';
import type { GlimpsesAnswer, LaneCells, OffRow } from './api';
import { labelBox, OverBlanks } from './overblanks';
import { set, state, type Span } from './state';
import { colors, type raw as Raw } from './theme';
import type { Picture } from './timeline';
import { brief, dur, shortName, tail } from './units';

const shown = new OverBlanks<OffRow>(of => askGlimpses(of, 'glimpses').then(a => a.offs));

export function askGlimpses(of: Span, slot?: string): Promise<GlimpsesAnswer> {
	return api.json<GlimpsesAnswer>('glimpses', { r: state.r, ...of, px: 1000 }, slot);
}

export function wantGlimpses(done: () => void): void {
	shown.want(done);
}

// The share of each cell without a CPU that no recorded poll explains, on a clear ground.
export function paintAway(c: LaneCells, p: { px: Uint32Array; wide: number; tall: number; k: typeof Raw }): boolean {
	const top = p.tall > 20 ? 5 : 3, base = p.tall - 2 - (p.tall > 18 ? 4 : 2), room = base - top;
	let any = false;
	for (let x = 0; x < p.wide; x++) {
		const busy = Math.round(c.busy[x] / 255 * room), high = Math.round(Math.max(c.away[x] - c.busy[x], 0) / 255 * room);
		if (c.away[x] - c.busy[x] < 3)
			continue;
		any = true;
		for (let y = busy; y < busy + Math.max(high, 2); y++)
			p.px[(base - y) * p.wide + x] = p.k.away;
	}
	return any;
}

// How one of them is told in a line.
export function offText(o: OffRow): string {
	return `${dur(o.dur)} ${o.reason === 'preempted' ? 'preempted' : o.call}`;
}

export function drawGlimpses(p: Picture): void {
	const { g } = p;
	shown.draw(p, 0, (o, box) => {
		g.strokeStyle = box.chosen ? colors.select : colors.blocked;
		if (box.row.kind === 'task') { // the lane of a worker has it by its cells
			g.fillStyle = colors.blocked;
			g.globalAlpha = 0.5;
			g.fillRect(box.left, box.y + 5, box.right - box.left, box.row.h - 11);
			g.globalAlpha = 1;
		}
		g.strokeRect(box.left + 0.5, box.y + 5.5, box.right - box.left - 1, box.row.h - 12);
		labelBox(g, box, 46, offText(o), o.type ? brief(o.type) : 'task ' + o.task);
	});
}

export function glimpseAt(lane: number, of: Span): OffRow | undefined {
	return shown.at(lane, of);
}

export function glimpseLines(lane: number, of: Span): string[] {
	const o = glimpseAt(lane, of);
	return o ? [`${offText(o)}${o.place ? ', in ' + shortName(o.place) : ''}`, `in a poll of task ${o.task} ${tail(o.type || 'type unknown', 60)}; its length was not recorded`] : [];
}

// Its time as the range, its task, and the stacks of times without CPU.
export function openGlimpse(o: OffRow): void {
	set({ region: { from: o.start, to: o.start + Math.max(o.dur, 1) }, lane: o.lane, poll: null, wakes: null, dock: 'flame', dockOpen: true,
		flameKind: 'off', flameMode: 'top' });
	if (o.task)
		void openTask(o.task).then(() => set({ tab: 'summary', say: `${offText(o)}, in a poll of task ${o.task} that was not recorded` }));
}
