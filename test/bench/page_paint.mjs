// SPDX-License-Identifier: Apache-2.0
// First paint and memory of a viewer's page in Chromium:
//   node test/bench/page_paint.mjs NAME URL [ROUNDS]          a server that runs
//   node test/bench/page_paint.mjs NAME DIST TRACE [ROUNDS]   files of a page, and the trace it loads
// First paint: from the start of the navigation until a large canvas shows more than 12 colours, and
// goes on to do so. Memory: the page's heap after a collection, and the renderer's peak.
import { createServer } from 'node:http';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { open } from '../browser/harness.mjs';

const [name, place, ...rest] = process.argv.slice(2);
const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', ico: 'image/x-icon', png: 'image/png' };
let url = place, server = null;
if (!/^http:/.test(place)) {
	const trace = rest.shift();
	server = createServer((req, res) => {
		const path = new URL(req.url, 'http://x').pathname, file = path === '/trace.bin' ? trace : join(place, normalize(path));
		try {
			res.writeHead(200, { 'Content-Length': statSync(file).size, 'Content-Type': TYPES[file.split('.').pop()] ?? 'application/octet-stream' });
			createReadStream(file).pipe(res);
		} catch {
			res.writeHead(404).end();
		}
	});
	await new Promise(r => server.listen(0, '127.0.0.1', r));
	url = `http://127.0.0.1:${server.address().port}/viewer.html?trace=%2Ftrace.bin`;
}
const paints = [];
let heap = 0, peak = 0;
for (let round = 0; round < Number(rest[0] ?? 3); round++) {
	const { browser, context, page } = await open();
	page.setDefaultTimeout(180000);
	await page.goto(url, { waitUntil: 'commit' });
	const at = await page.waitForFunction(() => {
		const drawn = [...document.querySelectorAll('canvas')].some(c => {
			const g = c.width > 300 && c.height > 200 && c.getContext('2d'); // the lanes of either page
			if (!g)
				return false;
			const d = g.getImageData(0, 0, c.width, Math.min(c.height, 400)).data, seen = new Set();
			for (let i = 0; i < d.length; i += 52)
				seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
			return seen.size > 12;
		});
		window.seenAt = drawn ? window.seenAt || performance.now() : 0;
		return window.seenAt && performance.now() - window.seenAt > 1000 ? window.seenAt : 0;
	}, null, { polling: 50 });
	paints.push(await at.jsonValue());
	if (process.env.SHOT)
		await page.screenshot({ path: process.env.SHOT });
	const session = await context.newCDPSession(page);
	await session.send('HeapProfiler.collectGarbage');
	heap = Math.max(heap, (await session.send('Runtime.getHeapUsage')).usedSize);
	const cdp = await browser.newBrowserCDPSession();
	for (const p of (await cdp.send('SystemInfo.getProcessInfo')).processInfo)
		if (p.type === 'renderer')
			peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${p.id}/status`, 'utf8'))?.[1] ?? 0) * 1024);
	await browser.close();
}
server?.close();
paints.sort((a, b) => a - b);
console.log(`${name}: first_paint_s ${(paints[paints.length >> 1] / 1000).toFixed(2)} page_heap_mb ${(heap / 1e6).toFixed(1)} renderer_peak_mb ${(peak / 1e6).toFixed(0)}`);
