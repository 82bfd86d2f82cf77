// SPDX-License-Identifier: Apache-2.0
// The line at the top: which recording, how it is, search, and how times and colours are shown.
import { openIssue } from './actions';
import { copyLink, nextTheme } from './help';
import { Search } from './search';
import { currentIssues, set } from './state';
import { useApp } from './use';
import type { Clock } from './units';

const CLOCKS: [Clock, string][] = [['relative', 'Relative'], ['utc', 'UTC'], ['absolute', 'ns']];

export function Head({ choose }: { choose: (r: number) => void }) {
	const s = useApp(), issues = currentIssues(), own = s.trace?.recordings[s.r];
	const pill = (severity: string, name: string) => {
		const n = issues.filter(x => x.severity === severity).length;
		return <button class={'pill ' + (n ? severity : 'none')} disabled={!n} onClick={() => openIssue(issues.findIndex(x => x.severity === severity))}><b>{n}</b> {name}{name === 'warning' && n !== 1 ? 's' : ''}</button>;
	};
	return <header class="top">
		<img src="/icon.svg" alt="" width="18" height="18" />
		<h1 title={s.trace?.path}>{s.trace?.path.split('/').filter(Boolean).pop() ?? 'dial9-view'}</h1>
		{(s.trace?.recordings.length ?? 0) > 1 && <select aria-label="Recording" value={s.r} onChange={e => choose(Number(e.currentTarget.value))}>
			{s.trace!.recordings.map((x, i) => <option key={x.name} value={i}>{x.name}{x.state === 'loading' ? ' (loading)' : x.state === 'failed' ? ' (unreadable)' : ''}</option>)}</select>}
		{s.findings && s.rec && <>{pill('critical', 'critical')}{pill('warning', 'warning')}</>}
		{own?.live && <span class="pill live" title="New segments appear as they are written">live</span>}
		<span class="grow" />
		{s.rec && <Search />}
		<span class="grow" />
		<div class="segments" role="group" aria-label="Times">{CLOCKS.map(([id, name]) => <button key={id} title="key m" aria-pressed={s.clock === id}
			disabled={id === 'utc' && s.rec?.realtime === null} onClick={() => set({ clock: id })}>{name}</button>)}</div>
		<button onClick={nextTheme} title="key c">{s.theme === 'auto' ? 'Colours' : s.theme}</button>
		<button onClick={() => void copyLink()} title="key y">Copy link</button>
		<button onClick={() => set({ help: true })} title="key ?" aria-label="Keys">?</button>
	</header>;
}
