// SPDX-License-Identifier: Apache-2.0
// The page: wires the parts together, follows the server, honours the link.
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import * as api from './api';
import type { Hit, Recording, Trace } from './api';
import { loadIssues, loadWorst, openIssue, openPoll, openTask, selectPoll } from './actions';
import { copyLink, Help, nextClock, nextTheme, onKey } from './help';
import { follow, readLink, type Wish } from './link';
import { Drawer, Rail } from './panels';
import { baseNs, currentIssues, extent, listen, set, setView, state } from './state';
import { Strip } from './strip';
import { readTheme } from './theme';
import { Timeline } from './timeline';
import { useAnswer, useApp } from './use';
import { bytes, count, dur, tail } from './units';

let wish: Wish | null = readLink();
let timeline: Timeline | null = null;

// ---- following the server ----
async function look(): Promise<void> {
	try {
		const trace = await api.json<Trace>('trace');
		if (wish?.rec) {
			const at = trace.recordings.findIndex(x => x.name === wish!.rec);
			if (at >= 0)
				set({ r: at });
		}
		set({ trace, error: null });
		document.title = (trace.path.split('/').filter(Boolean).pop() ?? 'trace') + ' - dial9-view';
		const own = trace.recordings[state.r];
		if (own && own.generation && own.generation !== state.rec?.generation)
			await take(await api.json<Recording>('recording', { r: state.r }));
	} catch (e) {
		if (!api.isAbort(e))
			set({ error: e instanceof Error ? e.message : String(e) });
	}
	setTimeout(() => void look(), document.hidden ? 5000 : state.rec ? 1500 : 300);
}

// A first one, or one that has grown: then what is shown stays where it is.
async function take(rec: Recording): Promise<void> {
	const old = state.rec;
	if (old) {
		const by = Number(BigInt(old.base) - BigInt(rec.base)), atEnd = state.view.from === 0 && state.view.to >= old.length;
		set({ rec });
		const shift = (x: { from: number; to: number }) => ({ from: x.from + by, to: x.to + by });
		setView(atEnd ? extent() : shift(state.view), false);
		if (state.region)
			set({ region: shift(state.region) });
		if (state.rail !== 'issues')
			loadWorst(state.rail);
		loadIssues();
		return;
	}
	set({ rec, view: { from: 0, to: Math.max(rec.length, 1) } });
	loadIssues();
	const w = wish;
	wish = null;
	if (!w)
		return;
	const rel = (ns: bigint) => Number(ns - baseNs());
	if (w.start !== undefined && w.end !== undefined && w.start < w.end)
		setView({ from: rel(w.start), to: rel(w.end) }, false);
	if (w.region)
		set({ region: { from: rel(w.region[0]), to: rel(w.region[1]) } });
	if (w.place)
		set({ place: w.place });
	if (w.chart)
		set({ chart: w.chart, tab: 'charts' });
	if (w.flame)
		set({ tab: 'flame', flameKind: w.flame === 'blocking' ? 'off' : w.flame === 'sched' ? 'sched' : 'cpu' });
	if (w.rail && w.rail !== 'issues')
		loadWorst(w.rail);
	if (w.poll)
		await openPoll({ at: rel(w.poll[0]), task: w.poll[1] }, w.start === undefined);
	else if (w.task)
		await openTask(w.task);
	if (w.tab)
		set({ tab: w.tab });
	if (w.iss !== undefined && !w.rail) {
		const stop = listen(() => {
			if (state.findings) {
				stop();
				openIssue(w.iss!);
			}
		});
	}
}

function choose(r: number): void {
	set({ r, rec: null, poll: null, task: null, wakes: null, region: null, place: null, worst: null, rail: 'issues', railAt: -1 });
}

// ---- head ----
function Search() {
	const s = useApp();
	const a = useAnswer<{ hits: Hit[]; capped: boolean } | null>(s.search + s.r, async () => s.search ? api.json('search', { r: state.r, q: state.search }, 'search') : null);
	const open = (h: Hit) => {
		set({ search: '' });
		if (h.kind === 'task')
			void openTask(h.id!);
		else if (h.kind === 'poll')
			void selectPoll(h.poll!);
		else if (h.kind === 'type')
			set({ place: h.text!, say: 'Marked: polls of ' + h.text });
		else if (h.kind === 'function')
			set({ tab: 'flame', flameMode: 'sandwich', flameFocus: h.text! });
		else if (h.kind === 'event' || h.kind === 'field') {
			const i = state.rec!.schemas.findIndex(x => h.kind === 'event' ? x.name === h.text : x.fields.some(f => f.name === h.text));
			if (i >= 0)
				set({ tab: 'charts', chart: i + ',' + Math.max(state.rec!.schemas[i].fields.findIndex(f => f.name === h.text), 0) });
		} else {
			const lane = state.rec!.lanes.findIndex(l => l.runtime === h.text);
			set({ lane, say: h.text! });
		}
	};
	const hits = a.value?.hits ?? [];
	return <div class="search" role="search">
		<input type="search" placeholder="Search: task, type, function, dur>5ms" aria-label="Search" value={s.search}
			onInput={e => set({ search: e.currentTarget.value })}
			onKeyDown={e => {
				if (e.key === 'Enter' && hits[0])
					open(hits[0]);
				if (e.key === 'ArrowDown')
					document.querySelector<HTMLElement>('.hits button')?.focus();
			}} />
		{s.search && !a.busy && <ul class="hits" aria-label="Found">{hits.length ? hits.map((h, i) => <li key={i}><span class="kind">{h.kind}</span>
			<button class="link" onClick={() => open(h)}>{h.kind === 'task' ? h.id + ' ' : ''}{h.kind === 'poll' ? dur(h.poll!.dur) + ' of task ' + h.poll!.task : tail(h.text || 'unknown', 70)}</button></li>)
			: <li>Nothing found.</li>}</ul>}
	</div>;
}

function Head() {
	const s = useApp(), issues = currentIssues();
	const cnt = (x: string) => issues.filter(i => i.severity === x).length;
	const live = s.trace?.recordings[s.r]?.live;
	return <header class="top">
		<h1 title={s.trace?.path}>{s.trace?.path.split('/').filter(Boolean).pop()}</h1>
		{(s.trace?.recordings.length ?? 0) > 1 && <select aria-label="Recording" value={s.r} onChange={e => choose(Number(e.currentTarget.value))}>
			{s.trace!.recordings.map((x, i) => <option key={x.name} value={i}>{x.name}{x.state === 'loading' ? ' (loading)' : ''}</option>)}</select>}
		{s.findings && <>
			<button class={'pill ' + (cnt('critical') ? 'critical' : 'good')} onClick={() => openIssue(Math.max(issues.findIndex(x => x.severity === 'critical'), 0))}>{cnt('critical')} critical</button>
			<button class={'pill ' + (cnt('warning') ? 'warning' : 'good')} onClick={() => openIssue(Math.max(issues.findIndex(x => x.severity === 'warning'), 0))}>{cnt('warning')} {cnt('warning') === 1 ? 'warning' : 'warnings'}</button></>}
		{live && <span class="pill" title="New segments appear as they are written">live</span>}
		<span class="grow" />
		<Search />
		<button onClick={nextClock} title="key m">{s.clock}</button>
		<button onClick={nextTheme} title="key c">{s.theme === 'auto' ? 'colours' : s.theme}</button>
		<button onClick={() => void copyLink()} title="key y">Copy link</button>
		<button onClick={() => set({ help: true })} title="key ?" aria-label="Keys">?</button>
	</header>;
}

function Lanes() {
	const canvas = useRef<HTMLCanvasElement>(null), tip = useRef<HTMLDivElement>(null);
	const s = useApp();
	useEffect(() => {
		timeline = new Timeline(canvas.current!, tip.current!);
		timeline.draw();
		const stop = listen(() => timeline?.draw());
		return () => {
			stop();
			timeline = null;
		};
	}, []);
	const none = s.rec && s.rec.lanes.every(l => l.polls + l.parks + l.samples + l.offs === 0);
	return <div class="lanes">
		<canvas ref={canvas} tabIndex={0} role="application" aria-label="Lanes of the workers over time. Arrows move, Enter selects, t shows the same as a table, question mark lists all keys." />
		<div ref={tip} class="tip" role="tooltip" hidden />
		{none && <div class="state"><h1>No polls were recorded</h1><p>The files are readable, but hold no polls, parks or samples. Was the program idle, or not a Tokio program? The tab Trace says what was recorded; <kbd>dial9-agent --pid N --dry-run</kbd> says what can be.</p></div>}
	</div>;
}

// What is shown while there is no recording to show.
function Waiting() {
	const s = useApp(), own = s.trace?.recordings[s.r];
	if (s.error && !s.trace)
		return <main class="state"><h1>The server does not answer</h1><p>{s.error}</p><p>Is dial9-view still running? If it asks for a token, open the URL that it printed.</p></main>;
	if (!s.trace)
		return <main class="state"><h1>dial9-view</h1><p>Asking the server.</p></main>;
	if (s.trace.error && !s.trace.recordings.length)
		return <main class="state"><h1>Nothing to show yet</h1><p>{s.trace.path}: {s.trace.error}.</p><p>This page looks again every second: it fills as soon as the first segment is there.</p></main>;
	if (!own)
		return <main class="state"><h1>Reading the directory</h1></main>;
	if (own.state === 'failed')
		return <main class="state"><h1>{own.name} cannot be read</h1><p class="note bad">{own.error}</p><p><kbd>dial9-view verify</kbd> says where it is damaged.</p></main>;
	return <main class="state"><h1>Reading {own.name}</h1><progress aria-label="Reading" max={Math.max(own.bytes, 1)} value={Math.min(own.done_bytes, own.bytes)} />
		<p>{bytes(own.bytes)} in {count(own.files)} segments, {count(own.events)} events so far. The next time it opens at once.</p></main>;
}

function App() {
	const s = useApp();
	const [theme, put] = useState('');
	if (theme !== s.theme) {
		readTheme(s.theme);
		put(s.theme);
	}
	if (!s.rec)
		return <div class="page"><Head /><Waiting /></div>;
	const damaged = s.rec.segments.filter(x => x.error).length;
	return <div class="page">
		<Head /><Strip />
		<main class="work"><Rail /><Lanes /><Drawer /></main>
		<footer><span class="say" role="status" aria-live="polite">{s.error ? 'The server does not answer: ' + s.error : s.say}</span>
			{damaged > 0 && <button class="link" onClick={() => set({ tab: 'trace' })}>{damaged} damaged</button>}
			<span>{count(s.rec.events)} events, {dur(s.rec.length)}</span><span>? lists the keys</span></footer>
		<Help />
	</div>;
}

readTheme(state.theme);
for (const q of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)'])
	matchMedia(q).addEventListener('change', () => {
		readTheme(state.theme);
		set({});
	});
window.addEventListener('keydown', e => onKey(e, by => timeline?.moveLane(by)));
listen(follow);
const root = document.getElementById('app')!;
root.textContent = '';
render(<App />, root);
void look();
