// SPDX-License-Identifier: Apache-2.0
// What is selected: the poll and its wait, the wake that led to it, those it issued, the range.
import type { Row } from './rows';
import { state, type Span } from './state';
import { colors } from './theme';
import { AXIS, type Picture } from './timeline';

export function drawShade(p: Picture, s: Span, color: string): void {
	const { g } = p, a = p.scale.x(s.from), b = p.scale.x(s.to);
	g.fillStyle = color;
	g.globalAlpha = 0.15;
	g.fillRect(a, AXIS, b - a, p.tall);
	g.globalAlpha = 1;
	g.fillRect(a, AXIS, 1, p.tall);
	g.fillRect(b - 1, AXIS, 1, p.tall);
}

export function drawSelection(p: Picture): void {
	if (state.eventAt >= 0) { // a chosen event of another kind
		const at = Math.round(p.scale.x(state.eventAt));
		p.g.fillStyle = colors.select;
		p.g.fillRect(at, AXIS, 1, p.tall);
		p.g.fillRect(at - 3, AXIS, 7, 4);
	}
	const poll = state.poll?.poll, row = poll && p.rows.find(r => r.kind === 'lane' && r.lane === poll.lane);
	if (!poll || !row)
		return;
	const { g, scale } = p, x = scale.x(poll.start), y = p.y(row), wide = Math.max(scale.x(poll.start + poll.dur) - x, 2);
	if (poll.ready !== null && poll.ready < poll.start) { // the wait that led to it
		g.fillStyle = colors.ready;
		g.fillRect(scale.x(poll.ready), y + row.h - 4, x - scale.x(poll.ready), 3);
	}
	g.strokeStyle = colors.bg;
	g.lineWidth = 4;
	g.strokeRect(x - 1, y + 1, wide + 2, row.h - 3);
	g.strokeStyle = colors.select;
	g.lineWidth = 2;
	g.strokeRect(x - 1, y + 1, wide + 2, row.h - 3);
	g.lineWidth = 1;
}

interface End { t: number; lane: number }

function arrow(p: Picture, rows: Row[], from: End, to: End): void {
	const { g, scale } = p, mid = (lane: number) => {
		const row = rows.find(r => r.kind === 'lane' && r.lane === lane);
		return row ? p.y(row) + row.h / 2 : null;
	};
	const y0 = mid(from.lane), y1 = mid(to.lane);
	if (y0 === null || y1 === null)
		return;
	const x0 = scale.x(from.t), x1 = scale.x(to.t), bend = Math.max(Math.abs(x1 - x0) / 2, 14);
	for (const [width, color] of [[4, colors.bg], [1.6, g.strokeStyle]] as const) {
		const own = g.strokeStyle;
		g.strokeStyle = color;
		g.lineWidth = width;
		g.beginPath();
		g.moveTo(x0, y0);
		g.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
		g.moveTo(x1 - 7, y1 - 4);
		g.lineTo(x1, y1);
		g.lineTo(x1 - 7, y1 + 4);
		g.stroke();
		g.strokeStyle = own;
	}
	g.lineWidth = 1;
}

export function drawArrows(p: Picture, rows: Row[]): void {
	const poll = state.poll?.poll, w = state.wakes;
	if (!state.arrows || !poll || !w)
		return;
	p.g.strokeStyle = colors.select;
	if (w.by)
		arrow(p, rows, { t: w.by.ts, lane: w.by.lane }, { t: poll.start, lane: poll.lane });
	p.g.strokeStyle = colors.queue;
	for (const i of w.issued)
		if (i.to)
			arrow(p, rows, { t: i.ts, lane: poll.lane }, { t: i.to.start, lane: i.to.lane });
}
