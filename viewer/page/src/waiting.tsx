// SPDX-License-Identifier: Apache-2.0
// What is shown while there is nothing to show: each reason has its own words, and what to do.
import { set } from './state';
import { useApp } from './use';
import { bytes, count } from './units';

export function Waiting() {
	const s = useApp(), own = s.trace?.recordings[s.r];
	if (s.error && !s.trace)
		return <main class="state"><h1>The server does not answer</h1><p class="note bad">{s.error}</p><p>Is <kbd>dial9-view</kbd> still running? If it asks for a token, open the URL that it printed.</p></main>;
	if (!s.trace)
		return <main class="state"><h1>dial9-view</h1><p class="busy" aria-busy="true">Asking the server</p></main>;
	if (s.trace.error && !s.trace.recordings.length)
		return <main class="state"><h1>Nothing to show yet</h1><p class="note">{s.trace.path}: {s.trace.error === 'No data available' ? 'no segment in it so far' : s.trace.error}.</p>
			<p>This page looks again every second, and fills as soon as the first segment is there. To make one:</p><p><kbd>dial9-agent --pid N --trace-dir {s.trace.path}</kbd></p></main>;
	if (!own)
		return <main class="state"><h1>Reading the directory</h1><p class="busy" aria-busy="true">{s.trace.path}</p></main>;
	if (own.state === 'failed')
		return <main class="state"><h1>{own.name} cannot be read</h1><p class="note bad">{own.error}</p><p><kbd>dial9-view verify {s.trace.path}</kbd> says where it is damaged.</p></main>;
	return <main class="state"><h1>Reading {own.name}</h1><progress aria-label="Reading" max={Math.max(own.bytes, 1)} value={Math.min(own.done_bytes, own.bytes)} />
		<p><b>{count(own.events)}</b> events so far; {bytes(own.done_bytes)} of {bytes(own.bytes)} in {count(own.files)} segments.</p><p class="dim">The next time it opens at once: what was worked out is kept.</p></main>;
}

// Over the lanes, when there is none to draw.
export function Nothing() {
	const s = useApp(), rec = s.rec!, bad = rec.segments.filter(x => x.error);
	if (bad.length && rec.events === 0)
		return <div class="state over"><h1>Nothing here can be read</h1>{bad.slice(0, 5).map(x => <p key={x.name} class="note bad"><b>{x.name}</b>: {x.error}</p>)}
			{bad.length > 5 && <p>And {count(bad.length - 5)} more.</p>}<p><kbd>dial9-view verify {s.trace?.path}</kbd> says where each file is damaged.</p></div>;
	return <div class="state over"><h1>No polls were recorded</h1><p>{bad.length ? 'What could be read of the files holds' : 'The files are readable, but hold'} no polls, parks or samples. Was the program idle, or not a Tokio program?</p>
		<p>The tab <button class="link" onClick={() => set({ tab: 'trace' })}>Trace</button> says what was recorded; <kbd>dial9-agent --pid N --dry-run</kbd> says what can be.</p></div>;
}
