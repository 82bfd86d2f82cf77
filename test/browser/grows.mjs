// SPDX-License-Identifier: Apache-2.0
// A recording that goes on: what is looked at and selected stays, what is new comes, without a reload.
//   node test/browser/grows.mjs URL DIR FILE...     DIR is served; it holds the first two FILEs, of three workers
import { copyFileSync, renameSync, unlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { open, same, tap } from './harness.mjs';

const [url, dir, ...files] = process.argv.slice(2);
const { browser, page, errors, calm } = await open();
const ask = what => page.evaluate(w => fetch('/api/' + w).then(r => r.json()), what);
const link = () => page.evaluate(() => location.search + location.hash);
const shown = () => page.evaluate(() => document.querySelector('footer').textContent.match(/([\d,.\u202f ]+) events/)[1]);
const body = () => page.evaluate(() => document.querySelector('#drawer-body').textContent);
const selected = async () => BigInt(/^\d+/.exec(new URLSearchParams(await link()).get('poll'))[0]);
// The poll that is selected, as the server knows it now.
async function known() {
	const { base } = await ask('recording?r=0'), [, start, task] = /^(\d+)\D+(\d+)/.exec(new URLSearchParams(await link()).get('poll'));
	return { base: BigInt(base), ...await ask(`poll?r=0&at=${BigInt(start) - BigInt(base)}&task=${task}`) };
}
async function changes(change) {
	const before = await shown();
	change();
	await page.waitForFunction(x => !document.querySelector('footer').textContent.includes(x + ' events'), before);
	await calm();
}
const put = nr => changes(() => {
	copyFileSync(files[nr], join(dir, 'new'));
	renameSync(join(dir, 'new'), join(dir, basename(files[nr])));
});
// A key steps to the poll that it should, from where the selection is now.
async function step(key, to) {
	const was = await known(), want = was.base + BigInt(was[to].start);
	await page.keyboard.press(key);
	await page.waitForFunction(x => new URLSearchParams(location.search).get('poll')?.startsWith(x), String(want));
	await calm();
}

console.log('1..4');
const code = await tap(1, page, async test => {
	await test('a new segment: view, selection and drawer stay; steps go on from there', async () => {
		await page.goto(url);
		await page.waitForSelector('.lanes canvas');
		const { base, segments } = await ask('recording?r=0'), from = BigInt(base) + BigInt(segments[1].first), to = BigInt(base) + BigInt(segments[1].last);
		await page.goto(new URL(`/?start=${from + (to - from) / 4n}&end=${from + (to - from) / 2n}`, url).href);
		await page.waitForSelector('.lanes canvas');
		await calm();
		await page.focus('.lanes canvas');
		for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter'])
			await page.keyboard.press(key);
		await page.waitForFunction(() => new URLSearchParams(location.search).has('poll'));
		await calm();
		const here = await link(), text = await body(), at = await selected();
		await put(2);
		same(await link(), here, 'the link');
		same(await body(), text, 'the drawer');
		same(await selected(), at, 'the poll');
		await step('.', 'lane_after');
		await step(',', 'lane_before');
		same(await selected(), at, 'the poll, there and back');
	});
	await test('the oldest one is evicted: the same, though all times are counted from another beginning', async () => {
		const here = await link(), at = await selected(), { base } = await ask('recording?r=0');
		await changes(() => unlinkSync(join(dir, basename(files[0]))));
		if ((await ask('recording?r=0')).base === base)
			throw new Error('it begins where it began');
		same(await link(), here, 'the link');
		same(await selected(), at, 'the poll');
		await step('.', 'lane_after');
		await step(',', 'lane_before');
		same(await selected(), at, 'the poll, there and back');
	});
	await test('all is in view: what is new comes into view', async () => {
		await page.keyboard.press('Home');
		await calm();
		const end = async () => BigInt(new URLSearchParams(await link()).get('end')), before = await end();
		await put(3);
		const { base, length } = await ask('recording?r=0');
		if (await end() <= before)
			throw new Error('the view ends where it ended');
		same(await end(), BigInt(base) + BigInt(length), 'the end of the view');
	});
	await test('the segment of what is selected is evicted: nothing is selected, and no error', async () => {
		await changes(() => unlinkSync(join(dir, basename(files[1]))));
		await page.waitForFunction(() => !new URLSearchParams(location.search).has('poll'));
		same(errors.join('; '), '', 'errors');
	});
});
await browser.close();
process.exit(code);
