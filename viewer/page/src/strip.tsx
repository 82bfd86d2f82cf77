// SPDX-License-Identifier: Apache-2.0
// The whole recording in one strip: how busy all workers were, how long the longest poll was, where
// it hurts. The bright part is what the lanes show; dragging sets it.
import { useEffect, useRef, useState } from 'preact/hooks';
import * as api from './api';
import type { Cells } from './api';
import { drawBlanks } from './levels';
import { usual } from './raster';
import { baseNs, currentIssues, extent, pan, realNs, setView, zoom } from './state';
import { useApp, usePlot } from './use';
import { GUTTER } from './scale';
import { colors, heatCss } from './theme';
import { dur, moment, tickStep } from './units';

export function Strip() {
	const s = useApp();
	const [cells, put] = useState<Cells | null>(null);
	const drag = useRef<{ x0: number; x1: number } | null>(null);
	const [, tick] = useState(0);
	useEffect(() => {
		let timer = 0;
		const ask = () => void api.cells('strip', { r: s.r, px: 1200 }, 'strip').then(put, e => {
			if (!api.isAbort(e))
				timer = window.setTimeout(ask, 2000); // the lanes say what is wrong
		});
		if (s.rec)
			ask();
		return () => clearTimeout(timer);
	}, [s.r, s.rec?.generation]);
	const all = extent();
	const canvas = usePlot((g, w, h) => {
		g.fillStyle = colors.bg;
		g.fillRect(0, 0, w, h);
		const away: [number, number, number, number][] = [], c = cells?.lanes[0], wide = w - GUTTER, top = 20;
		g.fillStyle = colors.dim;
		g.fillText('all workers', 18, top + (h - top) / 2 - 8);
		g.fillText(dur(all.to), 18, top + (h - top) / 2 + 8);
		const step = tickStep(all.to, Math.max(wide / 130, 2));
		for (let t = 0; t < all.to; t += step) {
			const x = GUTTER + t / all.to * wide, text = moment(t, s.clock, baseNs(), realNs(), step);
			if (x + g.measureText(text).width + 6 < w)
				g.fillText(text, x + 4, 7);
			g.fillRect(x, 2, 1, 9);
		}
		g.fillStyle = colors.lane;
		g.fillRect(GUTTER, top, wide, h - top);
		if (c && cells) {
			const step = wide / cells.px, workers = s.rec?.lanes.filter(l => l.kind === 'worker').length || 1, base = h - 1, room = base - top - 5;
			const few = [1, 2, 4].map(bit => c.marks.reduce((n, m) => n + (m & bit ? 1 : 0), 0) < cells.px * 0.3);
			for (let i = 0; i < cells.px; i++) {
				const tall = c.busy[i] ? Math.max(c.busy[i] / 255 * room, 1) : 0, body = usual(c.busy[i], c.count[i], all.to / cells.px * workers);
				g.fillStyle = heatCss[body];
				g.fillRect(GUTTER + i * step, base - tall, Math.max(step, 1), tall);
				if (tall && c.heat[i] > body + 12) {
					g.fillStyle = heatCss[c.heat[i]];
					g.fillRect(GUTTER + i * step, base - tall, Math.max(step, 1), Math.min(tall, 2));
				}
				if (c.away[i] > c.busy[i] + 2) { // in polls that were not recorded, so above those that were
					const unseen = (c.away[i] - c.busy[i]) / 255 * room;
					away.push([GUTTER + i * step, base - tall - unseen, Math.max(step, 1), Math.max(unseen, 1)]);
				}
				[colors.bad, colors.warn, colors.blocked].forEach((color, k) => {
					if (c.marks[i] & 1 << k) {
						g.fillStyle = color;
						g.fillRect(GUTTER + i * step - (few[k] ? 0.5 : 0), top + (few[k] ? 0 : k * 1.5), few[k] ? 2 : Math.max(step, 1), few[k] ? 5 : 1);
					}
				});
			}
		}
		drawBlanks(g, ns => GUTTER + ns / all.to * wide, top, h - top, w);
		g.fillStyle = colors.away;
		for (const box of away)
			g.fillRect(...box);
		for (const issue of currentIssues().slice(0, 200).reverse()) { // each finding, where its worst case is
			if (issue.evidence.from_ns === undefined)
				continue;
			const x = GUTTER + Number(BigInt(issue.evidence.from_ns) - baseNs()) / all.to * wide;
			g.fillStyle = issue.severity === 'critical' ? colors.bad : issue.severity === 'warning' ? colors.warn : colors.accent;
			g.beginPath();
			g.moveTo(x - 4, top - 6);
			g.lineTo(x + 4, top - 6);
			g.lineTo(x, top);
			g.fill();
		}
		const x = (ns: number) => GUTTER + (ns - all.from) / (all.to - all.from) * wide;
		const d = drag.current;
		const a = d ? Math.max(Math.min(d.x0, d.x1), GUTTER) : x(s.view.from), b = d ? Math.max(d.x0, d.x1) : Math.max(x(s.view.to), x(s.view.from) + 2);
		g.globalAlpha = 0.5;
		g.fillStyle = colors.bg;
		g.fillRect(GUTTER, top, a - GUTTER, h);
		g.fillRect(b, top, w - b, h);
		g.globalAlpha = 1;
		if (s.region) { // the range that is selected
			g.fillStyle = colors.accent;
			g.fillRect(x(s.region.from), h - 3, Math.max(x(s.region.to) - x(s.region.from), 2), 3);
		}
		g.strokeStyle = colors.accent;
		g.lineWidth = 1.5;
		g.strokeRect(a + 0.75, top + 0.75, Math.max(b - a - 1.5, 1), h - top - 1.5);
	}, [cells, s.levels, s.findings, s.view, s.region, s.clock, drag.current?.x1]);
	const time = (x: number) => all.from + (x - GUTTER) / Math.max((canvas.current?.clientWidth ?? 2) - GUTTER, 1) * (all.to - all.from);
	return <section class="strip" aria-label="Overview">
		<canvas ref={canvas} tabIndex={0} role="slider" aria-label="Overview of the recording; arrows move the view, plus and minus zoom"
			aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round((s.view.from + s.view.to) / 2 / all.to * 100)}
			aria-valuetext={`from ${dur(s.view.from)} to ${dur(s.view.to)} of ${dur(all.to)}`}
			onPointerDown={e => {
				e.currentTarget.setPointerCapture(e.pointerId);
				drag.current = { x0: e.offsetX, x1: e.offsetX };
			}}
			onPointerMove={e => {
				if (drag.current) {
					drag.current.x1 = e.offsetX;
					tick(n => n + 1);
				}
			}}
			onPointerUp={() => {
				const d = drag.current;
				drag.current = null;
				if (!d)
					return;
				const len = s.view.to - s.view.from, at = time(d.x1);
				if (Math.abs(d.x1 - d.x0) < 4)
					setView({ from: at - len / 2, to: at + len / 2 });
				else
					setView({ from: time(Math.min(d.x0, d.x1)), to: time(Math.max(d.x0, d.x1)) });
				tick(n => n + 1);
			}}
			onWheel={e => {
				e.preventDefault();
				if (e.ctrlKey)
					zoom(2 ** (e.deltaY / 200), time(e.offsetX));
				else
					pan((e.deltaX || e.deltaY) / 1000);
			}} />
	</section>;
}
