// SPDX-License-Identifier: Apache-2.0
// Work for deno: timers, files and TCP echoes until the given number of seconds is over.
const end = Date.now() + 1000 * Number(Deno.args[0]);
const nap = (ms) => new Promise((wake) => setTimeout(wake, ms));
let rounds = 0;

const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });

async function answer(conn) {
	const buf = new Uint8Array(64);
	let n;
	while ((n = await conn.read(buf)) !== null) await conn.write(buf.subarray(0, n));
	conn.close();
}

async function serve() {
	for await (const conn of listener) answer(conn);
}

async function ask() {
	const conn = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
	const buf = new Uint8Array(64);
	while (Date.now() < end) {
		await conn.write(buf);
		await conn.read(buf);
		rounds++;
		await nap(1);
	}
	conn.close();
}

async function store(name) {
	while (Date.now() < end) {
		await Deno.writeTextFile(name, "x".repeat(1000));
		await Deno.readTextFile(name);
		rounds++;
		await nap(2);
	}
	await Deno.remove(name);
}

serve();
await Promise.all([ask(), ask(), store("one.tmp"), store("two.tmp")]);
listener.close();
console.log("rounds", rounds);
