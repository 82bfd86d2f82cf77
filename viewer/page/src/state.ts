// SPDX-License-Identifier: Apache-2.0
// What the page shows, in one place. A change tells every listener once a frame; what is in the
// link (link.ts) follows it.
import type { Blank } from './levels';
import type { Clock } from './units';
import type { BusyAnswer, IssuesAnswer, Issue, LevelsAnswer, Poll, PollAnswer, Recording, TaskAnswer, Trace, WakesAnswer } from './api';

export interface Span { from: number; to: number }
export type Tab = 'summary' | 'poll' | 'task' | 'trace';
export type Dock = 'heat' | 'flame' | 'charts' | 'table';
export type RailTab = 'issues' | 'long' | 'late' | 'blocked' | 'busy';
export type Theme = 'auto' | 'dark' | 'light' | 'contrast';

export interface State {
	trace: Trace | null;
	error: string | null;
	r: number;
	rec: Recording | null;
	levels: LevelsAnswer | null;
	blanks: Blank[]; // of levels: where polls are not recorded
	view: Span; // relative ns
	region: Span | null;
	lane: number; // the keyboard's lane: a row of rec.lanes, -1 none
	poll: PollAnswer | null;
	task: TaskAnswer | null;
	wakes: WakesAnswer | null;
	arrows: boolean;
	tab: Tab;
	dock: Dock;
	dockOpen: boolean;
	dockTall: number; // px
	pins: string[]; // tasks with a lane of their own, beside the selected one
	pains: string[] | null; // the tasks that hurt most in view; null: not asked for
	tasks: Map<string, TaskAnswer>; // what the task lanes show
	rail: RailTab;
	railAt: number;
	worst: { kind: string; count: number; polls: Poll[] } | null;
	busy: BusyAnswer | null; // of the whole recording
	findings: IssuesAnswer | null;
	findingsError: string | null;
	search: string;
	place: string | null; // task type that is pinned
	clock: Clock;
	theme: Theme;
	help: boolean;
	folded: Set<string>;
	flameKind: 'cpu' | 'sched' | 'off';
	flameMode: 'top' | 'bottom' | 'heavy' | 'sandwich' | 'diff' | 'time';
	flameFocus: string | null;
	flameBase: Span | null;
	flameWith: string | null; // name of the recording that is compared with; null: flameBase of this one
	heatWhat: 'polls' | 'waits';
	charts: string[]; // "schema,field"
	eventKind: number; // row of rec.schemas, -1 all
	eventText: string; // what a field must say
	eventAt: number; // the one that is marked in the lanes; -1 none
	palette: boolean;
	say: string; // for the live region
}

export const state: State = {
	trace: null, error: null, r: 0, rec: null, levels: null, blanks: [], view: { from: 0, to: 1 }, region: null, lane: -1, poll: null, task: null,
	wakes: null, arrows: true, tab: 'summary', dock: 'heat', dockOpen: true,
	dockTall: 250, pins: [], pains: null, tasks: new Map(), rail: 'issues', railAt: -1, worst: null, busy: null, findings: null,
	findingsError: null, search: '', place: null, clock: 'relative', theme: 'auto', help: false, folded: new Set(),
	flameKind: 'cpu', flameMode: 'top', flameFocus: null, flameBase: null, flameWith: null, heatWhat: 'polls', charts: [], eventKind: -1, eventText: '', eventAt: -1, palette: false, say: '',
};

const listeners = new Set<() => void>();
let due = 0;

export function listen(f: () => void): () => void {
	listeners.add(f);
	return () => {
		listeners.delete(f);
	};
}

export function set(change: Partial<State>): void {
	Object.assign(state, change);
	if (!due)
		due = requestAnimationFrame(() => {
			due = 0;
			for (const f of [...listeners])
				f();
		});
}

// ---- the view and its history ----
const past: Span[] = [];
let future: Span[] = [];

export function extent(): Span {
	return { from: 0, to: Math.max(state.rec?.length ?? 1, 1) };
}

export function setView(want: Span, remember = true): void {
	const all = extent();
	let len = Math.min(Math.max(want.to - want.from, Math.min(200, all.to)), all.to);
	if (!Number.isFinite(len))
		len = all.to;
	const from = Math.min(Math.max(Math.round(want.from), 0), all.to - len);
	const view = { from, to: from + Math.round(len) };
	const last = past[past.length - 1];
	if (remember && (!last || last.from !== state.view.from || last.to !== state.view.to)) {
		past.push(state.view);
		if (past.length > 200)
			past.shift();
		future = [];
	}
	set({ view });
}

export function undoView(): void {
	const last = past.pop();
	if (last) {
		future.push(state.view);
		setView(last, false);
	}
}

export function redoView(): void {
	const next = future.pop();
	if (next) {
		past.push(state.view);
		setView(next, false);
	}
}

export function zoom(factor: number, atNs?: number): void {
	const { from, to } = state.view;
	const at = atNs ?? (from + to) / 2;
	setView({ from: at - (at - from) * factor, to: at + (to - at) * factor });
}

export function pan(share: number): void {
	const { from, to } = state.view;
	const by = (to - from) * share;
	setView({ from: from + by, to: to + by });
}

export function realNs(): bigint | null {
	return state.rec?.realtime ? BigInt(state.rec.realtime) : null;
}

// The tasks that have a lane, the selected one first.
export function laneTasks(): string[] {
	return [...new Set([...(state.task ? [state.task.id] : []), ...state.pins, ...(state.pains ?? [])])].slice(0, 12);
}

export function baseNs(): bigint {
	return BigInt(state.rec?.base ?? '0');
}

export function currentIssues(): Issue[] {
	const name = state.trace?.recordings[state.r]?.name;
	return state.findings?.recordings.find(x => x.name === name)?.issues ?? [];
}
