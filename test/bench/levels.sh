#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make bench, last part: what each level costs an HTTP server, and what the default budget makes of it.
#   ROUNDS=5 SECS=3 RATES="0 5000" test/bench/levels.sh
#
# For each rate of requests (0 = as many as one load generator makes), in each round in turn: the
# server alone, then at each level (stat: no probes; auto: the default budget), each between two runs
# of the server alone. Printed: medians over the rounds of the ratios to the mean of these two.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-5}
SECS=${SECS:-3}
RATES=${RATES:-0 5000}
LEVELS=${LEVELS:-stat polls wakes full auto}
[ "$(id -u)" = 0 ] || { echo "levels: probes need root" >&2; exit 1; }

work=$(mktemp -d)
server=0 agent=0
clean() {
	[ $agent = 0 ] || kill "$agent" 2>/dev/null || :
	[ $server = 0 ] || kill "$server" 2>/dev/null || :
	wait
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM
. test/bench/load.bash
program=$(sh test/targets/build.sh newest stripped)

record() { # LEVEL RATE
	rm -rf "$work/traces"
	"$BUILD/dial9-agent" --pid $server --level "$1" --json --trace-dir "$work/traces" \
		>"$work/summary" 2>"$work/agent" </dev/null &
	agent=$!
	wait_line "$work/agent" 'recording pid'
	serve $server "$port" "$2" "$SECS"
	kill -INT $agent
	wait $agent
	agent=0
}

"$program" --mode http --secs 86000 >"$work/server" 2>&1 </dev/null &
server=$!
wait_line "$work/server" '^listening'
port=$(sed -n 's/^listening //p' "$work/server")
serve $server "$port" 0 "$SECS" >/dev/null
for rate in $RATES; do
	for _ in $(seq "$ROUNDS"); do
		alone=$(serve $server "$port" "$rate" "$SECS")
		for level in $LEVELS; do
			with=$(record $level "$rate")
			again=$(serve $server "$port" "$rate" "$SECS")
			echo "$rate $level $alone $with $again $(jq -r '.budget |
				if . and .target_cpu_ns > 0 then .cost_ns / .target_cpu_ns else 0 end' "$work/summary")" >>"$work/rows"
			alone=$again
		done
	done
done
awk "$median"'
	{
		k = $1 " " $2; i = ++n[k]
		if (i == 1) order[++cnt] = k
		list[k " kept", i] = 2 * $6 / ($3 + $9); list[k " p99", i] = 2 * $7 / ($4 + $10)
		list[k " cpu", i] = 2 * $8 / ($5 + $11); list[k " share", i] = $12; list[k " alone", i] = ($3 + $9) / 2
	}
	END {
		for (o = 1; o <= cnt; o++) {
			split(order[o], w, " "); k = order[o]; m = n[k]
			if (w[1] != rate || o == 1)
				printf "\nserver, %.0f requests/s alone; ratios to that, %d rounds of %s s\n  %-8s %10s %8s %14s %14s\n",
					median(k " alone", m), m, "'"$SECS"'", "level", "throughput", "p99", "CPU a request", "probes of CPU"
			rate = w[1]
			printf "  %-8s %10.3f %8.2f %14.2f %12.1f %%\n", w[2], median(k " kept", m), median(k " p99", m),
				median(k " cpu", m), 100 * median(k " share", m)
		}
	}' "$work/rows"
