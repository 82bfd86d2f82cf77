// SPDX-License-Identifier: Apache-2.0
// Numbers over time: queues and tasks of each runtime, any numeric field of any event. A field that
// is chosen also has a lane.
import * as api from './api';
import type { Series } from './api';
import { fieldName } from './rows';
import { GUTTER } from './scale';
import { set, state } from './state';
import { colors } from './theme';
import { useAnswer, useApp, usePlot } from './use';
import { count } from './units';
import { when } from './when';

function Curve({ series, name, onDrop }: { series: Series; name: string; onDrop?: () => void }) {
	const s = useApp(), values = series.most.filter((x): x is number => x !== null);
	const hi = values.reduce((n, x) => Math.max(n, x), 1), lo = series.least.reduce<number>((n, x) => x === null ? n : Math.min(n, x), 0);
	const ref = usePlot((g, w, h) => {
		g.fillStyle = colors.lane;
		g.fillRect(GUTTER, 0, w, h);
		const step = (w - GUTTER) / series.most.length, y = (v: number) => h - 4 - (v - lo) / (hi - lo || 1) * (h - 10);
		g.fillStyle = colors.accent;
		let before: number | null = null;
		series.most.forEach((m, i) => {
			const l = series.least[i] ?? m, high = m ?? before;
			if (high === null)
				return;
			g.globalAlpha = 0.25;
			g.fillRect(GUTTER + i * step, y(high), step, y(lo) - y(high));
			g.globalAlpha = 1;
			if (m !== null && l !== null)
				g.fillRect(GUTTER + i * step, y(m), Math.max(step, 1.5), Math.max(y(l) - y(m), 2));
			before = l ?? before;
		});
		g.fillStyle = colors.dim;
		for (const v of [hi, lo]) {
			const text = count(v);
			g.fillText(text, GUTTER - 8 - g.measureText(text).width, Math.min(Math.max(y(v), 7), h - 7));
			g.globalAlpha = 0.3;
			g.fillRect(GUTTER, y(v), w, 1);
			g.globalAlpha = 1;
		}
	}, [series]);
	const at = (i: number) => s.view.from + i / series.most.length * (s.view.to - s.view.from);
	return <section class="curve">
		<h2>{name} <span class="dim">{series.count ? `${count(lo)} to ${count(hi)}, ${count(series.count)} values` : 'nothing in view'}</span>
			{onDrop && <button onClick={onDrop}>Remove</button>}</h2>
		{series.count > 0 && <><canvas class="plot" ref={ref} style={{ height: '58px' }} role="img" aria-label={`${name} over the view: least ${lo}, most ${hi}, ${series.count} values; the table below has them`} />
			<details><summary>{name} as a table</summary><table><thead><tr><th class="n">at</th><th class="n">least</th><th class="n">most</th></tr></thead>
				<tbody>{series.most.map((m, i) => m === null ? null : <tr key={i}><td class="n">{when(at(i))}</td><td class="n">{count(series.least[i] ?? m)}</td><td class="n">{count(m)}</td></tr>)}</tbody></table></details></>}
	</section>;
}

export function Charts() {
	const s = useApp(), rec = s.rec!, view = JSON.stringify([s.r, rec.generation, s.view]);
	const runtimes = [...new Set(rec.lanes.filter(l => l.kind === 'worker').map(l => l.runtime))];
	const queues = useAnswer(view, async () => {
		const out: [string, Series][] = [];
		for (const runtime of runtimes.slice(0, 8)) {
			const a = await api.json<{ depth: Series; alive: Series }>('queues', { r: state.r, runtime: runtime || undefined, ...state.view, px: 400 });
			out.push([(runtime || 'main runtime') + ', tasks alive', a.alive], [(runtime || 'main runtime') + ', global queue', a.depth]);
		}
		if (rec.lanes.some(l => l.kind === 'blocking')) {
			const a = await api.json<{ work: Series; queued: Series }>('pool', { r: state.r, ...state.view, px: 400 });
			out.push(['blocking pool, threads at work', a.work], ['blocking pool, queue', a.queued]);
		}
		return out;
	});
	const own = useAnswer(view + s.charts.join(';'), () => Promise.all(state.charts.map(async c => {
		const [schema, field] = c.split(',').map(Number);
		return [c, (await api.json<{ values: Series }>('records', { r: state.r, schema, field, ...state.view, px: 400 })).values] as const;
	})));
	return <>
		<div class="dock-bar"><select aria-label="Event and field" value="" onChange={e => {
			const c = e.currentTarget.value;
			if (c)
				set({ charts: [...new Set([...state.charts, c])].slice(-8), say: fieldName(rec, c) + ' has a chart and a lane' });
			e.currentTarget.value = '';
		}}>
			<option value="">Add a field of an event …</option>
			{rec.schemas.map((x, i) => x.fields.map((f, k) => <option key={i + ',' + k} value={i + ',' + k}>{x.name}.{f.name} ({x.records})</option>))}
		</select>{rec.schemas.length === 0 && <span class="dim">The recording holds no events of other kinds.</span>}</div>
		{queues.error && <p class="note bad">{queues.error}</p>}
		{own.error && <p class="note bad">{own.error}</p>}
		{own.value?.map(([c, series]) => <Curve key={c} series={series} name={fieldName(rec, c)} onDrop={() => set({ charts: state.charts.filter(x => x !== c) })} />)}
		{queues.value?.map(([name, series]) => <Curve key={name} series={series} name={name} />)}
	</>;
}
