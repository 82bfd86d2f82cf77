// SPDX-License-Identifier: Apache-2.0
// The names of the rows at the left, and how busy each lane is in view.
import type { Cells, LaneCells } from './api';
import { recordedShare } from './levels';
import { GUTTER } from './scale';
import { state } from './state';
import { canvasBold, canvasFont, colors } from './theme';
import type { Picture } from './timeline';
import { brief, tail } from './units';

function busyShare(c: LaneCells): number {
	let n = 0;
	for (const b of c.busy)
		n += b;
	return c.busy.length ? n / c.busy.length / 255 : 0;
}

export function drawGutter(p: Picture, cells: Cells | null): void {
	const { g } = p, known = recordedShare(state.view), by = new Map(cells?.lanes.map(l => [l.lane, l]));
	g.fillStyle = colors.bg;
	g.fillRect(0, 0, GUTTER, p.tall);
	g.fillStyle = colors.line;
	g.fillRect(GUTTER - 1, 0, 1, p.tall);
	for (const row of p.rows) {
		const y = p.y(row);
		if (row.kind === 'head') {
			g.fillStyle = colors.bg;
			g.fillRect(0, y, p.wide, row.h);
			g.fillStyle = colors.dim;
			g.font = canvasBold;
			g.fillText((state.folded.has(row.key) ? '▸ ' : '▾ ') + row.label, 8, y + row.h / 2 + 2);
			g.font = canvasFont;
			continue;
		}
		const own = row.kind === 'lane' && row.lane === state.lane;
		if (own) {
			g.fillStyle = colors.lane;
			g.fillRect(0, y, GUTTER, row.h - 1);
			g.fillStyle = colors.accent;
			g.fillRect(0, y, 3, row.h - 1);
		}
		g.fillStyle = own ? colors.accent : row.kind === 'lane' || row.kind === 'task' ? colors.text : colors.dim;
		const mid = row.kind === 'lane' || row.kind === 'level' ? y + row.h / 2 : y + 12;
		g.fillText(row.kind === 'field' ? tail(row.label, 19) : row.label, 18, mid, GUTTER - 24);
		const c = by.get(row.lane);
		if (row.kind === 'lane' && c) {
			const text = known > 0.001 ? Math.round(Math.min(busyShare(c) / known, 1) * 100) + ' %' : '?'; // of the time that is known
			g.fillStyle = colors.dim;
			g.fillText(text, GUTTER - 8 - g.measureText(text).width, mid);
		}
		if (row.kind === 'task') {
			const place = state.tasks.get(row.key)?.place;
			g.fillStyle = colors.dim;
			g.fillText(place ? brief(place) : 'type unknown', 18, y + 27, GUTTER - 24);
		}
	}
}
