// SPDX-License-Identifier: Apache-2.0
// The page: follows the server, and puts its parts together.
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import * as api from './api';
import type { Recording, Trace } from './api';
import { Dock } from './dock';
import { Drawer } from './drawer';
import { Head } from './head';
import { Help, onKey } from './help';
import { follow } from './link';
import { choose, take, wantedName } from './opening';
import { Rail } from './rail';
import { Palette } from './search';
import { listen, set, state } from './state';
import { Strip } from './strip';
import { readTheme } from './theme';
import { Timeline } from './timeline';
import { useApp } from './use';
import { count, dur } from './units';
import { Nothing, Waiting } from './waiting';

let timeline: Timeline | null = null;

async function look(): Promise<void> {
	try {
		const trace = await api.json<Trace>('trace'), name = wantedName();
		if (name) {
			const at = trace.recordings.findIndex(x => x.name === name);
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

function Lanes() {
	const canvas = useRef<HTMLCanvasElement>(null), tip = useRef<HTMLDivElement>(null), hair = useRef<HTMLDivElement>(null);
	const s = useApp();
	useEffect(() => {
		timeline = new Timeline(canvas.current!, tip.current!, hair.current!);
		timeline.draw();
		const stop = listen(() => timeline?.draw());
		return () => {
			stop();
			timeline = null;
		};
	}, []);
	const none = s.rec && s.rec.lanes.every(l => l.polls + l.parks + l.samples + l.offs === 0);
	return <div class="lanes">
		<canvas ref={canvas} tabIndex={0} role="application" aria-label="Lanes of the workers over time. Arrows move, Enter selects, 8 shows the same as a table, question mark lists all keys." />
		<div ref={hair} class="hair" aria-hidden="true" hidden />
		<div ref={tip} class="tip" role="tooltip" hidden />
		{none && <Nothing />}
	</div>;
}

function App() {
	const s = useApp(), [theme, put] = useState('');
	if (theme !== s.theme) {
		readTheme(s.theme);
		put(s.theme);
	}
	if (!s.rec)
		return <div class="page waiting"><Head choose={choose} /><Waiting /></div>;
	const damaged = s.rec.segments.filter(x => x.error).length;
	return <div class="page">
		<Head choose={choose} /><Strip />
		<main class="work"><Rail /><div class="centre"><Lanes /><Dock /></div><Drawer /></main>
		<footer><span class={s.error ? 'say bad' : 'say'} role="status" aria-live="polite">{s.error ? 'The server does not answer: ' + s.error : s.say}</span>
			{damaged > 0 && <button class="link bad" onClick={() => set({ tab: 'trace' })}>{damaged} damaged {damaged === 1 ? 'segment' : 'segments'}</button>}
			<span>{count(s.rec.events)} events</span><span>{dur(s.rec.length)}</span><span><kbd>?</kbd> keys</span><span><kbd>Ctrl K</kbd> commands</span></footer>
		<Help /><Palette run={k => k.run(by => timeline?.moveLane(by))} />
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
