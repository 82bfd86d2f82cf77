// SPDX-License-Identifier: Apache-2.0
// The pointer on the lanes: wheel, drags, clicks, and what it points at.
import * as api from './api';
import type { Plane } from './api';
import { openBusy, openPoll, openTask, selectPoll } from './actions';
import { busyAt, busyLines } from './busy';
import { glimpseAt, glimpseLines, openGlimpse } from './glimpses';
import { inWords, lacks } from './levels';
import { parkedAt } from './parked';
import type { Row } from './rows';
import { GUTTER, type Scale } from './scale';
import { baseNs, pan, realNs, set, setView, state, zoom, type Span } from './state';
import { colors } from './theme';
import { dur, moment, tail } from './units';

interface Drag { x0: number; x1: number; y: number; pans: boolean; zooms: boolean; from: Span }
export interface Lanes { scale: () => Scale; rowAt: (y: number) => Row | undefined; scrollBy: (by: number) => void; draw: () => void }

export class Hand {
	private drag: Drag | null = null;
	private space = false;
	private timer = 0;

	constructor(private readonly canvas: HTMLCanvasElement, private readonly tip: HTMLElement, private readonly hair: HTMLElement, private readonly lanes: Lanes) {
		canvas.addEventListener('wheel', e => this.onWheel(e), { passive: false });
		canvas.addEventListener('pointerdown', e => this.onDown(e));
		canvas.addEventListener('pointermove', e => this.onMove(e));
		canvas.addEventListener('pointerup', e => this.onUp(e));
		canvas.addEventListener('pointerleave', () => {
			this.hideTip();
			hair.hidden = true;
		});
		canvas.addEventListener('dblclick', e => {
			e.preventDefault();
			zoom(0.2, lanes.scale().t(e.offsetX));
		});
		window.addEventListener('keydown', e => {
			this.space ||= e.key === ' ' && e.target === canvas;
		});
		window.addEventListener('keyup', e => {
			if (e.key === ' ')
				this.space = false;
		});
	}

	// What is to be shaded: the range, and the one that is being drawn.
	shades(): [Span, string][] {
		const out: [Span, string][] = state.region ? [[state.region, colors.accent]] : [], d = this.drag;
		if (d && !d.pans && Math.abs(d.x1 - d.x0) >= 4)
			out.push([this.spanOf(d), d.zooms ? colors.warn : colors.accent]);
		return out;
	}

	private spanOf(d: Drag): Span {
		const s = this.lanes.scale();
		return { from: Math.max(s.t(Math.max(Math.min(d.x0, d.x1), GUTTER)), 0), to: s.t(Math.max(d.x0, d.x1)) };
	}

	private onWheel(e: WheelEvent): void {
		e.preventDefault();
		const by = e.deltaMode === 1 ? e.deltaY * 16 : e.deltaY;
		if (e.ctrlKey || e.metaKey)
			zoom(2 ** (by / 200), this.lanes.scale().t(e.offsetX));
		else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			pan((e.deltaX || by) / 1000);
		else
			this.lanes.scrollBy(by);
	}

	private onDown(e: PointerEvent): void {
		this.canvas.setPointerCapture(e.pointerId);
		this.canvas.focus();
		this.hideTip();
		this.drag = { x0: e.offsetX, x1: e.offsetX, y: e.offsetY, pans: e.button === 1 || this.space, zooms: e.altKey, from: state.view };
		if (e.button === 1)
			e.preventDefault();
	}

	private onMove(e: PointerEvent): void {
		const d = this.drag;
		this.hair.hidden = e.offsetX < GUTTER;
		this.hair.style.transform = `translateX(${Math.round(e.offsetX)}px)`;
		if (!d) {
			this.hover(e.offsetX, e.offsetY);
			return;
		}
		d.x1 = e.offsetX;
		if (d.pans) {
			const by = (d.x0 - d.x1) / Math.max(this.canvas.clientWidth - GUTTER, 1) * (d.from.to - d.from.from);
			setView({ from: d.from.from + by, to: d.from.to + by }, false);
			this.lanes.scrollBy(d.y - e.offsetY);
			d.y = e.offsetY;
		}
		this.lanes.draw();
	}

	private onUp(e: PointerEvent): void {
		const d = this.drag;
		this.drag = null;
		if (!d || d.pans)
			return;
		if (Math.abs(d.x1 - d.x0) < 4) {
			void this.click(e.offsetX, e.offsetY);
			return;
		}
		const span = this.spanOf(d);
		if (d.zooms)
			setView(span);
		else
			set({ region: span, tab: 'summary', say: 'Selected ' + dur(span.to - span.from) });
	}

	private async click(x: number, y: number): Promise<void> {
		const row = this.lanes.rowAt(y), scale = this.lanes.scale();
		if (!row) {
			set({ region: null });
			return;
		}
		if (row.kind === 'head') {
			const folded = new Set(state.folded);
			if (!folded.delete(row.key))
				folded.add(row.key);
			set({ folded });
			return;
		}
		if (row.kind === 'task') {
			const polls = state.tasks.get(row.key)?.polls ?? [], at = scale.t(x), near = x < GUTTER ? undefined :
				polls.find(p => at >= p.start && at <= p.start + p.dur) ?? polls.find(p => p.start >= at);
			await (near ? selectPoll(near, false) : openTask(row.key));
			return;
		}
		if (row.kind === 'level') {
			set({ dock: 'table', dockOpen: true });
			return;
		}
		if (row.kind !== 'lane') {
			set({ dock: 'charts', dockOpen: true });
			return;
		}
		set({ lane: row.lane });
		if (x < GUTTER)
			return;
		const a = Math.max(scale.t(x - 2), 0), b = scale.t(x + 3);
		try {
			const at = await api.json<Record<string, Plane>>('at', { r: state.r, lane: row.lane, from: a, to: Math.max(b, a + 1) }, 'at');
			const worst = at.polls?.worst;
			const seen = glimpseAt(row.lane, { from: a, to: b }), run = busyAt(row.lane, { from: a, to: b });
			if (worst)
				await openPoll({ row: worst.row }, false);
			else if (seen)
				openGlimpse(seen);
			else if (run)
				await openBusy(run);
			else
				set({ poll: null, wakes: null, say: at.parks?.max ? 'Parked for ' + dur(at.parks.max) : lacks(a, b)[0] ?? 'Nothing happened here' });
		} catch (err) {
			if (!api.isAbort(err))
				set({ say: String(err) });
		}
	}

	private hideTip(): void {
		clearTimeout(this.timer);
		this.tip.hidden = true;
	}

	private hover(x: number, y: number): void {
		const row = this.lanes.rowAt(y), scale = this.lanes.scale();
		this.hideTip();
		this.canvas.style.cursor = x < GUTTER || row?.kind === 'head' ? 'pointer' : 'crosshair';
		const span = { from: Math.max(scale.t(x - 1), 0), to: Math.max(scale.t(x + 1), 1) };
		if (row?.kind === 'level' && x >= GUTTER) {
			const own = state.levels?.spans.filter(s => s.from < span.to && s.to > span.from) ?? [];
			this.show(x, y, [`recorded at ${moment(span.from, state.clock, baseNs(), realNs(), span.to - span.from)}`, ...own.slice(0, 2).map(inWords), ...lacks(span.from, span.to)]);
		}
		if (!row || row.kind !== 'lane' || x < GUTTER)
			return;
		this.timer = window.setTimeout(async () => {
			const a = span.from, b = Math.max(span.to, a + 1);
			try {
				const at = await api.json<Record<string, Plane>>('at', { r: state.r, lane: row.lane, from: a, to: b }, 'hover');
				this.show(x, y, [`${row.label} at ${moment(a, state.clock, baseNs(), realNs(), b - a)}`, ...describe(at, [...glimpseLines(row.lane, { from: a, to: b }), ...busyLines(row.lane, { from: a, to: b }), ...parkedAt(row.lane, { from: a, to: b }), ...lacks(a, b)])]);
			} catch {
				/* the next move asks again */
			}
		}, 60);
	}

	private show(x: number, y: number, lines: string[]): void {
		const { tip } = this;
		tip.textContent = lines.join('\n');
		tip.hidden = false;
		tip.style.left = (x + 14 + tip.offsetWidth > this.canvas.clientWidth ? x - 10 - tip.offsetWidth : x + 14) + 'px';
		tip.style.top = (y + 16 + tip.offsetHeight > this.canvas.clientHeight ? y - 8 - tip.offsetHeight : y + 16) + 'px';
	}
}

function describe(at: Record<string, Plane>, missing: string[]): string[] {
	const p = at.polls, lines: string[] = [];
	if (p?.worst) {
		lines.push((p.count > 1 ? `${p.count} polls, the longest ` : 'poll ') + dur(p.max) +
			(p.worst.ready !== null ? ', waited ' + dur(p.worst.start - p.worst.ready) : ''));
		lines.push(`task ${p.worst.task ?? '?'} ${tail(p.worst.place || 'type unknown', 60)}`);
	}
	if (at.parks?.max)
		lines.push('parked ' + dur(at.parks.max) + (at.delays?.max ? ', then ' + dur(at.delays.max) + ' without a CPU' : ''));
	if (at.offs?.max)
		lines.push('without CPU ' + dur(at.offs.max));
	if (at.queue?.max)
		lines.push('queue ' + at.queue.max);
	if (at.samples?.count)
		lines.push(at.samples.count + (at.samples.count === 1 ? ' sample' : ' samples'));
	lines.push(...missing);
	return lines.length ? lines : ['nothing happened here'];
}
