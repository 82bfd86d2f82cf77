// SPDX-License-Identifier: Apache-2.0
// Every panel and key of the page, on a made trace:   node test/browser/page.mjs URL
// TAP. Nothing here measures time: it waits for what must come.
import { accessible, open, same, tap } from './harness.mjs';

const [url] = process.argv.slice(2);
const { browser, context, page, foreign, errors, violations, collect, calm } = await open();
const press = async (...keys) => {
	for (const key of keys)
		await page.keyboard.press(key);
};
const link = () => page.evaluate(() => location.search + location.hash);
const param = name => page.waitForFunction(n => new URLSearchParams(location.search).has(n), name);
const noParam = name => page.waitForFunction(n => !new URLSearchParams(location.search).has(n), name);
const value = (name, v) => page.waitForFunction(([n, x]) => new URLSearchParams(location.search).get(n) === x, [name, v]);
const body = text => page.waitForFunction(t => document.querySelector('#drawer-body')?.textContent.includes(t), text);
const dock = text => page.waitForFunction(t => document.querySelector('#dock-body')?.textContent.includes(t), text);
const say = text => page.waitForFunction(t => document.querySelector('footer .say')?.textContent.includes(t), text);
const moved = async (from, what) => page.waitForFunction(x => location.search + location.hash !== x, from).catch(() => {
	throw new Error('nothing happens at ' + what);
});
const lanes = '.lanes canvas';
const box = async selector => page.locator(selector).boundingBox();
async function drag(x0, y0, x1, y1) {
	await page.mouse.move(x0, y0);
	await page.mouse.down();
	await page.mouse.move((x0 + x1) / 2, y1, { steps: 3 });
	await page.mouse.move(x1, y1);
	await page.mouse.up();
}
// The canvas is what it says it draws: some of these colours are on it.
const painted = selector => page.waitForFunction(s => {
	const c = document.querySelector(s), d = c?.width ? c.getContext('2d').getImageData(0, 0, c.width, c.height).data : [], seen = new Set();
	for (let i = 0; i < d.length; i += 40)
		seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
	return seen.size > 8;
}, selector);
async function start() {
	await page.goto(url);
	await page.waitForSelector(lanes);
	await body("Workers' time");
	await param('start');
	await calm();
}

console.log('1..27');
const code = await tap(1, page, async test => {
	await test('lanes, overview, heat map and summary are there', async () => {
		await start();
		await painted(lanes);
		await painted('.strip canvas');
		await painted('canvas.heat');
		await body('Task types');
	});
	await test('keys move and zoom the view, and take it back', async () => {
		const all = await link();
		for (const key of ['w', 'w', 'a', 'd', 's', '+', '-', 'ArrowRight', 'ArrowLeft', '=']) {
			const before = await link();
			await press(key);
			await moved(before, key);
		}
		const here = await link();
		await press('z');
		await moved(here, 'z');
		const back = await link();
		await press('Z');
		await moved(back, 'Z');
		same(await link(), here, 'view undone and redone');
		await press('0');
		await page.waitForFunction(x => location.search + location.hash === x, all);
		await press('w');
		await moved(all, 'w');
		await press('Home');
		await page.waitForFunction(x => location.search + location.hash === x, all);
	});
	await test('wheels: Ctrl zooms at the pointer, Shift pans, plain scrolls the lanes', async () => {
		const b = await box(lanes);
		await page.mouse.move(b.x + b.width / 2, b.y + 80);
		for (const [key, dy] of [['Control', -300], ['Shift', 200]]) {
			const before = await link();
			await page.keyboard.down(key);
			await page.mouse.wheel(0, dy);
			await page.keyboard.up(key);
			await moved(before, 'wheel with ' + key);
		}
		await press('0');
		await page.setViewportSize({ width: 1440, height: 480 }); // less than the lanes need
		await page.mouse.move(b.x + 300, b.y + 60);
		await calm();
		const before = await link(), seen = () => page.evaluate(s => document.querySelector(s).toDataURL(), lanes), top = await seen();
		const is = async (up, what) => page.waitForFunction(([s, x, same]) => (document.querySelector(s).toDataURL() === x) === same, [lanes, top, up]).catch(() => {
			throw new Error(what);
		});
		await page.mouse.wheel(0, 60);
		await is(false, 'the lanes do not scroll');
		await page.mouse.wheel(0, -200);
		await is(true, 'the lanes do not scroll back');
		same(await link(), before, 'the view, by a plain wheel');
		await page.setViewportSize({ width: 1440, height: 900 });
		await calm();
	});
	await test('the keyboard selects a lane and its longest poll', async () => {
		await page.focus(lanes);
		await press('ArrowDown', 'ArrowDown', 'ArrowUp', 'Enter');
		await body('queue at start');
		await param('poll');
	});
	await test('steps in the lane and of the task', async () => {
		for (const key of ['.', ',', '>', '<']) {
			const before = new URLSearchParams(await link()).get('poll');
			await press(key);
			await page.waitForFunction(p => new URLSearchParams(location.search).get('poll') !== p || /No further/.test(document.querySelector('footer .say').textContent), before);
		}
	});
	await test('the selected task has a lane; o pins it, x adds the worst', async () => {
		await press('3');
		await body('Its polls in and near the view');
		await press('o');
		await param('pins');
		await calm();
		await press('x');
		await say('hurt most in view');
		await calm();
		await press('x');
		await say('are off');
		await press('o');
		await noParam('pins');
	});
	await test('g takes the arrows away and brings them back', async () => {
		await calm();
		await press('g');
		await say('Arrows off');
		await press('g');
		await say('Arrows on');
	});
	await test('a link opens the same view and poll', async () => {
		const here = await link(), poll = new URLSearchParams(here).get('poll');
		await page.goto(new URL(here, url).href);
		await body('Its polls in and near the view');
		await value('poll', poll);
		await calm();
	});
	await test("dial9's own parameters: what they name is shown", async () => {
		await press('Escape', 'Escape', '0', '1');
		await body("Workers' time");
		const q = new URLSearchParams(await link()), from = BigInt(q.get('start')), to = BigInt(q.get('end')), third = (to - from) / 3n;
		const own = new URLSearchParams({ trace: '/x', start: String(from + third), end: String(to - third), region: `${from + third}-${from + third + third / 2n}`,
			analysis: 'blocking', inspector: 'stack', issue: 'long-poll', 'runtime-collapsed': 'v1:main', span: '7' });
		await page.goto(new URL('/viewer.html?' + own, url).href);
		await page.waitForSelector('#dock-flame[aria-selected=true]');
		await page.waitForSelector('#rail-long[aria-selected=true]');
		await body('selected');
		for (const [k, v] of [['start', own.get('start')], ['end', own.get('end')], ['region', own.get('region')], ['analysis', 'blocking'], ['runtime-collapsed', 'v1:main']])
			await value(k, v);
	});
	await test('each list, part and fold has its key', async () => {
		await start();
		for (const [key, tab] of [['1', 'tab-summary'], ['2', 'tab-poll'], ['3', 'tab-task'], ['4', 'tab-trace'], ['5', 'dock-heat'], ['6', 'dock-flame'], ['7', 'dock-charts'], ['8', 'dock-table'], ['t', 'dock-table'], ['5', 'dock-heat'],
			['l', 'rail-long'], ['k', 'rail-late'], ['b', 'rail-blocked'], ['u', 'rail-busy'], ['i', 'rail-issues']]) {
			await press(key);
			await page.waitForSelector(`#${tab}[aria-selected=true]`);
		}
		await press('q');
		await value('dock', 'none');
		await press('q');
		await noParam('dock');
	});
	await test('findings: a verdict, their steps, and the steps of a list', async () => {
		await page.waitForSelector('.card .title');
		await page.waitForSelector('#rail-list .list button');
		for (const key of ['n', ']']) {
			const before = await link();
			await press(key);
			await moved(before, key);
		}
		await press('p');
		await value('issue-index', '0');
		await press('[');
		await param('issue-index');
		await press('l');
		await page.waitForSelector('#rail-list .list button');
		await press('n');
		await param('poll');
		await page.waitForSelector('#drawer-body [aria-label="Why it took its time"]');
		await body('queue at start');
		await press('p', 'i');
	});
	await test('times: relative, UTC, absolute', async () => {
		await calm();
		for (const [i, name] of [[1, 'utc'], [2, 'absolute'], [0, 'relative']]) {
			await press('m');
			await say('Times: ' + name);
			await page.waitForFunction(k => document.querySelectorAll('.top .segments button')[k].ariaPressed === 'true', i);
		}
	});
	await test('colours: dark, light, high contrast', async () => {
		for (const theme of ['dark', 'light', 'contrast']) {
			await press('c');
			await page.waitForFunction(t => document.documentElement.dataset.theme === t, theme);
			await painted(lanes);
		}
		await press('c');
	});
	await test('the heat map: keys read it and select, a drag brushes, a cell opens a poll', async () => {
		await press('Escape', 'Escape', 'Escape', 'Escape', '0', '5');
		await page.focus('canvas.heat');
		await press('ArrowRight', 'ArrowUp', 'ArrowLeft', 'ArrowDown');
		await page.waitForFunction(() => /polls/.test(document.querySelector('.dock-bar .reading').textContent));
		await press('Shift+ArrowRight', 'Shift+ArrowUp', 'Enter');
		await param('region');
		await press('Escape');
		await noParam('region');
		const b = await box('canvas.heat');
		await drag(b.x + 300, b.y + 20, b.x + 420, b.y + b.height - 10);
		await param('region');
		await body('selected');
		await press('Escape', 'h');
		await value('heat', 'waits');
		await press('h');
		await noParam('heat');
		await page.locator('.twin summary').click();
		await page.waitForSelector('.twin td');
		await page.locator('.twin summary').click();
	});
	await test('a cell of the heat map opens one of its polls', async () => {
		await press('Escape', 'w', 'w', 'w', 'w');
		await calm();
		await page.focus('canvas.heat');
		await page.evaluate(() => document.activeElement.blur());
		const b = await box('canvas.heat');
		for (let y = b.height - 4; y > 0 && !/poll=/.test(await link()); y -= 5) { // the first cell from below that holds something
			await page.mouse.move(b.x + 500, b.y + y);
			await page.waitForTimeout(30);
			if (/: [1-9]/.test(await page.locator('.dock-bar .reading').textContent())) {
				await page.mouse.down();
				await page.mouse.up();
				await page.waitForFunction(() => /poll=|region=/.test(location.search));
				break;
			}
		}
		if (!/poll=|region=/.test(await link()))
			throw new Error('no cell held anything');
	});
	await test('the flamegraph: five ways to merge, and in time; stacks of three kinds, its keys', async () => {
		await start();
		await press('6');
		await page.waitForSelector('.flame canvas');
		await painted('.flame canvas');
		await page.focus('.flame canvas');
		await press('ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Enter', 'Backspace');
		for (const [key, mode] of [['Shift+2', 'bottom'], ['Shift+3', 'heavy'], ['Shift+4', 'sandwich'], ['Shift+5', 'diff']]) {
			await press(key);
			await value('flame', mode);
		}
		await press('Shift+6');
		await value('flame', 'time');
		await painted('canvas.timed');
		await page.locator('.twin summary').click();
		await page.waitForSelector('table.timed td');
		await page.focus('canvas.timed');
		await press('ArrowRight', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowDown', 'Enter');
		await param('region');
		await calm();
		await page.focus('canvas.timed');
		await press('Backspace');
		await noParam('region');
		await accessible(context, page, 'stacks in the order of time');
		await press('Shift+5');
		await page.getByText('Compare later ranges with this one').click();
		await press('w', 'w');
		await param('base');
		await page.waitForSelector('.flame canvas');
		await press('Shift+1');
		await noParam('flame');
		await page.locator('.functions button').first().click();
		await value('flame', 'sandwich');
		await page.waitForFunction(() => document.querySelectorAll('.flame canvas').length === 2);
		await press('Shift+1');
		await page.selectOption('[aria-label="What the stacks are of"]', 'off');
		await value('analysis', 'blocking');
		await page.selectOption('[aria-label="What the stacks are of"]', 'sched');
		await value('analysis', 'sched');
		await page.selectOption('[aria-label="What the stacks are of"]', 'cpu');
	});
	await test('charts: tasks alive and the queue of each runtime, with their tables', async () => {
		await start();
		await press('7');
		await dock('tasks alive');
		await painted('.curve canvas');
		await page.locator('.curve summary').first().click();
		await page.waitForSelector('.curve td');
	});
	await test('the table says what the lanes show, and its numbers are links', async () => {
		await press('8');
		await dock('longest');
		await page.locator('#dock-body td:nth-child(6) button').first().click();
		await body('queue at start');
		await param('poll');
	});
	await test('search: a task, a type, a function, lengths; Escape leaves', async () => {
		const task = new URLSearchParams(await link()).get('poll').split(':')[1];
		for (const [text, kind] of [[task, 'task'], ['service', 'type'], ['dur>1us', 'poll']]) {
			await press('/');
			await page.keyboard.press('Control+a');
			await page.keyboard.type(text);
			await page.waitForFunction(k => [...document.querySelectorAll('.hits .kind')].some(x => x.textContent === k), kind);
			await press('ArrowDown', 'ArrowDown', 'ArrowUp');
			await press('Escape');
			await page.waitForSelector('.hits', { state: 'detached' });
		}
		await press('/');
		await page.keyboard.type('service');
		await page.waitForSelector('.hits button');
		await press('Enter');
		await param('task-scope');
	});
	await test('the palette finds a command and does it', async () => {
		await press('Control+k');
		await page.waitForSelector('.palette[open]');
		await page.keyboard.type('charts');
		await press('ArrowDown', 'ArrowUp', 'Enter');
		await page.waitForSelector('#dock-charts[aria-selected=true]');
		await press('Control+k', 'Escape');
		await page.waitForSelector('.palette[open]', { state: 'detached' });
	});
	await test('the sheet of keys opens and closes', async () => {
		await press('?');
		await page.waitForSelector('dialog[open]');
		await press('Escape');
		await page.waitForSelector('dialog[open]', { state: 'detached' });
	});
	await test('drags: a range, with Alt a zoom, with Space or the middle button a pan; r and f', async () => {
		await start();
		const b = await box(lanes);
		await drag(b.x + 300, b.y + 60, b.x + 500, b.y + 60);
		await param('region');
		const whole = await link();
		await press('f');
		await moved(whole, 'f');
		await press('Escape');
		await noParam('region');
		await press('r');
		await param('region');
		await press('Escape');
		await noParam('region');
		for (const key of ['Alt', ' ']) {
			const before = await link();
			await page.focus(lanes);
			await page.keyboard.down(key);
			await drag(b.x + 300, b.y + 60, b.x + 500, b.y + 60);
			await page.keyboard.up(key);
			await moved(before, 'a drag with ' + key);
		}
		const before = new URLSearchParams(await link());
		await page.mouse.move(b.x + 300, b.y + 60);
		await page.mouse.down({ button: 'middle' });
		await page.mouse.move(b.x + 420, b.y + 60, { steps: 3 });
		await page.mouse.up({ button: 'middle' });
		await page.waitForFunction(x => new URLSearchParams(location.search).get('start') !== x, before.get('start'));
		const after = new URLSearchParams(await link()), len = q => BigInt(q.get('end')) - BigInt(q.get('start'));
		same(after.get('region'), null, 'a range, by the middle button');
		if (BigInt(after.get('start')) > BigInt(before.get('start')) || (len(after) - len(before)) ** 2n > 4n)
			throw new Error(`the middle button made ${before} into ${after}`);
	});
	await test('a click on a lane selects, on a group folds; the overview moves the view', async () => {
		await press('0');
		const b = await box(lanes);
		await page.mouse.click(b.x + 30, b.y + 32);
		await param('runtime-collapsed');
		await page.mouse.click(b.x + 30, b.y + 32);
		await noParam('runtime-collapsed');
		await page.mouse.click(b.x + 400, b.y + 55);
		await param('poll');
		const strip = await box('.strip canvas'), before = await link();
		await drag(strip.x + 300, strip.y + 40, strip.x + 500, strip.y + 40);
		await moved(before, 'a drag on the overview');
	});
	await test('the grip of the lower part moves by keys', async () => {
		await page.focus('[role=separator]');
		const before = await page.getAttribute('[role=separator]', 'aria-valuenow');
		await press('ArrowUp');
		await page.waitForFunction(x => document.querySelector('[role=separator]').ariaValueNow !== x, before);
	});
	await test('axe finds nothing, in any part', async () => {
		await start();
		await page.focus(lanes);
		await press('Enter');
		await body('queue at start');
		for (const [key, ready] of [['1', '.split'], ['2', '#drawer-body dl'], ['3', '#drawer-body dl'], ['4', '#drawer-body dl'], ['5', 'canvas.heat'], ['7', '.curve'], ['8', '#dock-body td'], ['l', '#rail-list .list']]) {
			await press(key);
			await page.waitForSelector(ready);
			await accessible(context, page, 'part ' + key);
		}
		await press('Escape', 'Escape', '6'); // of everything in view, not of one poll
		await page.waitForSelector('.flame canvas');
		await accessible(context, page, 'the flamegraph');
		await press('Control+k');
		await page.waitForSelector('.palette[open] li');
		await accessible(context, page, 'the palette');
		await press('Escape', '?');
		await page.waitForSelector('dialog[open]');
		await accessible(context, page, 'the sheet of keys');
		await press('Escape');
	});
	await test('axe finds nothing, in any colours', async () => {
		await press('0', '1', 'i', '5', 'c', 'c');
		await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
		await accessible(context, page, 'light');
		await press('c');
		await page.waitForFunction(() => document.documentElement.dataset.theme === 'contrast');
		await accessible(context, page, 'high contrast');
	});
	await test('no error, no policy violation, no request to anywhere else', async () => {
		await collect();
		same(errors.join('; '), '', 'errors');
		same(violations.join('; '), '', 'violations');
		same(foreign.join('; '), '', 'requests');
		const session = await context.newCDPSession(page);
		await session.send('HeapProfiler.collectGarbage');
		const heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
		if (heap > 150e6)
			throw new Error(`the page's heap is ${heap} bytes`);
		console.log(`# page heap ${(heap / 1e6).toFixed(1)} MB`);
	});
});
await browser.close();
process.exit(code);
