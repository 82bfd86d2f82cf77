// SPDX-License-Identifier: Apache-2.0
// First paint and memory of a viewer's page in Chromium, as one row of page.sh's table:
//   ROUNDS=3 node test/bench/page_paint.mjs NAME cold VIEW DIR     `VIEW serve DIR`, started anew with an empty cache
//   ROUNDS=3 node test/bench/page_paint.mjs NAME warm VIEW DIR     the same server, which has it decoded by then
//   ROUNDS=1 node test/bench/page_paint.mjs NAME dist DIST TRACE   a page of files, which loads and decodes TRACE
// The browser runs already, the files are in the kernel's page cache. First paint (the median of all
// rounds): until a large canvas shows more than 12 colours, and goes on to do so; from the start of
// the server's process (cold), else from that of the navigation. Memory (the worst of all rounds): the
// page's heap with its array buffers, after a collection; the peaks of the renderer's and the server's
// process.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { createInterface } from 'node:readline';
import { open } from '../browser/harness.mjs';

const [name, kind, what, where] = process.argv.slice(2);
const ROUNDS = Number(process.env.ROUNDS ?? 3), PATIENCE_MS = 180000;
const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', ico: 'image/x-icon', png: 'image/png' };
const peakOf = pid => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;

// { url, pid, began, end }: a server that shows the trace; `began` is when its process was started.
async function start() {
	if (kind === 'dist') {
		const server = createServer((req, res) => {
			const path = new URL(req.url, 'http://x').pathname, file = path === '/trace.bin' ? where : join(what, normalize(path));
			try {
				res.writeHead(200, { 'Content-Length': statSync(file).size, 'Content-Type': TYPES[file.split('.').pop()] ?? 'application/octet-stream' });
				createReadStream(file).pipe(res);
			} catch {
				res.writeHead(404).end();
			}
		});
		await new Promise(r => server.listen(0, '127.0.0.1', r));
		return { url: `http://127.0.0.1:${server.address().port}/viewer.html?trace=%2Ftrace.bin`, end: () => server.close() };
	}
	const cache = mkdtempSync(join(tmpdir(), 'page-')), began = Date.now();
	const server = spawn(what, ['serve', '--json', where], { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, XDG_CACHE_HOME: cache } });
	const gone = new Promise(r => server.on('exit', r));
	const end = async () => {
		server.kill();
		await gone;
		rmSync(cache, { recursive: true });
	};
	for await (const line of createInterface({ input: server.stdout })) {
		const url = /"url": *"(.*?)"/.exec(line)?.[1];
		if (url)
			return { url, pid: server.pid, began, end };
	}
	await end();
	throw new Error(`${what} serve ${where}: it ended`);
}

async function ready(url) {
	for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await new Promise(r => setTimeout(r, 100)))
		if ((await (await fetch(url + 'api/trace')).json()).recordings[0]?.state === 'ready')
			return;
	throw new Error(`${where} was not read`);
}

const paints = [];
let heap = 0, peak = 0, server = null, served = 0;
for (let round = 0; round < ROUNDS; round++) {
	const { browser, context, page } = await open();
	page.setDefaultTimeout(PATIENCE_MS);
	if (!server) {
		server = await start();
		if (kind === 'warm')
			await ready(server.url);
	}
	await page.goto(server.url, { waitUntil: 'commit' });
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
		return window.seenAt && performance.now() - window.seenAt > 1000 ? [performance.timeOrigin, window.seenAt] : 0;
	}, null, { polling: 50 });
	const [origin, seen] = await at.jsonValue();
	paints.push(kind === 'cold' ? origin + seen - server.began : seen);
	if (process.env.SHOT)
		await page.screenshot({ path: process.env.SHOT });
	const session = await context.newCDPSession(page);
	await session.send('HeapProfiler.collectGarbage');
	const used = await session.send('Runtime.getHeapUsage');
	heap = Math.max(heap, used.usedSize + used.backingStorageSize);
	const cdp = await browser.newBrowserCDPSession();
	for (const p of (await cdp.send('SystemInfo.getProcessInfo')).processInfo)
		if (p.type === 'renderer')
			peak = Math.max(peak, peakOf(p.id));
	served = server.pid ? Math.max(served, peakOf(server.pid)) : 0;
	await browser.close();
	if (kind === 'cold' || round === ROUNDS - 1) {
		await server.end();
		server = null;
	}
}
paints.sort((a, b) => a - b);
const mb = bytes => (bytes / 1e6).toFixed(bytes < 1e8 ? 1 : 0);
console.log(name.padEnd(42) + [(paints[paints.length >> 1] / 1000).toFixed(2), mb(heap), mb(peak), served ? mb(served) : '-'].map(x => x.padStart(13)).join(''));
