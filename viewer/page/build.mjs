// SPDX-License-Identifier: Apache-2.0
// Bundles src/ into a directory (dist/, or the one given). Same sources, same bytes: a test checks it.
import { build } from 'esbuild';
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'dist');
await mkdir(out, { recursive: true });
await build({
	absWorkingDir: here,
	entryPoints: { app: 'src/main.tsx' },
	outdir: out,
	bundle: true,
	minify: true,
	format: 'esm',
	target: 'es2022',
	charset: 'utf8',
	jsx: 'automatic',
	jsxImportSource: 'preact',
	legalComments: 'inline',
	banner: { js: '/* SPDX-License-Identifier: Apache-2.0. Contains Preact, MIT, (c) Jason Miller. */' },
});
for (const name of ['index.html', 'icon.svg', 'app.css'])
	await copyFile(join(here, 'src', name), join(out, name));
