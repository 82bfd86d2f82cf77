// SPDX-License-Identifier: Apache-2.0
// A recording comes into the page: the first one as the link wants it, one that has grown without
// moving what is looked at, another one from its beginning.
import type { Recording } from './api';
import { loadIssues, loadList, openIssue, openPoll, openTask, reselect } from './actions';
import { readLink, type Wish } from './link';
import { baseNs, extent, listen, set, setView, state, type Span } from './state';
import { loadLevels } from './levels';
import { forgetTasks } from './taskdata';

let wish: Wish | null = readLink();

export function wantedName(): string | undefined {
	return wish?.rec;
}

export function choose(r: number): void {
	forgetTasks();
	set({ r, rec: null, levels: null, blanks: [], poll: null, task: null, wakes: null, region: null, place: null, worst: null, busy: null, rail: 'issues', railAt: -1, pins: [], pains: null, charts: [], eventKind: -1, eventText: '', eventAt: -1, flameWith: null, flameBase: null, lane: -1 });
}

export async function take(rec: Recording): Promise<void> {
	const old = state.rec;
	if (old) {
		const by = Number(BigInt(old.base) - BigInt(rec.base)), atEnd = state.view.from === 0 && state.view.to >= old.length;
		const shift = (x: Span) => ({ from: x.from + by, to: x.to + by });
		set({ rec });
		setView(atEnd ? extent() : shift(state.view), false);
		if (state.region)
			set({ region: shift(state.region) });
		if (state.eventAt >= 0)
			set({ eventAt: state.eventAt + by });
		if (state.rail !== 'issues')
			loadList(state.rail);
		loadIssues();
		loadLevels();
		await reselect(by, old);
		return;
	}
	set({ rec, view: { from: 0, to: Math.max(rec.length, 1) } });
	loadIssues();
	loadLevels();
	const w = wish;
	wish = null;
	if (w)
		await follow(rec, w);
}

async function follow(rec: Recording, w: Wish): Promise<void> {
	const rel = (ns: bigint) => Number(ns - baseNs()), span = (x: [bigint, bigint]): Span => ({ from: rel(x[0]), to: rel(x[1]) });
	if (w.start !== undefined && w.end !== undefined && w.start < w.end)
		setView(span([w.start, w.end]), false);
	if (w.region)
		set({ region: span(w.region) });
	if (w.place)
		set({ place: w.place });
	const charts = w.charts.map(x => x.split(',')).map(([event, field]) => {
		const schema = rec.schemas.findIndex(s => s.name === event);
		return [schema, schema < 0 ? -1 : rec.schemas[schema].fields.findIndex(f => f.name === field)];
	}).filter(x => x[1] >= 0).map(x => x.join());
	set({ charts, pins: w.pins, folded: new Set(w.folded) });
	if (w.heat)
		set({ heatWhat: w.heat });
	if (w.dock)
		set(w.dock === 'none' ? { dockOpen: false } : { dock: w.dock });
	if (w.flame)
		set({ dock: 'flame', flameKind: w.flame === 'blocking' ? 'off' : w.flame === 'sched' ? 'sched' : 'cpu' });
	if (w.mode)
		set({ flameMode: w.mode, flameFocus: w.focus ?? null, flameBase: w.base ? span(w.base) : null, flameWith: w.than ?? null });
	if (w.rail && w.rail !== 'issues')
		loadList(w.rail);
	if (w.poll)
		await openPoll({ at: rel(w.poll[0]), task: w.poll[1] }, w.start === undefined);
	else if (w.task)
		await openTask(w.task);
	if (w.tab)
		set({ tab: w.tab });
	if (w.iss !== undefined && !w.rail && !w.poll && !w.task && w.start === undefined)
		whenFound(() => openIssue(w.iss!));
	else if (w.iss !== undefined && !w.rail)
		set({ railAt: w.iss }); // the rest of the link says what is looked at
}

function whenFound(f: () => void): void {
	const stop = listen(() => {
		if (state.findings) {
			stop();
			f();
		}
	});
}
