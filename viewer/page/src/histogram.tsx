// SPDX-License-Identifier: Apache-2.0
// A distribution: bars over a logarithmic length, its quantiles, and the same as a table.
import { useState } from 'preact/hooks';
import { colors, heatCss } from './theme';
import { usePlot } from './use';
import { count, dur } from './units';

// [bin, count] pairs, 8 bins to an octave. onPick gets the least length of the bar.
export function Histogram({ bins, name, onPick }: { bins: number[]; name: string; onPick?: (least: number) => void }) {
	const [at, move] = useState<number | null>(null);
	const pairs: [number, number][] = [];
	for (let i = 0; i + 1 < bins.length; i += 2)
		pairs.push([bins[i], bins[i + 1]]);
	const first = Math.max(pairs.reduce((n, p) => Math.min(n, p[0]), 1e9) - 2, 0), last = pairs.reduce((n, p) => Math.max(n, p[0]), 0) + 2;
	const most = pairs.reduce((n, p) => Math.max(n, p[1]), 1);
	const ref = usePlot((g, w, h) => {
		g.clearRect(0, 0, w, h);
		const step = w / Math.max(last - first + 1, 1), base = h - 15;
		g.fillStyle = colors.line;
		g.fillRect(0, base, w, 1);
		for (const [b, n] of pairs) {
			const tall = Math.max(Math.log(n + 1) / Math.log(most + 1) * (base - 3), 2);
			g.fillStyle = heatCss[Math.min(b + 1, 255)];
			g.fillRect((b - first) * step, base - tall, Math.max(step - 0.6, 0.8), tall);
			if (at !== null && pairs[at]?.[0] === b) {
				g.strokeStyle = colors.select;
				g.strokeRect((b - first) * step - 0.5, 0.5, step + 1, base);
			}
		}
		g.fillStyle = colors.dim;
		let free = 0;
		for (let ns = 1; ns < 1e12; ns *= 10) {
			const x = (Math.log2(ns) * 8 - first) * step, text = tenth(ns), wide = g.measureText(text).width;
			if (x < 0 || x > w)
				continue;
			g.fillRect(x, base, 1, 3);
			const left = Math.min(Math.max(x - wide / 2, 0), w - wide);
			if (left >= free) {
				g.fillText(text, left, h - 5);
				free = left + wide + 8;
			}
		}
	}, [bins, at]);
	if (!pairs.length)
		return <p class="dim">No {name} here.</p>;
	const all = pairs.reduce((n, p) => n + p[1], 0), here = at === null ? null : pairs[at];
	const say = here ? `${count(here[1])} ${name} of ${dur(2 ** (here[0] / 8))} to ${dur(2 ** ((here[0] + 1) / 8))}` : '';
	const nearest = (e: PointerEvent | MouseEvent) => {
		const b = first + e.offsetX / (e.currentTarget as HTMLElement).clientWidth * (last - first + 1) - 0.5;
		return pairs.reduce((best, p, i) => Math.abs(p[0] - b) < Math.abs(pairs[best][0] - b) ? i : best, 0);
	};
	return <div class="histogram">
		<canvas class="plot" ref={ref} style={{ height: '74px' }} role="img" tabIndex={0}
			aria-label={`${name}: ${count(all)}, most near ${dur(2 ** (pairs.reduce((a, b) => b[1] > a[1] ? b : a)[0] / 8))}, longest near ${dur(2 ** (pairs[pairs.length - 1][0] / 8))}; height is logarithmic; arrows read the bars${onPick ? ', Enter finds them' : ''}`}
			onPointerMove={e => move(nearest(e))} onPointerLeave={() => move(null)} onBlur={() => move(null)}
			onClick={e => onPick?.(2 ** (pairs[nearest(e)][0] / 8))}
			onKeyDown={e => {
				const by = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
				if (by)
					move(Math.min(Math.max((at ?? (by > 0 ? -1 : pairs.length)) + by, 0), pairs.length - 1));
				else if (e.key === 'Enter' && here)
					onPick?.(2 ** (here[0] / 8));
				else
					return;
				e.preventDefault();
				e.stopPropagation();
			}} />
		<span class="reading" aria-live="polite">{say}</span>
		<details><summary>{name} as a table</summary><table><thead><tr><th class="n">from</th><th class="n">count</th></tr></thead>
			<tbody>{pairs.map(([b, n]) => <tr key={b}><td class="n">{dur(2 ** (b / 8))}</td><td class="n">{count(n)}</td></tr>)}</tbody></table></details>
	</div>;
}

// 1, 10, 100 of a unit, without the digits that only measured lengths deserve.
export function tenth(ns: number): string {
	return ns >= 1e9 ? ns / 1e9 + ' s' : ns >= 1e6 ? ns / 1e6 + ' ms' : ns >= 1e3 ? ns / 1e3 + ' us' : ns + ' ns';
}

export function Quantiles({ q, name, onMax }: { q: number[]; name: string; onMax?: () => void }) {
	return <table class="quantiles"><caption class="sr">{name}</caption><thead><tr>{['p50', 'p90', 'p99', 'p99.9', 'max'].map(x => <th class="n" key={x}>{x}</th>)}</tr></thead>
		<tbody><tr>{q.map((x, i) => <td class="n" key={i}>{i === 4 && onMax ? <button class="link" onClick={onMax}>{dur(x)}</button> : dur(x)}</td>)}</tr></tbody></table>;
}
