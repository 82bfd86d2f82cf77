// SPDX-License-Identifier: Apache-2.0
// The lane of one task: its polls, and between them what each wait was and how long: pending until
// a wake (thin line), then ready until a worker took it (hatched bar).
import { drawBlanks, isUnknown } from './levels';
import type { Row } from './rows';
import { GUTTER } from './scale';
import { state } from './state';
import { colors, heatCss } from './theme';
import type { Picture } from './timeline';
import { dur } from './units';

function centred(p: Picture, from: number, to: number, y: number, text: string, color: string): void {
	const left = Math.max(from, GUTTER), right = Math.min(to, p.wide), wide = p.g.measureText(text).width;
	if (right - left < wide + 10)
		return;
	p.g.fillStyle = color;
	p.g.fillText(text, (left + right - wide) / 2, y);
}

export function drawTask(p: Picture, row: Row): void {
	const task = state.tasks.get(row.key), { g, scale } = p, y = p.y(row), top = y + 13, h = row.h - 19, mid = top + h / 2;
	g.fillStyle = colors.lane;
	g.fillRect(GUTTER, y, p.wide, row.h - 1);
	drawBlanks(g, ns => scale.x(ns), y, row.h - 1, p.wide);
	if (!task)
		return;
	if (task.spawn !== null) {
		g.fillStyle = colors.queue;
		g.fillRect(scale.x(task.spawn) - 1, y + 2, 2, row.h - 5);
	}
	if (task.end !== null) {
		g.fillStyle = colors.bad;
		g.fillRect(scale.x(task.end) - 1, y + 2, 2, row.h - 5);
	}
	const roomy = task.polls.length < (p.wide - GUTTER) / 12, selected = state.poll?.poll.row;
	let before = task.spawn ?? -1;
	for (const poll of task.polls) {
		const x = scale.x(poll.start), wide = Math.max(scale.x(poll.start + poll.dur) - x, 1);
		const ready = poll.ready === null ? null : Math.min(poll.ready, poll.start), left = scale.x(before);
		if (before >= 0 && (ready ?? poll.start) > before) { // not ready before it was woken
			const right = scale.x(ready ?? poll.start);
			const unknown = isUnknown(task.place, before, ready ?? poll.start);
			g.fillStyle = colors.dim;
			if (!unknown)
				g.fillRect(left, mid - 0.5, right - left, 1);
			centred(p, left, right, y + 7, (unknown ? 'not recorded ' : ready === null ? 'waits ' : 'pending ') + dur((ready ?? poll.start) - before), colors.dim);
		}
		if (ready !== null && poll.start > ready) {
			const from = scale.x(Math.max(ready, before)), to = x;
			g.fillStyle = colors.ready;
			g.fillRect(from, mid - h / 4, Math.max(to - from, 0.5), h / 2);
			centred(p, from, to, y + 7, 'ready ' + dur(poll.start - Math.max(ready, before)), colors.warn);
		}
		g.fillStyle = heatCss[Math.min(255, poll.dur > 0 ? 1 + Math.floor(8 * Math.log2(poll.dur)) : 1)];
		g.fillRect(x, top, wide, h);
		if (poll.off > 0 && wide > 6) { // a part of it without a CPU, as much as it was; where: tab Poll
			g.fillStyle = colors.blocked;
			g.fillRect(x, top + h - 4, Math.max(wide * Math.min(poll.off / Math.max(poll.dur, 1), 1), 1), 4);
		}
		centred(p, x, x + wide, mid, dur(poll.dur), colors.ink);
		if (ready !== null && roomy) { // the wake
			g.fillStyle = colors.accent;
			g.fillRect(scale.x(ready) - 0.75, top - 3, 1.5, h + 6);
		}
		if (poll.row === selected) {
			g.strokeStyle = colors.select;
			g.strokeRect(x - 0.5, top - 0.5, wide + 1, h + 1);
		}
		before = Math.max(before, poll.start + poll.dur);
	}
}
