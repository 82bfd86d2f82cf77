// SPDX-License-Identifier: Apache-2.0
// What is told of times in which polls were not recorded: fetched for the view, drawn over the
// hatching, in the lanes of workers and in those of their tasks.
import * as api from './api';
import { GUTTER } from './scale';
import { state, type Span } from './state';
import { colors } from './theme';
import type { Picture } from './timeline';
import { tail } from './units';

interface Stretch { start: number; dur: number; lane: number; task: string | null }
export type Row = Picture['rows'][number];
export interface Box { left: number; right: number; y: number; row: Row; chosen: boolean }

export class OverBlanks<T extends Stretch> {
	private held: T[] = [];
	private asked = '';

	constructor(private readonly ask: (of: Span) => Promise<T[]>) {}

	want(done: () => void): void {
		const { from, to } = state.view, key = [state.r, state.rec?.generation, from, to, state.blanks.length].join();
		if (key === this.asked)
			return;
		this.asked = key;
		if (!state.blanks.some(b => b.from < to && b.to > from)) {
			this.held = [];
			return;
		}
		this.ask({ from, to }).then(a => {
			this.held = a;
			done();
		}, (e: unknown) => {
			if (!api.isAbort(e) && this.asked === key)
				this.asked = '';
		});
	}

	// Those narrower than 3 pixels are left out where `least` is 0, and drawn that wide where it is 3.
	draw(p: Picture, least: 0 | 3, frame: (of: T, box: Box) => void): void {
		const lanes = new Map(p.rows.filter(r => r.kind === 'lane').map(r => [r.lane, r])), tasks = new Map(p.rows.filter(r => r.kind === 'task').map(r => [r.key, r]));
		for (const [of, row] of [...this.held.map(t => [t, lanes.get(t.lane)] as const), ...this.held.map(t => [t, tasks.get(t.task ?? '')] as const)]) {
			const x = p.scale.x(of.start), wide = Math.max(p.scale.x(of.start + of.dur) - x, least), left = Math.max(x, GUTTER), right = Math.min(x + wide, p.wide);
			if (row && wide >= 3 && right > left)
				frame(of, { left, right, y: p.y(row), row, chosen: state.region?.from === of.start });
		}
	}

	// The longest there.
	at(lane: number, of: Span): T | undefined {
		return this.held.filter(t => t.lane === lane && t.start < of.to && t.start + t.dur > of.from).sort((a, b) => b.dur - a.dur)[0];
	}
}

// What it is, and of which type, as far as there is room.
export function labelBox(g: CanvasRenderingContext2D, b: Box, least: number, text: string, type: string): void {
	if (b.right - b.left < least || b.row.h <= 18)
		return;
	const room = Math.floor((b.right - b.left - 8) / 6), middle = b.y + b.row.h / 2;
	g.fillStyle = colors.lane;
	g.globalAlpha = 0.85;
	g.fillRect(b.left + 2, middle - 8, b.right - b.left - 4, 15);
	g.globalAlpha = 1;
	g.fillStyle = colors.text;
	g.fillText(room > text.length + 8 ? text + ' · ' + tail(type, room - text.length - 3) : tail(text, room), b.left + 5, middle, b.right - b.left - 8);
}
