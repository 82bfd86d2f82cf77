// SPDX-License-Identifier: Apache-2.0
// The lanes: one canvas. Cells of what is visible are asked for as the view moves; the old picture
// is stretched meanwhile, so that nothing ever goes grey.
import * as api from './api';
import type { Cells, Plane, Poll } from './api';
import { loadTask, openPoll, selectPoll } from './actions';
import { layOut, type Row } from './rows';
import { paintLane } from './raster';
import { pan, set, setView, state, zoom, type Span } from './state';
import { colors, heatCss, heatRamp, raw } from './theme';
import { dur, moment, tail, tickStep } from './units';

export const GUTTER = 104;
const AXIS = 20;
const ROWS_AT_MOST = 1500; // polls that are drawn one by one with their names

interface Drag { x0: number; x1: number; pans: boolean; zooms: boolean; from: Span; y0: number; scroll: number }

export class Timeline {
	private cells: Cells | null = null;
	private cellsOf: Span = { from: 0, to: 1 };
	private names: { polls: Poll[]; capped: boolean } | null = null;
	private namesOf = '';
	private asked = '';
	private wide = 1;
	private tall = 1;
	private scroll = 0;
	private rows: Row[] = [];
	private height = 0;
	private drag: Drag | null = null;
	private space = false;
	private hoverTimer = 0;

	constructor(private readonly canvas: HTMLCanvasElement, private readonly tip: HTMLElement) {
		new ResizeObserver(() => this.draw()).observe(canvas);
		canvas.addEventListener('wheel', e => this.onWheel(e), { passive: false });
		canvas.addEventListener('pointerdown', e => this.onDown(e));
		canvas.addEventListener('pointermove', e => this.onMove(e));
		canvas.addEventListener('pointerup', e => this.onUp(e));
		canvas.addEventListener('pointerleave', () => this.hideTip());
		canvas.addEventListener('dblclick', e => {
			e.preventDefault();
			zoom(0.2, this.timeAt(e.offsetX));
		});
		window.addEventListener('keydown', e => {
			this.space ||= e.key === ' ' && e.target === canvas;
		});
		window.addEventListener('keyup', e => {
			if (e.key === ' ')
				this.space = false;
		});
	}

	private timeAt(x: number): number {
		const { from, to } = state.view;
		return from + (x - GUTTER) / Math.max(this.wide - GUTTER, 1) * (to - from);
	}

	private xOf(ns: number): number {
		const { from, to } = state.view;
		return GUTTER + (ns - from) / (to - from) * (this.wide - GUTTER);
	}

	private rowAt(y: number): Row | undefined {
		const at = y - AXIS + this.scroll;
		return y < AXIS ? undefined : this.rows.find(r => at >= r.y && at < r.y + r.h);
	}

	// ---- hand ----
	private onWheel(e: WheelEvent): void {
		e.preventDefault();
		const by = e.deltaMode === 1 ? e.deltaY * 16 : e.deltaY;
		if (e.ctrlKey || e.metaKey)
			zoom(2 ** (by / 200), this.timeAt(e.offsetX));
		else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			pan((e.deltaX || by) / 1000);
		else
			this.scrollTo(this.scroll + by);
	}

	private scrollTo(y: number): void {
		this.scroll = Math.min(Math.max(y, 0), Math.max(this.height - this.tall + AXIS, 0));
		this.draw();
	}

	private onDown(e: PointerEvent): void {
		this.canvas.setPointerCapture(e.pointerId);
		this.canvas.focus();
		this.drag = {
			x0: e.offsetX, x1: e.offsetX, pans: e.button === 1 || this.space, zooms: e.altKey,
			from: state.view, y0: e.offsetY, scroll: this.scroll,
		};
		if (e.button === 1)
			e.preventDefault();
	}

	private onMove(e: PointerEvent): void {
		const d = this.drag;
		if (!d) {
			this.hover(e);
			return;
		}
		d.x1 = e.offsetX;
		if (d.pans) {
			const by = (d.x0 - d.x1) / Math.max(this.wide - GUTTER, 1) * (d.from.to - d.from.from);
			setView({ from: d.from.from + by, to: d.from.to + by }, false);
			this.scroll = d.scroll;
			this.scrollTo(d.scroll + d.y0 - e.offsetY);
		}
		this.draw();
	}

	private onUp(e: PointerEvent): void {
		const d = this.drag;
		this.drag = null;
		if (!d || d.pans)
			return;
		if (Math.abs(d.x1 - d.x0) < 4) {
			this.click(e.offsetX, e.offsetY);
			return;
		}
		const a = this.timeAt(Math.max(Math.min(d.x0, d.x1), GUTTER)), b = this.timeAt(Math.max(d.x0, d.x1));
		if (d.zooms)
			setView({ from: a, to: b });
		else
			set({ region: { from: Math.max(a, 0), to: b }, tab: state.tab === 'poll' || state.tab === 'task' ? 'summary' : state.tab,
				say: 'Selected ' + dur(b - a) });
	}

	private async click(x: number, y: number): Promise<void> {
		const row = this.rowAt(y);
		if (!row) {
			set({ region: null });
			return;
		}
		if (row.kind === 'runtime') {
			const folded = new Set(state.folded);
			if (!folded.delete(row.key))
				folded.add(row.key);
			set({ folded });
			return;
		}
		if (row.kind === 'task') {
			const at = this.timeAt(x), near = state.task?.polls.find(p => at >= p.start && at <= p.start + p.dur) ??
				state.task?.polls.find(p => p.start >= at);
			if (near)
				await selectPoll(near, false);
			return;
		}
		set({ lane: row.lane });
		const a = this.timeAt(x - 2), b = this.timeAt(x + 3);
		try {
			const at = await api.json<Record<string, Plane>>('at', { r: state.r, lane: row.lane, from: Math.max(a, 0), to: Math.max(b, a + 1) }, 'at');
			const worst = at.polls?.worst;
			if (worst)
				await openPoll({ row: worst.row }, false);
			else
				set({ say: at.parks?.max ? 'Parked for ' + dur(at.parks.max) : 'Nothing recorded here' });
		} catch (err) {
			if (!api.isAbort(err))
				set({ say: String(err) });
		}
	}

	private hideTip(): void {
		clearTimeout(this.hoverTimer);
		this.tip.hidden = true;
	}

	private hover(e: PointerEvent): void {
		const row = this.rowAt(e.offsetY), x = e.offsetX, y = e.offsetY;
		this.hideTip();
		if (!row || row.kind !== 'lane' || x < GUTTER)
			return;
		this.hoverTimer = window.setTimeout(async () => {
			const a = Math.max(this.timeAt(x - 1), 0), b = Math.max(this.timeAt(x + 1), a + 1);
			try {
				const at = await api.json<Record<string, Plane>>('at', { r: state.r, lane: row.lane, from: a, to: b }, 'hover');
				const p = at.polls, lines = [`${row.label}, ${moment(a, state.clock, BigInt(state.rec!.base), state.rec!.realtime ? BigInt(state.rec!.realtime) : null, b - a)}`];
				if (p?.worst)
					lines.push(`${p.count > 1 ? p.count + ' polls, longest' : 'poll'} ${dur(p.max)}${p.worst.ready !== null ? ', waited ' + dur(p.worst.start - p.worst.ready) : ''}`,
						`task ${p.worst.task ?? '?'} ${tail(p.worst.place || 'type unknown', 60)}`);
				if (at.parks?.max)
					lines.push('parked ' + dur(at.parks.max) + (at.delays?.max ? ', then ' + dur(at.delays.max) + ' without a CPU' : ''));
				if (at.offs?.max)
					lines.push('without CPU ' + dur(at.offs.max));
				if (at.queue?.max)
					lines.push('queue ' + at.queue.max);
				if (at.samples?.count)
					lines.push(at.samples.count + ' samples');
				this.tip.textContent = lines.join('\n');
				this.tip.hidden = false;
				this.tip.style.left = Math.min(x + 12, this.wide - 260) + 'px';
				this.tip.style.top = Math.min(y + 14, this.tall - 80) + 'px';
			} catch {
				/* the next move asks again */
			}
		}, 60);
	}

	// The keyboard's lane, moved and kept in sight.
	moveLane(by: 1 | -1): void {
		const lanes = this.rows.filter(r => r.kind === 'lane');
		if (!lanes.length)
			return;
		const at = lanes.findIndex(r => r.lane === state.lane);
		const row = lanes[Math.min(Math.max(at + by, 0), lanes.length - 1)];
		set({ lane: row.lane, say: row.label });
		if (row.y < this.scroll)
			this.scroll = row.y;
		if (row.y + row.h > this.scroll + this.tall - AXIS)
			this.scroll = row.y + row.h - this.tall + AXIS;
	}

	// ---- picture ----
	draw(): void {
		const rec = state.rec, ratio = window.devicePixelRatio || 1;
		this.wide = this.canvas.clientWidth;
		this.tall = this.canvas.clientHeight;
		const w = Math.round(this.wide * ratio), h = Math.round(this.tall * ratio);
		if (!rec || w < 200 || h < 40)
			return;
		if (this.canvas.width !== w || this.canvas.height !== h) {
			this.canvas.width = w;
			this.canvas.height = h;
		}
		const laid = layOut(rec, state.folded, state.task !== null);
		this.rows = laid.rows;
		this.height = laid.height;
		this.scroll = Math.min(this.scroll, Math.max(this.height - this.tall + AXIS, 0));
		const g = this.canvas.getContext('2d', { alpha: false });
		if (!g)
			return;
		g.setTransform(1, 0, 0, 1, 0, 0);
		g.fillStyle = colors.bg;
		g.fillRect(0, 0, w, h);
		this.drawCells(g, ratio);
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.font = '11px system-ui, "DejaVu Sans", sans-serif';
		g.textBaseline = 'middle';
		this.drawLabels(g);
		this.drawNames(g);
		this.drawTask(g);
		this.drawMarks(g);
		this.drawAxis(g);
		this.want();
		if (state.task)
			loadTask(state.task.id).catch(() => undefined);
	}

	private visible(): Row[] {
		return this.rows.filter(r => r.y + r.h > this.scroll && r.y < this.scroll + this.tall - AXIS);
	}

	private drawCells(g: CanvasRenderingContext2D, ratio: number): void {
		const c = this.cells;
		if (!c || !c.lanes.length)
			return;
		const width = Math.round((this.wide - GUTTER) * ratio), rows = this.visible().filter(r => r.kind === 'lane');
		const by = new Map(c.lanes.map(l => [l.lane, l]));
		const { from, to } = state.view, have = this.cellsOf;
		const same = from === have.from && to === have.to;
		for (const row of rows) {
			const cells = by.get(row.lane);
			if (!cells)
				continue;
			const tall = Math.round(row.h * ratio), image = new ImageData(c.px, tall);
			const px = new Uint32Array(image.data.buffer);
			paintLane(px, c.px, 0, 0, tall, cells, c.px, c.px, heatRamp, raw);
			const y = Math.round((AXIS + row.y - this.scroll) * ratio);
			if (same && c.px === width) {
				g.putImageData(image, Math.round(GUTTER * ratio), y);
				continue;
			}
			this.spare.width = c.px;
			this.spare.height = tall;
			this.spare.getContext('2d')?.putImageData(image, 0, 0);
			const scale = width / (to - from), x = Math.round(GUTTER * ratio);
			g.save();
			g.beginPath();
			g.rect(x, y, width, tall);
			g.clip();
			g.imageSmoothingEnabled = false;
			g.drawImage(this.spare, x + (have.from - from) * scale, y, (have.to - have.from) * scale, tall);
			g.restore();
		}
	}
	private readonly spare = document.createElement('canvas');

	private drawLabels(g: CanvasRenderingContext2D): void {
		g.fillStyle = colors.bg;
		g.fillRect(0, AXIS, GUTTER, this.tall);
		for (const row of this.visible()) {
			const y = AXIS + row.y - this.scroll;
			if (row.kind === 'runtime') {
				g.fillStyle = colors.bg;
				g.fillRect(0, y, this.wide, row.h);
				g.fillStyle = colors.dim;
				g.fillText((state.folded.has(row.key) ? '▸ ' : '▾ ') + row.label, 6, y + row.h / 2);
			} else {
				g.fillStyle = row.lane === state.lane && row.kind === 'lane' ? colors.accent : colors.text;
				g.fillText(row.kind === 'task' ? 'task ' + (state.task?.id ?? '') : row.label, 16, y + Math.min(row.h / 2, 12), GUTTER - 20);
				if (row.lane === state.lane && row.kind === 'lane')
					g.fillRect(0, y + 1, 3, row.h - 2);
			}
		}
	}

	private drawNames(g: CanvasRenderingContext2D): void {
		if (!this.names)
			return;
		g.save();
		g.beginPath();
		g.rect(GUTTER, AXIS, this.wide - GUTTER, this.tall);
		g.clip();
		const rows = new Map(this.visible().filter(r => r.kind === 'lane').map(r => [r.lane, r]));
		for (const p of this.names.polls) {
			const row = rows.get(p.lane), x = this.xOf(p.start), wide = this.xOf(p.start + p.dur) - x;
			if (!row || wide < 3)
				continue;
			const y = AXIS + row.y - this.scroll;
			if (state.place !== null && p.place === state.place) {
				g.strokeStyle = colors.pinned;
				g.strokeRect(x + 0.5, y + 4.5, wide - 1, row.h - 10);
			}
			if (wide > 46 && row.h > 18) {
				const text = tail(p.place || 'task ' + p.task, Math.floor(wide / 6.2));
				g.fillStyle = colors.bg;
				g.fillText(text, Math.max(x, GUTTER) + 4, y + row.h / 2 + 1);
				g.fillStyle = colors.select;
				g.fillText(text, Math.max(x, GUTTER) + 3, y + row.h / 2);
			}
		}
		g.restore();
	}

	// Polls of the task, and between them what each wait was: pending until woken, then ready.
	private drawTask(g: CanvasRenderingContext2D): void {
		const row = this.rows.find(r => r.kind === 'task'), task = state.task;
		if (!row || !task)
			return;
		const y = AXIS + row.y - this.scroll, top = y + 8, h = row.h - 16;
		g.save();
		g.beginPath();
		g.rect(GUTTER, Math.max(y, AXIS), this.wide - GUTTER, row.h);
		g.clip();
		let before = task.spawn ?? -1;
		const roomy = task.polls.length < (this.wide - GUTTER) / 12;
		for (const p of task.polls) {
			const x = this.xOf(p.start), wide = Math.max(this.xOf(p.start + p.dur) - x, 1);
			const ready = p.ready ?? p.start;
			if (before >= 0 && ready > before)
				this.wait(g, before, Math.min(ready, p.start), y + row.h / 2, h, colors.park, 'pending');
			if (p.ready !== null && p.start > p.ready)
				this.wait(g, Math.max(ready, before), p.start, y + row.h / 2, h, colors.warn, 'ready');
			const bytes = Math.min(255, p.dur > 0 ? 1 + Math.floor(8 * Math.log2(p.dur)) : 1);
			g.fillStyle = heatCss[bytes];
			g.fillRect(x, top, wide, h);
			if (wide > 40) {
				g.fillStyle = colors.select;
				g.fillText(dur(p.dur), x + 3, y + row.h / 2);
			}
			if (p.ready !== null && (roomy || wide > 6)) { // marks of wakes, where they do not hide the polls
				g.fillStyle = colors.accent;
				g.fillRect(this.xOf(p.ready) - 0.5, y + 2, 1.5, row.h - 4);
			}
			before = p.start + p.dur;
		}
		g.restore();
	}

	private wait(g: CanvasRenderingContext2D, from: number, to: number, y: number, h: number, color: string, word: string): void {
		const x = this.xOf(from), end = this.xOf(to);
		if (end - x < 1 || end < GUTTER || x > this.wide)
			return;
		g.fillStyle = color;
		g.fillRect(x, y - (word === 'ready' ? h / 4 : 1.5), end - x, word === 'ready' ? h / 2 : 3);
		const left = Math.max(x, GUTTER), right = Math.min(end, this.wide);
		const text = word + ' ' + dur(to - from);
		if (right - left > g.measureText(text).width + 8) {
			g.fillStyle = word === 'ready' ? colors.bg : colors.text;
			g.fillText(text, (left + right) / 2 - g.measureText(text).width / 2, y - (word === 'ready' ? 0 : 9));
		}
	}

	private drawMarks(g: CanvasRenderingContext2D): void {
		const shade = (s: Span, color: string) => {
			const a = Math.max(this.xOf(s.from), GUTTER), b = Math.min(this.xOf(s.to), this.wide);
			if (b <= a)
				return;
			g.globalAlpha = 0.16;
			g.fillStyle = color;
			g.fillRect(a, AXIS, b - a, this.tall);
			g.globalAlpha = 1;
			g.fillRect(a, AXIS, 1, this.tall);
			g.fillRect(b - 1, AXIS, 1, this.tall);
		};
		if (state.region)
			shade(state.region, colors.accent);
		const d = this.drag;
		if (d && !d.pans && Math.abs(d.x1 - d.x0) >= 4)
			shade({ from: this.timeAt(Math.min(d.x0, d.x1)), to: this.timeAt(Math.max(d.x0, d.x1)) }, d.zooms ? colors.warn : colors.accent);
		const p = state.poll?.poll, row = p && this.rows.find(r => r.kind === 'lane' && r.lane === p.lane);
		g.save();
		g.beginPath();
		g.rect(GUTTER, AXIS, this.wide - GUTTER, this.tall);
		g.clip();
		if (p && row) {
			const x = this.xOf(p.start), y = AXIS + row.y - this.scroll;
			g.strokeStyle = colors.select;
			g.lineWidth = 2;
			g.strokeRect(x - 1, y + 1, Math.max(this.xOf(p.start + p.dur) - x, 2) + 2, row.h - 2);
			g.lineWidth = 1;
			if (p.ready !== null && p.ready < p.start) {
				g.fillStyle = colors.warn;
				g.fillRect(this.xOf(p.ready), y + row.h - 3, x - this.xOf(p.ready), 3);
			}
		}
		if (state.arrows && state.wakes)
			this.drawWakes(g);
		g.restore();
	}

	private mid(lane: number): number | null {
		const row = this.rows.find(r => r.kind === 'lane' && r.lane === lane);
		return row ? AXIS + row.y - this.scroll + row.h / 2 : null;
	}

	private arrow(g: CanvasRenderingContext2D, t0: number, lane0: number, t1: number, lane1: number): void {
		const y0 = this.mid(lane0), y1 = this.mid(lane1);
		if (y0 === null || y1 === null)
			return;
		const x0 = this.xOf(t0), x1 = this.xOf(t1), bend = Math.max(Math.abs(x1 - x0) / 2, 14);
		g.beginPath();
		g.moveTo(x0, y0);
		g.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
		g.moveTo(x1 - 6, y1 - 4);
		g.lineTo(x1, y1);
		g.lineTo(x1 - 6, y1 + 4);
		g.stroke();
	}

	private drawWakes(g: CanvasRenderingContext2D): void {
		const p = state.poll?.poll, w = state.wakes;
		if (!p || !w)
			return;
		g.strokeStyle = colors.accent;
		if (w.by)
			this.arrow(g, w.by.ts, w.by.lane, p.start, p.lane);
		g.strokeStyle = colors.queue;
		for (const i of w.issued)
			if (i.to)
				this.arrow(g, i.ts, p.lane, i.to.start, i.to.lane);
	}

	private drawAxis(g: CanvasRenderingContext2D): void {
		const { from, to } = state.view, rec = state.rec!;
		g.fillStyle = colors.bg;
		g.fillRect(0, 0, this.wide, AXIS);
		g.strokeStyle = colors.line;
		const step = tickStep(to - from, Math.max((this.wide - GUTTER) / 130, 2));
		const real = rec.realtime ? BigInt(rec.realtime) : null;
		g.fillStyle = colors.dim;
		for (let t = Math.ceil(from / step) * step; t < to; t += step) {
			const x = Math.round(this.xOf(t)) + 0.5;
			g.beginPath();
			g.moveTo(x, AXIS - 5);
			g.lineTo(x, AXIS);
			g.stroke();
			g.globalAlpha = 0.25;
			g.beginPath();
			g.moveTo(x, AXIS);
			g.lineTo(x, this.tall);
			g.stroke();
			g.globalAlpha = 1;
			g.fillText(moment(t, state.clock, BigInt(rec.base), real, step), x + 4, AXIS / 2);
		}
		g.fillText(dur(to - from), 6, AXIS / 2);
		g.beginPath();
		g.moveTo(0, AXIS - 0.5);
		g.lineTo(this.wide, AXIS - 0.5);
		g.stroke();
	}

	// ---- data ----
	private want(): void {
		const rec = state.rec!, { from, to } = state.view;
		const lanes = this.visible().filter(r => r.kind === 'lane').map(r => r.lane).slice(0, 256);
		const px = Math.min(Math.round((this.wide - GUTTER) * (window.devicePixelRatio || 1)), 4096);
		const key = [state.r, rec.generation, from, to, px, lanes.join()].join();
		if (key === this.asked || !lanes.length)
			return;
		this.asked = key;
		const args = { r: state.r, from, to, px, lanes: lanes.join() };
		api.cells('cells', args, 'cells').then(c => {
			this.cells = c;
			this.cellsOf = { from, to };
			const polls = c.lanes.reduce((n, l) => n + l.polls, 0);
			this.draw();
			if (polls > ROWS_AT_MOST)
				this.names = null;
			else if (this.namesOf !== key)
				api.json<{ polls: Poll[]; capped: boolean }>('rows', { r: state.r, from, to, lanes: lanes.join() }, 'rows').then(names => {
					this.names = names;
					this.namesOf = key;
					this.draw();
				}, () => undefined);
		}, (e: unknown) => {
			if (this.asked === key && !api.isAbort(e))
				this.asked = '';
			if (!api.isAbort(e))
				set({ say: e instanceof Error ? e.message : String(e) });
		});
	}
}
