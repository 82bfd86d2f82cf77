// SPDX-License-Identifier: Apache-2.0
// The page in a real browser:   node test/browser/page.mjs URL PAGE_MODULES_DIR
// TAP. Nothing here measures time: it waits for what must come.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const [url, modules] = process.argv.slice(2);
const require = createRequire(join(resolve(modules), 'x.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const foreign = [], errors = [];
let n = 0, bad = 0;

const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
	args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
});
const context = await browser.newContext({ viewport: { width: 1400, height: 820 }, colorScheme: 'dark' });
const page = await context.newPage();
page.setDefaultTimeout(20000);
page.on('request', r => r.url().startsWith(url) || foreign.push(r.url()));
page.on('pageerror', e => errors.push(e.message));
await page.addInitScript(() => {
	window.violations = [];
	document.addEventListener('securitypolicyviolation', e => window.violations.push(e.violatedDirective + ' ' + e.blockedURI));
});

async function test(name, f) {
	n++;
	try {
		await f();
		console.log(`ok ${n} - ${name}`);
	} catch (e) {
		bad++;
		console.log(`not ok ${n} - ${name}`);
		const seen = await page.evaluate(() => location.search + location.hash + ' | ' + document.querySelector('footer .say')?.textContent + ' | ' +
			document.activeElement?.tagName + ' | ' + document.querySelector('#drawer-body')?.textContent.slice(0, 200)).catch(String);
		console.log('# ' + seen);
		console.log(String(e.message ?? e).split('\n').slice(0, 12).map(x => '# ' + x).join('\n'));
	}
}
function same(got, want, what) {
	if (got !== want)
		throw new Error(`${what}: ${got}, not ${want}`);
}
const press = key => page.keyboard.press(key);
const link = () => page.evaluate(() => location.search + location.hash);
const body = text => page.waitForFunction(t => document.querySelector('#drawer-body')?.textContent.includes(t), text);
const moved = from => page.waitForFunction(x => location.search + location.hash !== x, from);
const accessible = async tab => {
	await press(tab);
	await page.waitForFunction(() => document.querySelector('#drawer-body')?.textContent.length > 40);
	const session = await context.newCDPSession(page);
	await session.send('Runtime.evaluate', { expression: axe });
	const found = await page.evaluate(() => window.axe.run());
	same(found.violations.map(v => v.id + ': ' + v.nodes[0].html).join('; '), '', 'violations in tab ' + tab);
};

console.log('1..11');
await test('the lanes are there, and the time in view is summed up', async () => {
	await page.goto(url);
	await page.waitForSelector('.lanes canvas');
	await body("Workers' time");
	await page.waitForFunction(() => location.search.includes('start='));
});
await test('keys move and zoom the view, and take it back', async () => {
	const all = await link();
	for (const key of ['w', 'w', 'a', 'd', 's', '+', '-', 'ArrowRight']) {
		const before = await link();
		await press(key);
		await moved(before).catch(() => {
			throw new Error('nothing happens at ' + key);
		});
	}
	const here = await link();
	await press('z');
	await moved(here);
	await press('0');
	await page.waitForFunction(x => location.search + location.hash === x, all);
});
await test('the keyboard selects a poll, and its task has a lane', async () => {
	await page.focus('.lanes canvas');
	await press('ArrowDown');
	await press('Enter');
	await body('queue at start');
	await page.waitForFunction(() => location.search.includes('poll='));
});
await test('steps in the lane and of the task', async () => {
	const before = await link();
	await press('.');
	await moved(before);
	await press('>');
	await press('<');
	await press(',');
});
await test('a link opens the same view and poll', async () => {
	const here = await link(), poll = new URLSearchParams(here).get('poll');
	await page.goto(new URL(here, url).href);
	await body('queue at start');
	await page.waitForFunction(p => new URLSearchParams(location.search).get('poll') === p, poll);
	await page.waitForLoadState('networkidle');
});
await test('each list, tab, clock and theme has its key', async () => {
	for (let tab = 1; tab <= 8; tab++) {
		await press(tab.toString());
		await page.waitForFunction(i => document.querySelectorAll('.drawer [role=tab]')[i].ariaSelected === 'true', tab - 1);
	}
	for (const theme of ['dark', 'light', 'contrast', 'auto']) {
		await press('c');
		await page.waitForFunction(t => document.querySelector('[title="key c"]')?.textContent === (t === 'auto' ? 'colours' : t), theme);
	}
	for (const key of ['l', 'k', 'b', 'i', 'g', 'm', 'm', 'm', 'r', 'f', 'n', 'p', ']', '['])
		await press(key);
});
await test('the sheet of keys opens and closes', async () => {
	await press('?');
	await page.waitForSelector('dialog[open]');
	await press('Escape');
	await page.waitForSelector('dialog[open]', { state: 'detached' });
});
await test('search finds, Escape leaves', async () => {
	await press('/');
	await page.keyboard.type('1');
	await page.waitForSelector('.hits li');
	await press('Escape');
	await page.waitForSelector('.hits', { state: 'detached' });
});
await test('dragging selects a range', async () => {
	const box = await page.locator('.lanes canvas').boundingBox();
	await page.mouse.move(box.x + 200, box.y + 60);
	await page.mouse.down();
	await page.mouse.move(box.x + 400, box.y + 60, { steps: 4 });
	await page.mouse.up();
	await page.waitForFunction(() => location.search.includes('region='));
});
await test('axe finds nothing in any tab', async () => {
	for (let tab = 1; tab <= 8; tab++)
		await accessible(tab.toString());
});
await test('no error, no policy violation, no request to anywhere else', async () => {
	same(errors.join('; '), '', 'errors');
	same((await page.evaluate(() => window.violations)).join('; '), '', 'violations');
	same(foreign.join('; '), '', 'requests');
});
await browser.close();
process.exit(bad ? 1 : 0);
