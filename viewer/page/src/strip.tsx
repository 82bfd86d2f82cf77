// SPDX-License-Identifier: Apache-2.0
// The whole recording in one strip: how busy all workers were, how long the longest poll was, where
// it hurts. The bright part is what the lanes show; dragging sets it.
import { useEffect, useRef, useState } from 'preact/hooks';
import * as api from './api';
import type { Cells } from './api';
import { extent, pan, setView, zoom } from './state';
import { useApp, usePlot } from './use';
import { GUTTER } from './timeline';
import { colors, heatCss } from './theme';
import { dur } from './units';

export function Strip() {
	const s = useApp();
	const [cells, put] = useState<Cells | null>(null);
	const drag = useRef<{ x0: number; x1: number } | null>(null);
	const [, tick] = useState(0);
	useEffect(() => {
		if (s.rec)
			api.cells('strip', { r: s.r, px: 1200 }, 'strip').then(put, () => undefined);
	}, [s.r, s.rec?.generation]);
	const all = extent();
	const canvas = usePlot((g, w, h) => {
		g.fillStyle = colors.bg;
		g.fillRect(0, 0, w, h);
		const c = cells?.lanes[0], wide = w - GUTTER;
		g.fillStyle = colors.dim;
		g.fillText('overview', 6, 14);
		g.fillText(dur(all.to), 6, 32);
		if (c && cells) {
			const step = wide / cells.px;
			for (let i = 0; i < cells.px; i++) {
				const tall = c.busy[i] / 255 * (h - 12);
				g.fillStyle = heatCss[c.heat[i]];
				g.fillRect(GUTTER + i * step, h - tall, Math.max(step, 1), tall);
				const m = c.marks[i] & 7;
				if (m) {
					g.fillStyle = m & 1 ? colors.bad : m & 2 ? colors.warn : colors.blocked;
					g.fillRect(GUTTER + i * step - 0.5, 0, 2, 7);
				}
			}
		}
		const x = (ns: number) => GUTTER + (ns - all.from) / (all.to - all.from) * wide;
		const d = drag.current;
		const a = d ? Math.max(Math.min(d.x0, d.x1), GUTTER) : x(s.view.from), b = d ? Math.max(d.x0, d.x1) : Math.max(x(s.view.to), x(s.view.from) + 2);
		g.globalAlpha = 0.5;
		g.fillStyle = colors.bg;
		g.fillRect(GUTTER, 0, a - GUTTER, h);
		g.fillRect(b, 0, w - b, h);
		g.globalAlpha = 1;
		g.strokeStyle = colors.accent;
		g.strokeRect(a + 0.5, 0.5, Math.max(b - a - 1, 1), h - 1);
	}, [cells, s.view, s.clock, drag.current?.x1]);
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
