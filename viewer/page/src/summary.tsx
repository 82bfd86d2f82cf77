// SPDX-License-Identifier: Apache-2.0
// What happened in the range, or in view: time split, distributions, task types, findings.
import type { RangeAnswer, TypeRow } from './api';
import * as api from './api';
import { openIssue, selectPoll, togglePlace } from './actions';
import { Histogram, Quantiles } from './histogram';
import { askGlimpses } from './glimpses';
import { GlimpseTable } from './glimpsetable';
import { lacks, recordedShare } from './levels';
import { baseNs, currentIssues, set, setView, state, type Span } from './state';
import { useAnswer, useApp } from './use';
import { brief, count, dur, share } from './units';
import { when } from './when';

export function Summary() {
	const s = useApp(), span = s.region ?? s.view;
	const known = recordedShare(span), lacking = lacks(span.from, span.to).length > 0;
	const a = useAnswer(JSON.stringify([s.r, s.rec?.generation, span, s.blanks.length]), async () => {
		const [v, seen] = await Promise.all([api.json<RangeAnswer>('range', { r: state.r, ...span }, 'range'),
			lacking ? askGlimpses(span, 'seen') : null]);
		return { v, seen };
	});
	const v = a.value?.v;
	if (a.error)
		return <p class="note bad">{a.error}</p>;
	if (!v)
		return <p class="card busy" aria-busy="true">Adding up</p>;
	const here = currentIssues().filter(x => x.evidence.from_ns !== undefined && x.evidence.to_ns !== undefined && overlaps(x.evidence.from_ns, x.evidence.to_ns, span));
	return <>
		<div class="headline"><b>{dur(span.to - span.from)}</b><span class="dim">{s.region ? 'selected' : 'in view'}, from {when(span.from)}</span>
			{s.region && <span class="row"><button onClick={() => setView(span)}>Zoom to it</button><button onClick={() => set({ region: null })}>Unselect</button></span>}</div>
		<Lack of={span} />
		<Split v={v} known={known} />
		{a.value!.seen && <GlimpseTable v={a.value!.seen} />}
		<h2>Polls <span class="dim">{count(v.all.polls)}</span></h2>
		<Histogram bins={v.poll_bins} name="polls" onPick={ns => set({ search: `dur>${Math.round(ns)}ns` })} />{v.all.polls > 0 && <Quantiles q={v.all.poll_q} name="length" onMax={v.all.worst ? () => void selectPoll(v.all.worst!) : undefined} />}
		<h2>Waits, from wake to poll {v.all.waits > 0 && <span class="dim">known for {share(v.all.waits, v.all.polls)}</span>}</h2>
		{v.all.waits ? <><Histogram bins={v.wait_bins} name="waits" /><Quantiles q={v.all.wait_q} name="wait" /></>
			: <p class="note">{s.rec?.wakes ? 'No poll here whose wake is known.' : 'Wakes were not recorded: waits are unknown.'}</p>}
		{v.types.length > 0 && <><h2>Task types <span class="dim">most busy first</span></h2><Types rows={v.types} all={v.all.busy} /></>}
		{v.types_cnt > v.types.length && <p class="dim">{count(v.types_cnt - v.types.length)} more types.</p>}
		<h2>Findings here</h2>
		{here.length ? <ul class="list">{here.slice(0, 40).map(x => <li key={x.id}><button onClick={() => openIssue(currentIssues().indexOf(x))}>
			<span class="line"><b class={'num sev ' + x.severity}>{x.worst_ns ? dur(x.worst_ns) : count(x.count)}</b><span class="what">{x.kind.replace('-', ' ')}, {brief(x.type ?? x.place ?? 'the whole program')}</span></span></button></li>)}</ul>
			: <p class="dim">None.</p>}
	</>;
}

// What the numbers below do not know.
function Lack({ of }: { of: Span }) {
	const known = recordedShare(of), lines = lacks(of.from, of.to);
	if (!lines.length)
		return null;
	return <section class="note" aria-label="Not recorded">{known < 1 && <p><b>Polls are unknown for {share(1 - known, 1)} of this time.</b> Shares below are of all of it.</p>}
		{lines.slice(0, 3).map(x => <p key={x}>{x[0].toUpperCase() + x.slice(1)}.</p>)}
		<button class="link" onClick={() => set({ dock: 'table', dockOpen: true })}>What was recorded when</button></section>;
}

// Adds up to workers x time.
function Split({ v, known }: { v: RangeAnswer; known: number }) {
	const s = useApp(), p = v.split, off = Math.min(p.offs_in_polls, p.polls.sum), on = p.polls.sum - off, unseen = Math.max(p.offs.sum - p.offs_in_polls, 0);
	const delays = Math.min(p.delays.sum, p.parks.sum), parked = p.parks.sum - delays;
	const rest = Math.max(p.wall - on - off - unseen - delays - parked, 0);
	const parts: [string, string, number][] = [['k-on', s.rec?.offs ? 'polling, on CPU' : 'polling', on], ['k-off', 'polling, without CPU', off],
		...unseen > 0 ? [['k-unseen', known < 1 ? 'without CPU, polls not recorded' : 'without CPU, between polls', unseen] as [string, string, number]] : [],
		['k-delay', 'woken, no CPU yet', delays], ['k-park', 'parked', parked], ['k-rest', known < 1 ? 'on CPU, or unknown' : 'between, or unknown', rest]];
	return <>
		<h2>Workers' time <span class="dim">{p.workers} × {dur(p.workers ? p.wall / p.workers : 0)}</span></h2>
		<div class="split" role="img" aria-label={parts.map(x => x[1] + ' ' + share(x[2], p.wall)).join(', ')}>{parts.map(x => <div key={x[0]} class={x[0]} style={{ width: (p.wall ? x[2] / p.wall * 100 : 0) + '%' }} />)}</div>
		<table class="plain"><tbody>{parts.map(x => (x[0] === 'k-off' && s.rec?.offs === 0) || (known < 0.0005 && p.polls.count === 0 && (x[0] === 'k-on' || x[0] === 'k-off'))
			? <tr key={x[0]}><td><span class={'key ' + x[0]} />{x[1]}</td><td class="n dim" colSpan={2}>not recorded</td></tr>
			: <tr key={x[0]}><td><span class={'key ' + x[0]} />{x[1]}</td><td class="n">{dur(x[2])}</td><td class="n">{share(x[2], p.wall)}</td></tr>)}</tbody></table>
		<p class="dim">{count(p.wakes.count)} wakes, most delayed CPU <button class="link" onClick={() => set({ dock: 'table', dockOpen: true })}>{dur(p.delays.max)}</button>, <button class="link" onClick={() => set({ dock: 'flame', dockOpen: true, poll: null })}>{count(p.samples.count)} samples</button> of CPU and switches.</p>
	</>;
}

function overlaps(from: string, to: string, span: Span): boolean {
	return Number(BigInt(from) - baseNs()) < span.to && Number(BigInt(to) - baseNs()) > span.from;
}

function Types({ rows, all }: { rows: TypeRow[]; all: number }) {
	const s = useApp();
	return <table class="types"><thead><tr><th class="n">busy</th><th class="n">polls</th><th class="n">p99</th><th class="n">max</th><th class="n">wait p99</th></tr></thead>
		{rows.map(t => <tbody key={t.place} class={s.place === t.place ? 'on' : ''}>
			<tr><th scope="rowgroup" colSpan={5}><button class="link" aria-pressed={s.place === t.place} title={t.place} onClick={() => togglePlace(t.place)}>{brief(t.place || 'unknown')}</button>
				<span class="bar"><i style={{ width: (all ? t.busy / all * 100 : 0) + '%' }} /></span></th></tr>
			<tr><td class="n" title={share(t.busy, all)}>{dur(t.busy)}</td><td class="n">{count(t.polls)}</td><td class="n">{dur(t.poll_q[2])}</td>
				<td class="n">{t.worst ? <button class="link" onClick={() => void selectPoll(t.worst!)}>{dur(t.poll_q[4])}</button> : '-'}</td>
				<td class="n">{t.waits ? dur(t.wait_q[2]) : '-'}</td></tr></tbody>)}</table>;
}
