#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make bench, first part: what a probed poll and a probed wake cost a program that does nothing
# else, beside an empty BPF program at the same sites.
#   ROUNDS=5 SECS=3 test/bench/floor.sh
#
# One worker plays ping-pong over a channel without pause: each step is one poll and one wake. In
# each round the same program runs in turn under nothing, under empty probes and under the agent;
# the time of a step above that under nothing is the probes' cost. Medians are printed. Here there
# are no parks, so the scheduler hooks cost nothing; bench.sh shows them on a server.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-5}
SECS=${SECS:-3}
[ "$(id -u)" = 0 ] || { echo "floor: probes need root" >&2; exit 1; }

work=$(mktemp -d)
pids=()
clean() {
	local p
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null || :; done
	for p in "${pids[@]}"; do wait "$p" 2>/dev/null || :; done
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM

. test/bench/load.bash
program=$(sh test/targets/build.sh newest stripped)

# steps_per_s WHAT LEVEL: one run of the program; WHAT = none, empty or agent
steps_per_s() {
	local target watcher=
	rm -rf "$work/go" "$work/traces"
	"$program" --mode pingpong --workers 1 --secs "$SECS" --go-file "$work/go" \
		>"$work/target" 2>&1 </dev/null &
	target=$!
	pids+=($target)
	wait_line "$work/target" '^ready' $target
	case $1 in
	empty)
		sites $target "$2" >"$work/sites"
		"$BUILD/test/bench/bench_empty" empty $target /proc/$target/exe <"$work/sites" >"$work/out" 2>&1 &
		watcher=$!
		pids+=($watcher)
		wait_line "$work/out" '^attached' $watcher
		;;
	agent)
		"$BUILD/dial9-agent" --pid $target --level "$2" --cpu-hz 0 --trace-dir "$work/traces" \
			>"$work/out" 2>&1 </dev/null &
		watcher=$!
		pids+=($watcher)
		wait_line "$work/out" 'recording pid' $watcher
		;;
	esac
	touch "$work/go"
	wait $target
	if [ "$1" = agent ]; then
		wait $watcher
		awk '/^  events/ { n = $2 } /^  agent/ { cpu = $2 } /^  disk/ { b = $2 }
			END { printf "%.1f %.3f\n", cpu * 1e9 / n, b / n }' "$work/out" >>"$work/agent.$2"
	elif [ -n "$watcher" ]; then
		kill -INT $watcher
		wait $watcher || :
	fi
	awk '/polls_per_s/ { for (i = 1; i < NF; i++) if ($i == "polls_per_s") print $(i + 1) }' "$work/target"
}

echo "floor: $ROUNDS rounds, runs of $SECS s"
for round in $(seq "$ROUNDS"); do
	none=$(steps_per_s none -)
	for level in polls wakes full; do
		echo "$level $none $(steps_per_s empty $level) $(steps_per_s agent $level)" >>"$work/rows"
	done
	echo "round $round done"
done

awk "$median"'
	function row(what, a, b) { printf "%-34s %7.0f ns %7.0f ns %8.2f   goal 1.3\n", what, a, b, b / a }
	{
		i = ++n[$1]
		list[$1 "empty", i] = 1e9 / $3 - 1e9 / $2; list[$1 "agent", i] = 1e9 / $4 - 1e9 / $2
		list[$1 "none", i] = $2
	}
	END {
		m = n["full"]
		printf "\nprogram: %.2f million polls/s with nothing attached\n", median("fullnone", m) / 1e6
		printf "%-34s %10s %10s %8s\n", "added to the program", "empty", "dial9", "ratio"
		row("a poll (level polls)", median("pollsempty", m), median("pollsagent", m))
		row("a wake (level wakes less polls)", median("wakesempty", m) - median("pollsempty", m),
			median("wakesagent", m) - median("pollsagent", m))
		row("poll, end and wake (level full)", median("fullempty", m), median("fullagent", m))
	}' "$work/rows"
sort -n "$work/agent.full" | awk '{ v[NR] = $1 } END { printf "agent CPU per event: %.0f ns   goal 100\n", v[int((NR + 1) / 2)] }'
sort -n -k2 "$work/agent.full" | awk '{ v[NR] = $2 } END { printf "bytes per event on disk: %.2f   goal 2.5\n", v[int((NR + 1) / 2)] }'
