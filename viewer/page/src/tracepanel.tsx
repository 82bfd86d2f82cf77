// SPDX-License-Identifier: Apache-2.0
// The recording itself: what it holds, what it lacks, what is damaged, what it says about itself.
import { setView } from './state';
import { useApp } from './use';
import { bytes, count, dur, tail } from './units';
import { when } from './when';

export function TracePanel() {
	const s = useApp(), rec = s.rec!, bad = rec.segments.filter(x => x.error);
	const has: [string, number, string][] = [['polls', rec.polls, 'no lanes'], ['wakes', rec.wakes, 'waits are unknown'], ['parks', rec.parks, 'idle is unknown'],
		['CPU samples', rec.samples, 'no flamegraph'], ['times without CPU', rec.offs, 'blocking is unknown']];
	const left: [number, string][] = [[rec.bad_fields, 'events that lack a field'], [rec.stray_ends, 'poll ends without a start'], [rec.unresolved, 'names that are nowhere'], [rec.over_cap, 'beyond a cap']];
	return <>
		{bad.length > 0 && <section class="card critical"><b class="title">{bad.length} of {rec.segments.length} segments damaged</b>{bad.slice(0, 20).map(x => <p key={x.name}><b>{x.name}</b>: {x.error}. Read up to there: {count(x.events)} events.</p>)}</section>}
		{left.some(x => x[0] > 0) && <section class="card warning"><b class="title">Left out</b><p>{left.filter(x => x[0] > 0).map(x => count(x[0]) + ' ' + x[1]).join(', ')}.</p></section>}
		<dl><dt>path</dt><dd>{s.trace?.path}</dd><dt>length</dt><dd>{dur(rec.length)}</dd><dt>events</dt><dd>{count(rec.events)} in {count(rec.segments.length)} segments</dd>
			<dt>tasks</dt><dd>{count(rec.tasks)}</dd>{rec.memory > 0 && rec.events > 0 && <><dt>memory</dt><dd>{bytes(rec.memory)}, {(rec.memory / rec.events).toFixed(1)} B an event</dd></>}</dl>
		<h2>What was recorded</h2>
		<table class="plain"><tbody>{has.map(([name, n, no]) => <tr key={name} class={n ? '' : 'dim'}><td>{n ? '✓' : '–'} {name}</td><td class="n">{n ? count(n) : 'none: ' + no}</td></tr>)}</tbody></table>
		<h2>Segments</h2><table><thead><tr><th>file</th><th class="n">from</th><th class="n">events</th><th class="n">size</th></tr></thead><tbody>{rec.segments.slice(0, 200).map(x =>
			<tr key={x.name}><td>{x.first !== null && x.last !== null ? <button class="link" onClick={() => setView({ from: x.first!, to: x.last! })}>{x.name}</button> : x.name}</td><td class="n">{x.first !== null ? when(x.first) : '-'}</td><td class="n">{count(x.events)}</td><td class="n">{bytes(x.bytes)}</td></tr>)}</tbody></table>
		<h2>What it says about itself</h2><dl>{rec.facts.map(f => <><dt key={f.key}>{f.key}</dt><dd>{tail(f.value, 200)}</dd></>)}</dl>
	</>;
}
