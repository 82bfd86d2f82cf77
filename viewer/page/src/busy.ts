// SPDX-License-Identifier: Apache-2.0
// Busy runs: one task in all CPU samples of a worker in a row, where polls were not recorded. They
// may have been long polls; they are drawn as what they are, a dashed frame.
import * as api from './api';
import type { BusyAnswer, BusyRun } from './api';
import { GUTTER } from './scale';
import { state, type Span } from './state';
import { colors } from './theme';
import type { Picture } from './timeline';
import { brief, count, dur, tail } from './units';

let held: BusyRun[] = [];
let asked = '';

export function askBusy(of: Span, slot: string): Promise<BusyAnswer> {
	return api.json<BusyAnswer>('busy', { r: state.r, ...of }, slot);
}

export function wantBusy(done: () => void): void {
	const { from, to } = state.view, key = [state.r, state.rec?.generation, from, to, state.blanks.length].join();
	if (key === asked)
		return;
	asked = key;
	if (!state.blanks.some(b => b.from < to && b.to > from)) {
		held = [];
		return;
	}
	askBusy({ from, to }, 'busy-view').then(a => {
		held = a.runs;
		done();
	}, (e: unknown) => {
		if (!api.isAbort(e) && asked === key)
			asked = '';
	});
}

export function drawBusy(p: Picture): void {
	const { g, scale } = p, rows = new Map(p.rows.filter(r => r.kind === 'lane').map(r => [r.lane, r]));
	for (const [b, row] of [...held.map(b => [b, rows.get(b.lane)] as const), ...held.map(b => [b, p.rows.find(r => r.kind === 'task' && r.key === b.task)] as const)]) {
		const x = scale.x(b.start), wide = Math.max(scale.x(b.start + b.dur) - x, 3), left = Math.max(x, GUTTER), right = Math.min(x + wide, p.wide);
		if (!row || right <= left)
			continue;
		const y = p.y(row), chosen = state.region?.from === b.start;
		g.strokeStyle = chosen ? colors.select : colors.warn;
		g.setLineDash(chosen ? [] : [4, 3]);
		g.strokeRect(left + 0.5, y + 3.5, Math.max(right - left - 1, 1), row.h - 8);
		g.setLineDash([]);
		if (right - left < 60 || row.h <= 18)
			continue;
		const room = Math.floor((right - left - 8) / 6), text = 'busy ' + dur(b.dur), type = b.place ? brief(b.place) : 'task ' + b.task;
		g.fillStyle = colors.lane;
		g.globalAlpha = 0.85;
		g.fillRect(left + 2, y + row.h / 2 - 8, right - left - 4, 15);
		g.globalAlpha = 1;
		g.fillStyle = colors.text;
		g.fillText(room > text.length + 8 ? text + ' · ' + tail(type, room - text.length - 3) : tail(text, room), left + 5, y + row.h / 2, right - left - 8);
	}
}

export function busyAt(lane: number, of: Span): BusyRun | undefined {
	return held.find(b => b.lane === lane && b.start < of.to && b.start + b.dur > of.from);
}

export function busyLines(lane: number, of: Span): string[] {
	const b = busyAt(lane, of);
	return b ? [`busy run of ${dur(b.dur)}: task ${b.task} in ${count(b.samples)} samples in a row`, `${tail(b.place || 'type unknown', 60)}; a long poll, or a task that yields`] : [];
}
