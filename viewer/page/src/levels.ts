// SPDX-License-Identifier: Apache-2.0
// What was recorded when. Where polls were not, a lane is hatched: it says nothing about how busy a
// worker was, and must not look idle. Where some task types were left out, it is dotted.
import * as api from './api';
import type { LevelSpan, LevelsAnswer } from './api';
import { GUTTER } from './scale';
import { set, state, type Span } from './state';
import { colors } from './theme';
import type { Row } from './rows';
import type { Picture } from './timeline';
import { count, tail } from './units';

export type Lack = 'all' | 'some'; // no polls at all; not those of some types
export interface Blank { from: number; to: number; lack: Lack; hole: boolean }

export function loadLevels(): void {
	const { r } = state;
	api.json<LevelsAnswer>('levels', { r }, 'levels').then(levels => {
		if (state.r === r)
			set({ levels, blanks: blanksOf(levels) });
	}, (e: unknown) => {
		if (!api.isAbort(e)) // then nothing is hatched, which must be said
			set({ say: 'What was recorded when is unknown: ' + (e instanceof Error ? e.message : String(e)) });
	});
}

export function blanksOf(l: LevelsAnswer): Blank[] {
	const out: Blank[] = l.holes.map(h => ({ from: h.from, to: h.to, lack: 'all', hole: true }));
	for (const s of l.spans)
		if (!s.polls || s.dropped_cnt > 0)
			out.push({ from: s.from, to: s.to, lack: s.polls ? 'some' : 'all', hole: false });
	return out;
}

// Is there anything that is not recorded throughout?
export function varies(l: LevelsAnswer | null): boolean {
	return !!l && (l.spans.length > 1 || l.losses.length > 0 || l.holes.length > 0 || l.spans.some(s => !s.wakes || !s.polls || s.dropped_cnt > 0));
}

// Share of a span in which polls were recorded.
export function recordedShare(of: Span): number {
	let without = 0;
	for (const b of state.blanks)
		if (b.lack === 'all')
			without += Math.max(Math.min(b.to, of.to) - Math.max(b.from, of.from), 0);
	return Math.max(1 - without / Math.max(of.to - of.from, 1), 0);
}

// Share of a span in which wakes were recorded.
export function wakesShare(of: Span): number {
	let without = 0;
	for (const s of [...state.levels?.spans.filter(x => !x.wakes) ?? [], ...state.levels?.holes ?? []])
		without += Math.max(Math.min(s.to, of.to) - Math.max(s.from, of.from), 0);
	return Math.max(1 - without / Math.max(of.to - of.from, 1), 0);
}

export function named(s: LevelSpan): string {
	const more = s.dropped_cnt > s.dropped.length ? ' …' : '';
	return s.dropped.slice(0, 4).map(x => tail(x, 40)).join(', ') + (s.dropped.length > 4 ? ' …' : more);
}

// One span in words: what is there and what is not.
export function inWords(s: LevelSpan): string {
	if (!s.polls)
		return `${s.level}: no polls, no wakes`;
	const left = s.dropped_cnt ? `, without ${count(s.dropped_cnt)} ${s.dropped_cnt === 1 ? 'type' : 'types'}` : '';
	return s.level + (s.wakes ? '' : ': no wakes') + (s.ends === 'inferred' ? ', ends inferred' : '') + left;
}

// What is not recorded between two moments, and why; nothing where all is.
export function lacks(from: number, to: number): string[] {
	const l = state.levels, lines: string[] = [];
	if (!l)
		return lines;
	const hits = (x: Span) => x.from < to && x.to > from;
	for (const h of l.holes.filter(hits).slice(0, 1))
		lines.push(h.missing ? `not recorded: files are missing between ${h.before} and ${h.after}` : 'not recorded: the recorder did not run');
	for (const s of l.spans.filter(hits).slice(0, 2)) {
		const why = s.reason ? ` (${s.reason})` : '';
		if (!s.polls)
			lines.push(`polls and wakes are not recorded here: level ${s.level}${why}`);
		else if (!s.wakes)
			lines.push(`wakes are not recorded here: level ${s.level}${why}`);
		if (s.polls && s.dropped_cnt)
			lines.push(`not recorded${why}: polls of ${named(s)}`);
	}
	const lost = l.losses.filter(hits);
	if (lost.length)
		lines.push(`lost around here: ${count(lost.reduce((n, x) => n + x.count, 0))} (${[...new Set(lost.map(x => x.kind + ', ' + x.cause))].slice(0, 2).join('; ')})`);
	return lines;
}

// Was nothing of this task recorded between two moments? Then a wait there is unknown.
export function isUnknown(place: string | undefined, from: number, to: number): boolean {
	return state.blanks.some(b => b.lack === 'all' && b.from < to && b.to > from) ||
		!!place && !!state.levels?.spans.some(s => s.from < to && s.to > from && s.dropped.includes(place));
}

const tiles = new Map<string, CanvasPattern | null>();

function pattern(g: CanvasRenderingContext2D, lack: Lack): CanvasPattern | string {
	const key = lack + colors.dim, tile = document.createElement('canvas'), own = tiles.get(key);
	if (own)
		return own;
	tile.width = tile.height = 8;
	const t = tile.getContext('2d')!;
	t.fillStyle = colors.dim;
	for (let i = 0; i < 8; i++)
		if (lack === 'all' || i % 4 === 0)
			t.fillRect(i, 7 - i, lack === 'all' ? 1.5 : 1, 1.5);
	const made = g.createPattern(tile, 'repeat');
	tiles.set(key, made);
	return made ?? colors.dim;
}

// Hatches what is not recorded, in a box of the canvas.
export function drawBlanks(g: CanvasRenderingContext2D, x: (ns: number) => number, y: number, h: number, wide: number): void {
	for (const b of state.blanks) {
		const a = Math.max(x(b.from), GUTTER), e = Math.min(Math.max(x(b.to), a + 1), wide);
		if (a >= wide || e <= GUTTER)
			continue;
		if (b.hole) {
			g.fillStyle = colors.bg;
			g.globalAlpha = 0.75;
			g.fillRect(a, y, e - a, h);
		}
		g.globalAlpha = b.lack === 'all' ? 0.55 : 0.5;
		g.fillStyle = pattern(g, b.lack);
		g.fillRect(a, y, e - a, h);
		g.globalAlpha = 1;
	}
}

// The row that names the level of each span.
export function drawLevels(p: Picture, row: Row): void {
	const { g, scale } = p, y = p.y(row), h = row.h - 2, l = state.levels;
	g.fillStyle = colors.lane;
	g.fillRect(GUTTER, y, p.wide, h);
	if (!l)
		return;
	drawBlanks(g, ns => scale.x(ns), y, h, p.wide);
	for (const s of [...l.spans, ...l.holes]) {
		const a = Math.max(scale.x(s.from), GUTTER), e = Math.min(scale.x(s.to), p.wide);
		if (e <= a)
			continue;
		const text = 'level' in s ? inWords(s) + (s.reason ? ' · ' + s.reason : '') : 'nothing recorded';
		g.fillStyle = 'level' in s && s.wakes && s.polls ? colors.queue : colors.warn;
		g.fillRect(a, y + h - 3, Math.max(e - a - 1, 1), 3);
		g.fillStyle = colors.line;
		g.fillRect(a, y, 1, h);
		if (e - a < 34)
			continue;
		const wide = Math.min(g.measureText(text).width, e - a - 10);
		g.fillStyle = colors.lane;
		g.globalAlpha = 0.85;
		g.fillRect(a + 3, y + 1, wide + 6, h - 5);
		g.globalAlpha = 1;
		g.fillStyle = colors.text;
		g.save();
		g.beginPath();
		g.rect(a, y, e - a - 2, h);
		g.clip();
		g.fillText(text, a + 6, y + h / 2 - 1);
		g.restore();
	}
	g.fillStyle = colors.bad;
	for (const x of l.losses)
		if (scale.x(x.to) >= GUTTER && scale.x(x.from) < p.wide)
			g.fillRect(Math.max(scale.x(x.from), GUTTER), y, Math.max(Math.min(scale.x(x.to), p.wide) - Math.max(scale.x(x.from), GUTTER), 2), 2);
}
