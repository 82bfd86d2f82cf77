// SPDX-License-Identifier: Apache-2.0
// One unit system: three digits and a unit, the same as in the terminal.

const UNITS: [number, string][] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];

export function digits3(x: number): string {
	if (x >= 100)
		return Math.round(x).toString();
	return x >= 10 ? x.toFixed(1) : x.toFixed(2);
}

export function dur(ns: number): string {
	if (ns === 0)
		return '0';
	const sign = ns < 0 ? '-' : '';
	const abs = Math.abs(ns);
	for (const [size, name] of UNITS)
		if (abs >= size)
			return sign + (size === 1 ? Math.round(abs).toString() : digits3(abs / size)) + ' ' + name;
	return '0';
}

export function count(n: number): string {
	return n.toString().replace(/\B(?=(\d{3})+$)/g, ' ');
}

export function share(part: number, whole: number): string {
	return whole > 0 ? (part / whole * 100).toFixed(1) + ' %' : '-';
}

export function bytes(n: number): string {
	const names = ['B', 'KiB', 'MiB', 'GiB'];
	let i = 0;
	while (n >= 1024 && i < 3) {
		n /= 1024;
		i++;
	}
	return (i ? digits3(n) : n.toString()) + ' ' + names[i];
}

export type Clock = 'relative' | 'utc' | 'absolute';

// A moment. `step` is the distance that must still be told apart.
export function moment(relNs: number, clock: Clock, baseNs: bigint, realtimeNs: bigint | null, step = 1000): string {
	if (clock === 'absolute')
		return (baseNs + BigInt(Math.round(relNs))).toString();
	const places = step >= 1e8 ? 1 : step >= 1e7 ? 2 : step >= 1e6 ? 3 : step >= 1e5 ? 4 : step >= 1e4 ? 5 : step >= 1e3 ? 6 : 9;
	if (clock === 'utc' && realtimeNs !== null) {
		const at = realtimeNs + BigInt(Math.round(relNs));
		const text = new Date(Number(at / 1000000n)).toISOString();
		const rest = (at % 1000000000n).toString().padStart(9, '0').slice(0, Math.max(places, 1));
		return text.slice(11, 19) + '.' + rest;
	}
	return '+' + (relNs / 1e9).toFixed(places) + ' s';
}

// The date that the times of day belong to.
export function day(relNs: number, realtimeNs: bigint): string {
	return new Date(Number((realtimeNs + BigInt(Math.round(relNs))) / 1000000n)).toISOString().slice(0, 10) + ' UTC';
}

// The end of a path or type name tells more than its start.
export function tail(text: string, columns: number): string {
	return text.length <= columns ? text : '…' + text.slice(text.length - columns + 1);
}

// A place or type in few letters: of a path the file, with its folder where the file alone says
// nothing; of a type no generics.
export function brief(text: string): string {
	const path = /(?:([^/@]*\/))?([^/@]*):(\d+):(\d+)}?$/.exec(text);
	if (!path || !/[/@]/.test(text))
		return shortName(text);
	return (/^(main|lib|mod)\.rs$/.test(path[2]) ? path[1] ?? '' : '') + path[2] + ':' + path[3] + ':' + path[4];
}

// Generics make names of hundreds of letters: what is between the outermost <> matters least.
export function shortName(name: string): string {
	let out = '', depth = 0;
	for (let i = 0; i < name.length; i++) {
		const c = name[i];
		if (c === '<' && (depth > 0 || (i > 0 && /[\w:]/.test(name[i - 1])))) {
			if (depth++ === 0)
				out += '<…>';
		} else if (c === '>' && depth > 0 && name[i - 1] !== '-') {
			depth--;
		} else if (depth === 0) {
			out += c;
		}
	}
	return out;
}

// Steps of 1, 2, 5 that put about `cnt` marks on a span.
export function tickStep(spanNs: number, cnt: number): number {
	const raw = Math.max(spanNs / cnt, 1);
	const power = 10 ** Math.floor(Math.log10(raw));
	for (const m of [1, 2, 5, 10])
		if (m * power >= raw)
			return m * power;
	return 10 * power;
}

// Length that a byte of the server's scale stands for (8 steps to an octave, 0: none).
export function ofByte(b: number): number {
	return b === 0 ? 0 : 2 ** ((b - 1) / 8);
}
