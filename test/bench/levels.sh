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
program=$(sh test/targets/build.sh newest stripped)

wait_line() { # FILE REGEX
	local _
	for _ in $(seq 500); do
		grep -qs "$2" "$1" && return
		sleep 0.02
	done
	echo "levels: no '$2' in time:" >&2
	cat "$1" >&2
	exit 1
}

serve() { # RATE: prints requests a second, p99 in us, the server's CPU ns a request
	local before after
	before=$(awk '{ s += $1 } END { printf "%.0f", s }' /proc/$server/task/*/schedstat)
	"$program" --mode load --addr "127.0.0.1:$port" --conns 8 --paths /,/,/,/spawn --rate "$1" \
		--secs "$SECS" >"$work/load" 2>&1 </dev/null
	after=$(awk '{ s += $1 } END { printf "%.0f", s }' /proc/$server/task/*/schedstat)
	awk -v ns=$((after - before)) '/requests_per_s/ { for (i = 1; i < NF; i++) v[$i] = $(i + 1)
		print v["requests_per_s"], v["p99_us"], ns / v["requests"] }' "$work/load"
}

record() { # LEVEL RATE
	local args="--level $1" off=true
	[ "$1" != stat ] || { args="--level full" off=false; }
	rm -rf "$work/traces"
	DIAL9_TOKIO_INSTRUMENTATION_ENABLED=$off "$BUILD/dial9-agent" --pid $server $args --json \
		--trace-dir "$work/traces" >"$work/summary" 2>"$work/agent" </dev/null &
	agent=$!
	wait_line "$work/agent" 'recording pid'
	serve "$2"
	kill -INT $agent
	wait $agent
	agent=0
}

"$program" --mode http --secs 86000 >"$work/server" 2>&1 </dev/null &
server=$!
wait_line "$work/server" '^listening'
port=$(sed -n 's/^listening //p' "$work/server")
serve 0 >/dev/null
for rate in $RATES; do
	for _ in $(seq "$ROUNDS"); do
		alone=$(serve "$rate")
		for level in $LEVELS; do
			with=$(record $level "$rate")
			again=$(serve "$rate")
			echo "$rate $level $alone $with $again $(jq -r '.budget |
				if . and .target_cpu_ns > 0 then .cost_ns / .target_cpu_ns else 0 end' "$work/summary")" >>"$work/rows"
			alone=$again
		done
	done
done
awk '
	function median(name, n,    i, j, t, v) {
		for (i = 1; i <= n; i++) v[i] = list[name, i]
		for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
		return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
	}
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
