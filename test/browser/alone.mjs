// SPDX-License-Identifier: Apache-2.0
// Pages of `dial9-view export html`, opened as files:   node alone.mjs FILE NAME [FILE NAME...]
// Of each: nothing runs, nothing is asked for, nothing is against its policy, axe is content, and a
// name that is HTML is text.
import { pathToFileURL } from 'node:url';
import { accessible, open, same, tap } from './harness.mjs';

const { browser, context, page, errors, violations, collect } = await open();
const pages = process.argv.slice(2), requests = [];
page.on('request', r => requests.push(r.url()));
console.log(`1..${pages.length / 2}`);
const code = await tap(1, page, async test => {
	for (let i = 0; i < pages.length; i += 2)
		await test(`page alone: ${pages[i + 1]}`, async () => {
			const url = pathToFileURL(pages[i]).href;
			requests.length = 0;
			await page.goto(url);
			same(await page.textContent('h1'), pages[i + 1], 'heading');
			same(await page.title(), pages[i + 1], 'title');
			for (const h of ['Findings', 'Timeline', 'Task types', 'Workers', 'Longest polls', 'CPU samples'])
				same(await page.locator('h2', { hasText: h }).count(), 1, h);
			// the style sheet is let in: its hash is that of the policy
			same(await page.evaluate(() => getComputedStyle(document.querySelector('table')).borderCollapse), 'collapse', 'style');
			same(await page.locator('script, img, iframe, object, link, form, a, [style], [onerror]').count(), 0, 'foreign elements');
			await accessible(context, page, pages[i + 1]);
			await collect();
			same(requests.join('; '), url, 'requests');
			same([...errors, ...violations].join('; '), '', 'errors');
		});
});
await browser.close();
process.exit(code);
