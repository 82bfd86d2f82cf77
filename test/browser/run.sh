#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page of dial9-view in Chromium: every panel and key on a made trace of EVENTS events, then each
# state that is not "all is well". TAP; the last line sums it up.
#   EVENTS=10000000 test/browser/run.sh
set -u
set -o pipefail
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
EVENTS=${EVENTS:-200000}
export PAGE_MODULES=viewer/page/node_modules
dir=$(mktemp -d) || exit 1
pids=()
trap 'for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done; wait; rm -rf "$dir"' EXIT

# serve NAME DIR: its URL in $url
serve() {
	XDG_CACHE_HOME=$dir/cache "$BUILD/dial9-view" serve --json "$2" >"$dir/$1.url" 2>"$dir/$1.err" </dev/null &
	pids+=($!)
	for _ in $(seq 100); do
		url=$(jq -r .url "$dir/$1.url" 2>/dev/null)
		[ -z "$url" ] || return 0 # of an empty file jq says nothing, and no error
		sleep 0.1
	done
	echo "# the server of $1 did not start: $(cat "$dir/$1.err")"
	exit 1
}

mkdir -p "$dir/big/made-1" "$dir/empty" "$dir/partial/made-1" "$dir/nothing" "$dir/failed" "$dir/levels" "$dir/cases" "$dir/spans" "$dir/stat" "$dir/pool" || exit 1
"$BUILD/test/bench/make_big" "$dir/big/made-1" "$EVENTS" >/dev/null || exit 1
"$BUILD/test/bench/make_big" "$dir/partial/made-1" 20000 2 raw >/dev/null || exit 1
truncate -s -1001 "$dir/partial/made-1/trace.0.bin"
cp test/golden/header_only.bin "$dir/nothing/trace.0.bin"
cp test/golden_bad/other_file.bin "$dir/failed/trace.0.bin"

"$BUILD/test/cli/make_levels" "$dir/levels" && "$BUILD/test/cli/make_stat" "$dir/stat" || exit 1
"$BUILD/test/cli/make_cases" "$dir/cases" && mv "$dir/cases/spans.bin" "$dir/spans/trace.0.bin" && mv "$dir/cases/pool.bin" "$dir/pool/trace.0.bin" || exit 1
"$BUILD/test/cli/make_traces" "$dir" >/dev/null || exit 1 # in traces/, two recordings

# passes on TAP, counts it, and keeps what was said of the page's heap
sum_up() {
	local line passed=0 failed=0 heap=
	while IFS= read -r line; do
		printf '%s\n' "$line"
		case $line in
		'ok '*) passed=$((passed + 1)) ;;
		'not ok '*) failed=$((failed + 1)) ;;
		'# page heap '*) heap=", ${line#\# }" ;;
		esac
	done
	echo "# $passed passed, $failed failed at $EVENTS events$heap"
}

serve big "$dir/big"
big=$url
for state in empty partial nothing failed traces levels spans stat pool; do
	serve "$state" "$dir/$state"
	urls+=("$url")
done
{
	HOME=$dir node test/browser/page.mjs "$big"
	rc=$?
	HOME=$dir node test/browser/states.mjs "${urls[@]}" "$dir/empty" "$dir/partial/made-1/trace.0.bin" && exit $rc
	exit 1
} | sum_up
