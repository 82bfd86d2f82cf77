// SPDX-License-Identifier: Apache-2.0
// States that are not "all is well", each with its own words:
//   node test/browser/states.mjs URL_EMPTY URL_PARTIAL URL_NOTHING URL_FAILED URL_SMALL URL_LEVELS URL_SPANS URL_STAT URL_POOL EMPTY_DIR A_TRACE
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, open, same, tap } from './harness.mjs';

const [empty, partial, nothing, failed, small, levels, spans, stat, pool, dir, trace] = process.argv.slice(2);
const { browser, context, page, foreign, errors, violations, collect } = await open();
const says = text => page.waitForFunction(t => document.querySelector('#app')?.textContent.includes(t), text);

console.log('28..41');
const code = await tap(28, page, async test => {
	await test('an empty directory: says so, and fills when a segment comes, without a reload', async () => {
		await page.goto(empty);
		await says('Nothing to show yet');
		await says('dial9-agent --pid N');
		await accessible(context, page, 'the empty state');
		copyFileSync(trace, join(dir, 'trace.0.bin'));
		await page.waitForSelector('.lanes canvas');
		await collect();
	});
	await test('a damaged segment: what was read is shown, what was not is said', async () => {
		await page.goto(partial);
		await page.waitForSelector('.lanes canvas');
		await page.getByText('1 damaged segment').click();
		await says('1 of 1 segments damaged');
		await accessible(context, page, 'the damaged state');
		await collect();
	});
	await test('nothing recorded: the lanes say what that may mean', async () => {
		await page.goto(nothing);
		await says('No polls were recorded');
		await says('Nothing found');
		await accessible(context, page, 'the state without polls');
		await collect();
	});
	await test('a file that is no trace: its error, and what to run', async () => {
		await page.goto(failed);
		await says('Nothing here can be read');
		await says('dial9-view verify');
		await accessible(context, page, 'the unreadable state');
		await collect();
	});
	await test('loading: what is asked for is said until it comes', async () => {
		let release;
		const held = new Promise(r => {
			release = r;
		});
		await page.route('**/api/**', async route => {
			await held;
			await route.continue();
		});
		await page.goto(partial, { waitUntil: 'domcontentloaded' });
		await says('Asking the server');
		release();
		await page.waitForSelector('.lanes canvas');
		await page.unroute('**/api/**');
		await page.route('**/api/trace', route => route.abort());
		await says('The server does not answer');
	});
	await test('any numeric field of any event: a chart, a lane, a link; and another recording', async () => {
		await page.unroute('**/api/trace');
		await page.goto(small);
		await page.waitForSelector('.lanes canvas');
		await page.keyboard.press('7');
		const option = page.locator('[aria-label="Event and field"] option', { hasText: 'agent:Self.rss_bytes' });
		await page.selectOption('[aria-label="Event and field"]', await option.getAttribute('value'));
		await page.waitForFunction(() => new URLSearchParams(location.search).get('field-chart')?.includes('agent:Self,rss_bytes,gauge'));
		await page.reload();
		await page.waitForSelector('.curve canvas');
		await says('agent:Self.rss_bytes');
		await accessible(context, page, 'a field chart');
		await page.getByText('Remove').click();
		await page.waitForFunction(() => !location.search.includes('field-chart'));
		await page.selectOption('[aria-label="Recording"]', '1');
		await page.waitForFunction(() => new URLSearchParams(location.search).get('rec')?.startsWith('efgh'));
		await collect();
	});
	await test('what was not recorded: hatched, named on the row, at the pointer, in the table, in the summary', async () => {
		await page.goto(levels);
		await page.waitForSelector('.lanes canvas');
		await says('Polls are unknown for 40.3 % of this time');
		const b = await page.locator('.lanes canvas').boundingBox();
		const at = share => b.x + 132 + (b.width - 132) * share; // of the 499 ms in view
		const lane = b.y + 22 + 20 + 20 + 30; // below the axis, the row of levels and the runtime's name
		for (const [share, y, text] of [[0.3, lane, 'polls and wakes are not recorded here: level stat (over budget)'], [0.7, lane, 'files are missing between trace.0.bin and trace.2.bin'],
			[0.25, lane, 'parked 63.0 % of 100 ms around here, 40 times, added up; then 2.00 ms without a CPU'], [0.45, lane, 'polls of src/hot.rs:3:9, <img src=x onerror=alert(1)>'], [0.51, lane, 'lost around here: 12 (PollEndEvent, ring full)'], [0.3, b.y + 30, 'stat: no polls, no wakes']]) {
			await page.mouse.move(at(share), y + 3);
			await page.mouse.move(at(share), y);
			await page.waitForFunction(t => document.querySelector('.tip')?.textContent.includes(t), text);
		}
		// a worker of whom nothing is known does not look like one that did nothing
		const colours = (from, to) => page.evaluate(([x0, x1, y]) => {
			const c = document.querySelector('.lanes canvas'), k = c.width / c.clientWidth, d = c.getContext('2d').getImageData(x0 * k, y * k, (x1 - x0) * k, 10 * k).data, seen = new Set();
			for (let i = 0; i < d.length; i += 4)
				seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
			return seen.size;
		}, [at(from) - b.x, at(to) - b.x, lane - b.y + 40]); // worker 1, above its parks
		same(await colours(0.05, 0.15), 1, 'colours of a worker that polls nothing');
		if (await colours(0.25, 0.35) < 3)
			throw new Error('not hatched where polls are not recorded');
		await page.mouse.click(at(0.3), b.y + 30);
		await page.waitForSelector('#dock-table[aria-selected=true]');
		same(await page.locator('table.recorded tbody tr').count(), 6, 'rows of what was recorded');
		await says('12 lost');
		await accessible(context, page, 'what was recorded');
		await collect();
	});
	await test("spans that the program told: by name, behind dial9's own link; and that there are none", async () => {
		await page.goto(new URL('/viewer.html?inspector=span', spans).href);
		await page.waitForSelector('table.spans tbody tr');
		await says('entered but never left');
		same(await page.locator('table.spans thead th').allTextContents().then(x => x.join()), 'name,spans,sum,p50,p90,p99,max,10 × p50 and more', 'columns of spans');
		// what a field of a span says is found, and the event shown with its fields, and marked
		await page.keyboard.press('/');
		await page.keyboard.type('span_name=los');
		await page.waitForFunction(() => document.querySelector('.hits .kind')?.textContent === 'value');
		await page.keyboard.press('Enter');
		await page.waitForFunction(() => document.querySelectorAll('table.events tbody tr.on').length === 1 && document.querySelectorAll('table.events tbody tr').length === 1);
		await says('span_id 60 span_name lost');
		await page.fill('[aria-label="What a field says"]', '');
		await page.waitForFunction(() => document.querySelectorAll('table.events tbody tr').length === 45);
		await page.selectOption('[aria-label="Kind of event"]', { label: 'SpanExit:app::work:a.rs:1 (22)' });
		await page.waitForFunction(() => document.querySelectorAll('table.events tbody tr').length === 22);
		await page.locator('table.events button').first().click();
		await says('SpanExit:app::work:a.rs:1 at +0.000020 s, marked in the lanes');
		await accessible(context, page, 'spans');
		await page.goto(new URL('/viewer.html?inspector=span', levels).href);
		await says('The recording holds no spans');
		await collect();
	});
	await test('without polls: a finding, a task and a type open flamegraphs of what samples and switches saw', async () => {
		const functions = text => page.waitForFunction(t => [...document.querySelectorAll('.functions td:nth-child(3)')].map(x => x.textContent.trim()).join() === t, text);
		await page.goto(stat);
		await page.waitForSelector('.lanes canvas');
		await page.locator('#rail-list .list button').first().click(); // blocking-in-poll
		await functions('app::nap');
		await says('30.0 ms of the selected range, task 6');
		await page.keyboard.press('Escape');
		await functions('app::nap');
		await says('40.0 ms of what is in view, task 6');
		await page.goto(new URL('/?task=5&dock=flame', stat).href);
		await functions('app::crunch');
		await says('47 samples of what is in view, task 5');
		await page.goto(new URL('/?task-scope=src/main.rs:20:9&dock=flame', stat).href);
		await functions('app::crunch');
		await says('47 samples of what is in view, one type');
		await says('polling, on CPUnot recorded'); // unknown, not 0
		await page.keyboard.press('Shift+6');
		await page.waitForFunction(() => document.querySelector('.dock .reading')?.textContent.includes('src/main.rs:20:9: 31.0 ms'));
		await page.keyboard.press('u');
		await page.waitForFunction(() => document.querySelectorAll('#rail-list .list button').length === 2);
		await page.keyboard.press('n');
		await page.waitForFunction(() => new URLSearchParams(location.search).get('region') === '1020000000-1050000001' && location.search.includes('issue=busy-run'));
		await says('31 samples of the selected range, task 5');
		await page.keyboard.press('n');
		await says('16 samples of the selected range, task 5');
		for (const key of ['p', 'Escape', 'Escape', 'Escape', '0', '8']) // the range, the task, the type: none is left
			await page.keyboard.press(key);
		await page.waitForSelector('table.runs tbody tr');
		const b = await page.locator('.lanes canvas').boundingBox(), x = b.x + 132 + (b.width - 132) * 0.175; // 35 of 200 ms
		await page.mouse.move(x, b.y + 22 + 20 + 30);
		await page.waitForFunction(() => document.querySelector('.tip')?.textContent.includes('busy run of 30.0 ms: task 5 in 31 samples in a row'));
		await page.waitForFunction(() => document.querySelectorAll('table.runs tbody tr').length === 2);
		await page.mouse.click(x, b.y + 22 + 20 + 30);
		await page.waitForFunction(() => location.search.includes('dock=flame') && location.search.includes('region='));
		await accessible(context, page, 'a recording without polls');
		await collect();
	});
	await test('two recordings: their flamegraphs side by side, and the link to it', async () => {
		await page.goto(new URL('/?rec=abcd-42&dock=flame&flame=diff', small).href);
		await page.selectOption('[aria-label="Compared with"]', 'efgh-43');
		await page.waitForFunction(() => new URLSearchParams(location.search).get('base-rec') === 'efgh-43');
		await page.waitForSelector('.flame canvas');
		await page.waitForFunction(() => document.querySelector('.dock .reading')?.textContent.includes('before 0.00 %'));
		await page.reload();
		await page.waitForSelector('[aria-label="Compared with"]');
		same(await page.inputValue('[aria-label="Compared with"]'), 'efgh-43', 'compared with, after a reload');
		await accessible(context, page, 'two recordings');
		await collect();
	});
	await test('the blocking pool: threads at work and its queue, as a row and as charts', async () => {
		await page.goto(new URL('/?dock=charts', pool).href);
		await says('blocking pool, threads at work 0 to 2');
		await says('blocking pool, queue 0 to 1');
		await accessible(context, page, 'the blocking pool');
		await collect();
	});
	await test('search finds threads, runtimes, events and fields, and opens them', async () => {
		const find = async (text, kind) => {
			await page.keyboard.press('/');
			await page.keyboard.press('Control+a');
			await page.keyboard.type(text);
			await page.waitForFunction(([k, t]) => document.querySelector('.hits .kind')?.textContent === k && document.querySelector('.hits button').textContent.includes(t), [kind, text]);
			await page.keyboard.press('Enter');
		};
		await page.goto(stat);
		await page.waitForSelector('.lanes canvas');
		await find('io-driver', 'thread');
		await says('io-driver: worker 1');
		await page.keyboard.press('/');
		await page.keyboard.press('Control+a');
		await page.keyboard.type('main'); // also in the name of a type
		const runtime = page.locator('.hits button', { has: page.getByText('runtime', { exact: true }) });
		await runtime.click();
		await says('main: worker 0');
		await page.goto(small);
		await page.waitForSelector('.lanes canvas');
		await find('agent:Self', 'event');
		await page.waitForFunction(() => new URLSearchParams(location.search).get('field-chart')?.includes('agent:Self,'));
		await find('rss_bytes', 'field');
		await page.waitForFunction(() => new URLSearchParams(location.search).getAll('field-chart').some(x => x.includes('agent:Self,rss_bytes')));
		await collect();
	});
	await test('small screens: nothing is cut off, the lanes keep room', async () => {
		for (const [width, height] of [[1100, 700], [1000, 700], [768, 1024], [390, 800]]) {
			await page.setViewportSize({ width, height });
			await page.goto(levels);
			await page.waitForSelector('#drawer-body .split');
			const cut = await page.evaluate(() => {
				const out = [], wide = document.documentElement.clientWidth;
				for (const x of document.querySelectorAll('header.top button, header.top input, [role=tab], .pill, .lanes canvas, .strip canvas, #drawer-body table, #rail-list button')) {
					const b = x.getBoundingClientRect(), within = x.closest('[role=tablist], .scroll, header')?.getBoundingClientRect() ?? { left: 0, right: wide };
					if (b.width === 0 || b.left < within.left - 1 || b.right > Math.min(within.right, wide) + 1)
						out.push((x.id || x.className || x.textContent) + ' ' + Math.round(b.left) + '-' + Math.round(b.right));
				}
				return [...out, document.documentElement.scrollWidth > wide ? 'the page is wider than the screen' : ''].join('; ').replace(/; $/, '');
			});
			same(cut, '', `cut off at ${width} px`);
			const b = await page.locator('.lanes canvas').boundingBox();
			if (b.width < 370 || b.height < 150)
				throw new Error(`lanes of ${b.width} x ${b.height} at ${width} px`);
			await accessible(context, page, `a screen of ${width} px`);
		}
		await page.setViewportSize({ width: 1440, height: 900 });
		await collect();
	});
	await test('no error, no policy violation, no request to anywhere else, in any state', async () => {
		same(errors.join('; '), '', 'errors');
		same(violations.join('; '), '', 'violations');
		same(foreign.join('; '), '', 'requests');
	});
});
await browser.close();
process.exit(code);
