// SPDX-License-Identifier: Apache-2.0
// The questions of PAGE.md, typed. A question that is overtaken by a newer one of its kind is dropped.

export interface Poll {
	row: number; start: number; dur: number; ready: number | null; off: number; lane: number;
	queue: number | null; flags: number; task: string | null; place: string;
}
export interface RecordingStatus {
	name: string; state: 'waiting' | 'loading' | 'ready' | 'failed'; error: string | null; generation: number;
	files: number; file: number; bytes: number; done_bytes: number; events: number; live: boolean;
}
export interface Trace { version: string; path: string; error: string | null; over_cap: number; recordings: RecordingStatus[] }
export interface Lane {
	kind: 'worker' | 'nested' | 'blocking' | 'nowhere'; id: number; runtime: string;
	polls: number; parks: number; wakes: number; samples: number; offs: number;
}
export interface Recording {
	generation: number; base: string; length: number; realtime: string | null; events: number;
	bad_fields: number; stray_ends: number; unresolved: number; over_cap: number; memory: number;
	tasks: number; polls: number; wakes: number; parks: number; samples: number; offs: number;
	lanes: Lane[];
	segments: { name: string; first: number | null; last: number | null; events: number; bytes: number; error: string | null }[];
	schemas: { name: string; records: number; fields: { name: string; type: number }[] }[];
	facts: { key: string; value: string }[];
}
export interface TypeRow {
	place: string; polls: number; busy: number; off: number; waits: number; wait: number;
	poll_q: number[]; wait_q: number[]; worst: Poll | null;
}
export interface Part { sum: number; count: number; max: number }
export interface RangeAnswer {
	split: { workers: number; wall: number; offs_in_polls: number; polls: Part; parks: Part; offs: Part; delays: Part; samples: Part; wakes: Part };
	all: TypeRow; poll_bins: number[]; wait_bins: number[]; types_cnt: number; types: TypeRow[];
}
export interface Why {
	verdict: 'compute' | 'blocking' | 'lock' | 'preempted' | 'unknown'; compute: number; blocking: number; lock: number; preempted: number;
	samples: number; hits: number; place: string; call: string; call_place: string;
}
export interface OffRow { start: number; dur: number; lane: number; task: string | null; type: string; reason: string; call: string; place: string }
export interface BusyRun { start: number; dur: number; lane: number; task: string; place: string; samples: number; polls: 'confirmed' | 'not seen' | 'unknown' }
export interface BusyAnswer { least: number; count: number; runs: BusyRun[] }
export interface GlimpsesAnswer {
	offs: OffRow[]; over_cap: number; worst: OffRow[]; samples: number;
	types: { place: string; off: number; preempted: number; max: number; count: number; samples: number }[];
}
export interface PollAnswer {
	poll: Poll; nr?: number; of?: number; task_before: Poll | null; task_after: Poll | null;
	lane_before: Poll | null; lane_after: Poll | null;
	offs: OffRow[];
	why: Why;
}
export interface TaskAnswer {
	id: string; place: string; spawn: number | null; end: number | null; busy: number; worst: number;
	polls_cnt: number; wakes_cnt: number; cause: number; polls: Poll[]; capped: boolean;
}
export interface WakesAnswer {
	by: { ts: number; lane: number; flags: number; task: string | null; waker: string | null; poll: Poll | null } | null;
	issued: { ts: number; flags: number; to: Poll | null }[];
}
export interface Plane { max: number; sum: number; count: number; worst?: Poll | null }
export interface FlameAnswer { unit: string; total: number; nowhere: number; cut: number; small: number; nodes: (number | string)[] }
export interface LevelSpan {
	from: number; to: number; level: string; ends: string; reason: string; polls: boolean; wakes: boolean; dropped_cnt: number; dropped: string[];
}
export interface LevelsAnswer {
	spans: LevelSpan[]; losses: { from: number; to: number; kind: string; cause: string; count: number }[];
	holes: { from: number; to: number; before: string; after: string; missing: boolean }[]; over_cap: number;
}
export interface Hit { kind: string; text?: string; id?: string; busy?: number; poll?: Poll; lane?: number; at?: number }
export interface Series { count: number; least: (number | null)[]; most: (number | null)[] }
export interface Issue {
	id: string; kind: string; severity: 'info' | 'warning' | 'critical'; text: string; type: string | null; place: string | null;
	count: number; worst_ns: number; total_ns: number; explained_by: string | null; next: string;
	evidence: { poll?: string; task?: string; worker?: number; from_ns?: string; to_ns?: string };
}
export interface IssuesAnswer { recordings: { name: string; coverage: Record<string, boolean | number>; issues: Issue[] }[] }

// Arrays of one lane, one byte a pixel.
export interface LaneCells {
	lane: number; polls: number;
	busy: Uint8Array; heat: Uint8Array; park: Uint8Array; away: Uint8Array; delay: Uint8Array;
	queue: Uint8Array; marks: Uint8Array; count: Uint8Array;
}
export interface Cells { px: number; generation: number; lanes: LaneCells[] }
export const MARK = { long: 1, late: 2, blocked: 4, sample: 8, wake: 16, off: 32 };

let token = '';
export function useToken(text: string): void {
	token = text;
}

export class ApiError extends Error {
	constructor(readonly status: number, text: string) {
		super(text);
	}
}

const underWay = new Map<string, AbortController>();
type Args = Record<string, string | number | undefined>;

function query(args: Args): string {
	const parts = Object.entries(args).filter(([, v]) => v !== undefined && v !== '')
		.map(([k, v]) => k + '=' + encodeURIComponent(typeof v === 'number' ? Math.round(v).toString() : v as string));
	return parts.length ? '?' + parts.join('&') : '';
}

async function ask(path: string, args: Args, slot?: string): Promise<Response> {
	const stop = new AbortController();
	if (slot) {
		underWay.get(slot)?.abort();
		underWay.set(slot, stop);
	}
	const answer = await fetch('/api/' + path + query(args), { signal: stop.signal, headers: token ? { 'X-Dial9-Token': token } : {} });
	if (!answer.ok) {
		let text = answer.statusText;
		try {
			text = (await answer.json() as { error: string }).error;
		} catch {
			/* the status alone must do */
		}
		throw new ApiError(answer.status, text);
	}
	return answer;
}

export async function json<T>(path: string, args: Args = {}, slot?: string): Promise<T> {
	return await (await ask(path, args, slot)).json() as T;
}

// Stamps may not fit a double: they become strings before JSON is read.
export async function issues(): Promise<IssuesAnswer> {
	const text = await (await ask('issues', {})).text();
	return JSON.parse(text.replace(/"(from_ns|to_ns|first_ns|last_ns|task)": ?(\d+)/g, '"$1":"$2"')) as IssuesAnswer;
}

export async function cells(path: 'cells' | 'strip', args: Args, slot: string): Promise<Cells> {
	const buf = await (await ask(path, args, slot)).arrayBuffer();
	const head = new Uint32Array(buf, 0, 4);
	const cnt = head[1], px = head[2];
	const lanes: LaneCells[] = [];
	for (let i = 0; i < cnt; i++) {
		const own = new Uint32Array(buf, 16 + 8 * i, 2);
		const at = (k: number) => new Uint8Array(buf, 16 + 8 * cnt + (i * 8 + k) * px, px);
		lanes.push({
			lane: own[0], polls: own[1], busy: at(0), heat: at(1), park: at(2), away: at(3),
			delay: at(4), queue: at(5), marks: at(6), count: at(7),
		});
	}
	return { px, generation: head[3], lanes };
}

export interface Heat { px: number; rows: number; at: Uint32Array }
export async function heat(args: Args): Promise<Heat> {
	const buf = await (await ask('heat', args, 'heat')).arrayBuffer();
	const head = new Uint32Array(buf, 0, 5);
	return { px: head[1], rows: head[2], at: new Uint32Array(buf, 20) };
}

export function isAbort(e: unknown): boolean {
	return e instanceof DOMException && e.name === 'AbortError';
}
