// SPDX-License-Identifier: Apache-2.0
// Exports read by tools of their format:   node check.mjs NAME MODULES_DIR EXPORTS_DIR
// EXPORTS_DIR holds o.speedscope, o.pprof, o.firefox. TAP lines without numbers; see run.sh.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { join, resolve } from 'node:path';

const [name, modules, dir] = process.argv.slice(2);
const require = createRequire(join(resolve(modules), 'x.js'));
const read = file => readFileSync(join(dir, file));

function need(ok, what) {
	if (!ok)
		throw new Error(what);
}

// speedscope: the JSON schema that its package carries
function speedscope() {
	const Ajv = require('ajv').default;
	const schema = JSON.parse(readFileSync(join(modules, 'speedscope/dist/release/file-format-schema.json'), 'utf8'));
	const valid = new Ajv({ strict: false, allErrors: true }).compile(schema);
	const profile = JSON.parse(read('o.speedscope'));
	need(valid(profile), JSON.stringify(valid.errors?.slice(0, 3)));
	for (const p of profile.profiles) {
		need(p.samples.length === p.weights.length, 'a weight for each sample');
		need(p.samples.every(s => s.every(i => i < profile.shared.frames.length)), 'frames that are there');
	}
}

// pprof: decoded by Datadog's pure implementation, then every reference followed
function pprof() {
	const { Profile } = require('pprof-format');
	const p = Profile.decode(gunzipSync(read('o.pprof')));
	const text = i => p.stringTable.strings[Number(i)];
	need(p.stringTable.strings[0] === '', 'string 0 is empty');
	need(p.sampleType.map(t => `${text(t.type)}/${text(t.unit)}`).join(' ') ===
		'samples/count off_cpu/nanoseconds wait/nanoseconds', 'sample types');
	const ids = rows => new Set(rows.map(x => Number(x.id)));
	const locations = ids(p.location), functions = ids(p.function);
	need(!locations.has(0) && locations.size === p.location.length, 'location ids');
	need(!functions.has(0) && functions.size === p.function.length, 'function ids');
	for (const s of p.sample) {
		need(s.value.length === p.sampleType.length, 'a value for each type');
		need(s.locationId.length > 0 || s.value[0] > 0, 'a wait has its type as location');
		need(s.locationId.every(id => locations.has(Number(id))), 'locations of samples');
	}
	for (const l of p.location)
		need(l.line.every(x => functions.has(Number(x.functionId))), 'functions of lines');
	for (const f of p.function)
		need(typeof text(f.name) === 'string' && typeof text(f.filename) === 'string', 'names of functions');
}

// Firefox Profiler, processed format 60: its loader is in no package, so this is what its types ask for
function firefox() {
	const p = JSON.parse(read('o.firefox')), s = p.shared;
	const column = (table, key, ok) => {
		need(Array.isArray(table[key]) && table[key].length === table.length, `${key}: ${table.length} rows`);
		table[key].forEach((v, i) => need(ok(v, i), `${key}[${i}] = ${JSON.stringify(v)}`));
	};
	const row = n => v => Number.isInteger(v) && v >= 0 && v < n;
	const or = (a, b) => (v, i) => a(v, i) || b(v, i);
	const isNull = v => v === null, number = v => typeof v === 'number' && Number.isFinite(v);
	const is = want => v => v === want, text = row(s.stringArray.length);
	need(p.meta.preprocessedProfileVersion === 60 && p.meta.version > 0 && p.meta.interval > 0, 'versions, interval');
	need(number(p.meta.startTime) && p.meta.stackwalk === 1 && typeof p.meta.product === 'string', 'meta');
	need(p.meta.categories.some(c => c.color === 'grey' && c.subcategories[0] === 'Other'), 'default category');
	need(s.stringArray.every(x => typeof x === 'string'), 'strings');
	column(s.sources, 'uuid', isNull);
	column(s.sources, 'filename', text);
	column(s.funcTable, 'name', text);
	column(s.funcTable, 'source', or(isNull, row(s.sources.length)));
	column(s.funcTable, 'resource', is(-1));
	for (const key of ['isJS', 'relevantForJS'])
		column(s.funcTable, key, is(false));
	for (const key of ['lineNumber', 'columnNumber'])
		column(s.funcTable, key, isNull);
	column(s.frameTable, 'func', row(s.funcTable.length));
	column(s.frameTable, 'address', is(-1));
	column(s.frameTable, 'inlineDepth', v => Number.isInteger(v) && v >= 0);
	column(s.frameTable, 'line', or(isNull, v => Number.isInteger(v) && v > 0));
	for (const key of ['category', 'subcategory', 'nativeSymbol', 'innerWindowID', 'column'])
		column(s.frameTable, key, isNull);
	column(s.stackTable, 'frame', row(s.frameTable.length));
	column(s.stackTable, 'prefix', or(isNull, (v, i) => row(i)(v))); // parents first
	for (const key of ['lib', 'name', 'host', 'type'])
		column(s.resourceTable, key, is(0));
	for (const key of ['libIndex', 'address', 'name', 'functionSize'])
		column(s.nativeSymbols, key, is(0));
	const schemas = new Map(p.meta.markerSchema.map(m => [m.name, new Set(m.fields.map(f => f.key))]));
	const stack = or(isNull, row(s.stackTable.length));
	for (const t of p.threads) {
		need(typeof t.name === 'string' && typeof t.pid === 'string' && number(t.tid) && number(t.registerTime), 'thread');
		column(t.samples, 'stack', stack);
		column(t.samples, 'time', (v, i) => number(v) && (i === 0 || v >= t.samples.time[i - 1]));
		need(t.samples.weight === null && t.samples.weightType === 'samples', 'weights');
		column(t.markers, 'name', text);
		column(t.markers, 'startTime', number);
		column(t.markers, 'endTime', (v, i) => number(v) && v >= t.markers.startTime[i]);
		column(t.markers, 'phase', is(1));
		column(t.markers, 'category', row(p.meta.categories.length));
		column(t.markers, 'data', d => schemas.has(d.type) && Object.keys(d).every(
			k => k === 'type' || (k === 'cause' ? stack(d.cause.stack) && number(d.cause.time) : schemas.get(d.type).has(k))));
	}
	need(p.threads.filter(t => t.isMainThread).length <= 1 && new Set(p.threads.map(t => t.tid)).size === p.threads.length, 'threads');
	for (const c of p.counters) {
		column(c.samples, 'time', number);
		column(c.samples, 'count', Number.isInteger);
	}
	return p;
}

let bad = 0;
for (const [what, f] of Object.entries({ speedscope, pprof, firefox }))
	try {
		f();
		console.log(`ok - ${what}: ${name}`);
	} catch (e) {
		bad++;
		console.log(`not ok - ${what}: ${name}\n# ${String(e.message).slice(0, 400)}`);
	}
process.exit(bad ? 1 : 0);
