#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the page costs in the browser, beside dial9's web viewer on the same trace; and the heap of the
# page on a big one, which the peer cannot open:
#   EVENTS=3000000 BIG_EVENTS=100000000 test/bench/page.sh        (BIG_EVENTS=0: not)
# Budget: page heap 150 MB whatever the trace.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
EVENTS=${EVENTS:-3000000}
BIG_EVENTS=${BIG_EVENTS:-100000000}
export PAGE_MODULES=viewer/page/node_modules
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

# ours NAME DIR: reads it once, then measures the page
ours() {
	local url= state=
	XDG_CACHE_HOME=$work/cache "$BUILD/dial9-view" serve --json "$2" >"$work/url" 2>"$work/err" </dev/null &
	server=$!
	for _ in $(seq 3000); do
		[ -n "$url" ] || url=$(jq -r .url "$work/url" 2>/dev/null || true)
		state=$([ -z "$url" ] || curl -s "${url}api/trace" | jq -r '.recordings[0].state // empty')
		[ "$state" != ready ] || break
		sleep 0.1
	done
	[ "$state" = ready ] || { echo "page.sh: $2 was not read: $(cat "$work/err")" >&2; exit 1; }
	node test/bench/page_paint.mjs "$1" "$url" 3
	echo "$1: server_peak_mb $(awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$server/status")"
	kill "$server"
	timeout 20 tail --pid="$server" -f /dev/null || kill -9 "$server"
	wait "$server" || true
	server=
}

mkdir "$work/trace" "$work/big"
"$BUILD/test/bench/make_big" "$work/trace" "$EVENTS" 16 raw
ours "dial9-view, $EVENTS events" "$work/trace"
kit=$(sh test/targets/toolkit.sh toolkit)
dist=$(cd "$kit" && while [ ! -d ui/dist ] && [ "$PWD" != / ]; do cd ..; done; cd ui/dist && pwd)
node test/bench/page_paint.mjs "dial9-viewer 0.5.7, $EVENTS events" "$dist" "$work/trace/trace.0.bin" 1
[ "$BIG_EVENTS" = 0 ] && exit 0
"$BUILD/test/bench/make_big" "$work/big" "$BIG_EVENTS" 64
ours "dial9-view, $BIG_EVENTS events" "$work/big"
