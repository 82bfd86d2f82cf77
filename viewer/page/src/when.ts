// SPDX-License-Identifier: Apache-2.0
// A moment in words, by the clock that is chosen.
import { baseNs, realNs, state } from './state';
import { moment } from './units';

export function when(ns: number): string {
	return moment(ns, state.clock, baseNs(), realNs());
}
