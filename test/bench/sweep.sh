#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make bench, last part: the default budget from 1,000 to a million polls a second.
#   ROUNDS=3 SECS=4 RATES="1000 10000 ..." BUDGET=3% test/bench/sweep.sh
#
# Tasks that send each other messages at a given rate, on two workers. At each rate, in each round: a
# run alone, one recorded with the budget, one alone. What recording adds to the process's CPU time for
# a poll is its loss, from the second second on, by when the budget must be kept; a process that does
# next to nothing is held against a tenth of a core (budget.h). Then what the agent itself believes of
# that time, and the levels, by their share of the whole.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-3}
SECS=${SECS:-4}
RATES=${RATES:-1000 10000 30000 100000 300000 1000000}
BUDGET=${BUDGET:-3%}
[ "$(id -u)" = 0 ] || { echo "sweep: probes need root" >&2; exit 1; }

work=$(mktemp -d)
target=0 agent=0
clean() {
	[ $agent = 0 ] || kill "$agent" 2>/dev/null || :
	[ $target = 0 ] || kill "$target" 2>/dev/null || :
	wait
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM
program=$(sh test/targets/build.sh newest stripped)

wait_line() { # FILE REGEX
	local _
	for _ in $(seq 500); do
		grep -qs "$2" "$1" && return
		sleep 0.02
	done
	echo "sweep: no '$2' in time:" >&2
	cat "$1" >&2
	exit 1
}

cpu_and_time() { # ns of both
	cat /proc/$target/task/*/schedstat /proc/uptime |
		awk 'NF == 3 { s += $1 } NF == 2 { printf "%.0f %.0f", s, $1 * 1e9 }'
}

run() { # RATE alone|recorded: prints polls a second, CPU ns a poll
	local before after
	rm -rf "$work/go" "$work/traces"
	"$program" --mode steady --rate "$1" --workers 2 --secs "$SECS" --go-file "$work/go" \
		>"$work/out" 2>&1 </dev/null &
	target=$!
	wait_line "$work/out" '^ready'
	if [ "$2" = recorded ]; then
		"$BUILD/dial9-agent" --pid $target --max-overhead "$BUDGET" --json \
			--trace-dir "$work/traces" >"$work/summary" 2>"$work/agent" </dev/null &
		agent=$!
		wait_line "$work/agent" 'recording pid'
	fi
	: >"$work/go"
	sleep 1
	before=$(cpu_and_time)
	sleep "$((SECS - 2)).8"
	after=$(cpu_and_time)
	wait $target || :
	target=0
	if [ $agent != 0 ]; then
		wait $agent || { cat "$work/agent" >&2; exit 1; }
		agent=0
	fi
	awk -v before="$before" -v after="$after" '/polls_per_s/ {
		split(before, b, " "); split(after, a, " ")
		printf "%.0f %.2f\n", $3, (a[1] - b[1]) / (a[2] - b[2]) / $3 * 1e9 }' "$work/out"
}

for rate in $RATES; do
	for _ in $(seq "$ROUNDS"); do
		alone=$(run "$rate" alone)
		with=$(run "$rate" recorded)
		believed=$("$BUILD/dial9-view" dump --json --kind agent:Self "$work/traces" | jq -s '
			if length < 2 then 0 else (.[-1].fields.target_cost_ns - .[0].fields.target_cost_ns) /
			(.[-1].ts_ns - .[0].ts_ns) end')
		levels=$("$BUILD/dial9-view" report --json "$work/traces" | jq -r '.recordings[0] |
			([.levels[].ns] | add) as $all | [.levels[] | select(.ns > $all / 200) |
			"\(.level)/\(.ends) \(.ns * 100 / $all | round)%"] | join(", ")')
		again=$(run "$rate" alone)
		echo "$rate $alone $with $again $believed|$levels" >>"$work/rows"
	done
done
awk -F'|' -v secs="$SECS" -v budget="$BUDGET" -v rounds="$ROUNDS" '
	function median(name, n,    i, j, t, v) {
		for (i = 1; i <= n; i++) v[i] = list[name, i]
		for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
		return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
	}
	{
		split($1, f, " "); k = f[1]; i = ++n[k]
		if (i == 1) order[++cnt] = k
		alone = (f[3] + f[7]) / 2
		core = alone * f[4] / 1e9; base = core > 0.1 ? core : 0.1
		list[k " polls", i] = f[4]; list[k " loss", i] = (f[5] - alone) * f[4] / 1e9 / base
		list[k " core", i] = core; list[k " believed", i] = f[8] / base; levels[k] = $2
	}
	END {
		printf "\nbudget %s, medians of %d rounds of %s s\n", budget, rounds, secs
		printf "  %10s %10s %9s %8s %9s  %s\n", "wanted/s", "polls/s", "of a core", "loss", "believed", "levels, share of time"
		for (o = 1; o <= cnt; o++) {
			k = order[o]; m = n[k]
			printf "  %10d %10.0f %9.3f %6.1f %% %7.1f %%  %s\n", k, median(k " polls", m), median(k " core", m),
				100 * median(k " loss", m), 100 * median(k " believed", m), levels[k]
		}
	}' "$work/rows"
