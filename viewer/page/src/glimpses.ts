// SPDX-License-Identifier: Apache-2.0
// Where polls were not recorded the kernel still told when a task's thread had no CPU, and samples
// which task it ran: this is drawn over the hatching, so that "not probed" is not "nothing known".
import * as api from './api';
import { openTask } from './actions';
import type { GlimpsesAnswer, LaneCells, OffRow } from './api';
import { GUTTER } from './scale';
import { set, state, type Span } from './state';
import { colors, type raw as Raw } from './theme';
import type { Picture } from './timeline';
import { brief, dur, shortName, tail } from './units';

let held: OffRow[] = [];
let asked = '';

export function askGlimpses(of: Span, slot?: string): Promise<GlimpsesAnswer> {
	return api.json<GlimpsesAnswer>('glimpses', { r: state.r, ...of, px: 1000 }, slot);
}

export function wantGlimpses(done: () => void): void {
	const { from, to } = state.view, key = [state.r, state.rec?.generation, from, to, state.blanks.length].join();
	if (key === asked)
		return;
	asked = key;
	if (!state.blanks.some(b => b.from < to && b.to > from)) {
		held = [];
		return;
	}
	askGlimpses({ from, to }, 'glimpses').then(a => {
		held = a.offs;
		done();
	}, (e: unknown) => {
		if (!api.isAbort(e) && asked === key)
			asked = '';
	});
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
	const { g, scale } = p, rows = new Map(p.rows.filter(r => r.kind === 'lane').map(r => [r.lane, r]));
	for (const [o, row] of [...held.map(o => [o, rows.get(o.lane)] as const), ...held.map(o => [o, p.rows.find(r => r.kind === 'task' && r.key === o.task)] as const)]) {
		const x = scale.x(o.start), wide = scale.x(o.start + o.dur) - x, left = Math.max(x, GUTTER), right = Math.min(x + wide, p.wide);
		if (!row || wide < 3 || right <= left)
			continue;
		const y = p.y(row), chosen = state.region?.from === o.start;
		g.strokeStyle = chosen ? colors.select : colors.blocked;
		if (row.kind === 'task') { // the lane of a worker has it by its cells
			g.fillStyle = colors.blocked;
			g.globalAlpha = 0.5;
			g.fillRect(left, y + 5, right - left, row.h - 11);
			g.globalAlpha = 1;
		}
		g.strokeRect(left + 0.5, y + 5.5, right - left - 1, row.h - 12);
		if (right - left < 46 || row.h <= 18)
			continue;
		const room = Math.floor((right - left - 8) / 6), text = offText(o), type = o.type ? brief(o.type) : 'task ' + o.task;
		g.fillStyle = colors.lane;
		g.globalAlpha = 0.85;
		g.fillRect(left + 2, y + row.h / 2 - 8, right - left - 4, 15);
		g.globalAlpha = 1;
		g.fillStyle = colors.text;
		g.fillText(room > text.length + 8 ? text + ' · ' + tail(type, room - text.length - 3) : tail(text, room), left + 5, y + row.h / 2, right - left - 8);
	}
}

export function glimpseAt(lane: number, of: Span): OffRow | undefined {
	return held.filter(o => o.lane === lane && o.start < of.to && o.start + o.dur > of.from).sort((a, b) => b.dur - a.dur)[0];
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
