// SPDX-License-Identifier: Apache-2.0
// The rail on the left: the verdict, the findings by cause, and the worst polls of each kind.
import type { Issue, Poll } from './api';
import { loadIssues, loadList, openBusyAt, openIssue, openWorst } from './actions';
import { recordedShare, wakesShare } from './levels';
import { currentIssues, extent, set, type RailTab } from './state';
import { Tabs } from './tabs';
import { useApp } from './use';
import { brief, count, dur, share, tail } from './units';
import { when } from './when';

const KINDS: Record<string, string> = {
	'long-poll': 'Long polls', 'late-poll': 'Late polls', 'blocked-poll': 'Blocked polls', 'wake-storm': 'Wake storms',
};

function kindName(kind: string): string {
	const plain = kind.replace(/-/g, ' ');
	return KINDS[kind] ?? plain[0].toUpperCase() + plain.slice(1);
}

export function Rail() {
	const s = useApp();
	const tabs: [RailTab, string, string][] = [['issues', 'Findings', 'i'], ['long', 'Long', 'l'], ['late', 'Late', 'k'], ['blocked', 'Blocked', 'b'], ['busy', 'Busy', 'u']];
	return <nav class="rail" aria-label="Findings">
		<Tabs label="Lists" prefix="rail-" body="rail-list" at={s.rail} items={tabs.map(([id, name, key]) => ({ id, name, key }))}
			onPick={id => id === 'issues' ? set({ rail: id, railAt: -1 }) : loadList(id)} />
		<div class="scroll" id="rail-list" role="tabpanel" aria-labelledby={'rail-' + s.rail} tabIndex={0}>
			{s.rail === 'issues' ? <><Verdict /><IssueList /></> : s.rail === 'busy' ? <BusyList /> : <WorstList />}
		</div>
	</nav>;
}

// The answer before any question: is something wrong, what first, and what could not be known.
function Verdict() {
	const s = useApp(), rec = s.rec!, issues = currentIssues();
	if (s.findingsError)
		return <p class="note bad">{s.findingsError} <button onClick={loadIssues}>Try again</button></p>;
	if (!s.findings)
		return <p class="card busy" aria-busy="true">Working out the findings</p>;
	const worst = issues[0], hard = issues.filter(x => x.severity === 'critical').length;
	const title = !issues.length ? 'Nothing found' : hard ? `${hard} critical ${hard === 1 ? 'finding' : 'findings'}` : `No critical finding, ${issues.length} to look at`;
	const has: [string, boolean, number][] = [['polls', rec.polls > 0, recordedShare(extent())], ['wakes', rec.wakes > 0, wakesShare(extent())], ['parks', rec.parks > 0, 1], ['samples', rec.samples > 0, 1], ['off-CPU', rec.offs > 0, 1]];
	return <section class={'card ' + (worst?.severity ?? 'good')} aria-label="Verdict">
		<b class="title">{title}</b>
		{worst && <p>{kindName(worst.kind)}{worst.type ? <> in <span class="mono">{brief(worst.type)}</span></> : ''}: worst {dur(worst.worst_ns)}, {count(worst.count)} {worst.count === 1 ? 'time' : 'times'}.</p>}
		{!issues.length && <p>No rule found anything in what was recorded.</p>}
		<button class="chips" onClick={() => set({ tab: 'trace' })} title="What was recorded: tab Trace">
			{has.map(([name, yes, of]) => <span key={name} class={!yes ? 'no' : of < 0.995 ? 'some' : 'yes'}>{yes ? of < 0.995 ? '◐' : '✓' : '–'} {name}{yes && of < 0.995 && ` ${share(of, 1)} of the time`}<span class="sr">{yes ? ' recorded' : ' not recorded'}, </span></span>)}</button>
	</section>;
}

function IssueList() {
	const s = useApp(), issues = currentIssues(), groups: { kind: string; severity: Issue['severity']; cause: string | null; at: number[] }[] = [];
	issues.forEach((x, i) => {
		const last = groups[groups.length - 1];
		if (last && last.kind === x.kind && last.severity === x.severity && last.cause === x.explained_by)
			last.at.push(i);
		else
			groups.push({ kind: x.kind, severity: x.severity, cause: x.explained_by, at: [i] });
	});
	return <>{groups.map(gr => <section key={gr.at[0]} class={gr.cause ? 'group follows' : 'group'}>
		<h2><span class={'sev ' + gr.severity}>{gr.severity}</span> {kindName(gr.kind)}{gr.at.length > 1 && <span class="dim"> · {gr.at.length}</span>}</h2>
		{gr.cause && <p class="dim">follows from: {kindName(gr.cause).toLowerCase()}</p>}
		<ol class="list">{gr.at.map(i => <IssueRow key={i} i={i} x={issues[i]} open={s.railAt === i} />)}</ol>
	</section>)}</>;
}

function IssueRow({ i, x, open }: { i: number; x: Issue; open: boolean }) {
	return <li><button aria-current={open} onClick={() => openIssue(i)}>
		<span class="line"><b class={'num sev ' + x.severity}>{x.worst_ns ? dur(x.worst_ns) : count(x.count)}</b>
			<span class="what" title={x.type ?? x.place ?? ''}>{x.type ? brief(x.type) : x.place ? brief(x.place) : 'the whole program'}</span>{x.worst_ns > 0 && <span class="dim">×{count(x.count)}</span>}</span>
		{open && <><span class="sub">{x.text}</span>{x.type && <span class="sub">{x.type}</span>}{x.place && <span class="sub">at {tail(x.place, 64)}</span>}<span class="sub next">{x.next}</span></>}
	</button></li>;
}

// Candidates for long polls where polls were not recorded.
function BusyList() {
	const s = useApp(), b = s.busy, all = recordedShare(extent()) > 0.9995;
	if (!b)
		return <p class="card busy" aria-busy="true">Reading</p>;
	if (!b.runs.length)
		return <section class="card good"><b class="title">None</b><p>{all ? 'Polls were recorded all the time: see Long.' : 'no task was in all CPU samples of a worker for ' + dur(b.least) + ', where polls were not recorded.'}</p></section>;
	return <><p class="dim">{count(b.count)} {b.count === 1 ? 'time' : 'times'} one task in all samples of a worker for {dur(b.least)} and more{b.count > b.runs.length ? `; the longest ${b.runs.length}` : ''}. Candidates for long polls: a task that only yields looks the same. <kbd>n</kbd> <kbd>p</kbd> step.</p>
		<ol class="list">{b.runs.map((x, i) => <li key={i}><button aria-current={s.railAt === i} onClick={() => openBusyAt(i)}>
			<span class="line"><b class="num">{dur(x.dur)}</b><span class="bar"><i style={{ width: x.dur / b.runs[0].dur * 100 + '%' }} /></span><span class="dim">{when(x.start)}</span></span>
			<span class="sub">{brief(x.place || 'type unknown')} · task {x.task} · {count(x.samples)} samples{x.polls === 'confirmed' ? ' · its type has long polls' : x.polls === 'not seen' ? ' · its type had no long poll' : ''}</span></button></li>)}</ol></>;
}

const NONE = { long: 'no poll took 10 ms', late: 'no task waited 5 ms for its poll, as far as wakes were recorded', blocked: 'no poll lost its CPU for 1 ms, as far as that was recorded', issues: '', busy: '' };
const WHAT = { long: 'of 10 ms and more', late: '5 ms and more after the wake', blocked: '1 ms and more without a CPU', issues: '', busy: '' };

function WorstList() {
	const s = useApp();
	if (!s.worst)
		return <p class="card busy" aria-busy="true">Reading</p>;
	if (!s.worst.polls.length)
		return <section class="card good"><b class="title">None</b><p>{NONE[s.rail]}.</p></section>;
	const value = (p: Poll) => s.rail === 'late' ? p.start - (p.ready ?? p.start) : s.rail === 'blocked' ? p.off : p.dur;
	const most = value(s.worst.polls[0]);
	return <><p class="dim">{count(s.worst.count)} {s.worst.count === 1 ? 'poll' : 'polls'} {WHAT[s.rail]}{s.worst.count > s.worst.polls.length ? `; the worst ${s.worst.polls.length}` : ''}. <kbd>n</kbd> <kbd>p</kbd> step.</p>
		<ol class="list">{s.worst.polls.map((p, i) => <li key={p.row}><button aria-current={s.railAt === i} onClick={() => openWorst(i)}>
			<span class="line"><b class="num">{dur(value(p))}</b><span class="bar"><i style={{ width: value(p) / most * 100 + '%' }} /></span><span class="dim">{when(p.start)}</span></span>
			<span class="sub">{brief(p.place || 'type unknown')} · task {p.task ?? '?'}</span></button></li>)}</ol></>;
}
