// SPDX-License-Identifier: Apache-2.0
// Cells to pixels. Pure: an array of colours in, out the same with one lane painted.
import { MARK, type LaneCells } from './api';
import type { raw as Raw } from './theme';

// The height of a column says how much of it was busy, its colour how long the longest poll is.
// So a lane that is zoomed out shows density, and zoomed in every poll is a full block.
export function paintLane(px: Uint32Array, stride: number, x0: number, y0: number, h: number, c: LaneCells, cells: number,
	width: number, ramp: Uint32Array, k: typeof Raw): void {
	const inner = h - 3, base = y0 + h - 3;
	for (const y of [y0, y0 + h - 1])
		px.fill(k.bg, y * stride + x0, y * stride + x0 + width);
	for (let x = 0; x < width; x++) {
		const i = cells === width ? x : Math.min(Math.floor(x * cells / width), cells - 1);
		const left = x0 + x;
		for (let y = y0 + 1; y < y0 + h - 1; y++)
			px[y * stride + left] = k.lane;
		const park = c.park[i];
		if (park > 127)
			for (let y = base - 2; y < base + 2; y++) // hatched, so that it is told apart without colour
				if ((x + y) % 3 !== 0)
					px[y * stride + left] = k.park;
		const busy = c.busy[i];
		if (busy) {
			const tall = Math.max(Math.round(busy / 255 * (inner - 4)), 2), color = ramp[c.heat[i]];
			const away = Math.round(Math.min(c.away[i], busy) / 255 * (inner - 4));
			for (let y = 0; y < tall; y++)
				px[(base - 3 - y) * stride + left] = y >= tall - away && (x + y) % 4 < 2 ? k.away : color;
		}
		if (c.delay[i] > 108) { // 10 us and more
			const tall = Math.min(Math.max(Math.round((c.delay[i] - 108) / 8), 2), inner - 4);
			for (let y = 0; y < tall; y++)
				px[(base - 3 - y) * stride + left] = k.delay;
		}
		if (c.queue[i]) {
			const y = base - 3 - Math.min(Math.round(Math.log2(c.queue[i] + 1) / 8 * (inner - 5)), inner - 5);
			px[y * stride + left] = k.queue;
		}
		const m = c.marks[i];
		if (m & MARK.sample)
			px[(base + 1) * stride + left] = k.sample;
		const bad = m & MARK.long ? k.long : m & MARK.late ? k.late : m & MARK.blocked ? k.blocked : 0;
		if (bad)
			for (let y = y0 + 1; y < y0 + 5; y++)
				for (let w = -1; w <= 1; w++)
					if (x + w >= 0 && x + w < width)
						px[y * stride + left + w] = bad;
	}
}
