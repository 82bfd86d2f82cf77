#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page of dial9-view in Chromium, on a made trace: TAP of page.mjs.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
dir=$(mktemp -d) || exit 1
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$dir"' EXIT
"$BUILD/test/cli/make_traces" "$dir" || exit 1
XDG_CACHE_HOME=$dir/cache "$BUILD/dial9-view" serve --json "$dir/traces/abcd-42" >"$dir/url" 2>"$dir/err" &
server=$!
for _ in $(seq 100); do
	url=$(jq -r .url "$dir/url" 2>/dev/null)
	[ -z "$url" ] || break # of an empty file jq says nothing, and no error
	sleep 0.1
done
[ -n "${url:-}" ] || { echo "# the server did not start: $(cat "$dir/err")"; exit 1; }
HOME=$dir node test/browser/page.mjs "$url" viewer/page/node_modules
