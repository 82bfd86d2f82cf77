// SPDX-License-Identifier: Apache-2.0
// Which rows the timeline has, and where: a pure function of the recording and what is folded.
import type { Lane, Recording } from './api';

export interface Row { kind: 'runtime' | 'lane' | 'task'; y: number; h: number; lane: number; label: string; key: string }

export function laneName(l: Lane): string {
	if (l.kind === 'worker')
		return 'worker ' + l.id;
	return l.kind === 'nested' ? 'nested polls' : l.kind === 'blocking' ? 'blocking ' + l.id : 'no worker';
}

export function group(l: Lane): string {
	return l.kind === 'blocking' ? 'blocking pool' : l.kind === 'nowhere' || l.kind === 'nested' ? 'off the workers' : l.runtime || 'main runtime';
}

export function layOut(rec: Recording, folded: Set<string>, hasTask: boolean): { rows: Row[]; height: number } {
	const rows: Row[] = [];
	let y = 0;
	const put = (kind: Row['kind'], h: number, lane: number, label: string, key = '') => {
		rows.push({ kind, y, h, lane, label, key });
		y += h;
	};
	if (hasTask)
		put('task', 54, -1, 'task');
	const tall = rec.lanes.length <= 8 ? 56 : rec.lanes.length <= 24 ? 36 : rec.lanes.length <= 64 ? 22 : 14;
	let name = '';
	rec.lanes.forEach((l, i) => {
		if (l.polls + l.parks + l.offs + l.samples === 0)
			return;
		const own = group(l);
		if (own !== name) {
			name = own;
			put('runtime', 18, -1, own, own);
		}
		if (!folded.has(own))
			put('lane', tall, i, laneName(l));
	});
	return { rows, height: y };
}
