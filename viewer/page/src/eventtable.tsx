// SPDX-License-Identifier: Apache-2.0
// Events of other kinds, one by one with all their fields; one that is chosen is marked in the lanes.
import * as api from './api';
import { set, setView, state, type Span } from './state';
import { useAnswer, useApp } from './use';
import { count } from './units';
import { when } from './when';

interface EventRow { ts: number; schema: number; fields: (string | null)[] }
interface EventsAnswer { events: EventRow[]; count: number; capped: boolean }

function choose(x: EventRow): void {
	const worker = x.fields.findIndex((f, i) => i % 2 === 0 && f === 'worker_id'), id = worker < 0 ? null : x.fields[worker + 1];
	const lane = id === null ? -1 : state.rec!.lanes.findIndex(l => l.kind === 'worker' && l.id === Number(id)), { from, to } = state.view;
	if (x.ts < from || x.ts > to)
		setView({ from: x.ts - (to - from) / 2, to: x.ts + (to - from) / 2 });
	set({ eventAt: x.ts, ...lane >= 0 ? { lane } : {}, say: `${state.rec!.schemas[x.schema].name} at ${when(x.ts)}, marked in the lanes` });
}

function Fields({ of }: { of: (string | null)[] }) {
	const out = [];
	for (let i = 0; i + 1 < of.length; i += 2)
		out.push(<><span key={i} class="dim">{of[i]}</span> {of[i + 1] ?? <i class="dim">absent</i>} </>);
	return <>{out}</>;
}

export function EventTable({ of }: { of: Span }) {
	const s = useApp(), rec = s.rec!;
	const a = useAnswer(JSON.stringify([s.r, rec.generation, of, s.eventKind, s.eventText]), async () => rec.schemas.length
		? api.json<EventsAnswer>('events', { r: state.r, ...of, limit: 100, schema: state.eventKind < 0 ? undefined : state.eventKind, q: state.eventText }, 'events') : null), v = a.value;
	if (!rec.schemas.length)
		return null;
	return <section aria-label="Events of other kinds"><h2>Events of other kinds {v && <span class="dim">{count(v.count)}{v.capped ? ' of those looked at' : ''} here{v.count > v.events.length ? `, the first ${v.events.length}` : ''}</span>}</h2>
		<div class="dock-bar"><select aria-label="Kind of event" value={s.eventKind} onChange={e => set({ eventKind: Number(e.currentTarget.value) })}>
			<option value={-1}>every kind</option>{rec.schemas.map((x, i) => <option key={i} value={i}>{x.name} ({x.records})</option>)}</select>
			<input type="search" aria-label="What a field says" placeholder="text, or field=text" value={s.eventText} onInput={e => set({ eventText: e.currentTarget.value })} /></div>
		{a.error && <p class="note bad">{a.error}</p>}
		{v && v.events.length > 0 && <table class="events"><thead><tr><th class="n">at</th><th>event</th><th>fields</th></tr></thead>
			<tbody>{v.events.map((x, i) => <tr key={i} class={s.eventAt === x.ts ? 'on' : ''}><td class="n"><button class="link" onClick={() => choose(x)}>{when(x.ts)}</button></td>
				<td>{rec.schemas[x.schema]?.name}</td><td class="mono"><Fields of={x.fields} /></td></tr>)}</tbody></table>}
	</section>;
}
