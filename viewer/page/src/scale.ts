// SPDX-License-Identifier: Apache-2.0
// Time to pixels: one scale for the lanes, the overview and whatever stands below the lanes.
import type { Span } from './state';

export const GUTTER = 132; // the names stand left of it

export class Scale {
	constructor(readonly from: number, readonly to: number, readonly wide: number) {}

	x(ns: number): number {
		return GUTTER + (ns - this.from) / (this.to - this.from) * (this.wide - GUTTER);
	}

	t(x: number): number {
		return this.from + (x - GUTTER) / Math.max(this.wide - GUTTER, 1) * (this.to - this.from);
	}
}

export function scaleOf(view: Span, wide: number): Scale {
	return new Scale(view.from, view.to, wide);
}
