#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `dial9-view export html` in Chromium: TAP of alone.mjs.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export PAGE_MODULES=viewer/page/node_modules XDG_CACHE_HOME=$dir/cache

hostile='"><img src=x onerror=alert(1)><!-- &amp; '\''-42'
"$BUILD/test/cli/make_traces" "$dir" >/dev/null && "$BUILD/test/cli/make_broken" "$dir" || exit 1
mkdir "$dir/$hostile" "$dir/made-1" && cp "$dir"/traces/abcd-42/* "$dir/$hostile" || exit 1
"$BUILD/test/bench/make_big" "$dir/made-1" 30000 >/dev/null || exit 1
pages=()
for name in "$hostile" made-1 hostile.bin; do
	"$BUILD/dial9-view" export html -o "$dir/${#pages[@]}.html" "$dir/$name" 2>"$dir/err" || { sed 's/^/# /' "$dir/err"; exit 1; }
	pages+=("$dir/${#pages[@]}.html" "$name")
done
HOME=$dir timeout 150 node test/browser/alone.mjs "${pages[@]}"
