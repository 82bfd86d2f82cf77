// SPDX-License-Identifier: Apache-2.0
// The flamegraph of what is selected. Each box is also a row of the table beneath.
import { useState } from 'preact/hooks';
import * as api from './api';
import type { FlameAnswer } from './api';
import { set, state, type State } from './state';
import { below, bottomUp, boxes, diff, heavy, read, type Tree } from './flametree';
import { colors, isLight, nameColor } from './theme';
import { Timed, timedLane } from './timed';
import { useAnswer, useApp, usePlot } from './use';
import { count, dur, share, shortName, tail } from './units';

export const LINE = 18;
const MODES: [State['flameMode'], string][] = [['top', 'Top-down'], ['bottom', 'Bottom-up'], ['heavy', 'Left-heavy'], ['sandwich', 'Sandwich'], ['diff', 'Difference'], ['time', 'In time']];

// As much of the end of a name as there is room for: its end says most.
export function fitted(g: CanvasRenderingContext2D, name: string, wide: number): string {
	const all = g.measureText(name).width;
	return all <= wide ? name : tail(name, Math.max(Math.floor(name.length * wide / all) - 1, 1));
}

export interface Scope { from: number; to: number; lanes?: string; task?: string; place?: string; text: string }

// What a flamegraph or a table is about: the poll, else the region, else the view.
export function scope(s: State): Scope {
	const p = s.poll?.poll;
	if (p && !s.region)
		return { from: p.start, to: p.start + Math.max(p.dur, 1), lanes: p.lane.toString(), text: 'this poll' };
	const span = s.region ?? s.view, task = s.task && !p ? s.task.id : undefined; // of one type, whichever is marked
	const place = task === undefined ? s.place ?? undefined : undefined;
	return { ...span, task, place, text: (s.region ? 'the selected range' : 'what is in view') + (task === undefined ? '' : ', task ' + task) + (place ? ', one type' : '') };
}

function Graph({ tree, unit, total, up }: { tree: Tree; unit: string; total: number; up: boolean }) {
	const [root, zoomTo] = useState(-1);
	const [cursor, move] = useState(0);
	const at = root < tree.length ? root : -1;
	const { list, depth } = boxes(tree, at, 0.0008);
	const value = (v: number) => unit === 'ns' ? dur(v) : unit === 'share' ? (v * 100).toFixed(2) + ' %' : count(v) + ' samples';
	const canvas = usePlot((g, w, h) => {
		g.fillStyle = colors.bg;
		g.fillRect(0, 0, w, h);
		list.forEach((b, i) => {
			const n = tree[b.node], x = b.x * w, wide = Math.max(b.w * w - 1, 0.5), y = up ? h - (b.depth + 1) * LINE : b.depth * LINE;
			if (unit === 'share') {
				const by = n.value - (n.base ?? 0);
				g.fillStyle = Math.abs(by) < 0.002 ? colors.park : by > 0 ? colors.bad : colors.accent;
				g.globalAlpha = Math.min(0.35 + Math.abs(by) * 4, 1);
			} else {
				g.fillStyle = nameColor(n.name, isLight());
			}
			g.fillRect(x, y, wide, LINE - 1);
			g.globalAlpha = 1;
			if (i === cursor) {
				g.strokeStyle = colors.select;
				g.strokeRect(x + 0.5, y + 0.5, Math.max(wide - 1, 1), LINE - 2);
			}
			if (wide > 24) {
				g.fillStyle = unit === 'share' ? colors.text : colors.ink;
				g.fillText(fitted(g, shortName(n.name), wide - 6), x + 3, y + LINE / 2, wide - 5);
			}
		});
	}, [list.length, tree, at, cursor, up]);
	const hit = (x: number, y: number, w: number, h: number) => {
		const d = up ? Math.floor((h - y) / LINE) : Math.floor(y / LINE);
		return list.findIndex(b => b.depth === d && x / w >= b.x && x / w <= b.x + b.w);
	};
	const n = list[cursor] ? tree[list[cursor].node] : undefined;
	return <>
		<p class="mono reading" aria-live="polite">{n ? <>{n.name}: {value(n.value)}, {share(n.value, total)}{unit === 'share' ? `, before ${value(n.base ?? 0)}` : `, itself ${value(n.self)}`}</> : 'Nothing here'}</p>
		<canvas class="plot" ref={canvas} tabIndex={0} role="img" style={{ height: Math.max(depth, 1) * LINE + 'px' }}
			aria-label="Flamegraph: arrows move, Enter zooms, Backspace zooms out; the table below says the same"
			onPointerMove={e => {
				const i = hit(e.offsetX, e.offsetY, e.currentTarget.clientWidth, e.currentTarget.clientHeight);
				if (i >= 0 && i !== cursor)
					move(i);
			}}
			onClick={() => list[cursor] && zoomTo(list[cursor].node)}
			onDblClick={() => zoomTo(-1)}
			onKeyDown={e => {
				const go: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };
				const deeper = e.key === (up ? 'ArrowUp' : 'ArrowDown'), out = e.key === (up ? 'ArrowDown' : 'ArrowUp');
				if (go[e.key])
					move(Math.min(Math.max(cursor + go[e.key], 0), list.length - 1));
				else if (deeper)
					move(Math.max(list.findIndex(b => b.depth === list[cursor].depth + 1 && b.x >= list[cursor].x - 1e-9), cursor));
				else if (out && n)
					move(Math.max(list.findIndex(b => b.node === n.parent), 0));
				else if (e.key === 'Enter' && list[cursor])
					zoomTo(list[cursor].node);
				else if (e.key === 'Backspace')
					zoomTo(-1);
				else
					return;
				e.preventDefault();
				e.stopPropagation();
			}} />
	</>;
}

export function Flame() {
	const s = useApp();
	const isTime = s.flameMode === 'time', lane = isTime ? timedLane(s) : -1, of = lane >= 0 ? { ...scope(s), lanes: lane.toString() } : scope(s), base = s.flameBase;
	const key = JSON.stringify([s.r, s.rec?.generation, s.flameKind, of, s.flameMode === 'diff' && [base, s.flameWith]]);
	const a = useAnswer(key, async () => {
		const { text: _, ...args } = of;
		const now = await api.json<FlameAnswer>('flame', { r: state.r, kind: state.flameKind, ...args }, 'flame');
		const other = state.flameMode === 'diff' && state.flameWith !== null ? state.trace?.recordings.findIndex(x => x.name === state.flameWith) ?? -1 : -1;
		const then = other >= 0 ? await api.json<FlameAnswer>('flame', { r: other, kind: state.flameKind, place: of.place }, 'flame2') // of all its time
			: state.flameMode === 'diff' && base
			? await api.json<FlameAnswer>('flame', { r: state.r, kind: state.flameKind, ...args, ...base }, 'flame2') : null;
		return { now, then };
	});
	const v = a.value, plain = v ? read(v.now.nodes) : [];
	const focus = s.flameFocus, others = s.trace?.recordings.filter((x, i) => i !== s.r && x.state === 'ready') ?? [];
	let unit = v?.now.unit ?? 'samples', total = v?.now.total ?? 0;
	let tree = plain;
	if (s.flameMode === 'bottom')
		tree = bottomUp(plain);
	else if (s.flameMode === 'heavy')
		tree = heavy(plain);
	else if (s.flameMode === 'diff' && v?.then) {
		tree = diff(plain, read(v.then.nodes), v.now.total, v.then.total);
		unit = 'share';
		total = 1;
	}
	const self = new Map<string, number>();
	for (const n of plain)
		self.set(n.name, (self.get(n.name) ?? 0) + n.self);
	const top = [...self].filter(x => x[1] > 0).sort((x, y) => y[1] - x[1]).slice(0, 40);
	const value = (x: number) => v?.now.unit === 'ns' ? dur(x) : count(x);
	const table = <table class="functions"><caption class="sr">Functions by what they cost themselves</caption>
		<thead><tr><th class="n">itself</th><th class="n">share</th><th>function</th></tr></thead>
		<tbody>{top.map(([name, x]) => <tr key={name} class={focus === name ? 'on' : ''}><td class="n">{value(x)}</td><td class="n">{share(x, v?.now.total ?? 0)}</td>
			<td><button class="link" title={name} onClick={() => set({ flameFocus: name, flameMode: 'sandwich' })}>{shortName(name)}</button></td></tr>)}</tbody></table>;
	return <>
		<div class="dock-bar">
			<select aria-label="What the stacks are of" value={s.flameKind} onChange={e => set({ flameKind: e.currentTarget.value as State['flameKind'] })}>
				<option value="cpu">on CPU (samples)</option><option value="off">without CPU (time)</option><option value="sched">switches (samples)</option>
			</select>
			<div class="segments" role="group" aria-label="How stacks are merged">{MODES.map(([id, name], i) => <button key={id} title={'key Shift+' + (i + 1)} aria-pressed={s.flameMode === id} onClick={() => set({ flameMode: id })}>{name}</button>)}</div>
			{s.flameMode === 'diff' && others.length > 0 && <select aria-label="Compared with" value={s.flameWith ?? ''} onChange={e => set({ flameWith: e.currentTarget.value || null })}>
				<option value="">with a range of this recording</option>{others.map(x => <option key={x.name} value={x.name}>with {x.name}</option>)}</select>}
			{s.flameMode === 'diff' && s.flameWith === null && <button onClick={() => set({ flameBase: s.region ?? s.view })}>{base ? 'Compare with this range instead' : 'Compare later ranges with this one'}</button>}
			<span class="dim">{v ? value(v.now.total) + (v.now.unit === 'ns' ? '' : ' samples') + ' of ' : 'Of '}{of.text}{v && v.now.nowhere > 0 ? `; ${value(v.now.nowhere)} without a stack` : ''}{v && v.now.small > 0 ? `; ${count(v.now.small)} boxes too small to show` : ''}</span>
		</div>
		{a.error && <p class="note bad">{a.error}</p>}
		{s.flameMode === 'diff' && !base && s.flameWith === null && <p class="card">Choose the range to compare with first: select it, and press the button above. Then select another.</p>}
		{v && v.now.total === 0 && <p class="card">No stacks here. {s.flameKind === 'off' ? 'Time without CPU was not recorded with stacks, or no thread was switched out.' : 'The recording has no samples in this span, or was made without sampling.'}
			{s.poll && !s.region && <> <button class="link" onClick={() => set({ region: { ...state.view } })}>Stacks of what is in view</button></>}</p>}
		{v && v.now.total > 0 && <div class="flame"><div>{isTime ? <Timed of={of} lane={lane} /> : s.flameMode === 'sandwich' ? (focus
			? <><p>Callers of <b>{shortName(focus)}</b></p><Graph tree={bottomUp(plain, focus)} unit={unit} total={total} up={true} />
				<p>What it calls</p><Graph tree={below(plain, focus)} unit={unit} total={total} up={false} /></>
			: <p class="card">Choose a function in the table: its callers will stand above it, what it calls below.</p>)
			: <Graph tree={tree} unit={unit} total={total} up={false} />}</div>{top.length > 0 && <div>{table}</div>}</div>}
	</>;
}
