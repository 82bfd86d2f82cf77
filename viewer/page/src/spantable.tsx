// SPDX-License-Identifier: Apache-2.0
// Spans that the program itself told (dial9's tracing layer), by name; or why there are none.
import * as api from './api';
import { selectPoll } from './actions';
import { state, type Span } from './state';
import { useAnswer, useApp } from './use';
import { count, dur } from './units';

interface SpansAnswer {
	spans: number; unmatched: number; over_cap: number; located: number; crowded: number; most: number; most_poll: api.Poll | null; names_cnt: number;
	names: { name: string; count: number; sum: number; p50: number; p90: number; p99: number; max: number; outliers: number }[];
}

export function SpanTable({ of }: { of: Span }) {
	const s = useApp(), told = s.rec!.schemas.some(x => x.name.startsWith('Span'));
	const a = useAnswer(JSON.stringify([s.r, s.rec!.generation, told && of]), () => told ? api.json<SpansAnswer>('spans', { r: state.r, ...of }, 'spans') : Promise.resolve(null)), v = a.value;
	if (!told)
		return <><h2>Spans</h2><p class="dim">The recording holds no spans. Only the program can tell them, through dial9's tracing layer; a recorder from outside does not see them.</p></>;
	return <><h2>Spans {v && <span class="dim">{count(v.spans)} of {count(v.names_cnt)} names{v.unmatched > 0 && `, ${count(v.unmatched)} entered but never left, or left but never entered`}</span>}</h2>
		{a.error && <p class="note bad">{a.error}</p>}
		{v && v.spans === 0 && <p class="dim">None here.</p>}
		{v && v.spans > 0 && <table class="spans"><thead><tr><th>name</th><th class="n">spans</th><th class="n">sum</th><th class="n">p50</th><th class="n">p90</th><th class="n">p99</th><th class="n">max</th><th class="n">10 × p50 and more</th></tr></thead>
			<tbody>{v.names.map(x => <tr key={x.name}><td>{x.name}</td><td class="n">{count(x.count)}</td><td class="n">{dur(x.sum)}</td><td class="n">{dur(x.p50)}</td><td class="n">{dur(x.p90)}</td><td class="n">{dur(x.p99)}</td><td class="n">{dur(x.max)}</td><td class="n">{x.outliers ? count(x.outliers) : '-'}</td></tr>)}</tbody></table>}
		{v?.most_poll && <p class="dim">Most in one poll: {count(v.most)}, in <button class="link" onClick={() => void selectPoll(v.most_poll!)}>this one</button>{v.located < v.spans && `; of ${count(v.spans - v.located)} spans the worker is unknown`}.</p>}
	</>;
}
