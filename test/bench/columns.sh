#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The viewer's core on a generated trace, and dial9's own reader on a smaller one of the same kind:
#   EVENTS=10000000 PEER_EVENTS=1000000 test/bench/columns.sh
# Budgets for 10 M events on an idle machine of two cores: index 3 s, reopen 0.3 s, 40 bytes an
# event, a query of 64 lanes x 2000 cells 30 ms.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
EVENTS=${EVENTS:-10000000}
PEER_EVENTS=${PEER_EVENTS:-1000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/big" "$work/small"
"$BUILD/test/bench/make_big" "$work/big" "$EVENTS" 64
sleep 3 # a file changed just now is not cached
"$BUILD/test/bench/bench_columns" "$work/cache" "$work"/big/*.bin.zst

[ "$PEER_EVENTS" != 0 ] || exit 0
# the peer keeps every event as an object: one raw file, of the size it can hold
"$BUILD/test/bench/make_big" "$work/small" "$PEER_EVENTS" 64 raw
sleep 3
echo 'ours on the smaller trace:'
"$BUILD/test/bench/bench_columns" "$work/cache" "$work"/small/*.bin | grep -E '^(index|reopen|peak)'
kit=$(sh test/targets/toolkit.sh toolkit)
TIMEFORMAT='dial9 toolkit 0.5.7: parse_s %R'
time node test/e2e/toolkit.js "$kit" "$work"/small/trace.0.bin >/dev/null
