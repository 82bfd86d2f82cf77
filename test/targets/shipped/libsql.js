// SPDX-License-Identifier: Apache-2.0
// A database at work: libsql's node extension, through its promises, in DIR for SECS seconds.
//   node libsql.js MODULES DIR SECS        MODULES holds node_modules
// Prints "pid N run" once it works, at the end "rounds N".
"use strict";
const { createRequire } = require("module");
const path = require("path");

const [modules, dir, secs] = process.argv.slice(2);
const Database = createRequire(path.join(modules, "/"))("libsql/promise");

async function main() {
	const db = new Database(path.join(dir, "work.db"));
	await db.exec("drop table if exists t; create table t (a integer, b text)");
	console.log(`pid ${process.pid} run`);
	const end = Date.now() + 1000 * secs;
	let rounds = 0;
	while (Date.now() < end) {
		const put = await db.prepare("insert into t values (?, ?)");
		await put.run(rounds, "text");
		const get = await db.prepare("select count(*) as n from t");
		const row = await get.get();
		rounds++;
		if (row.n !== rounds) throw new Error(`${row.n} rows after ${rounds} rounds`);
	}
	console.log(`rounds ${rounds}`);
}

main();
