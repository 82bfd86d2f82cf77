// SPDX-License-Identifier: Apache-2.0
// Lengths over time, in line with the lanes above: how many polls, or waits, of each length there
// were in each moment. A brush selects the range; a cell opens one of its polls.
import { useRef, useState } from 'preact/hooks';
import * as api from './api';
import type { Heat, Poll } from './api';
import { selectPoll } from './actions';
import { drawBlanks, recordedShare } from './levels';
import { tenth } from './histogram';
import { GUTTER, scaleOf } from './scale';
import { set, setView, state, type Span } from './state';
import { colors, countCss } from './theme';
import { useAnswer, useApp, usePlot } from './use';
import { count, dur } from './units';
import { when } from './when';

const ROWS_LEAST = 12; // four octaves: a single length is not stretched over the whole height
interface Cell { x: number; y: number }
interface Shape { first: number; rows: number; most: number; sums: number[] }

function shapeOf(h: Heat | null): Shape {
	let first = 127, last = 0, most = 0;
	const sums: number[] = [];
	for (let x = 0; h && x < h.px; x++)
		for (let y = 0; y < h.rows; y++) {
			const n = h.at[x * h.rows + y];
			if (n) {
				first = Math.min(first, y);
				last = Math.max(last, y);
				most = Math.max(most, n);
				sums[y] = (sums[y] ?? 0) + n;
			}
		}
	return { first: Math.max(first - 1, 0), rows: Math.max(last - first + 3, ROWS_LEAST), most, sums };
}

const lengths = (y: number) => `${dur(2 ** (y / 3))} to ${dur(2 ** ((y + 1) / 3))}`;

export function HeatMap({ tall }: { tall: number }) {
	const s = useApp(), held = useRef<Cell | null>(null);
	const [at, move] = useState<Cell | null>(null), [brush, put] = useState<[Cell, Cell] | null>(null);
	const a = useAnswer<Heat & { of: Span; what: string }>(JSON.stringify([s.r, s.rec?.generation, s.heatWhat, s.view]), async () => {
		const of = { ...state.view }, what = state.heatWhat, wide = (ref.current?.clientWidth ?? 800) - GUTTER;
		return { ...await api.heat({ r: state.r, what, ...of, px: Math.max(Math.round(wide / 3), 20) }), of, what };
	});
	const h = a.value?.what === s.heatWhat ? a.value : null, shape = shapeOf(h), { first, rows, most } = shape;
	const ref = usePlot((g, w, high) => {
		g.fillStyle = colors.lane;
		g.fillRect(GUTTER, 0, w, high);
		drawBlanks(g, ns => scaleOf(s.view, w).x(ns), 0, high, w);
		const dy = high / rows, y = (row: number) => high - (row - first) * dy;
		if (h && most) {
			const there = scaleOf(h.of, w), here = scaleOf(s.view, w), x = (i: number) => here.x(there.t(GUTTER + i / h.px * (w - GUTTER)));
			for (let i = 0; i < h.px; i++)
				for (let row = first; row < Math.min(first + rows, h.rows); row++) {
					const n = h.at[i * h.rows + row];
					if (!n)
						continue;
					g.fillStyle = countCss[Math.round(Math.log(n + 1) / Math.log(most + 1) * 255)];
					g.fillRect(x(i), y(row + 1), Math.max(x(i + 1) - x(i), 1), dy + 0.5);
				}
			g.strokeStyle = colors.select;
			const box = (c: Cell, d: Cell) => g.strokeRect(x(Math.min(c.x, d.x)) - 0.5, y(Math.max(c.y, d.y) + 1) - 0.5, x(Math.max(c.x, d.x) + 1) - x(Math.min(c.x, d.x)) + 1, (Math.abs(c.y - d.y) + 1) * dy + 1);
			if (brush)
				box(...brush);
			else if (at)
				box(at, at);
			if (s.region) {
				g.fillStyle = colors.accent;
				g.globalAlpha = 0.15;
				g.fillRect(here.x(s.region.from), 0, here.x(s.region.to) - here.x(s.region.from), high);
				g.globalAlpha = 1;
			}
		}
		g.fillStyle = colors.bg;
		g.fillRect(0, 0, GUTTER, high);
		g.fillStyle = colors.dim;
		for (let ns = 1; most && ns < 1e12; ns *= 10) {
			const at = y(Math.log2(ns) * 3), text = tenth(ns);
			if (at < 7 || at > high - 4)
				continue;
			g.fillText(text, GUTTER - 10 - g.measureText(text).width, at);
			g.fillRect(GUTTER - 5, at, 5, 1);
			g.globalAlpha = 0.15;
			g.fillRect(GUTTER, at, w, 1);
			g.globalAlpha = 1;
		}
		const limit = y(Math.log2(s.heatWhat === 'polls' ? 1e7 : 5e6) * 3);
		if (most && limit > 8 && limit < high) { // from here on it is a finding
			g.fillStyle = colors.bad;
			for (let x = GUTTER; x < w; x += 8)
				g.fillRect(x, limit, 4, 1);
			g.fillText(s.heatWhat === 'polls' ? 'long: 10 ms' : 'late: 5 ms', GUTTER + 6, limit - 7);
		}
	}, [h, brush, at, s.region, s.view, s.levels, tall]);

	const cellAt = (e: PointerEvent): Cell | null => {
		const c = e.currentTarget as HTMLCanvasElement;
		if (!h || e.offsetX < GUTTER && !held.current)
			return null;
		const x = Math.floor((Math.max(e.offsetX, GUTTER) - GUTTER) / (c.clientWidth - GUTTER) * h.px);
		return { x: Math.min(x, h.px - 1), y: Math.min(Math.max(first + Math.floor((c.clientHeight - e.offsetY) / (c.clientHeight / rows)), first), first + rows - 1) };
	};
	const span = (c: Cell, d: Cell): Span => {
		const step = (h!.of.to - h!.of.from) / h!.px;
		return { from: h!.of.from + Math.min(c.x, d.x) * step, to: h!.of.from + (Math.max(c.x, d.x) + 1) * step };
	};
	const inside = (c: Cell, d: Cell): number => {
		let n = 0;
		for (let x = Math.min(c.x, d.x); h && x <= Math.max(c.x, d.x); x++)
			for (let y = Math.min(c.y, d.y); y <= Math.max(c.y, d.y); y++)
				n += h.at[x * h.rows + y] ?? 0;
		return n;
	};
	const choose = (c: Cell, d: Cell) => set({ region: span(c, d), tab: 'summary',
		say: `Selected ${dur(span(c, d).to - span(c, d).from)}: ${count(inside(c, d))} ${state.heatWhat} in the box` });
	const open = async (c: Cell) => {
		const of = span(c, c), len = (p: Poll) => state.heatWhat === 'polls' ? p.dur : p.ready === null ? 0 : p.start - p.ready;
		try {
			const polls = (await api.json<{ polls: Poll[] }>('rows', { r: state.r, ...of }, 'heat-rows')).polls.filter(p => p.start >= of.from && p.start < of.to);
			const best = polls.find(p => Math.floor(Math.log2(Math.max(len(p), 1)) * 3) === c.y);
			if (best)
				await selectPoll(best, false);
			else
				set({ region: of, say: 'Too many polls here to choose one: zoom in' });
		} catch (e) {
			if (!api.isAbort(e))
				set({ say: String(e) });
		}
	};
	const word = s.heatWhat === 'polls' ? 'polls' : 'waits', cell = brush ?? (at && [at, at] as const);
	const reading = h && cell ? `${when(span(...cell).from)}, ${cell[0].y === cell[1].y ? lengths(cell[0].y) : `${dur(2 ** (Math.min(cell[0].y, cell[1].y) / 3))} to ${dur(2 ** ((Math.max(cell[0].y, cell[1].y) + 1) / 3))}`}: ${count(inside(...cell))} ${word}` : '';
	return <>
		<div class="dock-bar"><select aria-label="What is shown" value={s.heatWhat} onChange={e => set({ heatWhat: e.currentTarget.value as 'polls' | 'waits' })}>
			<option value="polls">length of polls</option><option value="waits">wait from wake to poll</option></select>
			<span class="ramp" aria-hidden="true"><span class="dim">1</span><i /><span class="dim">{most ? count(most) : ''} {word} a cell</span></span>
			<span class="reading" aria-live="polite">{reading}</span></div>
		{a.error && <p class="note bad">{a.error}</p>}
		{h && !most && <p class="card">{recordedShare(s.view) < 0.001 ? <>Polls were not recorded here, so their lengths are unknown. What is known: <button class="link" onClick={() => set({ tab: 'summary' })}>task types by CPU and time without it</button>, <button class="link" onClick={() => set({ dock: 'flame', flameKind: 'off', flameMode: 'top' })}>where they had no CPU</button>, <button class="link" onClick={() => set({ dock: 'flame', flameKind: 'cpu', flameMode: 'top' })}>where they ran</button>.</>
			: `Nothing of this kind in view${s.heatWhat === 'waits' && s.rec?.wakes === 0 ? ': wakes were not recorded, so waits are unknown' : ''}.`}</p>}
		<canvas class="plot heat" ref={ref} style={{ height: tall + 'px' }} role="img" tabIndex={0}
			aria-label={`Heat map: ${word} by length over time. Arrows move the cursor, with Shift they draw a box, Enter opens a poll or selects the box; the table below says how many of each length`}
			onPointerDown={e => {
				e.currentTarget.setPointerCapture(e.pointerId);
				held.current = cellAt(e);
				put(null);
			}}
			onPointerMove={e => {
				const c = cellAt(e);
				move(c);
				if (held.current && c && (c.x !== held.current.x || c.y !== held.current.y))
					put([held.current, c]);
			}}
			onPointerLeave={() => move(null)}
			onPointerUp={() => {
				if (brush)
					choose(...brush);
				else if (held.current)
					void open(held.current);
				held.current = null;
			}}
			onDblClick={() => brush && setView(span(...brush))}
			onKeyDown={e => {
				const dx = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0, dy = e.key === 'ArrowUp' ? 1 : e.key === 'ArrowDown' ? -1 : 0;
				if (!h || !(dx || dy || e.key === 'Enter'))
					return;
				e.preventDefault();
				e.stopPropagation();
				const from = at ?? { x: h.px >> 1, y: first + (rows >> 1) };
				if (e.key === 'Enter') {
					if (brush)
						choose(...brush);
					else
						void open(from);
					return;
				}
				const c = { x: Math.min(Math.max(from.x + dx, 0), h.px - 1), y: Math.min(Math.max(from.y + dy, first), first + rows - 1) };
				put(e.shiftKey ? [brush?.[0] ?? from, c] : null);
				move(c);
			}} />
		<details class="twin"><summary>As a table</summary><table><thead><tr><th class="n">length</th><th class="n">count</th></tr></thead>
			<tbody>{shape.sums.map((n, y) => n ? <tr key={y}><td class="n">{lengths(y)}</td><td class="n">{count(n)}</td></tr> : null)}</tbody></table></details>
	</>;
}
