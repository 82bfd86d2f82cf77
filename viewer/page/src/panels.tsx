// SPDX-License-Identifier: Apache-2.0
// The rail on the left (findings and the worst of each kind) and the drawer on the right.
import type { Poll, RangeAnswer, TypeRow } from './api';
import * as api from './api';
import { loadIssues, loadWorst, openIssue, openTask, openWorst, reveal, selectPoll } from './actions';
import { Flame, scope } from './flame';
import { Charts, HeatMap, Histogram } from './plots';
import { laneName } from './rows';
import { currentIssues, set, setView, state, type RailTab, type Tab } from './state';
import { useAnswer, useApp } from './use';
import { bytes, count, dur, moment, share, tail } from './units';

function tabKeys(e: KeyboardEvent): void {
	const by = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
	const list = [...(e.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=tab]')];
	const at = list.indexOf(document.activeElement as HTMLElement);
	if (!by || at < 0)
		return;
	e.preventDefault();
	e.stopPropagation();
	const next = list[(at + by + list.length) % list.length];
	next.focus();
	next.click();
}

function when(ns: number): string {
	const rec = state.rec!;
	return moment(ns, state.clock, BigInt(rec.base), rec.realtime ? BigInt(rec.realtime) : null);
}

// ---- rail ----
export function Rail() {
	const s = useApp(), issues = currentIssues();
	const tabs: [RailTab, string][] = [['issues', 'Issues'], ['long', 'Long'], ['late', 'Late'], ['blocked', 'Blocked']];
	return <nav class="rail" aria-label="Findings">
		<div role="tablist" aria-label="Lists" onKeyDown={tabKeys}>{tabs.map(([id, name]) =>
			<button key={id} role="tab" id={'rail-' + id} aria-selected={s.rail === id} aria-controls="rail-list" tabIndex={s.rail === id ? 0 : -1}
				onClick={() => id === 'issues' ? set({ rail: id, railAt: -1 }) : loadWorst(id)}>{name}</button>)}</div>
		<div class="scroll" id="rail-list" role="tabpanel" aria-labelledby={'rail-' + s.rail} tabIndex={0}>
			{s.rail === 'issues' ? <IssueList /> : <WorstList />}
			{s.rail === 'issues' && s.findings && !issues.length && <p class="note">No findings. What was not recorded is unknown: see the tab Trace.</p>}
		</div>
	</nav>;
}

function IssueList() {
	const s = useApp();
	if (s.findingsError)
		return <p class="note bad">{s.findingsError} <button onClick={loadIssues}>Try again</button></p>;
	if (!s.findings)
		return <p class="dim">Working out the findings.</p>;
	return <ol class="list">{currentIssues().map((x, i) => <li key={x.id}>
		<button aria-current={s.railAt === i} onClick={() => openIssue(i)}>
			<span class={'sev ' + x.severity}>{x.severity}</span> {x.kind}
			<span class="sub">{x.text}</span>{x.type && <span class="sub">{tail(x.type, 64)}</span>}{x.place && <span class="sub">at {tail(x.place, 64)}</span>}
			{s.railAt === i && <span class="sub">next: {x.next}</span>}
		</button></li>)}</ol>;
}

function WorstList() {
	const s = useApp();
	if (!s.worst)
		return <p class="dim">Reading.</p>;
	if (!s.worst.polls.length)
		return <p class="note">None in this recording: {s.rail === 'long' ? 'no poll took 10 ms' : s.rail === 'late' ? 'no task waited 5 ms to be polled, as far as wakes were recorded' : 'no poll lost its CPU for 1 ms, as far as that was recorded'}.</p>;
	const value = (p: Poll) => s.rail === 'late' ? p.start - (p.ready ?? p.start) : s.rail === 'blocked' ? p.off : p.dur;
	return <><p class="dim">{count(s.worst.count)} in all, worst first</p><ol class="list">{s.worst.polls.map((p, i) => <li key={p.row}>
		<button aria-current={s.railAt === i} onClick={() => openWorst(i)}><b>{dur(value(p))}</b> at {when(p.start)}
			<span class="sub">task {p.task} {tail(p.place || 'type unknown', 52)}</span></button></li>)}</ol></>;
}

// ---- drawer ----
const TABS: [Tab, string][] = [['summary', 'Summary'], ['poll', 'Poll'], ['task', 'Task'], ['flame', 'Flame'], ['heat', 'Heat'],
	['charts', 'Charts'], ['table', 'Table'], ['trace', 'Trace']];

export function Drawer() {
	const s = useApp();
	return <aside class="drawer" aria-label="Details">
		<div role="tablist" aria-label="Details" onKeyDown={tabKeys}>{TABS.map(([id, name], i) =>
			<button key={id} role="tab" id={'tab-' + id} aria-selected={s.tab === id} aria-controls="drawer-body" tabIndex={s.tab === id ? 0 : -1}
				title={'key ' + (i + 1)} onClick={() => set({ tab: id })}>{name}</button>)}</div>
		<div class="scroll" id="drawer-body" role="tabpanel" aria-labelledby={'tab-' + s.tab} tabIndex={0}>
			{s.tab === 'summary' ? <Summary /> : s.tab === 'poll' ? <PollPanel /> : s.tab === 'task' ? <TaskPanel /> : s.tab === 'flame' ? <Flame />
				: s.tab === 'heat' ? <HeatMap /> : s.tab === 'charts' ? <Charts /> : s.tab === 'table' ? <LaneTable /> : <TracePanel />}
		</div>
	</aside>;
}

function useRange() {
	const s = useApp(), span = s.region ?? s.view;
	return { span, a: useAnswer<RangeAnswer>(JSON.stringify([s.r, s.rec?.generation, span]), () => api.json<RangeAnswer>('range', { r: state.r, ...span }, 'range')) };
}

function Quantiles({ q, name }: { q: number[]; name: string }) {
	return <table><caption class="sr">{name}</caption><thead><tr><th>{name}</th>{['p50', 'p90', 'p99', 'p99.9', 'max'].map(x => <th class="n" key={x}>{x}</th>)}</tr></thead>
		<tbody><tr><td></td>{q.map((x, i) => <td class="n" key={i}>{dur(x)}</td>)}</tr></tbody></table>;
}

function Summary() {
	const s = useApp(), { span, a } = useRange(), v = a.value;
	const inRange = currentIssues().filter(x => x.evidence.from_ns !== undefined && x.evidence.to_ns !== undefined && overlaps(x.evidence.from_ns, x.evidence.to_ns, span));
	if (a.error)
		return <p class="note bad">{a.error}</p>;
	if (!v)
		return <p class="dim">Adding up.</p>;
	const p = v.split, on = Math.max(p.polls.sum - p.offs.sum, 0), off = Math.min(p.offs.sum, p.polls.sum);
	const delays = Math.min(p.delays.sum, p.parks.sum), parked = p.parks.sum - delays;
	const rest = Math.max(p.wall - p.polls.sum - p.parks.sum, 0);
	const parts: [string, string, number][] = [['k-on', s.rec?.offs ? 'polling, on CPU' : 'polling', on], ['k-off', 'polling, without CPU', off], ['k-delay', 'woken, no CPU yet', delays],
		['k-park', 'parked', parked], ['k-rest', 'between, or unknown', rest]];
	return <>
		<div class="row"><b>{s.region ? 'Selected' : 'In view'}: {dur(span.to - span.from)}</b> <span class="dim">from {when(span.from)}</span>
			{s.region && <><button onClick={() => setView(span)}>Zoom to it</button><button onClick={() => set({ region: null })}>Unselect</button></>}</div>
		<h2>Workers' time</h2>
		<div class="split" role="img" aria-label={parts.map(x => x[1] + ' ' + share(x[2], p.wall)).join(', ')}>{parts.map(x => <div key={x[0]} class={x[0]} style={{ width: (p.wall ? x[2] / p.wall * 100 : 0) + '%' }} />)}</div>
		<table><tbody>{parts.map(x => <tr key={x[0]}><td><span class={'key ' + x[0]} />{x[1]}</td><td class="n">{dur(x[2])}</td><td class="n">{share(x[2], p.wall)}</td></tr>)}</tbody></table>
		<p class="dim">{count(v.all.polls)} polls, {count(p.wakes.count)} wakes, {count(p.samples.count)} samples on {p.workers} workers. {s.rec?.offs === 0 ? 'Time without CPU was not recorded.' : ''}</p>
		<h2>Polls</h2><Histogram bins={v.poll_bins} name="polls" /><Quantiles q={v.all.poll_q} name="length" />
		<h2>Waits, from wake to poll</h2>
		{v.all.waits ? <><Histogram bins={v.wait_bins} name="waits" /><Quantiles q={v.all.wait_q} name="wait" /><p class="dim">known for {count(v.all.waits)} of {count(v.all.polls)} polls ({share(v.all.waits, v.all.polls)})</p></>
			: <p class="note">{s.rec?.wakes ? 'No poll here whose wake is known.' : 'Wakes were not recorded: waits are unknown.'}</p>}
		<h2>Task types, most busy first</h2><Types rows={v.types} all={v.all.busy} />
		{v.types_cnt > v.types.length && <p class="dim">{count(v.types_cnt - v.types.length)} more types.</p>}
		<h2>Findings here</h2>
		{inRange.length ? <ul class="list">{inRange.map(x => <li key={x.id}><button onClick={() => openIssue(currentIssues().indexOf(x))}><span class={'sev ' + x.severity}>{x.severity}</span> {x.kind}<span class="sub">{x.text}</span></button></li>)}</ul> : <p class="dim">None.</p>}
	</>;
}

function overlaps(from: string, to: string, span: { from: number; to: number }): boolean {
	const base = BigInt(state.rec!.base);
	return Number(BigInt(from) - base) < span.to && Number(BigInt(to) - base) > span.from;
}

function Types({ rows, all }: { rows: TypeRow[]; all: number }) {
	const s = useApp();
	return <table><thead><tr><th>type</th><th class="n">busy</th><th class="n">polls</th><th class="n">p99</th><th class="n">max</th><th class="n">wait p99</th></tr></thead>
		<tbody>{rows.map(t => <tr key={t.place}>
			<td><button class="link" aria-pressed={s.place === t.place} title={t.place} onClick={() => set({ place: s.place === t.place ? null : t.place })}>{tail(t.place || 'unknown', 34)}</button></td>
			<td class="n" title={share(t.busy, all)}>{dur(t.busy)}</td><td class="n">{count(t.polls)}</td><td class="n">{dur(t.poll_q[2])}</td>
			<td class="n">{t.worst ? <button class="link" onClick={() => void selectPoll(t.worst!)}>{dur(t.poll_q[4])}</button> : '-'}</td>
			<td class="n">{t.waits ? dur(t.wait_q[2]) : '-'}</td></tr>)}</tbody></table>;
}

function PollPanel() {
	const s = useApp(), a = s.poll, p = a?.poll;
	if (!a || !p)
		return <p class="note">No poll is selected: click one in the lanes, or choose a lane with the arrow keys and press Enter.</p>;
	const lane = s.rec!.lanes[p.lane];
	const nav = (label: string, to: Poll | null) => <button disabled={!to} onClick={() => to && void selectPoll(to)}>{label}</button>;
	const off = a.offs.reduce((n, o) => n + o.dur, 0);
	return <>
		<div class="row">{nav('‹ in lane', a.lane_before)}{nav('in lane ›', a.lane_after)}{nav('‹ of task', a.task_before)}{nav('of task ›', a.task_after)}</div>
		<dl>
			<dt>length</dt><dd><b>{dur(p.dur)}</b>{p.flags & 1 ? ', its end was not seen' : p.flags & 2 ? ', end inferred' : ''}{p.flags & 4 ? ', gave its worker away' : ''}</dd>
			<dt>start</dt><dd><button class="link" onClick={() => reveal(p.start, p.start + p.dur)}>{when(p.start)}</button></dd>
			<dt>waited</dt><dd>{p.ready !== null ? <>{dur(p.start - p.ready)} from wake to poll</> : s.rec!.wakes ? 'unknown' : 'unknown: wakes were not recorded'}</dd>
			<dt>without CPU</dt><dd>{p.off ? dur(p.off) : s.rec!.offs ? '0' : 'not recorded'}</dd>
			<dt>task</dt><dd>{p.task ? <button class="link" onClick={() => void openTask(p.task!)}>{p.task}</button> : 'unknown'}{a.nr ? `, its poll ${count(a.nr)} of ${count(a.of ?? 0)}` : ''}</dd>
			<dt>type</dt><dd>{p.place ? <button class="link" onClick={() => set({ place: p.place })}>{p.place}</button> : 'unknown'}</dd>
			<dt>where</dt><dd>{laneName(lane)}{lane.runtime ? ' of ' + lane.runtime : ''}</dd>
			<dt>queue at start</dt><dd>{p.queue ?? 'unknown'}</dd>
			{s.wakes?.by && <><dt>woken</dt><dd>{when(s.wakes.by.ts)} by {s.wakes.by.waker ? <button class="link" onClick={() => void openTask(s.wakes!.by!.waker!)}>task {s.wakes.by.waker}</button> : 'no task'}
				{s.wakes.by.poll && <>, in <button class="link" onClick={() => void selectPoll(s.wakes!.by!.poll!)}>this poll</button></>}</dd></>}
			{s.wakes && <><dt>woke</dt><dd>{s.wakes.issued.length ? s.wakes.issued.map((w, i) => <span key={i}>{i ? ', ' : ''}{w.to?.task ? <button class="link" onClick={() => void selectPoll(w.to!)}>task {w.to.task}</button> : 'a task'}</span>) : 'nobody'}</dd></>}
		</dl>
		{a.offs.length > 0 && <><h2>Without a CPU: {dur(off)}</h2><table><thead><tr><th class="n">after</th><th class="n">for</th><th>why</th><th class="n">system call</th></tr></thead>
			<tbody>{a.offs.map((o, i) => <tr key={i}><td class="n">{dur(o.start - p.start)}</td><td class="n">{dur(o.dur)}</td><td>{o.reason}</td><td class="n">{o.syscall ?? '-'}</td></tr>)}</tbody></table></>}
		<div class="row"><button onClick={() => set({ tab: 'flame' })}>Stacks of this poll</button></div>
	</>;
}

function TaskPanel() {
	const s = useApp(), t = s.task;
	if (!t)
		return <p class="note">No task is selected: click one of its polls, or search for its id.</p>;
	const causes = ['', ', cancelled', ', at shutdown', ', finished or panicked', ', panicked'];
	return <>
		<dl><dt>task</dt><dd><b>{t.id}</b></dd><dt>type</dt><dd>{t.place ? <button class="link" onClick={() => set({ place: t.place })}>{t.place}</button> : 'unknown'}</dd>
			<dt>spawned</dt><dd>{t.spawn !== null ? when(t.spawn) : 'before the recording, or not recorded'}</dd>
			<dt>ended</dt><dd>{t.end !== null ? when(t.end) + (causes[t.cause] ?? '') : 'not seen'}</dd>
			<dt>busy</dt><dd>{dur(t.busy)} in {count(t.polls_cnt)} polls, longest {dur(t.worst)}</dd><dt>woken</dt><dd>{s.rec!.wakes ? count(t.wakes_cnt) + ' times' : 'not recorded'}</dd></dl>
		<div class="row"><button onClick={() => set({ task: null, poll: null, wakes: null, tab: 'summary' })}>Unpin</button></div>
		<h2>Its polls in and near the view{t.capped ? ', the first 4000' : ''}</h2>
		<table><thead><tr><th class="n">start</th><th class="n">pending</th><th class="n">ready</th><th class="n">poll</th></tr></thead>
			<tbody>{t.polls.slice(0, 300).map((p, i) => {
				const before = i ? t.polls[i - 1].start + t.polls[i - 1].dur : t.spawn;
				return <tr key={p.row}><td class="n"><button class="link" onClick={() => void selectPoll(p, false)}>{when(p.start)}</button></td>
					<td class="n">{p.ready !== null && before !== null ? dur(Math.max(p.ready - before, 0)) : '-'}</td><td class="n">{p.ready !== null ? dur(p.start - p.ready) : '-'}</td><td class="n">{dur(p.dur)}</td></tr>;
			})}</tbody></table>
	</>;
}

// The lanes in view as numbers: what the canvas shows.
function LaneTable() {
	const s = useApp(), rec = s.rec!;
	const of = scope({ ...s, poll: null });
	const a = useAnswer(JSON.stringify([s.r, rec.generation, s.region ?? s.view]), async () => Promise.all(rec.lanes.slice(0, 64).map(async (l, i) =>
		({ l, i, at: await api.json<Record<string, api.Plane>>('at', { r: state.r, lane: i, ...(state.region ?? state.view) }) }))));
	const len = of.to - of.from;
	return <><p class="dim">Of {s.region ? 'the selected range' : 'what is in view'}: what the lanes show, as numbers.</p>{a.error && <p class="note bad">{a.error}</p>}
		<table><thead><tr><th>lane</th><th class="n">polls</th><th class="n">busy</th><th class="n">longest</th><th class="n">parked</th><th class="n">no CPU</th><th class="n">queue</th></tr></thead>
			<tbody>{a.value?.map(({ l, i, at }) => <tr key={i}><td><button class="link" onClick={() => set({ lane: i })}>{laneName(l)}{l.runtime ? ' ' + l.runtime : ''}</button></td>
				<td class="n">{count(at.polls?.count ?? 0)}</td><td class="n">{share(at.polls?.sum ?? 0, len)}</td>
				<td class="n">{at.polls?.worst ? <button class="link" onClick={() => void selectPoll(at.polls.worst!)}>{dur(at.polls.max)}</button> : '-'}</td>
				<td class="n">{share(at.parks?.sum ?? 0, len)}</td><td class="n">{rec.offs ? dur(at.offs?.sum ?? 0) : '-'}</td><td class="n">{at.queue?.max ?? '-'}</td></tr>)}</tbody></table></>;
}

function TracePanel() {
	const s = useApp(), rec = s.rec!, bad = rec.segments.filter(x => x.error), facts = new Map(rec.facts.map(f => [f.key, f.value]));
	const has: [string, boolean, string][] = [['polls', rec.polls > 0, 'no lanes'], ['wakes', rec.wakes > 0, 'waits are unknown'], ['parks', rec.parks > 0, 'idle is unknown'],
		['CPU samples', rec.samples > 0, 'no flamegraph'], ['time without CPU', rec.offs > 0, 'blocking is unknown']];
	return <>
		<dl><dt>path</dt><dd>{s.trace?.path}</dd><dt>length</dt><dd>{dur(rec.length)}</dd><dt>events</dt><dd>{count(rec.events)} in {count(rec.segments.length)} segments</dd>
			<dt>tasks</dt><dd>{count(rec.tasks)}</dd><dt>memory</dt><dd>{bytes(rec.memory)}, {rec.events ? (rec.memory / rec.events).toFixed(1) : '-'} B an event</dd></dl>
		<h2>What was recorded</h2>
		<table><tbody>{has.map(([name, yes, no]) => <tr key={name}><td>{name}</td><td>{yes ? 'yes' : 'no: ' + no}</td></tr>)}</tbody></table>
		{bad.length > 0 && <><h2>Damaged</h2>{bad.map(x => <p key={x.name} class="note bad">{x.name}: {x.error}; read up to there: {count(x.events)} events.</p>)}</>}
		{(rec.bad_fields > 0 || rec.stray_ends > 0 || rec.unresolved > 0 || rec.over_cap > 0) && <p class="note">Left out: {count(rec.bad_fields)} events that lack a field, {count(rec.stray_ends)} poll ends without a start, {count(rec.unresolved)} names that are nowhere, {count(rec.over_cap)} beyond a cap.</p>}
		<h2>Segments</h2><table><thead><tr><th>file</th><th class="n">from</th><th class="n">events</th><th class="n">size</th></tr></thead><tbody>{rec.segments.slice(0, 200).map(x =>
			<tr key={x.name}><td>{x.first !== null && x.last !== null ? <button class="link" onClick={() => setView({ from: x.first!, to: x.last! })}>{x.name}</button> : x.name}</td><td class="n">{x.first !== null ? when(x.first) : '-'}</td><td class="n">{count(x.events)}</td><td class="n">{bytes(x.bytes)}</td></tr>)}</tbody></table>
		<h2>What it says about itself</h2><dl>{[...facts].map(([k, v]) => <><dt key={k}>{k}</dt><dd>{tail(v, 200)}</dd></>)}</dl>
	</>;
}
