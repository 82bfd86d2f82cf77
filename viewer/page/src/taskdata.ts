// SPDX-License-Identifier: Apache-2.0
// What the task lanes show: the polls of each task around the view, asked again as the view moves.
import * as api from './api';
import type { Poll, TaskAnswer } from './api';
import { laneTasks, set, state } from './state';

const asked = new Map<string, string>();
const underWay = new Map<string, Promise<TaskAnswer | null>>();

async function fetchTask(id: string, from: number, len: number): Promise<TaskAnswer | null> {
	try {
		const task = await api.json<TaskAnswer>('task', { r: state.r, id, from: Math.max(from - len, 0), to: from + 2 * len }, 'task-' + id);
		state.tasks.set(id, task);
		set(state.task?.id === id ? { task } : {});
		return task;
	} catch (e) {
		if (api.isAbort(e))
			return null;
		asked.delete(id);
		throw e;
	}
}

export function loadTask(id: string): Promise<TaskAnswer | null> {
	const { from, to } = state.view, len = to - from;
	const key = [state.r, state.rec?.generation, Math.round(Math.log2(len) * 2), Math.floor(from / len)].join();
	if (asked.get(id) !== key) {
		asked.set(id, key);
		underWay.set(id, fetchTask(id, from, len));
	}
	return underWay.get(id)!;
}

export function loadTaskLanes(): void {
	const wanted = new Set(laneTasks());
	for (const id of [...state.tasks.keys()])
		if (!wanted.has(id)) {
			state.tasks.delete(id);
			asked.delete(id);
			underWay.delete(id);
		}
	for (const id of wanted)
		if (asked.get(id) !== 'none')
			loadTask(id).catch(() => asked.set(id, 'none')); // unknown to the recording: not asked again
}

export function forgetTasks(): void {
	asked.clear();
	underWay.clear();
	state.tasks.clear();
}

// The tasks of the polls that hurt most in view: longest and latest in turn.
export async function loadPains(): Promise<void> {
	const lists = await Promise.all((['long', 'late', 'blocked'] as const).map(kind =>
		api.json<{ polls: Poll[] }>('worst', { r: state.r, kind, limit: 20, ...state.view }, 'pains-' + kind)));
	const ids = new Set<string>();
	for (let i = 0; i < 20; i++)
		for (const list of lists) {
			const task = list.polls[i]?.task;
			if (task && ids.size < 4)
				ids.add(task);
		}
	set({ pains: [...ids], say: ids.size ? `Lanes of the ${ids.size} tasks that hurt most in view` : 'No poll in view is long, late or without CPU' });
}
