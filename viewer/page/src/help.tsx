// SPDX-License-Identifier: Apache-2.0
// Every key, once: the handler and the help sheet are made of the same table.
import { useEffect, useRef } from 'preact/hooks';
import { escape, fit, loadList, loadWorst, pinSelected, selectInLane, step, stepIssue, stepLane, stepTask, togglePains } from './actions';
import { pan, redoView, set, setView, state, undoView, zoom, type Dock, type State, type Tab } from './state';
import { useApp } from './use';
import type { Clock } from './units';

export interface Key { keys: string[]; text: string; run: (move: (by: 1 | -1) => void) => void }

const TABS: Tab[] = ['summary', 'poll', 'task', 'trace'];
const DOCKS: [Dock, string][] = [['heat', 'heat map'], ['flame', 'flamegraph'], ['charts', 'charts'], ['table', 'the lanes as a table']];
const MODES: [State['flameMode'], string][] = [['top', 'top-down'], ['bottom', 'bottom-up'], ['heavy', 'left-heavy'], ['sandwich', 'sandwich'], ['diff', 'difference'], ['time', 'in the order of time']];
const CLOCKS: Clock[] = ['relative', 'utc', 'absolute'];
const THEMES: State['theme'][] = ['auto', 'dark', 'light', 'contrast'];

export function nextTheme(): void {
	const theme = THEMES[(THEMES.indexOf(state.theme) + 1) % THEMES.length];
	set({ theme, say: 'Theme: ' + theme });
}

export function nextClock(): void {
	const clock = CLOCKS[(CLOCKS.indexOf(state.clock) + 1) % CLOCKS.length];
	set({ clock, say: 'Times: ' + clock });
}

export function findBox(): void {
	document.querySelector<HTMLInputElement>('.search input')?.focus();
}

export async function copyLink(): Promise<void> {
	try {
		await navigator.clipboard.writeText(location.href);
		set({ say: 'The link to this view is copied' });
	} catch {
		set({ say: 'The link is in the address bar' });
	}
}

export const KEYS: Key[] = [
	{ keys: ['w', '+', '='], text: 'zoom in', run: () => zoom(0.5) },
	{ keys: ['s', '-'], text: 'zoom out', run: () => zoom(2) },
	{ keys: ['a', 'ArrowLeft'], text: 'earlier', run: () => pan(-0.25) },
	{ keys: ['d', 'ArrowRight'], text: 'later', run: () => pan(0.25) },
	{ keys: ['ArrowUp'], text: 'lane above', run: move => move(-1) },
	{ keys: ['ArrowDown'], text: 'lane below', run: move => move(1) },
	{ keys: ['Enter'], text: 'the longest poll of the lane in view', run: () => selectInLane() },
	{ keys: ['f', 'F'], text: 'fit the selection, then everything', run: () => fit() },
	{ keys: ['0', 'Home'], text: 'everything', run: () => setView({ from: 0, to: state.rec?.length ?? 1 }) },
	{ keys: ['z'], text: 'view before', run: () => undoView() },
	{ keys: ['Z'], text: 'view after', run: () => redoView() },
	{ keys: ['n'], text: 'next of the list: findings, long, late, blocked or busy', run: () => step(1) },
	{ keys: ['p'], text: 'the one before in the list', run: () => step(-1) },
	{ keys: [']'], text: 'next finding', run: () => stepIssue(1) },
	{ keys: ['['], text: 'finding before', run: () => stepIssue(-1) },
	{ keys: ['.'], text: 'next poll in the lane', run: () => stepLane(1) },
	{ keys: [','], text: 'poll before in the lane', run: () => stepLane(-1) },
	{ keys: ['>'], text: 'next poll of the same task', run: () => stepTask(1) },
	{ keys: ['<'], text: 'poll before of the same task', run: () => stepTask(-1) },
	{ keys: ['r'], text: 'select what is in view, or the selected poll, as a range', run: () => set({ region: state.poll ? { from: state.poll.poll.start, to: state.poll.poll.start + Math.max(state.poll.poll.dur, 1) } : { ...state.view } }) },
	{ keys: ['g'], text: 'arrows of wakes on or off', run: () => set({ arrows: !state.arrows, say: state.arrows ? 'Arrows off' : 'Arrows on' }) },
	{ keys: ['i'], text: 'list: findings', run: () => set({ rail: 'issues', railAt: -1 }) },
	{ keys: ['l'], text: 'list: longest polls', run: () => loadWorst('long') },
	{ keys: ['k'], text: 'list: longest waits', run: () => loadWorst('late') },
	{ keys: ['b'], text: 'list: polls without CPU', run: () => loadWorst('blocked') },
	{ keys: ['u'], text: 'list: busy runs, where polls were not recorded', run: () => loadList('busy') },
	...TABS.map((tab, i): Key => ({ keys: [(i + 1).toString()], text: 'details: ' + tab, run: () => set({ tab }) })),
	...DOCKS.map(([dock, name], i): Key => ({ keys: dock === 'table' ? ['8', 't'] : [(i + 5).toString()], text: 'below: ' + name, run: () => set({ dock, dockOpen: true }) })),
	{ keys: ['q'], text: 'fold or unfold the part below', run: () => set({ dockOpen: !state.dockOpen }) },
	{ keys: ['h'], text: 'heat map: polls or waits', run: () => set({ heatWhat: state.heatWhat === 'polls' ? 'waits' : 'polls', dock: 'heat', dockOpen: true }) },
	...MODES.map(([flameMode, name], i): Key => ({ keys: ['Shift+' + (i + 1)], text: 'flamegraph: ' + name, run: () => set({ flameMode, dock: 'flame', dockOpen: true }) })),
	{ keys: ['x'], text: 'lanes of the tasks that hurt most in view', run: () => togglePains() },
	{ keys: ['o'], text: 'pin the lane of the selected task, or unpin it', run: () => pinSelected() },
	{ keys: ['m'], text: 'times: relative, UTC, absolute', run: () => nextClock() },
	{ keys: ['c'], text: 'colours: as the system, dark, light, high contrast', run: () => nextTheme() },
	{ keys: ['y'], text: 'copy the link to this view', run: () => void copyLink() },
	{ keys: ['/'], text: 'search', run: () => findBox() },
	{ keys: ['Ctrl+k'], text: 'commands and search', run: () => set({ palette: true }) },
	{ keys: ['?'], text: 'this sheet', run: () => set({ help: !state.help }) },
	{ keys: ['Escape'], text: 'one step back', run: () => escape() },
];

export function onKey(e: KeyboardEvent, move: (by: 1 | -1) => void): void {
	const at = e.target as HTMLElement;
	const typing = at instanceof HTMLInputElement || at instanceof HTMLSelectElement;
	const digit = /^Digit([1-6])$/.exec(e.code);
	const name = e.shiftKey && digit ? 'Shift+' + digit[1] : (e.ctrlKey || e.metaKey ? 'Ctrl+' : '') + (e.ctrlKey || e.metaKey ? e.key.toLowerCase() : e.key);
	if (e.altKey || (typing && name !== 'Escape' && name !== 'Ctrl+k') || (e.key === 'Enter' && at.tagName !== 'CANVAS' && at !== document.body))
		return;
	const key = KEYS.find(k => k.keys.includes(name));
	if (!key || !state.rec || (at.closest('dialog') && name !== '?'))
		return;
	if (at.closest('.scroll') && (e.key === 'ArrowUp' || e.key === 'ArrowDown' || e.key === 'Home') && at.tagName !== 'CANVAS')
		return; // scrolls
	e.preventDefault();
	if (name === 'Escape' && typing)
		at.blur();
	key.run(move);
}

const LEGEND: [string, string, string][] = [
	['k-heat', 'body', 'height: share of the time spent polling; colour: the usual length of a poll, blue 1 us, yellow near 1 ms, red 100 ms'],
	['k-hot', 'cap', 'colour of the longest poll, where it is far from the usual'],
	['k-off', 'hatched body', 'polling, but without a CPU'],
	['k-unseen', 'plain body', 'without a CPU where polls were not recorded; a frame and words where there is room: click it'],
	['k-run', 'dashed frame', 'a busy run: one task in all CPU samples in a row where polls were not recorded; no poll is known'],
	['k-park', 'hatched foot', 'parked'],
	['k-park', 'foot below a dashed edge', 'parks that were added up: as long as their part of the time'],
	['k-delay', 'foot', 'woken, but no CPU for 100 us and more'],
	['k-queue', 'line', 'tasks in its queue'],
	['k-long', 'mark', 'a poll of 10 ms and more'],
	['k-wait', 'mark', 'a poll 5 ms and more after its wake; in a task\'s lane: ready, not yet polled'],
	['k-blocked', 'mark', 'a poll 1 ms and more without a CPU'],
	['k-sample', 'dots at the foot', 'CPU samples'],
	['k-blank', 'hatched lane', 'polls were not recorded here: unknown, not idle'],
	['k-some', 'dotted lane', 'polls of some types were not recorded here'],
];

export function Help() {
	const s = useApp(), ref = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		if (s.help && !ref.current?.open)
			ref.current?.showModal();
		if (!s.help && ref.current?.open)
			ref.current.close();
	}, [s.help]);
	return <dialog ref={ref} aria-label="Keys" onClose={() => set({ help: false })}>
		<div class="row"><h1>Keys and what is drawn</h1><button onClick={() => set({ help: false })}>Close</button></div>
		<div class="sheet">{[KEYS.slice(0, KEYS.length + 1 >> 1), KEYS.slice(KEYS.length + 1 >> 1)].map((part, i) => <table key={i}><tbody>{part.map(k => <tr key={k.text}><td>{k.keys.map(x => <><kbd key={x}>{x.replace('Arrow', '')}</kbd> </>)}</td><td>{k.text}</td></tr>)}</tbody></table>)}
			<div><table><tbody><tr><td>Ctrl and wheel</td><td>zoom at the pointer</td></tr><tr><td>Shift and wheel</td><td>earlier, later</td></tr><tr><td>wheel</td><td>lanes up and down</td></tr>
				<tr><td>drag</td><td>select a range; with Alt: zoom to it; with Space or the middle button: move</td></tr><tr><td>click</td><td>the longest poll at that place; a group's name folds it</td></tr></tbody></table>
				<h2>In a lane</h2><dl>{LEGEND.map(([cls, what, text]) => <><dt key={cls}><span class={'key ' + cls} />{what}</dt><dd>{text}</dd></>)}</dl></div></div>
	</dialog>;
}

