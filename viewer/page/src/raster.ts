// SPDX-License-Identifier: Apache-2.0
// Cells to pixels. Pure: an array of colours in, out the same with one lane painted.
//
// The body's height is the share of the time spent polling, its colour the usual length of a poll;
// its cap has the colour of the longest one. So a lane zoomed out tells density, habit and
// exception apart, and zoomed in a poll is a block. Marks are ticks where they are rare, and a thin
// line where they are everywhere: a wall of marks would say nothing.
import { MARK, type LaneCells } from './api';
import type { raw as Raw } from './theme';

export interface Painting { px: Uint32Array; wide: number; tall: number; cellNs: number; ramp: Uint32Array; k: typeof Raw }

const DELAY_LEAST = 134; // the byte of 100 us
const FOOT = 4;
const HOT = 12; // steps of length (8 an octave) between the usual and the longest poll that make a cap

// Mean length of the polls of a cell as a byte of the server's scale.
export function usual(busy: number, count: number, cellNs: number): number {
	const mean = busy / 255 * cellNs / 2 ** (Math.max(count - 1, 0) / 8);
	return mean > 1 ? Math.min(1 + Math.round(8 * Math.log2(mean)), 255) : 1;
}

function rare(c: LaneCells, bit: number): boolean {
	let n = 0;
	for (const m of c.marks)
		n += m & bit ? 1 : 0;
	return n < c.marks.length * 0.3;
}

export function paintLane(c: LaneCells, p: Painting): void {
	const { px, wide, tall, ramp, k } = p;
	const top = tall > 20 ? 5 : 3, foot = tall > 18 ? FOOT : 2, base = tall - 2 - foot, room = base - top;
	const bits = [MARK.blocked, MARK.late, MARK.long], colors = [k.blocked, k.late, k.long], few = bits.map(b => rare(c, b));
	let queueBefore = -1;
	px.fill(k.lane, 0, wide * (tall - 1));
	px.fill(k.bg, wide * (tall - 1), wide * tall);
	const put = (x: number, y: number, color: number) => {
		px[y * wide + x] = color;
	};
	for (let x = 0; x < wide; x++) {
		if (c.park[x] > 100)
			for (let y = base + 1; y < base + 1 + foot; y++)
				if ((x + y) % 3 !== 0) // hatched, so that it is told apart without colour
					put(x, y, k.park);
		if (c.delay[x] >= DELAY_LEAST)
			for (let y = base + 1; y < base + 1 + Math.min(foot, 1 + (c.delay[x] - DELAY_LEAST >> 3)); y++)
				put(x, y, k.delay);
		const busy = c.busy[x];
		if (busy) {
			const high = Math.max(Math.round(busy / 255 * room), 2), body = usual(busy, c.count[x], p.cellNs);
			const cap = c.heat[x] > body + HOT ? Math.min(3, high) : 0;
			const away = Math.round(Math.min(c.away[x], busy) / 255 * room);
			for (let y = 0; y < high; y++)
				put(x, base - y, y >= high - cap ? ramp[c.heat[x]] : y >= high - cap - away && (x + y) % 4 < 2 ? k.away : ramp[body]);
		}
		if (c.queue[x]) {
			const y = base - Math.min(Math.round(Math.log2(c.queue[x] + 1) / 8 * (room - 2)), room - 2);
			for (let at = queueBefore < 0 ? y : Math.min(y, queueBefore); at <= (queueBefore < 0 ? y : Math.max(y, queueBefore)); at++)
				put(x, at, k.queue);
			queueBefore = y;
		} else {
			queueBefore = -1;
		}
		if (c.marks[x] & MARK.sample && tall > 18)
			put(x, base + foot, k.sample);
	}
	bits.forEach((bit, i) => {
		for (let x = 0; x < wide; x++)
			if (c.marks[x] & bit) {
				for (let y = 0; few[i] && y < top; y++)
					for (let at = Math.max(x - 1, 0); at <= Math.min(x + 1, wide - 1); at++)
						put(at, y, colors[i]);
				if (!few[i])
					put(x, i % top, colors[i]);
			}
	});
}
