// SPDX-License-Identifier: Apache-2.0
// One poll: how long, for whom, after which wait, who woke it, whom it woke, when it had no CPU.
import type { Poll, Why } from './api';
import { openTask, reveal, selectPoll, togglePlace } from './actions';
import { laneName } from './rows';
import { set, state } from './state';
import { useApp } from './use';
import { count, dur, share, shortName } from './units';
import { when } from './when';

export function PollPanel() {
	const s = useApp(), a = s.poll, p = a?.poll;
	if (!a || !p)
		return <section class="card"><b class="title">No poll is selected</b><p>Click one in the lanes, or choose a lane with <kbd>↑</kbd> <kbd>↓</kbd> and press <kbd>Enter</kbd> for its longest poll in view.</p></section>;
	const lane = s.rec!.lanes[p.lane], off = a.offs.reduce((n, o) => n + o.dur, 0);
	const nav = (label: string, key: string, to: Poll | null) => <button disabled={!to} title={'key ' + key} onClick={() => to && void selectPoll(to)}>{label}</button>;
	return <>
		<div class="headline"><b>{dur(p.dur)}</b><span class="dim">poll{p.flags & 1 ? ', its end was not seen' : p.flags & 2 ? ', end inferred' : ''}{p.flags & 4 ? ', gave its worker away' : ''}</span></div>
		<div class="row">{nav('‹ lane', ',', a.lane_before)}{nav('lane ›', '.', a.lane_after)}{nav('‹ task', '<', a.task_before)}{nav('task ›', '>', a.task_after)}</div>
		{p.dur > 0 && <Reason p={p} why={a.why} />}
		<Wait p={p} />
		<dl>
			<dt>start</dt><dd><button class="link" onClick={() => reveal(p.start, p.start + p.dur)}>{when(p.start)}</button></dd>
			<dt>task</dt><dd>{p.task ? <button class="link" onClick={() => void openTask(p.task!)}>{p.task}</button> : 'unknown'}{a.nr ? `, its poll ${count(a.nr)} of ${count(a.of ?? 0)}` : ''}</dd>
			<dt>type</dt><dd>{p.place ? <button class="link" onClick={() => togglePlace(p.place)}>{p.place}</button> : 'unknown'}</dd>
			<dt>where</dt><dd><button class="link" onClick={() => set({ lane: p.lane, say: laneName(lane) })}>{laneName(lane)}</button>{lane.runtime ? ' of ' + lane.runtime : ''}</dd>
			<dt>queue at start</dt><dd>{p.queue ?? 'unknown'}</dd>
			<dt>without CPU</dt><dd>{p.off ? `${dur(p.off)}, ${share(p.off, p.dur)}` : s.rec!.offs ? '0' : 'not recorded'}</dd>
			{s.wakes?.by && <><dt>woken</dt><dd>{when(s.wakes.by.ts)} by {s.wakes.by.waker ? <button class="link" onClick={() => void openTask(s.wakes!.by!.waker!)}>task {s.wakes.by.waker}</button> : 'no task'}
				{s.wakes.by.poll && <>, in <button class="link" onClick={() => void selectPoll(s.wakes!.by!.poll!)}>this poll</button></>}</dd></>}
			{s.wakes && <><dt>woke</dt><dd>{s.wakes.issued.length ? s.wakes.issued.map((w, i) => <span key={i}>{i ? ', ' : ''}{w.to?.task ? <button class="link" onClick={() => void selectPoll(w.to!)}>task {w.to.task}</button> : 'a task'}</span>) : 'nobody'}</dd></>}
		</dl>
		{a.offs.length > 0 && <><h2>Without a CPU <span class="dim">{dur(off)}</span></h2><table><thead><tr><th class="n">after</th><th class="n">for</th><th>why</th><th>in</th></tr></thead>
			<tbody>{a.offs.map((o, i) => <tr key={i}><td class="n"><button class="link" onClick={() => reveal(o.start, o.start + o.dur)}>{dur(o.start - p.start)}</button></td><td class="n">{dur(o.dur)}</td><td class="nowrap">{o.reason === 'preempted' ? 'preempted' : o.call}</td><td title={o.place}>{o.place ? shortName(o.place) : '-'}</td></tr>)}</tbody></table></>}
		<div class="row"><button onClick={() => set({ dock: 'flame', dockOpen: true, region: null, flameKind: state.flameKind })}>Stacks of this poll</button>
			<button onClick={() => set({ region: { from: p.start, to: p.start + Math.max(p.dur, 1) }, tab: 'summary' })}>Select its time</button></div>
	</>;
}

const VERDICTS: Record<Why['verdict'], string> = { compute: 'It computed', blocking: 'It blocked', lock: 'It waited for a lock', preempted: 'Others had its CPU', unknown: 'Why is unknown' };

// The reason, and where in the program: what the person came for.
function Reason({ p, why }: { p: Poll; why: Why }) {
	const held = Math.max(why.blocking, why.lock, why.preempted), long = p.dur >= 1e6;
	const ns = why.verdict === 'unknown' ? 0 : why[why.verdict], stays = why.verdict === 'blocking' || why.verdict === 'lock';
	return <section class={'card ' + (why.verdict === 'unknown' ? '' : p.dur >= 1e7 ? 'warning' : '')} aria-label="Why it took its time">
		<b class="title">{VERDICTS[why.verdict]}{ns > 0 && ` for ${dur(ns)}, ${share(ns, p.dur)}`}</b>
		{stays && <p>{why.call || 'no system call'}{why.call_place && <> in <b class="mono" title={why.call_place}>{shortName(why.call_place)}</b></>}</p>}
		{why.verdict === 'compute' && why.samples > 0 && <p>{why.place ? <>{count(why.hits)} of {count(why.samples)} samples in <b class="mono" title={why.place}>{shortName(why.place)}</b></> : `${count(why.samples)} samples, none in a function of the program that has a name`}</p>}
		{why.verdict === 'compute' && why.samples === 0 && long && <p>No sample hit it: where is unknown.</p>}
		{why.verdict === 'preempted' && <p>Runnable, but other threads ran: too few CPUs, or a CPU quota.</p>}
		{why.verdict === 'unknown' && <p>Neither times without CPU nor two samples tell.</p>}
		{!stays && held > 0 && why.verdict !== 'preempted' && <p class="dim">Without a CPU for {dur(why.blocking + why.lock + why.preempted)} of it, most in {why.call}{why.call_place && ', ' + shortName(why.call_place)}.</p>}
	</section>;
}

// Wait and poll as one bar, to scale.
function Wait({ p }: { p: Poll }) {
	const s = useApp();
	if (p.ready === null)
		return <p class="note">How long it waited is unknown{s.rec!.wakes ? ': its wake was not seen' : ': wakes were not recorded'}.</p>;
	const wait = p.start - p.ready, all = Math.max(wait + p.dur, 1);
	return <><div class="split" role="img" aria-label={`waited ${dur(wait)}, polled ${dur(p.dur)}`}><div class="k-wait" style={{ width: wait / all * 100 + '%' }} /><div class="k-on" style={{ width: p.dur / all * 100 + '%' }} /></div>
		<p><span class="key k-wait" />waited <b>{dur(wait)}</b> from wake to poll <span class="key k-on" />polled <b>{dur(p.dur)}</b></p></>;
}
