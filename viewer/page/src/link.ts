// SPDX-License-Identifier: Apache-2.0
// The link: the query holds what is shown, with dial9's own names where the meaning is the same
// (start, end, task, poll, region, issue, rail, task-scope); times there are absolute ns. The hash
// holds how it is shown (v=1, tm, tz), and the token once, which is taken out at the start.
import { useToken } from './api';
import { baseNs, set, state, type RailTab, type Span, type State, type Tab } from './state';

export interface Wish {
	rec?: string; start?: bigint; end?: bigint; region?: [bigint, bigint]; poll?: [bigint, string]; task?: string;
	issue?: string; iss?: number; tab?: Tab; rail?: RailTab; place?: string; flame?: string; chart?: string;
}

const RAILS: Record<string, RailTab> = { 'long-poll': 'long', 'wake-delay': 'late', 'off-cpu-active': 'blocked' };
const INSPECT: Record<string, Tab> = { poll: 'poll', task: 'task', stack: 'flame', summary: 'summary', heat: 'heat', charts: 'charts', table: 'table', trace: 'trace' };

function big(text: string | null): bigint | undefined {
	return text && /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}

export function readLink(): Wish {
	const q = new URLSearchParams(location.search), h = new URLSearchParams(location.hash.slice(1));
	const wish: Wish = {};
	const token = h.get('token');
	if (token) {
		try {
			sessionStorage.setItem('token', token);
		} catch {
			/* then it lasts as long as the page */
		}
		useToken(token);
		h.delete('token');
		history.replaceState(null, '', location.pathname + location.search + (h.toString() ? '#' + h.toString() : ''));
	} else {
		try {
			useToken(sessionStorage.getItem('token') ?? '');
		} catch {
			/* no storage: a reload needs the printed URL */
		}
	}
	wish.rec = q.get('rec') ?? undefined;
	wish.start = big(q.get('start'));
	wish.end = big(q.get('end'));
	const region = (q.get('region') ?? q.get('highlight') ?? '').split('@')[0].split('-');
	const a = big(region[0] ?? null), b = big(region[1] ?? null);
	if (a !== undefined && b !== undefined && a < b)
		wish.region = [a, b];
	const poll = (q.get('poll') ?? '').split(':');
	const at = big(poll[0] ?? null);
	if (at !== undefined && big(poll[1] ?? null) !== undefined)
		wish.poll = [at, poll[1]];
	const task = q.get('task');
	if (task && /^(\d{1,20}|0x[0-9a-fA-F]{1,16})$/.test(task))
		wish.task = BigInt(task).toString();
	wish.issue = q.get('issue') ?? undefined;
	wish.rail = RAILS[wish.issue ?? ''];
	const iss = /^(?:iss:)?(\d{1,4})$/.exec(q.get('issue-index') ?? '');
	if (iss)
		wish.iss = Number(iss[1]);
	wish.tab = INSPECT[q.get('inspector') ?? ''];
	wish.place = q.get('task-scope') ?? undefined;
	wish.flame = q.get('analysis') ?? undefined;
	wish.chart = q.get('chart') ?? undefined;
	if (h.get('v') === '1') {
		const tm = h.get('tm');
		if (tm === 'abs')
			set({ clock: 'utc' });
		if (tm === 'ns')
			set({ clock: 'absolute' });
	}
	return wish;
}

function abs(ns: number): string {
	return (baseNs() + BigInt(Math.round(ns))).toString();
}

function span(s: Span): string {
	return abs(s.from) + '-' + abs(s.to);
}

export function linkOf(s: State): string {
	const q = new URLSearchParams();
	const parts: [string, string | null | undefined][] = [
		['rec', (s.trace?.recordings.length ?? 0) > 1 ? s.trace?.recordings[s.r]?.name : null],
		['start', abs(s.view.from)], ['end', abs(s.view.to)],
		['region', s.region && span(s.region)],
		['poll', s.poll?.poll.task != null ? abs(s.poll.poll.start) + ':' + s.poll.poll.task : null],
		['task', s.task && s.poll?.poll.task !== s.task.id ? s.task.id : null],
		['issue', Object.entries(RAILS).find(([, v]) => v === s.rail)?.[0]],
		['issue-index', s.rail === 'issues' && s.railAt >= 0 ? s.railAt.toString() : null],
		['task-scope', s.place],
		['inspector', s.tab === 'summary' ? null : Object.entries(INSPECT).find(([, v]) => v === s.tab)?.[0]],
		['analysis', s.tab === 'flame' && s.flameKind !== 'cpu' ? (s.flameKind === 'off' ? 'blocking' : 'sched') : null],
		['chart', s.chart],
	];
	for (const [k, v] of parts)
		if (v)
			q.set(k, v);
	const clock = s.clock === 'relative' ? '' : '#v=1&tm=' + (s.clock === 'utc' ? 'abs' : 'ns');
	return location.pathname + '?' + q.toString() + clock;
}

let last = '';
let timer = 0;
// Follows the state, not more often than browsers allow.
export function follow(): void {
	if (timer || !state.rec)
		return;
	timer = window.setTimeout(() => {
		timer = 0;
		const link = linkOf(state);
		if (link !== last) {
			last = link;
			history.replaceState(null, '', link);
		}
	}, 300);
}
