// SPDX-License-Identifier: Apache-2.0
// Which rows the timeline has, and where: a pure function of the recording and what is wanted.
import type { Lane, Recording } from './api';

export type RowKind = 'head' | 'level' | 'lane' | 'task' | 'count' | 'field';
export interface Row { kind: RowKind; y: number; h: number; lane: number; label: string; key: string }

export function laneName(l: Lane): string {
	if (l.kind === 'worker')
		return 'worker ' + l.id;
	return l.kind === 'nested' ? 'nested polls' : l.kind === 'blocking' ? 'thread ' + l.id : 'no worker';
}

export function group(l: Lane): string {
	return l.kind === 'blocking' ? 'blocking pool' : l.kind === 'nowhere' || l.kind === 'nested' ? 'off the workers' : l.runtime || 'main runtime';
}

// Worth height: has polls, or what is known of a worker without them.
function isLoud(l: Lane): boolean {
	return l.polls > 0 || (l.kind === 'worker' && l.samples + l.offs > 0);
}

// A runtime and the blocking pool have numbers over time.
function counted(l: Lane): boolean {
	return l.kind === 'worker' || l.kind === 'blocking';
}

export const POOL = '\tpool'; // key of the blocking pool's row: no runtime is called that
const HEAD = 20, LEVEL = 20, TASK = 46, COUNT = 34, QUIET = 22, LEAST = 14, MOST = 64;

interface Wanted { folded: Set<string>; tasks: string[]; charts: string[]; levels: boolean; room: number }

export function layOut(rec: Recording, w: Wanted): { rows: Row[]; height: number } {
	const rows: Row[] = [];
	let y = 0;
	const put = (kind: RowKind, h: number, lane: number, label: string, key = '') => {
		rows.push({ kind, y, h, lane, label, key });
		y += h;
	};
	const groups = new Map<string, number[]>();
	rec.lanes.forEach((l, i) => {
		if (l.polls + l.parks + l.offs + l.samples === 0)
			return;
		const own = group(l);
		groups.set(own, [...groups.get(own) ?? [], i]);
	});
	// the lanes share what the other rows leave, so that few workers are not lost in an empty space
	let others = (w.levels ? LEVEL : 0) + w.tasks.length * TASK + (w.tasks.length ? HEAD : 0) + w.charts.length * COUNT + (w.charts.length ? HEAD : 0), lanes = 0;
	for (const [name, own] of groups) {
		others += HEAD;
		if (!w.folded.has(name)) {
			const loud = own.filter(i => isLoud(rec.lanes[i])).length;
			lanes += loud;
			others += (own.length - loud) * QUIET;
			others += counted(rec.lanes[own[0]]) ? COUNT : 0;
		}
	}
	const tall = Math.min(Math.max(Math.floor((w.room - others) / Math.max(lanes, 1)), LEAST, lanes <= 24 ? 22 : LEAST), MOST);
	if (w.levels)
		put('level', LEVEL, -1, 'recorded');
	if (w.tasks.length) {
		put('head', HEAD, -1, 'tasks', '\ttasks');
		if (!w.folded.has('\ttasks'))
			for (const id of w.tasks)
				put('task', TASK, -1, 'task ' + id, id);
	}
	for (const [name, own] of groups) {
		const isRuntime = rec.lanes[own[0]].kind === 'worker';
		put('head', HEAD, -1, own.length > 1 ? `${name} · ${own.length} ${isRuntime ? 'workers' : 'lanes'}` : name, name);
		if (w.folded.has(name))
			continue;
		for (const i of own)
			put('lane', isLoud(rec.lanes[i]) ? tall : Math.min(QUIET, tall), i, laneName(rec.lanes[i]));
		if (counted(rec.lanes[own[0]]))
			put('count', COUNT, -1, isRuntime ? 'tasks, queue' : 'at work, queued', isRuntime ? rec.lanes[own[0]].runtime : POOL);
	}
	if (w.charts.length) {
		put('head', HEAD, -1, 'fields of events', '\tfields');
		if (!w.folded.has('\tfields'))
			for (const c of w.charts)
				put('field', COUNT, -1, fieldName(rec, c), c);
	}
	return { rows, height: y };
}

export function fieldName(rec: Recording, chart: string): string {
	const [s, f] = chart.split(',').map(Number), schema = rec.schemas[s];
	return schema ? schema.name + '.' + (schema.fields[f]?.name ?? '?') : 'unknown field';
}
