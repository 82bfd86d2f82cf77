// SPDX-License-Identifier: Apache-2.0
// The link: the query holds what is shown, with dial9's own names where the meaning is the same
// (start, end, task, poll, region, issue, issue-index, task-scope, field-chart, runtime-collapsed,
// inspector, analysis); times there are absolute ns. The hash
// holds how it is shown (v=1, tm, tz), and the token once, which is taken out at the start.
import { useToken } from './api';
import { baseNs, set, state, type Dock, type RailTab, type Span, type State, type Tab } from './state';

export interface Wish {
	rec?: string; start?: bigint; end?: bigint; region?: [bigint, bigint]; poll?: [bigint, string]; task?: string;
	issue?: string; iss?: number; tab?: Tab; rail?: RailTab; place?: string; flame?: string; dock?: Dock | 'none';
	charts: string[]; folded: string[]; pins: string[]; mode?: State['flameMode']; focus?: string; base?: [bigint, bigint]; than?: string; heat?: State['heatWhat'];
}

const RAILS: Record<string, RailTab> = { 'long-poll': 'long', 'wake-delay': 'late', 'off-cpu-active': 'blocked', 'busy-run': 'busy' };
const INSPECT: Record<string, Tab> = { poll: 'poll', task: 'task', summary: 'summary', trace: 'trace' };
// dial9's stack tab is the flamegraph here, its span tab is in the table, events are charts; the others were names of earlier links
const DOCKS: Record<string, Dock | 'none'> = { stack: 'flame', span: 'table', event: 'charts', flame: 'flame', heat: 'heat', charts: 'charts', table: 'table', none: 'none' };
const MODES: State['flameMode'][] = ['top', 'bottom', 'heavy', 'sandwich', 'diff', 'time'];

// dial9's lists: "v1:" and names with tabs between
function names(text: string | null): string[] {
	return text?.startsWith('v1:') ? text.slice(3).split('\t').filter(Boolean) : [];
}

function two(text: string | null): [bigint, bigint] | undefined {
	const [a, b] = (text ?? '').split('@')[0].split('-').map(big);
	return a !== undefined && b !== undefined && a < b ? [a, b] : undefined;
}

function big(text: string | null | undefined): bigint | undefined {
	return text && /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}

export function readLink(): Wish {
	const q = new URLSearchParams(location.search), h = new URLSearchParams(location.hash.slice(1));
	const wish: Wish = { charts: [], folded: [], pins: [] };
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
	wish.region = two(q.get('region') ?? q.get('highlight'));
	wish.base = two(q.get('base'));
	wish.than = q.get('base-rec') ?? undefined;
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
	wish.dock = DOCKS[q.get('dock') ?? q.get('inspector') ?? ''];
	wish.mode = MODES.find(m => m === q.get('flame'));
	wish.focus = q.get('inspect') ?? undefined;
	wish.heat = q.get('heat') === 'waits' ? 'waits' : undefined;
	wish.folded = names(q.get('runtime-collapsed'));
	wish.pins = (q.get('pins') ?? '').split(',').filter(x => /^\d{1,20}$/.test(x)).slice(0, 8);
	wish.place = q.get('task-scope') ?? undefined;
	wish.flame = q.get('analysis') ?? undefined;
	wish.charts = q.getAll('field-chart').map(x => x.split(',')).filter(x => x.length >= 3).map(x => x[1] + ',' + x[2]).slice(0, 8);
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
	const q = new URLSearchParams(), isFlame = s.dock === 'flame' && s.dockOpen;
	const parts: [string, string | null | undefined | false][] = [
		['rec', (s.trace?.recordings.length ?? 0) > 1 && s.trace?.recordings[s.r]?.name],
		['start', abs(s.view.from)], ['end', abs(s.view.to)],
		['region', s.region && span(s.region)],
		['poll', s.poll?.poll.task != null && abs(s.poll.poll.start) + ':' + s.poll.poll.task],
		['task', s.task && s.poll?.poll.task !== s.task.id && s.task.id],
		['pins', s.pins.join()],
		['issue', Object.entries(RAILS).find(([, v]) => v === s.rail)?.[0]],
		['issue-index', s.rail === 'issues' && s.railAt >= 0 && s.railAt.toString()],
		['task-scope', s.place],
		['inspector', s.tab !== 'summary' && s.tab],
		['dock', s.dockOpen ? s.dock !== 'heat' && s.dock : 'none'],
		['heat', s.dock === 'heat' && s.heatWhat === 'waits' && 'waits'],
		['analysis', isFlame && s.flameKind !== 'cpu' && (s.flameKind === 'off' ? 'blocking' : 'sched')],
		['flame', isFlame && s.flameMode !== 'top' && s.flameMode],
		['inspect', isFlame && s.flameMode === 'sandwich' && s.flameFocus],
		['base', isFlame && s.flameMode === 'diff' && s.flameWith === null && s.flameBase && span(s.flameBase)],
		['base-rec', isFlame && s.flameMode === 'diff' && s.flameWith],
		['runtime-collapsed', s.folded.size > 0 && 'v1:' + [...s.folded].filter(x => !x.startsWith('\t')).join('\t')],
	];
	for (const [k, v] of parts)
		if (v)
			q.set(k, v);
	for (const c of s.charts) {
		const [schema, field] = c.split(',').map(Number), of = s.rec?.schemas[schema];
		if (of?.fields[field])
			q.append('field-chart', `${c.replace(',', '.')},${of.name},${of.fields[field].name},gauge`);
	}
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
