// SPDX-License-Identifier: Apache-2.0
// Distributions: histogram, latency heat map with a brush, numbers over time. Each with its table.
import { useRef, useState } from 'preact/hooks';
import * as api from './api';
import type { Heat, Series } from './api';
import { set, state } from './state';
import { colors, heatCss } from './theme';
import { useAnswer, useApp, usePlot } from './use';
import { count, dur } from './units';

// [bin, count] pairs, 8 bins to an octave.
export function Histogram({ bins, name, onPick }: { bins: number[]; name: string; onPick?: (least: number) => void }) {
	const pairs: [number, number][] = [];
	for (let i = 0; i + 1 < bins.length; i += 2)
		pairs.push([bins[i], bins[i + 1]]);
	const first = Math.max(Math.min(...pairs.map(p => p[0])) - 2, 0), last = Math.max(...pairs.map(p => p[0])) + 2;
	const most = Math.max(...pairs.map(p => p[1]));
	const ref = usePlot((g, w, h) => {
		g.clearRect(0, 0, w, h);
		const step = w / Math.max(last - first + 1, 1);
		for (const [b, n] of pairs) {
			const tall = Math.max(Math.log(n + 1) / Math.log(most + 1) * (h - 16), 1);
			g.fillStyle = heatCss[Math.min(b + 1, 255)];
			g.fillRect((b - first) * step, h - 14 - tall, Math.max(step - 1, 1), tall);
		}
		g.fillStyle = colors.dim;
		let free = 0;
		for (let ns = 1; ns < 1e12; ns *= 10) {
			const x = (Math.log2(ns) * 8 - first) * step;
			if (x >= free && x < w - 30) {
				g.fillText(dur(ns), x, h - 6);
				free = x + 50;
			}
		}
	}, [bins]);
	if (!pairs.length)
		return <p class="dim">No {name} here.</p>;
	const all = pairs.reduce((n, p) => n + p[1], 0);
	return <canvas class="plot" ref={ref} style={{ height: '84px' }} role="img" tabIndex={onPick ? 0 : undefined}
		aria-label={`${name}: ${count(all)}, most near ${dur(2 ** (pairs.reduce((a, b) => b[1] > a[1] ? b : a)[0] / 8))}, longest near ${dur(2 ** (pairs[pairs.length - 1][0] / 8))}; height is logarithmic`}
		onClick={e => onPick?.(2 ** ((first + e.offsetX / e.currentTarget.clientWidth * (last - first + 1)) / 8))} />;
}

export function HeatMap() {
	const s = useApp();
	const [brush, put] = useState<{ x0: number; x1: number } | null>(null);
	const key = JSON.stringify([s.r, s.rec?.generation, s.heatWhat, s.view]);
	const a = useAnswer<Heat>(key, () => api.heat({ r: state.r, what: state.heatWhat, ...state.view, px: 180 }));
	const h = a.value;
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
	const rows = Math.max(last - first + 1, 1), LEFT = 52;
	const ref = usePlot((g, w, tall) => {
		g.fillStyle = colors.lane;
		g.fillRect(0, 0, w, tall);
		if (!h || !most)
			return;
		const dx = (w - LEFT) / h.px, dy = (tall - 4) / rows;
		for (let x = 0; x < h.px; x++)
			for (let y = first; y <= last; y++) {
				const n = h.at[x * h.rows + y];
				if (!n)
					continue;
				g.globalAlpha = 0.25 + 0.75 * Math.log(n + 1) / Math.log(most + 1);
				g.fillStyle = heatCss[Math.min(Math.round(y * 8 / 3) + 1, 255)];
				g.fillRect(LEFT + x * dx, tall - 2 - (y - first + 1) * dy, Math.ceil(dx), Math.ceil(dy));
			}
		g.globalAlpha = 1;
		g.fillStyle = colors.bg;
		g.fillRect(0, 0, LEFT, tall);
		g.fillStyle = colors.dim;
		for (let ns = 1; ns < 1e12; ns *= 10) {
			const y = tall - 2 - (Math.log2(ns) * 3 - first) * dy;
			if (y > 6 && y < tall - 4)
				g.fillText(dur(ns), 2, y);
		}
		if (brush) {
			g.globalAlpha = 0.3;
			g.fillStyle = colors.accent;
			g.fillRect(Math.min(brush.x0, brush.x1), 0, Math.abs(brush.x1 - brush.x0), tall);
			g.globalAlpha = 1;
		}
	}, [h, brush]);
	const time = (x: number, w: number) => s.view.from + Math.max(x - LEFT, 0) / (w - LEFT) * (s.view.to - s.view.from);
	const held = useRef(false);
	return <>
		<div class="row"><select aria-label="What is shown" value={s.heatWhat} onChange={e => set({ heatWhat: e.currentTarget.value as 'polls' | 'waits' })}>
			<option value="polls">length of polls</option><option value="waits">wait from wake to poll</option></select>
			<span class="dim">time to the right, length upwards, colour and depth: how many</span></div>
		{a.error && <p class="note bad">{a.error}</p>}
		{h && !most && <p class="note">Nothing of this kind in view{s.heatWhat === 'waits' && s.rec?.wakes === 0 ? ': wakes were not recorded, so waits are unknown' : ''}.</p>}
		<canvas class="plot" ref={ref} style={{ height: '320px' }} role="img" tabIndex={0} aria-label="Heat map of lengths over time; drag to select a range; the table below says how many of each length"
			onPointerDown={e => {
				e.currentTarget.setPointerCapture(e.pointerId);
				held.current = true;
				put({ x0: e.offsetX, x1: e.offsetX });
			}}
			onPointerMove={e => held.current && brush && put({ ...brush, x1: e.offsetX })}
			onPointerUp={e => {
				held.current = false;
				if (brush && Math.abs(brush.x1 - brush.x0) > 3) {
					const w = e.currentTarget.clientWidth;
					set({ region: { from: time(Math.min(brush.x0, brush.x1), w), to: time(Math.max(brush.x0, brush.x1), w) } });
				}
				put(null);
			}} />
		<details><summary>As a table</summary><table><thead><tr><th class="n">from</th><th class="n">count</th></tr></thead>
			<tbody>{sums.map((n, y) => n ? <tr key={y}><td class="n">{dur(2 ** (y / 3))}</td><td class="n">{count(n)}</td></tr> : null)}</tbody></table></details>
	</>;
}

function Curve({ series, name }: { series: Series; name: string }) {
	const values = series.most.filter((x): x is number => x !== null);
	const hi = Math.max(...values, 1), lo = Math.min(...series.least.filter((x): x is number => x !== null), 0);
	const ref = usePlot((g, w, h) => {
		g.fillStyle = colors.lane;
		g.fillRect(0, 0, w, h);
		const step = w / series.most.length, y = (v: number) => h - 3 - (v - lo) / (hi - lo || 1) * (h - 18);
		g.fillStyle = colors.queue;
		series.most.forEach((m, i) => {
			const l = series.least[i];
			if (m !== null && l !== null)
				g.fillRect(i * step, y(m), Math.max(step, 1.5), Math.max(y(l) - y(m), 2));
		});
		g.fillStyle = colors.text;
		g.fillText(`${name}: ${count(lo)} to ${count(hi)}`, 4, 8);
	}, [series]);
	if (!series.count)
		return <p class="dim">{name}: nothing in view.</p>;
	return <>
		<canvas class="plot" ref={ref} style={{ height: '74px' }} role="img" aria-label={`${name} over the view: least ${lo}, most ${hi}, ${series.count} values`} />
		<details><summary>{name} as a table</summary><table><thead><tr><th class="n">part of the view</th><th class="n">least</th><th class="n">most</th></tr></thead>
			<tbody>{series.most.map((m, i) => m === null ? null : <tr key={i}><td class="n">{(i / series.most.length * 100).toFixed(1)} %</td><td class="n">{series.least[i]}</td><td class="n">{m}</td></tr>)}</tbody></table></details>
	</>;
}

export function Charts() {
	const s = useApp(), rec = s.rec!;
	const runtimes = [...new Set(rec.lanes.filter(l => l.kind === 'worker').map(l => l.runtime))];
	const [schema, field] = (s.chart ?? '').split(',').map(Number);
	const view = JSON.stringify([s.r, rec.generation, s.view]);
	const queues = useAnswer(view, async () => {
		const out: [string, Series, Series][] = [];
		for (const runtime of runtimes.slice(0, 8)) {
			const a = await api.json<{ depth: Series; alive: Series }>('queues', { r: state.r, runtime: runtime || undefined, ...state.view, px: 190 });
			out.push([runtime || 'main runtime', a.depth, a.alive]);
		}
		return out;
	});
	const own = useAnswer(view + s.chart, async () => s.chart
		? (await api.json<{ values: Series }>('records', { r: state.r, schema, field, ...state.view, px: 190 })).values : null);
	return <>
		<h2>Runtimes</h2>
		{queues.error && <p class="note bad">{queues.error}</p>}
		{queues.value?.map(([name, depth, alive]) => <div key={name}><Curve series={depth} name={name + ', global queue'} /><Curve series={alive} name={name + ', tasks alive'} /></div>)}
		<h2>Any field of any event</h2>
		<select aria-label="Event and field" value={s.chart ?? ''} onChange={e => set({ chart: e.currentTarget.value || null })}>
			<option value="">choose</option>
			{rec.schemas.map((x, i) => x.fields.map((f, k) => <option key={i + ',' + k} value={i + ',' + k}>{x.name}.{f.name} ({x.records})</option>))}
		</select>
		{own.error && <p class="note bad">{own.error}</p>}
		{own.value && s.chart && <Curve series={own.value} name={`${rec.schemas[schema]?.name}.${rec.schemas[schema]?.fields[field]?.name}`} />}
		{rec.schemas.length === 0 && <p class="note">The recording holds no events of other kinds.</p>}
	</>;
}
