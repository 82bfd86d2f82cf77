// SPDX-License-Identifier: Apache-2.0
// The details on the right: what is in view or selected, the poll, the task, the recording itself.
import { PollPanel } from './pollpanel';
import { set, type Tab } from './state';
import { Summary } from './summary';
import { Tabs } from './tabs';
import { TaskPanel } from './taskpanel';
import { TracePanel } from './tracepanel';
import { useApp } from './use';

export const TABS: [Tab, string][] = [['summary', 'Summary'], ['poll', 'Poll'], ['task', 'Task'], ['trace', 'Trace']];

export function Drawer() {
	const s = useApp();
	return <aside class="drawer" aria-label="Details">
		<Tabs label="Details" prefix="tab-" body="drawer-body" at={s.tab} items={TABS.map(([id, name], i) => ({ id, name, key: (i + 1).toString() }))} onPick={tab => set({ tab })} />
		<div class="scroll" id="drawer-body" role="tabpanel" aria-labelledby={'tab-' + s.tab} tabIndex={0}>
			{s.tab === 'summary' ? <Summary /> : s.tab === 'poll' ? <PollPanel /> : s.tab === 'task' ? <TaskPanel /> : <TracePanel />}
		</div>
	</aside>;
}
