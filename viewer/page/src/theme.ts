// SPDX-License-Identifier: Apache-2.0
// Colours: tokens come from the style sheet, so that panels and canvases agree; ramps are tables.
import type { Theme } from './state';

export interface Colors {
	bg: string; lane: string; text: string; dim: string; line: string; accent: string; bad: string; warn: string;
	blocked: string; park: string; delay: string; queue: string; sample: string; select: string; pinned: string;
	panel: string; ink: string; ready: string; away: string;
}
export let colors: Colors;
const FACE = 'Inter, system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
export const canvasFont = '11px ' + FACE, canvasBold = '600 11px ' + FACE;
export let heatRamp = new Uint32Array(256); // by the server's byte of a length, as ABGR
export let heatCss: string[] = [];
export let countCss: string[] = []; // few to many
export let raw: Record<'bg' | 'lane' | 'park' | 'away' | 'delay' | 'long' | 'late' | 'blocked' | 'sample' | 'queue', number>;

function rgb(text: string): [number, number, number] {
	const n = parseInt(text.trim().slice(1), 16);
	return [n >> 16 & 255, n >> 8 & 255, n & 255];
}

function abgr([r, g, b]: [number, number, number]): number {
	return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
}

function between(stops: [number, number, number][], t: number): [number, number, number] {
	const i = Math.min(Math.floor(t), stops.length - 2), f = t - i;
	return stops[i].map((x, k) => Math.round(x + (stops[i + 1][k] - x) * f)) as [number, number, number];
}

// 1 us and less is calm, 1 ms is in the middle, 100 ms and more is the end of the ramp.
function ramp(stops: [number, number, number][]): void {
	heatRamp = new Uint32Array(256);
	heatCss = [];
	for (let b = 0; b < 256; b++) {
		const ns = b ? 2 ** ((b - 1) / 8) : 0;
		const t = Math.min(Math.max((Math.log10(Math.max(ns, 1)) - 3) / 5, 0), 1) * (stops.length - 1);
		const c = between(stops, t);
		heatRamp[b] = abgr(c);
		heatCss.push(`rgb(${c.join()})`);
	}
}

export function readTheme(theme: Theme): void {
	const root = document.documentElement;
	const dark = matchMedia('(prefers-color-scheme: dark)').matches;
	const more = matchMedia('(prefers-contrast: more)').matches;
	root.dataset.theme = theme === 'auto' ? (more ? 'contrast' : dark ? 'dark' : 'light') : theme;
	const css = getComputedStyle(root);
	const c = (name: string) => css.getPropertyValue('--' + name).trim();
	colors = {
		bg: c('bg'), lane: c('lane'), text: c('text'), dim: c('dim'), line: c('line'), accent: c('accent'),
		bad: c('bad'), warn: c('warn'), blocked: c('blocked'), park: c('park'), delay: c('delay'),
		queue: c('queue'), sample: c('sample'), select: c('select'), pinned: c('pinned'), panel: c('panel'), ink: c('ink'), ready: c('ready'), away: c('away'),
	};
	raw = {
		bg: abgr(rgb(c('bg'))), lane: abgr(rgb(c('lane'))), park: abgr(rgb(c('park'))), away: abgr(rgb(c('away'))), delay: abgr(rgb(c('delay'))),
		long: abgr(rgb(c('bad'))), late: abgr(rgb(c('warn'))), blocked: abgr(rgb(c('blocked'))),
		sample: abgr(rgb(c('sample'))), queue: abgr(rgb(c('queue'))),
	};
	ramp([0, 1, 2, 3, 4].map(i => rgb(c('heat' + i))));
	const few = [0, 1, 2, 3].map(i => rgb(c('count' + i)));
	countCss = Array.from({ length: 256 }, (_, i) => `rgb(${between(few, i / 255 * (few.length - 1)).join()})`);
}

// The same name has always the same colour; hue only helps, the name stands there too.
export function nameColor(name: string, isLight: boolean): string {
	let h = 0;
	for (let i = 0; i < name.length; i++)
		h = (h * 31 + name.charCodeAt(i)) >>> 0;
	return `hsl(${(h % 50) + 5} ${isLight ? 78 : 62}% ${(isLight ? 72 : 60) + (h >> 8) % 9}%)`;
}

export function isLight(): boolean {
	return document.documentElement.dataset.theme === 'light';
}
