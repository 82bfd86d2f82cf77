// SPDX-License-Identifier: Apache-2.0
// A page in Debian's Chromium, and TAP: what the tests of dial9-view's page share.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const require = createRequire(join(resolve(process.env.PAGE_MODULES ?? 'viewer/page/node_modules'), 'x.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export async function open(options = {}) {
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
		args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage', '--enable-precise-memory-info'],
	});
	const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'dark', reducedMotion: 'reduce', ...options });
	const page = await context.newPage(), foreign = [], errors = [];
	page.setDefaultTimeout(Number(process.env.PAGE_PATIENCE_MS ?? 30000));
	page.on('request', r => /^http:\/\/127\.0\.0\.1:|^data:|^blob:/.test(r.url()) || foreign.push(r.url()));
	page.on('pageerror', e => errors.push(e.message));
	await page.addInitScript(() => {
		window.violations = [];
		window.asked = { open: 0, last: 0 }; // questions under way, but the one that looks for changes
		const own = window.fetch;
		window.fetch = async (...args) => {
			const counts = !String(args[0]).startsWith('/api/trace');
			window.asked.open += counts;
			try {
				return await own(...args);
			} finally {
				window.asked.open -= counts;
				window.asked.last = counts ? performance.now() : window.asked.last;
			}
		};
		document.addEventListener('securitypolicyviolation', e => window.violations.push(e.violatedDirective + ' ' + e.blockedURI));
	});
	// All that was asked for has come, and what follows from it has been shown.
	const calm = async () => {
		await page.waitForTimeout(250); // what follows from a key is asked for a moment later
		await page.waitForFunction(() => window.asked.open === 0 && performance.now() - window.asked.last > 400);
	};
	const violations = [];
	const collect = async () => violations.push(...await page.evaluate(() => window.violations.splice(0)).catch(() => []));
	return { browser, context, page, foreign, errors, violations, collect, calm };
}

export function same(got, want, what) {
	if (got !== want)
		throw new Error(`${what}: ${got}, not ${want}`);
}

// axe's own rules, all of them.
export async function accessible(context, page, what) {
	const session = await context.newCDPSession(page);
	await session.send('Runtime.evaluate', { expression: axe }); // past the page's policy, which forbids it
	const found = await page.evaluate(() => window.axe.run());
	await session.detach();
	same(found.violations.map(v => v.id + ': ' + v.nodes[0].html.slice(0, 160) + ' ' + (v.nodes[0].any[0]?.message ?? '')).join('; '), '', 'violations of axe in ' + what);
}

// Calls f(test); test(name, f) says how it went. Returns the exit code.
export async function tap(first, page, f) {
	let n = first - 1, bad = 0;
	await f(async (name, run) => {
		const began = Date.now();
		n++;
		try {
			await run();
			console.log(`ok ${n} - ${name}`);
			if (process.env.PAGE_TIMES)
				console.log(`# ${Date.now() - began} ms`);
		} catch (e) {
			bad++;
			console.log(`not ok ${n} - ${name}`);
			const seen = await page.evaluate(() => location.search + location.hash + ' | ' + document.querySelector('footer .say')?.textContent + ' | ' +
				document.activeElement?.tagName + ' | ' + document.querySelector('#drawer-body, .state')?.textContent.slice(0, 200)).catch(String);
			console.log('# ' + seen);
			console.log(String(e.message ?? e).split('\n').slice(0, 12).map(x => '# ' + x).join('\n'));
		}
	});
	return bad ? 1 : 0;
}
