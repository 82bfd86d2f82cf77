// SPDX-License-Identifier: Apache-2.0
// Hooks: a component that follows the state, and an answer that follows a question.
import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort } from './api';
import { listen, state, type State } from './state';
import { canvasFont } from './theme';

export function useApp(): State {
	const [, tick] = useState(0);
	useEffect(() => listen(() => tick(n => n + 1)), []);
	return state;
}

export interface Answer<T> { value: T | null; error: string | null; busy: boolean }

// Asks when the key changes, a moment after the last change; the old answer stays meanwhile.
export function useAnswer<T>(key: string, f: () => Promise<T>): Answer<T> {
	const [a, put] = useState<Answer<T>>({ value: null, error: null, busy: true });
	useEffect(() => {
		let on = true;
		put(x => ({ ...x, busy: true }));
		const timer = setTimeout(() => {
			f().then(value => on && put({ value, error: null, busy: false }), (e: unknown) => {
				if (on && !isAbort(e))
					put({ value: null, error: e instanceof Error ? e.message : String(e), busy: false });
			});
		}, 120);
		return () => {
			on = false;
			clearTimeout(timer);
		};
	}, [key]);
	return a;
}

// A canvas that is drawn again when what it shows, its size or the theme changes.
export function usePlot(draw: (g: CanvasRenderingContext2D, w: number, h: number) => void, deps: unknown[]) {
	const ref = useRef<HTMLCanvasElement>(null);
	useEffect(() => {
		const canvas = ref.current;
		if (!canvas)
			return undefined;
		const paint = () => {
			const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
			if (w < 10 || h < 4)
				return;
			canvas.width = Math.round(w * ratio);
			canvas.height = Math.round(h * ratio);
			const g = canvas.getContext('2d');
			if (!g)
				return;
			g.setTransform(ratio, 0, 0, ratio, 0, 0);
			g.font = canvasFont;
			g.textBaseline = 'middle';
			draw(g, w, h);
		};
		paint();
		const watch = new ResizeObserver(paint);
		watch.observe(canvas);
		return () => watch.disconnect();
	}, [...deps, state.theme, document.documentElement.dataset.theme]);
	return ref;
}
