// SPDX-License-Identifier: Apache-2.0
// The lanes as numbers: what the canvas shows, for the range or what is in view.
import * as api from './api';
import { openBusy, selectPoll } from './actions';
import { askBusy } from './busy';
import { EventTable } from './eventtable';
import { inWords, named, recordedShare } from './levels';
import { group, laneName } from './rows';
import { SpanTable } from './spantable';
import { set, setView, state, type Span } from './state';
import { useAnswer, useApp } from './use';
import { brief, count, dur, share } from './units';
import { when } from './when';

const LANES_MOST = 64;

export function LaneTable() {
	const s = useApp(), rec = s.rec!, span = s.region ?? s.view, len = span.to - span.from, known = recordedShare(span);
	const a = useAnswer(JSON.stringify([s.r, rec.generation, span]), () => Promise.all(rec.lanes.slice(0, LANES_MOST).map(async (l, i) =>
		({ l, i, at: await api.json<Record<string, api.Plane>>('at', { r: state.r, lane: i, ...(state.region ?? state.view) }) }))));
	return <><p class="dim">Of {s.region ? 'the selected range' : 'what is in view'}, {dur(len)}: what the lanes show, as numbers.{known < 0.9995 ? ` Shares are of the ${share(known, 1)} of it in which polls were recorded; parked is of all.` : ''}{rec.lanes.length > LANES_MOST ? ` The first ${LANES_MOST} of ${rec.lanes.length} lanes.` : ''}</p>
		{a.error && <p class="note bad">{a.error}</p>}
		<table><thead><tr><th>lane</th><th>of</th><th class="n">polls</th><th class="n">busy</th><th class="n">share</th><th class="n">longest</th><th class="n">wakes</th><th class="n">parked</th><th class="n">kernel delay, most</th><th class="n">without CPU</th><th class="n">samples</th><th class="n">queue, most</th></tr></thead>
			<tbody>{a.value?.map(({ l, i, at }) => <tr key={i} class={s.lane === i ? 'on' : ''}><td><button class="link" onClick={() => set({ lane: i, say: laneName(l) })}>{laneName(l)}</button></td><td>{group(l)}</td>
				<td class="n">{count(at.polls?.count ?? 0)}</td><td class="n">{dur(at.polls?.sum ?? 0)}</td><td class="n">{known > 0.001 ? share(Math.min(at.polls?.sum ?? 0, len * known), len * known) : 'unknown'}</td>
				<td class="n">{at.polls?.worst ? <button class="link" onClick={() => void selectPoll(at.polls.worst!)}>{dur(at.polls.max)}</button> : '-'}</td>
				<td class="n">{rec.wakes ? count(at.wakes?.count ?? 0) : '-'}</td><td class="n">{rec.parks ? share(at.parks?.sum ?? 0, len) : '-'}</td><td class="n">{at.delays?.max ? dur(at.delays.max) : '-'}</td>
				<td class="n">{rec.offs ? dur(at.offs?.sum ?? 0) : '-'}</td><td class="n">{count(at.samples?.count ?? 0)}</td><td class="n">{at.queue?.max ?? '-'}</td></tr>)}</tbody></table>
		<Runs of={span} /><Recorded of={span} /><SpanTable of={span} /><EventTable of={span} /></>;
}

// The busy runs that the lanes frame.
function Runs({ of }: { of: Span }) {
	const s = useApp(), lacking = recordedShare(of) < 1;
	const a = useAnswer(JSON.stringify([s.r, s.rec?.generation, of, lacking]), async () => lacking ? askBusy(of, 'runs') : null), b = a.value;
	if (!b || !b.runs.length)
		return null;
	return <><h2>Busy runs <span class="dim">one task in all samples of a worker, where polls were not recorded; {count(b.count)} of {dur(b.least)} and more</span></h2>
		<table class="runs"><thead><tr><th class="n">at</th><th class="n">at least</th><th class="n">samples</th><th>lane</th><th class="n">task</th><th>type</th><th>long polls of it, at other times</th></tr></thead>
			<tbody>{b.runs.map((x, i) => <tr key={i}><td class="n">{when(x.start)}</td><td class="n"><button class="link" onClick={() => void openBusy(x)}>{dur(x.dur)}</button></td><td class="n">{count(x.samples)}</td>
				<td>{laneName(s.rec!.lanes[x.lane])}</td><td class="n">{x.task}</td><td title={x.place}>{brief(x.place || 'unknown')}</td><td>{x.polls}</td></tr>)}</tbody></table></>;
}

// The row "recorded", and what is hatched, as a table.
function Recorded({ of }: { of: Span }) {
	const s = useApp(), l = s.levels, hits = (x: Span) => x.from < of.to && x.to >= of.from;
	const rows = l ? [...l.spans.map(x => ({ ...x, what: inWords(x), why: x.reason + (x.dropped_cnt ? `; left out: ${named(x)}` : '') })),
		...l.holes.map(x => ({ ...x, what: 'nothing', why: x.missing ? `files are missing between ${x.before} and ${x.after}` : 'the recorder did not run' })),
		...l.losses.map(x => ({ ...x, what: `${count(x.count)} lost`, why: `${x.kind}: ${x.cause}` }))].filter(hits).sort((a, b) => a.from - b.from) : [];
	if (!l)
		return null;
	return <><h2>What was recorded</h2>
		{rows.length === 0 ? <p class="dim">The recording does not say at which level it was made.</p>
			: <table class="recorded"><thead><tr><th class="n">from</th><th class="n">for</th><th>recorded</th><th>why</th></tr></thead><tbody>{rows.slice(0, 300).map((x, i) =>
				<tr key={i}><td class="n"><button class="link" onClick={() => setView({ from: x.from, to: Math.max(x.to, x.from + 1) })}>{when(x.from)}</button></td><td class="n">{dur(x.to - x.from)}</td><td>{x.what}</td><td>{x.why}</td></tr>)}</tbody></table>}
		{rows.length > 300 && <p class="dim">{count(rows.length - 300)} more.</p>}{l.over_cap > 0 && <p class="note">{count(l.over_cap)} further changes are not listed.</p>}</>;
}
