// SPDX-License-Identifier: Apache-2.0
// The time above the lanes: where it starts, and steps of 1, 2, 5 from there.
import { GUTTER } from './scale';
import { baseNs, realNs, state } from './state';
import { colors } from './theme';
import { AXIS, type Picture } from './timeline';
import { day, dur, moment, tickStep } from './units';

export function drawAxis(p: Picture): void {
	const { g, scale } = p, { from, to } = state.view, real = realNs();
	g.fillStyle = colors.panel;
	g.fillRect(0, 0, p.wide, AXIS);
	const step = tickStep(to - from, Math.max((p.wide - GUTTER) / (state.clock === 'absolute' ? 170 : 120), 2));
	g.save();
	g.beginPath();
	g.rect(GUTTER, 0, p.wide - GUTTER, p.tall);
	g.clip();
	for (let t = Math.ceil(from / step) * step; t < to; t += step) {
		const x = Math.round(scale.x(t)) + 0.5;
		g.fillStyle = colors.line;
		g.globalAlpha = 0.35;
		g.fillRect(x - 0.5, AXIS, 1, p.tall);
		g.globalAlpha = 1;
		g.fillRect(x - 0.5, AXIS - 6, 1, 6);
		g.fillStyle = colors.dim;
		const text = moment(t, state.clock, baseNs(), real, step);
		if (x + 4 + g.measureText(text).width < p.wide)
			g.fillText(text, x + 4, AXIS / 2);
	}
	g.restore();
	g.fillStyle = colors.text;
	g.fillText(state.clock === 'utc' && real !== null ? day(from, real) : dur(to - from) + ' in view', 8, AXIS / 2, GUTTER - 12);
	g.fillStyle = colors.line;
	g.fillRect(0, AXIS - 1, p.wide, 1);
	g.fillRect(GUTTER - 1, 0, 1, AXIS);
}
