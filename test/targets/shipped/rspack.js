// SPDX-License-Identifier: Apache-2.0
// A bundler at work: rspack's node extension builds a project of 60 modules over and over.
//   node rspack.js MODULES DIR SECS        MODULES holds node_modules
// Prints "pid N run" once it works, at the end "rounds N".
"use strict";
const { createRequire } = require("module");
const fs = require("fs");
const path = require("path");

const MODULES = 60;
const [modules, dir, secs] = process.argv.slice(2);
const { rspack } = createRequire(path.join(modules, "/"))("@rspack/core");

function project() {
	const src = path.join(dir, "src");
	fs.mkdirSync(src, { recursive: true });
	let all = "";
	for (let i = 0; i < MODULES; i++) {
		all += `import { f${i} } from "./m${i}.js"; out.push(f${i}(${i}));\n`;
		fs.writeFileSync(path.join(src, `m${i}.js`), `export const f${i} = (x) => x * ${i};\n`);
	}
	fs.writeFileSync(path.join(src, "index.js"), `const out = [];\n${all}export default out;\n`);
	return path.join(src, "index.js");
}

function build(entry) {
	const output = { path: path.join(dir, "dist") };
	const compiler = rspack({ mode: "production", entry, output, context: dir, cache: false });
	return new Promise((resolve, reject) => {
		compiler.run((err, stats) => {
			if (err || stats.hasErrors()) reject(err || new Error(stats.toString()));
			else compiler.close(() => resolve());
		});
	});
}

async function main() {
	const entry = project();
	await build(entry);
	console.log(`pid ${process.pid} run`);
	const end = Date.now() + 1000 * secs;
	let rounds = 0;
	for (; Date.now() < end; rounds++) await build(entry);
	console.log(`rounds ${rounds}`);
}

main();
