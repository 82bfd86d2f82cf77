// SPDX-License-Identifier: Apache-2.0
// What a person can do: select, step, search. Each ends in one set() of the state.
import * as api from './api';
import type { BusyAnswer, BusyRun, Issue, Poll, PollAnswer, Recording, WakesAnswer } from './api';
import { recordedShare } from './levels';
import { baseNs, currentIssues, extent, set, setView, state } from './state';
import { loadPains, loadTask } from './taskdata';
import { dur } from './units';

async function quietly(f: () => Promise<void>): Promise<void> {
	try {
		await f();
	} catch (e) {
		if (!api.isAbort(e))
			set({ say: e instanceof Error ? e.message : String(e) });
	}
}

// Puts a span into view with room on both sides, unless it is well visible already.
export function reveal(from: number, to: number): void {
	const { view } = state;
	const len = Math.max(to - from, 1000);
	if (from >= view.from && to <= view.to && len > (view.to - view.from) / 200)
		return;
	setView({ from: from - len * 3, to: to + len * 3 });
}

export function openPoll(args: { row?: number; at?: number; task?: string; lane?: number }, move = true): Promise<void> {
	return quietly(async () => {
		const poll = await api.json<PollAnswer>('poll', { r: state.r, ...args }, 'poll');
		const p = poll.poll;
		set({ poll, lane: p.lane, tab: 'poll',
			say: `Poll of task ${p.task ?? 'unknown'}, ${dur(p.dur)}, lane ${p.lane}` });
		if (move)
			reveal(p.start, p.start + p.dur);
		set({ wakes: await api.json<WakesAnswer>('wakes', { r: state.r, poll: p.row }, 'wakes') });
		if (p.task !== null) {
			const task = state.tasks.get(p.task) ?? await loadTask(p.task);
			if (task && state.poll?.poll.row === p.row)
				set({ task });
		} else {
			set({ task: null });
		}
	});
}

// The recording has grown: rows are others now, so what is selected is found again, by time and task or
// lane. `by`: how much later its times are; `old`: the recording before.
export function reselect(by: number, old: Recording): Promise<void> {
	const now = (lane: number) => state.rec!.lanes.findIndex(l => l.kind === old.lanes[lane]?.kind && l.id === old.lanes[lane].id);
	const p = state.poll?.poll;
	set({ lane: now(state.lane) });
	if (!p)
		return Promise.resolve();
	return quietly(async () => {
		const at = p.start + by;
		try {
			const poll = await api.json<PollAnswer>('poll', { r: state.r, at, ...(p.task !== null ? { task: p.task } : { lane: now(p.lane) }) }, 'poll');
			set({ poll, lane: poll.poll.lane });
			set({ wakes: await api.json<WakesAnswer>('wakes', { r: state.r, poll: poll.poll.row }, 'wakes') });
		} catch (e) {
			if (!api.isAbort(e)) // its segment is gone
				set({ poll: null, wakes: null });
			throw e;
		}
	});
}

export function selectPoll(p: Poll, move = true): Promise<void> {
	return openPoll({ row: p.row }, move);
}

export function openTask(id: string): Promise<void> {
	return quietly(async () => {
		const task = state.tasks.get(id) ?? await loadTask(id);
		if (!task)
			return;
		const own = state.poll?.poll.task === id;
		set({ task, tab: 'task', poll: own ? state.poll : null, wakes: own ? state.wakes : null, say: 'Task ' + id });
	});
}

export function pin(id: string): void {
	const has = state.pins.includes(id);
	set({ pins: has ? state.pins.filter(x => x !== id) : [...state.pins, id].slice(-8), say: has ? `Task ${id} is no longer pinned` : `Task ${id} keeps its lane` });
}

// Marks the polls of a type in the lanes, and narrows the flamegraph to it.
export function togglePlace(place: string): void {
	const off = state.place === place;
	set({ place: off ? null : place, say: off ? 'No type is marked' : 'Marked: polls of ' + place });
}

export function pinSelected(): void {
	if (state.task)
		pin(state.task.id);
	else
		set({ say: 'Select a task first' });
}

export function togglePains(): void {
	if (state.pains)
		set({ pains: null, say: 'Lanes of the worst tasks are off' });
	else
		void quietly(loadPains);
}

export function stepLane(by: 1 | -1): void {
	const to = by > 0 ? state.poll?.lane_after : state.poll?.lane_before;
	if (to)
		void selectPoll(to);
	else if (!state.poll)
		selectInLane();
	else
		set({ say: 'No further poll in this lane' });
}

export function stepTask(by: 1 | -1): void {
	const to = by > 0 ? state.poll?.task_after : state.poll?.task_before;
	if (to)
		void selectPoll(to);
	else
		set({ say: state.poll ? 'No further poll of this task' : 'Select a poll first' });
}

// The worst poll of the keyboard's lane in view.
export function selectInLane(): void {
	void quietly(async () => {
		const rec = state.rec;
		if (!rec)
			return;
		const lane = state.lane >= 0 ? state.lane : Math.max(rec.lanes.findIndex(l => l.polls > 0), 0);
		const at = await api.json<Record<string, api.Plane>>('at', { r: state.r, lane, ...state.view }, 'at');
		const worst = at.polls?.worst;
		if (worst)
			await openPoll({ row: worst.row }, false);
		else
			set({ lane, say: 'No poll in this lane in view' });
	});
}

// The poll of a finding; where polls were not recorded, its time as the range, and its task.
async function openEvidence(from: number, to: number, task: string): Promise<void> {
	await quietly(async () => {
		try {
			await api.json<PollAnswer>('poll', { r: state.r, at: from, task }, 'evidence');
			await openPoll({ at: from, task }, false);
		} catch (e) {
			if (!(e instanceof api.ApiError && e.status === 404))
				throw e;
			await openTask(task);
			set({ region: { from, to }, poll: null, wakes: null, tab: 'summary', dock: 'flame', dockOpen: true, flameKind: 'off', flameMode: 'top' });
		}
	});
}

// ---- findings and the worst of a kind ----
export function openIssue(i: number): void {
	const issue: Issue | undefined = currentIssues()[i];
	if (!issue)
		return;
	set({ railAt: i, say: `${issue.severity}: ${issue.kind}. ${issue.text}` });
	const e = issue.evidence;
	const worker = state.rec?.lanes.findIndex(l => l.kind === 'worker' && l.id === e.worker) ?? -1;
	if (e.from_ns !== undefined && e.to_ns !== undefined) {
		const from = Number(BigInt(e.from_ns) - baseNs()), to = Number(BigInt(e.to_ns) - baseNs());
		setView({ from: from - (to - from), to: to + (to - from) });
		if (e.task && (e.poll || recordedShare({ from, to }) < 0.5))
			void openEvidence(from, to, e.task);
		else if (e.task)
			void openTask(e.task);
	} else if (e.task) {
		void openTask(e.task);
	}
	if (worker >= 0)
		set({ lane: worker });
	if (issue.type)
		set({ place: issue.type });
}

// The next finding, whatever list is shown.
export function stepIssue(by: 1 | -1): void {
	if (state.rail !== 'issues')
		set({ rail: 'issues', railAt: -1 });
	step(by);
}

export function step(by: 1 | -1): void {
	if (state.rail === 'issues') {
		const cnt = currentIssues().length;
		if (cnt)
			openIssue((Math.max(state.railAt, by > 0 ? -1 : 0) + by + cnt) % cnt);
		else
			set({ say: 'No findings' });
		return;
	}
	const cnt = (state.rail === 'busy' ? state.busy?.runs.length : state.worst?.polls.length) ?? 0;
	if (!cnt) {
		set({ say: 'Nothing in this list' });
		return;
	}
	const at = (Math.max(state.railAt, by > 0 ? -1 : 0) + by + cnt) % cnt;
	if (state.rail === 'busy')
		openBusyAt(at);
	else
		openWorst(at);
}

// An event of another kind: marked in the lanes, and those like it in the table.
export function openEvent(at: number, text: string): void {
	const { from, to } = state.view, half = (to - from) / 2;
	if (at < from || at > to)
		setView({ from: at - half, to: at + half });
	set({ eventAt: at, eventKind: -1, eventText: text, dock: 'table', dockOpen: true, say: `Event with ${text}` });
}

// Its time as the range, its task, and the stacks of its samples.
export async function openBusy(b: BusyRun): Promise<void> {
	set({ region: { from: b.start, to: b.start + b.dur + 1 }, lane: b.lane, poll: null, wakes: null, dock: 'flame', dockOpen: true, flameKind: 'cpu', flameMode: 'top' });
	await openTask(b.task);
	set({ tab: 'summary', say: `Task ${b.task} in ${b.samples} samples in a row, ${dur(b.dur)}: polls were not recorded` });
}

export function openBusyAt(i: number): void {
	const b = state.busy?.runs[i];
	if (!b)
		return;
	set({ railAt: i });
	setView({ from: b.start - b.dur, to: b.start + 2 * b.dur });
	void openBusy(b);
}

export function openWorst(i: number): void {
	const p = state.worst?.polls[i];
	if (!p)
		return;
	set({ railAt: i });
	const from = state.rail === 'late' && p.ready !== null ? p.ready : p.start;
	setView({ from: from - (p.start + p.dur - from), to: p.start + p.dur + (p.start + p.dur - from) });
	void selectPoll(p, false);
}

export function loadWorst(kind: 'long' | 'late' | 'blocked'): void {
	set({ rail: kind, railAt: -1, worst: null });
	void quietly(async () => {
		const a = await api.json<{ count: number; polls: Poll[] }>('worst', { r: state.r, kind, limit: 200 }, 'worst');
		set({ worst: { kind, ...a } });
	});
}

// A list of the rail that is not the findings.
export function loadList(id: 'long' | 'late' | 'blocked' | 'busy'): void {
	if (id !== 'busy') {
		loadWorst(id);
		return;
	}
	set({ rail: id, railAt: -1, busy: null });
	void quietly(async () => set({ busy: await api.json<BusyAnswer>('busy', { r: state.r }, 'busy') }));
}

export function loadIssues(): void {
	set({ findingsError: null });
	api.issues().then(findings => set({ findings }), (e: unknown) => set({ findingsError: e instanceof Error ? e.message : String(e) }));
}

// ---- one step back ----
export function escape(): void {
	if (state.help)
		set({ help: false });
	else if (state.palette)
		set({ palette: false });
	else if (state.search)
		set({ search: '' });
	else if (state.flameFocus)
		set({ flameFocus: null });
	else if (state.region)
		set({ region: null });
	else if (state.poll)
		set({ poll: null, wakes: null });
	else if (state.task)
		set({ task: null, tab: 'summary' });
	else if (state.place)
		set({ place: null });
	else if (state.eventAt >= 0)
		set({ eventAt: -1 });
	else
		setView(extent());
}

export function fit(): void {
	const { region, poll, view } = state;
	if (region && (region.from !== view.from || region.to !== view.to))
		setView(region);
	else if (poll && !region && (view.to - view.from) > poll.poll.dur * 4)
		setView({ from: poll.poll.start - poll.poll.dur, to: poll.poll.start + 2 * Math.max(poll.poll.dur, 1000) });
	else
		setView(extent());
}
