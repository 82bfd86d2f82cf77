#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A recording that grows, and is evicted from, while the page shows it: TAP of grows.mjs.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
dir=$(mktemp -d) || exit 1
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$dir"' EXIT
export PAGE_MODULES=viewer/page/node_modules XDG_CACHE_HOME=$dir/cache

mkdir -p "$dir/made" "$dir/served/made-1" || exit 1
"$BUILD/test/bench/make_big" "$dir/made" 60000 3 raw 10000 >/dev/null || exit 1
cp "$dir/made/trace.0.bin" "$dir/made/trace.1.bin" "$dir/served/made-1" || exit 1
"$BUILD/dial9-view" serve --json "$dir/served" >"$dir/url" 2>"$dir/err" </dev/null &
server=$!
for _ in $(seq 100); do
	url=$(jq -r .url "$dir/url" 2>/dev/null)
	[ -z "$url" ] || break
	sleep 0.1
done
[ -n "$url" ] || { echo "# the server did not start: $(cat "$dir/err")"; exit 1; }
HOME=$dir timeout 150 node test/browser/grows.mjs "$url" "$dir/served/made-1" "$dir"/made/trace.[0-3].bin
