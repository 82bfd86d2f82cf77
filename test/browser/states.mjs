// SPDX-License-Identifier: Apache-2.0
// States that are not "all is well", each with its own words:
//   node test/browser/states.mjs URL_EMPTY URL_PARTIAL URL_NOTHING URL_FAILED URL_SMALL EMPTY_DIR A_TRACE
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, open, same, tap } from './harness.mjs';

const [empty, partial, nothing, failed, small, dir, trace] = process.argv.slice(2);
const { browser, context, page, foreign, errors, violations, collect } = await open();
const says = text => page.waitForFunction(t => document.querySelector('#app')?.textContent.includes(t), text);

console.log('28..34');
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
	await test('no error, no policy violation, no request to anywhere else, in any state', async () => {
		same(errors.join('; '), '', 'errors');
		same(violations.join('; '), '', 'violations');
		same(foreign.join('; '), '', 'requests');
	});
});
await browser.close();
process.exit(code);
