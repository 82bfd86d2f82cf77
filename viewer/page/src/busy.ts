// SPDX-License-Identifier: Apache-2.0
// Busy runs: one task in all CPU samples of a worker in a row, where polls were not recorded. They
// may have been long polls; they are drawn as what they are, a dashed frame.
import * as api from './api';
import type { BusyAnswer, BusyRun } from './api';
import { labelBox, OverBlanks } from './overblanks';
import { state, type Span } from './state';
import { colors } from './theme';
import type { Picture } from './timeline';
import { brief, count, dur, tail } from './units';

const shown = new OverBlanks<BusyRun>(of => askBusy(of, 'busy-view').then(a => a.runs));

export function askBusy(of: Span, slot: string): Promise<BusyAnswer> {
	return api.json<BusyAnswer>('busy', { r: state.r, ...of }, slot);
}

export function wantBusy(done: () => void): void {
	shown.want(done);
}

export function drawBusy(p: Picture): void {
	const { g } = p;
	shown.draw(p, 3, (b, box) => {
		g.strokeStyle = box.chosen ? colors.select : colors.warn;
		g.setLineDash(box.chosen ? [] : [4, 3]);
		g.strokeRect(box.left + 0.5, box.y + 3.5, Math.max(box.right - box.left - 1, 1), box.row.h - 8);
		g.setLineDash([]);
		labelBox(g, box, 60, 'busy ' + dur(b.dur), b.place ? brief(b.place) : 'task ' + b.task);
	});
}

export function busyAt(lane: number, of: Span): BusyRun | undefined {
	return shown.at(lane, of);
}

export function busyLines(lane: number, of: Span): string[] {
	const b = busyAt(lane, of);
	return b ? [`busy run of ${dur(b.dur)}: task ${b.task} in ${count(b.samples)} samples in a row`, `${tail(b.place || 'type unknown', 60)}; a long poll, or a task that yields`] : [];
}
