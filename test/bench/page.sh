#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the page costs in the browser, beside dial9's web viewer on the same trace; and the heap of the
# page on a big one, which the peer cannot open:
#   EVENTS=3000000 BIG_EVENTS=100000000 test/bench/page.sh        (BIG_EVENTS=0: not)
# Budget: page heap 150 MB whatever the trace. The method is in page_paint.mjs, and printed.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
EVENTS=${EVENTS:-3000000}
BIG_EVENTS=${BIG_EVENTS:-100000000}
export PAGE_MODULES=viewer/page/node_modules
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

kit=$(sh test/targets/toolkit.sh toolkit)
dist=$(cd "$kit" && while [ ! -d ui/dist ] && [ "$PWD" != / ]; do cd ..; done; cd ui/dist && pwd)
mkdir "$work/trace" "$work/big"
"$BUILD/test/bench/make_big" "$work/trace" "$EVENTS" 16 raw
cat "$work"/trace/trace.*.bin >"$work/whole.bin" # the peer opens one file
sleep 3 # a file changed just now is not cached

echo "The page in Chromium, the files in the page cache. First paint: until the lanes are drawn, from the"
echo "start of the server's process (cold: an empty cache; the peer: of the navigation, as its files come"
echo "from a server that runs) or of the navigation (warm: decoded by then). Heap: that of the page with its"
echo "array buffers, after a collection; renderer, server: the peaks of these processes."
printf '%-42s%13s%13s%13s%13s\n' '' 'paint s' 'heap MB' 'renderer MB' 'server MB'
ROUNDS=3 node test/bench/page_paint.mjs "dial9-view, $EVENTS events, cold" cold "$BUILD/dial9-view" "$work/trace"
ROUNDS=1 node test/bench/page_paint.mjs "dial9-viewer 0.5.7, $EVENTS events" dist "$dist" "$work/whole.bin"
ROUNDS=3 node test/bench/page_paint.mjs "dial9-view, $EVENTS events, warm" warm "$BUILD/dial9-view" "$work/trace"
[ "$BIG_EVENTS" != 0 ] || exit 0
"$BUILD/test/bench/make_big" "$work/big" "$BIG_EVENTS" 64
sleep 3
ROUNDS=1 node test/bench/page_paint.mjs "dial9-view, $BIG_EVENTS events, cold" cold "$BUILD/dial9-view" "$work/big"
