// SPDX-License-Identifier: Apache-2.0
// What is known of task types where polls were not recorded: CPU by samples, time without one.
import { togglePlace, reveal } from './actions';
import type { GlimpsesAnswer } from './api';
import { offText, openGlimpse } from './glimpses';
import { useApp } from './use';
import { brief, count, dur, shortName } from './units';
import { when } from './when';

export function GlimpseTable({ v }: { v: GlimpsesAnswer }) {
	const s = useApp(), hz = Number(s.rec?.facts.find(f => f.key === 'cpu.profile.frequency_hz')?.value);
	const cpu = (n: number) => n === 0 ? '-' : hz > 0 ? '≈ ' + dur(n * 1e9 / hz) : count(n) + ' samples';
	if (!v.types.length)
		return null;
	return <section aria-label="Where polls were not recorded">
		<h2>Where polls were not recorded <span class="dim">from switches and {count(v.samples)} samples</span></h2>
		<table class="types glimpsed"><thead><tr><th class="n">on CPU</th><th class="n">blocked</th><th class="n">preempted</th><th class="n">times</th><th class="n">longest</th></tr></thead>
			{v.types.slice(0, 12).map(t => <tbody key={t.place} class={s.place === t.place ? 'on' : ''}>
				<tr><th scope="rowgroup" colSpan={5}>{t.place ? <button class="link" aria-pressed={s.place === t.place} title={t.place} onClick={() => togglePlace(t.place)}>{brief(t.place)}</button> : 'type unknown'}</th></tr>
				<tr><td class="n" title={count(t.samples) + ' samples'}>{cpu(t.samples)}</td><td class="n">{t.off > t.preempted ? dur(t.off - t.preempted) : '-'}</td><td class="n">{t.preempted ? dur(t.preempted) : '-'}</td>
					<td class="n">{count(t.count)}</td><td class="n">{t.max ? dur(t.max) : '-'}</td></tr></tbody>)}</table>
		{v.types.length > 12 && <p class="dim">{count(v.types.length - 12)} more types.</p>}
		{v.worst.length > 0 && <><h2>Longest without a CPU there</h2><ol class="list glimpses">{v.worst.map((o, i) => <li key={i}><button onClick={() => {
			reveal(o.start, o.start + o.dur);
			openGlimpse(o);
		}}><span class="line"><b class="num">{dur(o.dur)}</b><span class="what">{offText(o).replace(/^\S+ \S+ /, '')}{o.place ? ' in ' + shortName(o.place) : ''}</span></span>
			<span class="sub">{when(o.start)} · task {o.task} {brief(o.type || 'type unknown')}</span></button></li>)}</ol></>}
	</section>;
}
