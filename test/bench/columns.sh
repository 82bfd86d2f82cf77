#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The viewer's core on a generated trace, and dial9's own node toolkit 0.5.7 beside it on a smaller
# one of the same kind:
#   EVENTS=10000000 PEER_EVENTS=3000000 test/bench/columns.sh
# EVENTS=100000000 takes 3 GiB of memory and half a minute on an idle machine.
# Budgets for 10 M events on an idle machine of two cores: index 3 s, reopen 0.3 s, 40 bytes an
# event, a query of 64 lanes x 2000 cells 30 ms. The comparison is in wall time, which is what a
# user waits for, and in CPU time of all threads beside it, which what else the machine does matters
# little to: our report uses two threads, the toolkit's collector of garbage several.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
EVENTS=${EVENTS:-10000000}
PEER_EVENTS=${PEER_EVENTS:-3000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/big" "$work/small"
"$BUILD/test/bench/make_big" "$work/big" "$EVENTS" 64
sleep 3 # a file changed just now is not cached
"$BUILD/test/bench/bench_columns" "$work/cache" "$work"/big/*.bin.zst
rm -r "$work/big"

[ "$PEER_EVENTS" != 0 ] || exit 0
# the peer keeps every event as an object: one raw file, of the size it can hold
"$BUILD/test/bench/make_big" "$work/small" "$PEER_EVENTS" 64 raw
trace=$work/small.bin
cat "$work"/small/*.bin >"$trace"
rm -r "$work/small"
sleep 3
kit=$(sh test/targets/toolkit.sh toolkit)
export XDG_CACHE_HOME=$work/xdg
measure() { python3 test/bench/measure.py "$@"; }
row() { # NAME OURS THEIRS: "WALL CPU MEMORY" of each
	awk -v name="$1" -v ours="$2" -v theirs="$3" 'BEGIN {
		split(ours, a, " "); split(theirs, b, " ")
		printf "%-28s", name
		for (i = 1; i <= 2; i++)
			printf " %8.2f %8.2f %7.1fx", a[i], b[i], b[i] / (a[i] > 0.01 ? a[i] : 0.01)
		printf " %8d %8d %7.1fx\n", a[3], b[3], b[3] / a[3]
	}'
}
node="node --max-old-space-size=12000"
printf '%-28s %8s %8s %8s %8s %8s %8s %8s %8s\n' "$PEER_EVENTS events" 'wall_s' 'dial9' '' \
	'cpu_s' 'dial9' '' 'MiB' 'dial9'
parse=$(measure 1 $node test/e2e/toolkit.js "$kit" "$trace")
row 'parse: bytes to events' "$(measure 5 "$BUILD/test/bench/bench_columns" - "$trace")" "$parse"
# once: the second time it is not cold
row 'open, cold (joined, indexed)' "$(measure 1 "$BUILD/dial9-view" sql "$trace" 'select 1')" "$parse"
row 'open again' "$(measure 5 "$BUILD/dial9-view" sql "$trace" 'select 1')" "$parse"
row 'report' "$(measure 5 "$BUILD/dial9-view" report "$trace")" "$(measure 1 $node "$kit/analyze.js" "$trace")"
