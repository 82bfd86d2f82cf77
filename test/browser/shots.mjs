// SPDX-License-Identifier: Apache-2.0
// The pictures of README.md:   node test/browser/shots.mjs URL DIR
// Dark: the whole recording. Light: a long poll, its task's waits, who woke it and whom it woke.
import { join } from 'node:path';
import { open } from './harness.mjs';

const [url, dir] = process.argv.slice(2);
for (const scheme of ['dark', 'light']) {
	const { browser, page, calm } = await open({ colorScheme: scheme, viewport: { width: 1360, height: 850 } });
	await page.goto(url);
	await page.waitForSelector('.card .title');
	await calm();
	if (scheme === 'light') {
		for (const key of ['l', 'n', 'n', 's', 'x', 'h']) {
			await page.keyboard.press(key);
			await calm();
		}
	}
	await page.mouse.move(4, 400);
	const path = join(dir, scheme + '.png');
	await page.screenshot({ path });
	await browser.close();
}
