// SPDX-License-Identifier: Apache-2.0
// Two ways to say what is wanted: the search box (what the recording holds), and the palette (what
// the page can do, and the same).
import { useEffect, useRef, useState } from 'preact/hooks';
import * as api from './api';
import type { Hit } from './api';
import { openEvent, openTask, selectPoll, togglePlace } from './actions';
import { KEYS, type Key } from './help';
import { laneName } from './rows';
import { set, state } from './state';
import { useAnswer, useApp } from './use';
import { dur, tail } from './units';

// Where the keys are those of the page again.
function focusLanes(): void {
	document.querySelector<HTMLElement>('.lanes canvas')?.focus();
}

function open(h: Hit): void {
	const rec = state.rec!;
	set({ search: '', palette: false });
	focusLanes();
	if (h.kind === 'task')
		void openTask(h.id!);
	else if (h.kind === 'poll')
		void selectPoll(h.poll!);
	else if (h.kind === 'type')
		togglePlace(h.text!);
	else if (h.kind === 'function')
		set({ dock: 'flame', dockOpen: true, flameMode: 'sandwich', flameFocus: h.text! });
	else if (h.kind === 'value')
		openEvent(h.at!, h.text!);
	else if (h.kind === 'event' || h.kind === 'field') {
		const i = rec.schemas.findIndex(x => h.kind === 'event' ? x.name === h.text : x.fields.some(f => f.name === h.text));
		if (i >= 0)
			set({ dock: 'charts', dockOpen: true, charts: [...new Set([...state.charts, i + ',' + Math.max(rec.schemas[i].fields.findIndex(f => f.name === h.text), 0)])].slice(-8) });
	} else {
		const lane = h.lane ?? rec.lanes.findIndex(l => l.runtime === h.text);
		set({ lane, say: `${h.text}: ${rec.lanes[lane] ? laneName(rec.lanes[lane]) : 'no lane'}` });
	}
}

function label(h: Hit): string {
	return h.kind === 'task' ? `${h.id} ${tail(h.text || 'type unknown', 60)}` : h.kind === 'poll' ? `${dur(h.poll!.dur)} of task ${h.poll!.task ?? '?'}, ${tail(h.poll!.place || 'type unknown', 50)}` : tail(h.text || 'unknown', 76);
}

function useHits(q: string) {
	return useAnswer<{ hits: Hit[]; capped: boolean } | null>(q + state.r, async () => q.trim() ? api.json('search', { r: state.r, q: q.trim() }, 'search') : null);
}

export function Search() {
	const s = useApp(), a = useHits(s.search), hits = a.value?.hits ?? [];
	return <div class="search" role="search">
		<input type="search" placeholder="Search: task, type, function, thread, field=value, dur>5ms" aria-label="Search" value={s.search}
			onInput={e => set({ search: e.currentTarget.value })}
			onKeyDown={e => {
				if (e.key === 'Enter' && hits[0])
					open(hits[0]);
				if (e.key === 'ArrowDown')
					document.querySelector<HTMLElement>('.hits button')?.focus();
			}} />
		{s.search && !a.busy && <ul class="hits" aria-label="Found" onKeyDown={walk}>{a.error ? <li class="dim">{a.error}</li> : hits.length ? hits.map((h, i) => <li key={i}>
			<button onClick={() => open(h)}><span class="kind">{h.kind}</span>{label(h)}</button></li>) : <li class="dim">Nothing found. An id, a part of a name, or dur&gt;5ms.</li>}
			{a.value?.capped && <li class="dim">More: type further.</li>}</ul>}
	</div>;
}

// Up and down a list of buttons.
function walk(e: KeyboardEvent): void {
	const by = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0, list = [...(e.currentTarget as HTMLElement).querySelectorAll('button')];
	if (!by)
		return;
	e.preventDefault();
	e.stopPropagation();
	const at = list.indexOf(document.activeElement as HTMLButtonElement) + by;
	if (at < 0)
		document.querySelector<HTMLElement>('.search input')?.focus();
	else
		list[Math.min(at, list.length - 1)]?.focus();
}

type Choice = { key: Key } | { hit: Hit };

export function Palette({ run }: { run: (k: Key) => void }) {
	const s = useApp(), ref = useRef<HTMLDialogElement>(null), [q, type] = useState(''), [at, move] = useState(0);
	useEffect(() => {
		if (s.palette && !ref.current?.open) {
			type('');
			move(0);
			ref.current?.showModal();
		}
		if (!s.palette && ref.current?.open) {
			ref.current.close();
			focusLanes();
		}
	}, [s.palette]);
	const a = useHits(s.palette ? q : ''), words = q.toLowerCase().split(/\s+/).filter(Boolean);
	const list: Choice[] = [...KEYS.filter(k => words.every(w => k.text.toLowerCase().includes(w))).map(key => ({ key })), ...(a.value?.hits ?? []).map(hit => ({ hit }))].slice(0, 60);
	const go = (c: Choice | undefined) => {
		set({ palette: false });
		if (c && 'key' in c)
			run(c.key);
		else if (c)
			open(c.hit);
	};
	return <dialog ref={ref} class="palette" aria-label="Commands" onClose={() => set({ palette: false })}>
		<input type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant={list.length ? 'palette-' + at : undefined} aria-label="Command, task, type or function" placeholder="What to do, or what to find" value={q}
			onInput={e => {
				type(e.currentTarget.value);
				move(0);
			}}
			onKeyDown={e => {
				const by = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0;
				if (by)
					move(Math.min(Math.max(at + by, 0), list.length - 1));
				else if (e.key === 'Enter')
					go(list[at]);
				else
					return;
				e.preventDefault();
				e.stopPropagation();
				document.getElementById('palette-' + (at + by))?.scrollIntoView({ block: 'nearest' });
			}} />
		<ul id="palette-list" role="listbox" aria-label="Choices">{list.map((c, i) => <li key={i} id={'palette-' + i} role="option" aria-selected={i === at} onClick={() => go(c)}>
			{'key' in c ? <><span>{c.key.text}</span><kbd>{c.key.keys[0]}</kbd></> : <><span>{label(c.hit)}</span><span class="dim">{c.hit.kind}</span></>}</li>)}</ul>
	</dialog>;
}
