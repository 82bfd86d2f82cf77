// SPDX-License-Identifier: Apache-2.0
// Parks of busy threads that a recorder added up (agent:Parks): a band at the foot of the lane, as
// long as its part of the time was spent parked, with an edge above that says "added up".
import * as api from './api';
import { GUTTER } from './scale';
import { state, type Span } from './state';
import { colors } from './theme';
import type { Picture } from './timeline';
import { count, dur, share } from './units';

type Band = [lane: number, from: number, to: number, parks: number, parked: number, delayed: number];
let bands: Band[] = [];
let over = 0;
let asked = '';

export function wantParked(done: () => void): void {
	const rec = state.rec, { from, to } = state.view, key = [state.r, rec?.generation, from, to].join();
	if (key === asked)
		return;
	asked = key;
	if (!rec?.schemas.some(x => x.name === 'agent:Parks')) {
		bands = [];
		over = 0;
		return;
	}
	api.json<{ bands: Band[]; over_cap: number }>('parked', { r: state.r, from, to }, 'parked').then(a => {
		bands = a.bands;
		over = a.over_cap;
		done();
	}, (e: unknown) => {
		if (!api.isAbort(e) && asked === key)
			asked = '';
	});
}

export function drawParked(p: Picture): void {
	const { g, scale } = p, rows = new Map(p.rows.filter(r => r.kind === 'lane').map(r => [r.lane, r]));
	for (const [lane, from, to, , parked] of bands) {
		const row = rows.get(lane), a = Math.max(scale.x(from), GUTTER), e = Math.min(scale.x(to), p.wide);
		if (!row || e <= a)
			continue;
		const tall = row.h > 18 ? 4 : 2, y = p.y(row) + row.h - 1 - tall;
		g.fillStyle = colors.park;
		g.fillRect(a, y, (e - a) * Math.min(parked / (to - from), 1), tall);
		g.fillStyle = colors.dim; // dashed: not one park
		for (let x = a; x < e; x += 6)
			g.fillRect(x, y - 1, Math.min(3, e - x), 1);
	}
}

// What the bands of a lane say about a moment; and, of a span, how long it was parked in them.
export function parkedAt(lane: number, of: Span): string[] {
	const own = bands.find(b => b[0] === lane && b[1] < of.to && b[2] > of.from);
	return own ? [`parked ${share(own[4], own[2] - own[1])} of ${dur(own[2] - own[1])} around here, ${count(own[3])} times, added up` + (own[5] ? `; then ${dur(own[5])} without a CPU` : '')] :
		over ? [`${count(over)} sums of parks are not shown: zoom in`] : [];
}
