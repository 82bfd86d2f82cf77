// SPDX-License-Identifier: Apache-2.0
// Flamegraphs as data: flat trees in preorder, and the ways to look at them. No recursion: stacks
// may be deep, and come from outside.
export interface Node { name: string; depth: number; value: number; self: number; parent: number; base?: number }
export type Tree = Node[]; // in preorder, roots have depth 0

export function read(nodes: (number | string)[]): Tree {
	const tree: Tree = [], path: number[] = [];
	for (let i = 0; i + 3 < nodes.length; i += 4) {
		const depth = nodes[i] as number;
		path.length = depth;
		tree.push({ depth, value: nodes[i + 1] as number, self: nodes[i + 2] as number, name: nodes[i + 3] as string,
			parent: depth ? path[depth - 1] : -1 });
		path[depth] = tree.length - 1;
	}
	return tree;
}

interface Built { name: string; value: number; self: number; base: number; kids: Map<string, Built> }

function flatten(roots: Map<string, Built>, byValue: boolean): Tree {
	const tree: Tree = [], stack: [Built, number, number][] = [];
	const push = (kids: Map<string, Built>, depth: number, parent: number) => {
		const list = [...kids.values()];
		list.sort((a, b) => byValue ? a.value - b.value || (a.name < b.name ? 1 : -1) : a.name < b.name ? 1 : -1);
		for (const k of list)
			stack.push([k, depth, parent]);
	};
	push(roots, 0, -1);
	for (let next = stack.pop(); next; next = stack.pop()) {
		const [n, depth, parent] = next;
		tree.push({ name: n.name, depth, value: n.value, self: n.self, parent, base: n.base });
		push(n.kids, depth + 1, tree.length - 1);
	}
	return tree;
}

function add(kids: Map<string, Built>, name: string, value: number, base: number): Built {
	let k = kids.get(name);
	if (!k)
		kids.set(name, k = { name, value: 0, self: 0, base: 0, kids: new Map() });
	k.value += value;
	k.base += base;
	return k;
}

function pathOf(tree: Tree, i: number): string[] {
	const names: string[] = [];
	for (; i >= 0; i = tree[i].parent)
		names.push(tree[i].name);
	return names; // leaf first
}

// Stacks merged from the leaf on: who calls what costs.
export function bottomUp(tree: Tree, only?: string): Tree {
	const roots = new Map<string, Built>();
	tree.forEach((n, i) => {
		const value = only === undefined ? n.self : n.name === only ? n.value : 0;
		// within a recursion only the outermost counts
		if (!value || (only !== undefined && pathOf(tree, n.parent).includes(only)))
			return;
		let kids = roots;
		for (const name of pathOf(tree, i))
			kids = add(kids, name, value, 0).kids;
	});
	return flatten(roots, true);
}

// Below one function, wherever it stands.
export function below(tree: Tree, only: string): Tree {
	const roots = new Map<string, Built>();
	tree.forEach((n, i) => {
		if (!n.self)
			return;
		const path = pathOf(tree, i).reverse(), at = path.indexOf(only);
		let kids = roots;
		for (const name of at < 0 ? [] : path.slice(at)) {
			const k = add(kids, name, n.self, 0);
			kids = k.kids;
		}
	});
	return flatten(roots, true);
}

export function heavy(tree: Tree): Tree {
	const roots = new Map<string, Built>();
	const at: Built[] = [];
	tree.forEach((n, i) => {
		const k = add(n.parent < 0 ? roots : at[n.parent].kids, n.name, n.value, 0);
		k.self += n.self;
		at[i] = k;
	});
	return flatten(roots, true);
}

// Both scaled to the same whole; base keeps what it was.
export function diff(now: Tree, then: Tree, nowTotal: number, thenTotal: number): Tree {
	const roots = new Map<string, Built>();
	for (const [tree, scale, isNow] of [[now, 1 / (nowTotal || 1), true], [then, 1 / (thenTotal || 1), false]] as const) {
		const at: Built[] = [];
		tree.forEach((n, i) => {
			at[i] = add(n.parent < 0 ? roots : at[n.parent].kids, n.name, isNow ? n.value * scale : 0, isNow ? 0 : n.value * scale);
			at[i].self += isNow ? n.self * scale : 0;
		});
	}
	return flatten(roots, true);
}

export interface Box { x: number; w: number; depth: number; node: number }

// Where each box is, in shares of the whole; those thinner than `least` are left out.
export function boxes(tree: Tree, root: number, least: number): { list: Box[]; depth: number } {
	const list: Box[] = [];
	const from = root < 0 ? 0 : root, base = root < 0 ? 0 : tree[root].depth;
	const size = (n: Node) => n.value || n.base || 0;
	const whole = root < 0 ? tree.filter(n => n.depth === 0).reduce((s, n) => s + size(n), 0) : size(tree[root]);
	const next: number[] = [0];
	let depth = 0;
	for (let i = from; i < tree.length; i++) {
		const n = tree[i], d = n.depth - base;
		if (d < 0 || (d === 0 && i > from && root >= 0))
			break;
		const x = next[d] ?? 0, w = whole ? size(n) / whole : 0;
		next[d] = x + w;
		next[d + 1] = x;
		if (w < least) {
			continue;
		}
		list.push({ x, w, depth: d, node: i });
		depth = Math.max(depth, d + 1);
	}
	return { list, depth };
}
