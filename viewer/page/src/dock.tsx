// SPDX-License-Identifier: Apache-2.0
// Below the lanes, as wide as they are: heat map, flamegraph, charts, the lanes as a table.
import { useRef } from 'preact/hooks';
import { Charts } from './charts';
import { Flame } from './flame';
import { HeatMap } from './heatmap';
import { LaneTable } from './lanetable';
import { set, state, type Dock as DockName } from './state';
import { Tabs } from './tabs';
import { useApp } from './use';

export const DOCKS: [DockName, string][] = [['heat', 'Heat map'], ['flame', 'Flamegraph'], ['charts', 'Charts'], ['table', 'Table']];
const LEAST = 140, STEP = 30, BARS = 98; // the bars of the dock: its tabs, its own controls, the twin's handle

function most(): number {
	return Math.max(window.innerHeight - 330, LEAST);
}

export function Dock() {
	const s = useApp(), drag = useRef<{ y: number; tall: number } | null>(null);
	const tall = Math.min(s.dockTall, most()), size = (px: number) => set({ dockTall: Math.min(Math.max(Math.round(px), LEAST), most()) });
	return <section class="dock" aria-label="Below the lanes" style={{ height: s.dockOpen ? tall + 'px' : 'auto' }}>
		{s.dockOpen && <div class="grip" role="separator" aria-orientation="horizontal" aria-label="Height of the part below the lanes; arrows change it" tabIndex={0}
			aria-valuemin={LEAST} aria-valuemax={most()} aria-valuenow={tall}
			onKeyDown={e => {
				if (e.key !== 'ArrowUp' && e.key !== 'ArrowDown')
					return;
				e.preventDefault();
				e.stopPropagation();
				size(tall + (e.key === 'ArrowUp' ? STEP : -STEP));
			}}
			onPointerDown={e => {
				e.currentTarget.setPointerCapture(e.pointerId);
				drag.current = { y: e.clientY, tall };
			}}
			onPointerMove={e => drag.current && size(drag.current.tall + drag.current.y - e.clientY)}
			onPointerUp={() => {
				drag.current = null;
			}} />}
		<div class="dock-head">
			<Tabs label="Below the lanes" prefix="dock-" body="dock-body" at={s.dockOpen ? s.dock : null} items={DOCKS.map(([id, name], i) => ({ id, name, key: (i + 5).toString() }))}
				onPick={dock => set({ dock, dockOpen: true })} />
			<button class="quiet" title="key q" aria-expanded={s.dockOpen} onClick={() => set({ dockOpen: !state.dockOpen })}>{s.dockOpen ? 'Fold' : 'Unfold'}</button></div>
		{s.dockOpen && <div class="scroll" id="dock-body" role="tabpanel" aria-labelledby={'dock-' + s.dock} tabIndex={0}>
			{s.dock === 'heat' ? <HeatMap tall={Math.max(tall - BARS, 60)} /> : s.dock === 'flame' ? <Flame /> : s.dock === 'charts' ? <Charts /> : <LaneTable />}
		</div>}
	</section>;
}
