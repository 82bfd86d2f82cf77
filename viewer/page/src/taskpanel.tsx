// SPDX-License-Identifier: Apache-2.0
// One task: where from, how busy, and each of its polls with the waits before it: the table of its lane.
import { pin, selectPoll, togglePlace } from './actions';
import { set } from './state';
import { useApp } from './use';
import { count, dur } from './units';
import { when } from './when';

const CAUSES = ['', ', cancelled', ', at shutdown', ', finished or panicked', ', panicked'];

export function TaskPanel() {
	const s = useApp(), t = s.task;
	if (!t)
		return <section class="card"><b class="title">No task is selected</b><p>Click one of its polls, or search for its id with <kbd>/</kbd>. <kbd>x</kbd> gives the tasks that hurt most in view a lane.</p></section>;
	const pinned = s.pins.includes(t.id);
	return <>
		<div class="headline"><b>task {t.id}</b><span class="row"><button aria-pressed={pinned} title="key o" onClick={() => pin(t.id)}>{pinned ? 'Pinned' : 'Pin its lane'}</button>
			<button onClick={() => set({ task: null, poll: null, wakes: null, tab: 'summary' })}>Unselect</button></span></div>
		<dl><dt>type</dt><dd>{t.place ? <button class="link" onClick={() => togglePlace(t.place)}>{t.place}</button> : 'unknown'}</dd>
			<dt>spawned</dt><dd>{t.spawn !== null ? when(t.spawn) : 'before the recording, or not recorded'}</dd>
			<dt>ended</dt><dd>{t.end !== null ? when(t.end) + (CAUSES[t.cause] ?? '') : 'not seen'}</dd>
			<dt>busy</dt><dd>{dur(t.busy)} in {count(t.polls_cnt)} polls, longest {dur(t.worst)}</dd><dt>woken</dt><dd>{s.rec!.wakes ? count(t.wakes_cnt) + ' times' : 'not recorded'}</dd></dl>
		<h2>Its polls in and near the view <span class="dim">{t.capped ? 'the first 4000' : count(t.polls.length)}</span></h2>
		<table><thead><tr><th class="n">start</th><th class="n">pending</th><th class="n">ready</th><th class="n">poll</th></tr></thead>
			<tbody>{t.polls.slice(0, 300).map((p, i) => {
				const before = i ? t.polls[i - 1].start + t.polls[i - 1].dur : t.spawn;
				return <tr key={p.row} class={s.poll?.poll.row === p.row ? 'on' : ''}><td class="n"><button class="link" onClick={() => void selectPoll(p, false)}>{when(p.start)}</button></td>
					<td class="n">{p.ready !== null && before !== null ? dur(Math.max(p.ready - before, 0)) : '-'}</td><td class="n">{p.ready !== null ? dur(p.start - p.ready) : '-'}</td><td class="n">{dur(p.dur)}</td></tr>;
			})}</tbody></table>
	</>;
}
