// SPDX-License-Identifier: Apache-2.0
// The lanes: one canvas. Cells of what is visible are asked for as the view moves; the old picture
// is stretched meanwhile, so that nothing ever goes grey.
import * as api from './api';
import type { Cells, Poll } from './api';
import { drawArrows, drawSelection, drawShade } from './arrows';
import { drawAxis } from './axis';
import { drawCounter, wantCounter } from './counterlane';
import { drawGutter } from './gutter';
import { drawBlanks, drawLevels, varies } from './levels';
import { Hand } from './hand';
import { drawBusy, wantBusy } from './busy';
import { drawGlimpses, paintAway, wantGlimpses } from './glimpses';
import { drawParked, wantParked } from './parked';
import { layOut, type Row } from './rows';
import { paintLane } from './raster';
import { GUTTER, scaleOf, type Scale } from './scale';
import { laneTasks, set, state, type Span } from './state';
import { loadTaskLanes } from './taskdata';
import { drawTask } from './tasklane';
import { canvasFont, colors, heatRamp, raw } from './theme';
import { brief, tail } from './units';

export const AXIS = 22;
const ROWS_AT_MOST = 1500; // polls that are drawn one by one with their names

// What a part of the picture is drawn with: y of a row on the canvas, clipping, the scale.
export interface Picture { g: CanvasRenderingContext2D; scale: Scale; wide: number; tall: number; rows: Row[]; y: (row: Row) => number }

export class Timeline {
	private cells: Cells | null = null;
	private cellsOf: Span = { from: 0, to: 1 };
	private names: Poll[] = [];
	private namesOf = '';
	private asked = '';
	private wide = 1;
	private tall = 1;
	private scroll = 0;
	private rows: Row[] = [];
	private height = 0;
	private readonly spare = document.createElement('canvas');
	private readonly hand: Hand;

	constructor(private readonly canvas: HTMLCanvasElement, tip: HTMLElement, hair: HTMLElement) {
		new ResizeObserver(() => this.draw()).observe(canvas);
		this.hand = new Hand(canvas, tip, hair, {
			scale: () => this.scale(),
			rowAt: y => this.rowAt(y),
			scrollBy: by => this.scrollTo(this.scroll + by),
			draw: () => this.draw(),
		});
	}

	private scale(): Scale {
		return scaleOf(state.view, this.wide);
	}

	private rowAt(y: number): Row | undefined {
		const at = y - AXIS + this.scroll;
		return y < AXIS ? undefined : this.rows.find(r => at >= r.y && at < r.y + r.h);
	}

	private scrollTo(y: number): void {
		this.scroll = Math.min(Math.max(y, 0), Math.max(this.height - this.tall + AXIS, 0));
		this.draw();
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
		const laid = layOut(rec, { folded: state.folded, tasks: laneTasks(), charts: state.charts, levels: varies(state.levels), room: this.tall - AXIS - 4 });
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
		g.font = canvasFont;
		g.textBaseline = 'middle';
		const pic: Picture = { g, scale: this.scale(), wide: this.wide, tall: this.tall, rows: this.visible(), y: row => AXIS + row.y - this.scroll };
		drawGutter(pic, this.cells);
		g.save();
		g.beginPath();
		g.rect(GUTTER, AXIS, this.wide - GUTTER, this.tall);
		g.clip();
		for (const row of pic.rows)
			if (row.kind === 'lane')
				drawBlanks(g, ns => pic.scale.x(ns), pic.y(row), row.h - 1, pic.wide);
		this.drawAway(g, ratio);
		drawParked(pic);
		this.drawNames(pic);
		for (const row of pic.rows) {
			if (row.kind === 'level')
				drawLevels(pic, row);
			if (row.kind === 'task')
				drawTask(pic, row);
			if (row.kind === 'count' || row.kind === 'field')
				drawCounter(pic, row);
		}
		drawBusy(pic); // in the lanes of workers, and of their tasks
		drawGlimpses(pic);
		drawSelection(pic);
		drawArrows(pic, this.rows);
		for (const [span, color] of this.hand.shades())
			drawShade(pic, span, color);
		g.restore();
		drawAxis(pic);
		this.want();
		loadTaskLanes();
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
			paintLane(cells, { px: new Uint32Array(image.data.buffer), wide: c.px, tall, cellNs: (have.to - have.from) / c.px, ramp: heatRamp, k: raw });
			const x = Math.round(GUTTER * ratio), y = Math.round((AXIS + row.y - this.scroll) * ratio);
			if (same && c.px === width) {
				g.putImageData(image, x, y);
				continue;
			}
			this.spare.width = c.px;
			this.spare.height = tall;
			this.spare.getContext('2d')?.putImageData(image, 0, 0);
			const scale = width / (to - from);
			g.save();
			g.beginPath();
			g.rect(x, y, width, tall);
			g.clip();
			g.imageSmoothingEnabled = false;
			g.drawImage(this.spare, x + (have.from - from) * scale, y, (have.to - have.from) * scale, tall);
			g.restore();
		}
	}

	// Over the hatching: what is known where polls are not.
	private drawAway(g: CanvasRenderingContext2D, ratio: number): void {
		const c = this.cells, { from, to } = state.view, have = this.cellsOf;
		if (!c || !state.blanks.some(b => b.from < to && b.to > from))
			return;
		const by = new Map(c.lanes.map(l => [l.lane, l])), scale = (this.wide - GUTTER) / (to - from);
		for (const row of this.visible().filter(r => r.kind === 'lane')) {
			const cells = by.get(row.lane), tall = Math.round(row.h * ratio);
			if (!cells)
				continue;
			const image = new ImageData(c.px, tall);
			if (!paintAway(cells, { px: new Uint32Array(image.data.buffer), wide: c.px, tall, k: raw }))
				continue;
			this.spare.width = c.px;
			this.spare.height = tall;
			this.spare.getContext('2d')?.putImageData(image, 0, 0);
			g.imageSmoothingEnabled = false;
			g.drawImage(this.spare, GUTTER + (have.from - from) * scale, AXIS + row.y - this.scroll, (have.to - have.from) * scale, row.h);
		}
	}

	private drawNames(p: Picture): void {
		const { g, scale } = p, rows = new Map(p.rows.filter(r => r.kind === 'lane').map(r => [r.lane, r]));
		for (const poll of this.names) {
			const row = rows.get(poll.lane), x = scale.x(poll.start), wide = scale.x(poll.start + poll.dur) - x;
			if (!row || wide < 3 || x > p.wide)
				continue;
			const y = p.y(row);
			if (state.place !== null && poll.place === state.place) {
				g.strokeStyle = colors.pinned;
				g.strokeRect(x + 0.5, y + 5.5, wide - 1, row.h - 12);
			}
			const left = Math.max(x, GUTTER), room = x + wide - left;
			if (room > 46 && row.h > 18) {
				const text = tail(poll.place ? brief(poll.place) : 'task ' + poll.task, Math.floor((room - 8) / 6));
				g.fillStyle = colors.ink; // the ramp is bright enough for it in every theme
				g.fillText(text, left + 5, y + row.h / 2, room - 8);
			}
		}
	}

	private want(): void {
		const rec = state.rec!, { from, to } = state.view;
		const lanes = this.visible().filter(r => r.kind === 'lane').map(r => r.lane).slice(0, 256);
		const px = Math.min(Math.round((this.wide - GUTTER) * (window.devicePixelRatio || 1)), 4096);
		for (const row of this.visible())
			if (row.kind === 'count' || row.kind === 'field')
				wantCounter(row, Math.min(px, 1000), () => this.draw());
		wantParked(() => this.draw());
		wantGlimpses(() => this.draw());
		wantBusy(() => this.draw());
		const key = [state.r, rec.generation, from, to, px, lanes.join()].join();
		if (key === this.asked || !lanes.length)
			return;
		this.asked = key;
		const args = { r: state.r, from, to, px, lanes: lanes.join() };
		api.cells('cells', args, 'cells').then(async c => {
			this.cells = c;
			this.cellsOf = { from, to };
			const polls = c.lanes.reduce((n, l) => n + l.polls, 0);
			this.draw();
			if (polls > ROWS_AT_MOST) {
				this.names = [];
			} else if (this.namesOf !== key) {
				this.names = (await api.json<{ polls: Poll[] }>('rows', { r: state.r, from, to, lanes: lanes.join() }, 'rows')).polls;
				this.namesOf = key;
				this.draw();
			}
		}).catch((e: unknown) => {
			if (api.isAbort(e))
				return;
			if (this.asked === key)
				this.asked = '';
			set({ say: e instanceof Error ? e.message : String(e) });
		});
	}
}
