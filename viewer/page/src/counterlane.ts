// SPDX-License-Identifier: Apache-2.0
// Numbers over time below the workers: tasks alive and the queue of a runtime, any field of an event.
import * as api from './api';
import type { Series } from './api';
import { POOL, type Row } from './rows';
import { GUTTER, scaleOf } from './scale';
import { state, type Span } from './state';
import { colors } from './theme';
import type { Picture } from './timeline';
import { count } from './units';

interface Held { asked: string; of: Span; series: Series[] }
const held = new Map<string, Held>(); // one entry a row that was shown; rows are few

export function wantCounter(row: Row, px: number, done: () => void): void {
	const name = row.kind + row.key, own = held.get(name) ?? { asked: '', of: state.view, series: [] };
	const asked = [state.r, state.rec?.generation, state.view.from, state.view.to, px].join();
	held.set(name, own);
	if (own.asked === asked)
		return;
	own.asked = asked;
	const of = { ...state.view }, [schema, field] = row.key.split(',').map(Number);
	const answer = row.key === POOL ? api.json<{ work: Series; queued: Series }>('pool', { r: state.r, ...of, px }, name).then(a => [a.work, a.queued]) : row.kind === 'count'
		? api.json<{ depth: Series; alive: Series }>('queues', { r: state.r, runtime: row.key || undefined, ...of, px }, name).then(a => [a.alive, a.depth])
		: api.json<{ values: Series }>('records', { r: state.r, schema, field, ...of, px }, name).then(a => [a.values]);
	answer.then(series => {
		Object.assign(own, { of, series });
		done();
	}, () => undefined); // another view is asked for soon; the panel Charts says what is wrong
}

function plot(p: Picture, row: Row, own: Held, s: Series, color: string, isArea: boolean): number {
	const { g } = p, top = p.y(row) + 3, base = p.y(row) + row.h - 4;
	let most = 1;
	for (const v of s.most)
		most = Math.max(most, v ?? 0);
	const y = (v: number) => base - Math.max(v, 0) / most * (base - top), there = scaleOf(own.of, p.wide);
	const xOf = (i: number) => p.scale.x(there.t(GUTTER + i / s.most.length * (p.wide - GUTTER)));
	let before: number | null = null; // a value holds until the next one is said
	g.fillStyle = color;
	s.most.forEach((m, i) => {
		const l = s.least[i], a = xOf(i), wide = Math.max(xOf(i + 1) - a, 1), high = m === null ? before : y(m);
		if (high === null)
			return;
		if (isArea) {
			g.globalAlpha = 0.28;
			g.fillRect(a, high, wide, base - high);
			g.globalAlpha = 1;
		}
		g.fillRect(a, high, wide, m === null || l === null ? 1.5 : Math.max(y(l) - high, 1.5));
		if (m !== null && l !== null)
			before = y(l);
	});
	return most;
}

export function drawCounter(p: Picture, row: Row): void {
	const own = held.get(row.kind + row.key), { g } = p, y = p.y(row);
	g.fillStyle = colors.lane;
	g.fillRect(GUTTER, y, p.wide, row.h - 1);
	if (!own?.series.length)
		return;
	const label = (text: string, at: number, color: string) => { // at the right end, on a ground that it can be read on
		const wide = g.measureText(text).width;
		g.fillStyle = colors.lane;
		g.globalAlpha = 0.8;
		g.fillRect(p.wide - wide - 10, at - 7, wide + 8, 14);
		g.globalAlpha = 1;
		g.fillStyle = color;
		g.fillText(text, p.wide - wide - 6, at);
	};
	if (row.kind === 'field') {
		const most = plot(p, row, own, own.series[0], colors.accent, false);
		label(own.series[0].count ? 'to ' + count(most) : 'nothing in view', y + 10, colors.accent);
		return;
	}
	const [alive, depth] = own.series;
	const tasks = plot(p, row, own, alive, colors.accent, true), queue = plot(p, row, own, depth, colors.queue, false);
	const pool = row.key === POOL;
	label(pool ? `to ${count(tasks)} at work` : alive.count ? `to ${count(tasks)} tasks alive` : 'tasks alive: not recorded', y + 9, colors.accent);
	if (depth.count)
		label(`to ${count(queue)} in ${pool ? 'its' : 'the global'} queue`, y + 24, colors.queue);
}
