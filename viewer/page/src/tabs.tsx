// SPDX-License-Identifier: Apache-2.0
// A row of tabs: one is chosen, arrows go from one to the next.
export interface TabOf<T extends string> { id: T; name: string; key?: string; note?: string }

function onArrow(e: KeyboardEvent): void {
	const by = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
	const list = [...(e.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=tab]')];
	const at = list.indexOf(document.activeElement as HTMLElement);
	if (!by || at < 0)
		return;
	e.preventDefault();
	e.stopPropagation();
	const next = list[(at + by + list.length) % list.length];
	next.focus();
	next.click();
}

export function Tabs<T extends string>({ label, prefix, body, items, at, onPick }: { label: string; prefix: string; body: string; items: TabOf<T>[]; at: T | null; onPick: (id: T) => void }) {
	return <div role="tablist" aria-label={label} onKeyDown={onArrow}>{items.map((x, i) =>
		<button key={x.id} role="tab" id={prefix + x.id} aria-selected={at === x.id} aria-controls={body} tabIndex={at === x.id || (at === null && i === 0) ? 0 : -1}
			title={x.key && 'key ' + x.key} onClick={() => onPick(x.id)}>{x.name}{x.note && <span class="note-cnt">{x.note}</span>}</button>)}</div>;
}
