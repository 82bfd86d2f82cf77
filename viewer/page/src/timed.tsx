// SPDX-License-Identifier: Apache-2.0
// The stacks of one thread in the order of time: what it did, one thing after the other.
import { useState } from 'preact/hooks';
import * as api from './api';
import type { Lane } from './api';
import { fitted, LINE, type Scope } from './flame';
import { laneName } from './rows';
import { set, state, type State } from './state';
import { colors, isLight, nameColor } from './theme';
import { useAnswer, useApp, usePlot } from './use';
import { count, dur, shortName } from './units';
import { when } from './when';

interface TimedAnswer { unit: string; period: number | null; boxes: (number | string)[]; small: number; over_cap: number }
interface Box { depth: number; from: number; len: number; name: string }

const ROWS = 300;

function has(l: Lane, kind: State['flameKind']): number {
	return l.kind === 'nowhere' ? 0 : kind === 'off' ? l.offs : l.samples;
}

// The lane that is shown: the selected one, else the one with most stacks; -1: none has any.
export function timedLane(s: State): number {
	const lanes = s.rec!.lanes, own = s.poll && !s.region ? s.poll.poll.lane : s.lane;
	if (lanes[own] && has(lanes[own], s.flameKind))
		return own;
	const most = lanes.reduce((n, l) => Math.max(n, has(l, s.flameKind)), 0);
	return most ? lanes.findIndex(l => has(l, s.flameKind) === most) : -1;
}

function read(flat: (number | string)[]): Box[] {
	const out: Box[] = [];
	for (let i = 0; i + 3 < flat.length; i += 4)
		out.push({ depth: flat[i] as number, from: flat[i + 1] as number, len: flat[i + 2] as number, name: flat[i + 3] as string });
	return out.sort((a, b) => a.from - b.from || a.depth - b.depth);
}

function Line({ list, of }: { list: Box[]; of: Scope }) {
	const [at, move] = useState(0), cursor = Math.min(at, Math.max(list.length - 1, 0)), b = list[cursor] as Box | undefined;
	const wide = of.to - of.from, depth = list.reduce((n, x) => Math.max(n, x.depth + 1), 1);
	const canvas = usePlot((g, w, h) => {
		g.fillStyle = colors.bg;
		g.fillRect(0, 0, w, h);
		list.forEach((x, i) => {
			const left = (x.from - of.from) / wide * w, own = Math.max(x.len / wide * w - 0.5, 0.5), y = x.depth * LINE;
			g.fillStyle = x.depth ? nameColor(x.name, isLight()) : colors.park;
			g.fillRect(left, y, own, LINE - 1);
			if (i === cursor) {
				g.strokeStyle = colors.select;
				g.strokeRect(left + 0.5, y + 0.5, Math.max(own - 1, 1), LINE - 2);
			}
			if (own > 24) {
				g.fillStyle = x.depth ? colors.ink : colors.text;
				g.fillText(fitted(g, shortName(x.name), own - 6), left + 3, y + LINE / 2, own - 5);
			}
		});
	}, [list, cursor, of.from, of.to]);
	const hit = (x: number, y: number, w: number) => {
		const t = of.from + x / w * wide, d = Math.floor(y / LINE);
		return list.findIndex(k => k.depth === d && t >= k.from && t <= k.from + k.len);
	};
	const pick = () => b && set({ region: { from: b.from, to: b.from + b.len }, say: `Selected ${dur(b.len)} in ${b.name}` });
	return <>
		<p class="mono reading" aria-live="polite">{b ? `${b.name}: ${dur(b.len)} from ${when(b.from)}` : 'Nothing here'}</p>
		<canvas class="plot timed" ref={canvas} tabIndex={0} role="img" style={{ height: depth * LINE + 'px' }}
			aria-label="Stacks in the order of time: arrows move, Enter selects the time of a box, Backspace takes that back; the table below says the same"
			onPointerMove={e => {
				const i = hit(e.offsetX, e.offsetY, e.currentTarget.clientWidth);
				if (i >= 0 && i !== cursor)
					move(i);
			}}
			onClick={pick}
			onKeyDown={e => {
				const by = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
				let to = -1;
				if (by && b) {
					for (to = cursor + by; to >= 0 && to < list.length && list[to].depth !== b.depth;)
						to += by;
				} else if (e.key === 'ArrowDown' && b) {
					to = list.findIndex(x => x.depth === b.depth + 1 && x.from >= b.from && x.from < b.from + b.len);
				} else if (e.key === 'ArrowUp' && b) {
					to = list.findIndex(x => x.depth === b.depth - 1 && x.from <= b.from && b.from < x.from + x.len);
				} else if (e.key === 'Enter') {
					pick();
				} else if (e.key === 'Backspace') {
					set({ region: null });
				} else {
					return;
				}
				if (list[to])
					move(to);
				e.preventDefault();
				e.stopPropagation();
			}} />
		<details class="twin"><summary>In the order of time, as a table</summary><table class="timed"><thead><tr><th class="n">at</th><th class="n">for</th><th class="n">depth</th><th>function</th></tr></thead>
			<tbody>{list.slice(0, ROWS).map((x, i) => <tr key={i}><td class="n">{when(x.from)}</td><td class="n">{dur(x.len)}</td><td class="n">{x.depth}</td><td title={x.name}>{shortName(x.name)}</td></tr>)}</tbody></table>
			{list.length > ROWS && <p class="dim">{count(list.length - ROWS)} more: select less time.</p>}</details>
	</>;
}

export function Timed({ of, lane }: { of: Scope; lane: number }) {
	const s = useApp(), rec = s.rec!;
	const a = useAnswer(JSON.stringify([s.r, rec.generation, s.flameKind, of, lane]), async () => {
		const { text: _, ...args } = of;
		return lane < 0 ? null : await api.json<TimedAnswer>('timed', { r: state.r, kind: state.flameKind, ...args, lanes: lane.toString(), px: 1500 }, 'timed');
	}), v = a.value;
	return <>
		<p class="row"><label>Thread of <select value={lane} onChange={e => set({ lane: Number(e.currentTarget.value), ...s.region ? {} : { poll: null } })}>
			{rec.lanes.map((l, i) => has(l, s.flameKind) > 0 && <option key={i} value={i}>{laneName(l)}{l.runtime ? ' of ' + l.runtime : ''}</option>)}</select></label>
			{v && <span class="dim">{s.flameKind === 'off' ? '' : v.period ? `a box lasts until the next sample, ${dur(v.period)} at the end. ` : 'How often was sampled is not recorded: a last sample is drawn for 10 ms. '}
				{v.small > 0 && `${count(v.small)} boxes too narrow to show. `}{v.over_cap > 0 && `${count(v.over_cap)} beyond the cap.`}</span>}</p>
		{a.error && <p class="note bad">{a.error}</p>}
		{v && <Line list={read(v.boxes)} of={of} />}
	</>;
}
