#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a new segment costs the server of a recording that grows: its CPU time until the page is told of
# it, and its memory. The first new one makes it decode all once more, and keep it (viewer/core/live.h).
#   EVENTS=10000000 EACH=670000 test/bench/live.sh       (EACH: events of a segment, 5 MB)
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
VIEW=${VIEW:-$BUILD/dial9-view}
EVENTS=${EVENTS:-10000000}
EACH=${EACH:-670000}
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT
mkdir -p "$work/made" "$work/live/made-1"
"$BUILD/test/bench/make_big" "$work/made" $((EVENTS + 4 * EACH)) 64 zstd "$EACH" >"$work/said"
mapfile -t segments < <(ls -v "$work"/made/*)
touch -d '1 hour ago' "${segments[@]}"
first=$((${#segments[@]} - 5))
mv "${segments[@]:0:$first}" "$work/live/made-1/"

XDG_CACHE_HOME=$work/cache "$VIEW" serve --json "$work/live" >"$work/url" 2>"$work/err" </dev/null &
server=$!
url=
until_generation() { # N
	for _ in $(seq 1200); do
		[ -n "$url" ] || url=$(jq -r .url "$work/url" 2>/dev/null || true)
		[ -z "$url" ] || [ "$(curl -s "${url}api/trace" | jq '.recordings[0].generation // 0')" -lt "$1" ] || return 0
		sleep 0.1
	done
	echo "live.sh: nothing new after two minutes: $(cat "$work/err")" >&2
	exit 1
}
cpu_ms() { awk '{ print ($14 + $15) * 10 }' "/proc/$server/stat"; }
say() { # NAME: since $before
	printf '%-28s %6d ms CPU, %5d MB resident, %5d at most\n' "$1" $(($(cpu_ms) - before)) \
		"$(awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$server/status")" "$(awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$server/status")"
}
before=0
until_generation 1
say "$first segments, $EVENTS events"
for nr in 1 2 3 4; do
	sleep 3 # as long ago as it takes to be sure that the one before stays as it is
	touch "${segments[$((first + nr - 1))]}"
	before=$(cpu_ms)
	mv "${segments[$((first + nr - 1))]}" "$work/live/made-1/"
	until_generation $((nr + 1))
	say "new segment $nr"
done
