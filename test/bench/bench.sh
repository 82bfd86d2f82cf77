#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make bench: what the recording costs, as ratios within one run on one server and one load.
#   ROUNDS=7 WINDOW=3 RATE=8000 test/bench/bench.sh
#
# One HTTP server under a paced load. In each round, windows of equal length in turn: nothing
# attached; an empty BPF program at the sites of a level; the agent at that level. The server's
# CPU time (its threads' run time as the scheduler counts it) above that of the window with
# nothing, divided by its polls or wakes, is the cost of one. Medians of the rounds are printed.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-7}
WINDOW=${WINDOW:-3}
RATE=${RATE:-8000}
[ "$(id -u)" = 0 ] || { echo "bench: probes need root" >&2; exit 1; }

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

server=$(sh test/targets/build.sh newest stripped)
total=$((ROUNDS * (WINDOW + 4) * 7 + 60))
"$server" --mode http --secs $total >"$work/server" 2>&1 </dev/null &
pid=$!
pids+=($pid)
for _ in $(seq 200); do
	grep -q '^listening' "$work/server" && break
	sleep 0.05
done
port=$(sed -n 's/^listening //p' "$work/server")
"$server" --mode load --addr "127.0.0.1:$port" --conns 8 --rate "$RATE" --paths /,/,/db,/spawn \
	--secs $total >"$work/load" 2>&1 </dev/null &
pids+=($!)
sleep 1

cpu_ns() { # of all threads of a process, dead ones excepted: the server's live as long as it
	cat /proc/"$1"/task/*/schedstat | awk '{ s += $1 } END { printf "%.0f\n", s }'
}

window() { # prints the CPU ns of the server in WINDOW seconds
	local before
	before=$(cpu_ns $pid)
	sleep "$WINDOW"
	echo $(($(cpu_ns $pid) - before))
}

wait_line() { # FILE REGEX PID
	local _
	for _ in $(seq 500); do
		grep -q "$2" "$1" && return
		kill -0 "$3" 2>/dev/null || break
		sleep 0.02
	done
	echo "bench: no '$2' in time:" >&2
	cat "$1" >&2
	exit 1
}

under() { # OUT COMMAND...: window under that command, stopped again; CPU of the command in OUT.cpu
	local out=$1 p before spent
	shift
	"$@" >"$out" 2>&1 </dev/null &
	p=$!
	pids+=($p)
	wait_line "$out" '^attached\|^recording' $p
	sleep 0.5
	before=$(cpu_ns $p)
	window
	spent=$(($(cpu_ns $p) - before))
	echo $spent >"$out.cpu"
	kill -INT $p
	wait $p || { cat "$out" >&2; exit 1; }
}

file=/proc/$pid/exe
levels="polls wakes full"
for level in $levels; do
	"$BUILD/dial9-agent" --pid $pid --level $level --dry-run --json >"$work/plan.$level"
	jq -r '.. | objects | select(has("file_off")) | .file_off' "$work/plan.$level" | sort -un >"$work/sites.$level"
done

echo "bench: $ROUNDS rounds of $WINDOW s windows, $RATE requests/s offered"
for round in $(seq "$ROUNDS"); do
	none=$(window)
	for level in $levels; do
		floor=$(under "$work/empty" bash -c "exec '$BUILD/test/bench/bench_empty' $pid $file <'$work/sites.$level'")
		rm -rf "$work/traces"
		cost=$(under "$work/agent" "$BUILD/dial9-agent" --pid $pid --level $level \
			--cpu-hz 0 --trace-dir "$work/traces")
		"$BUILD/dial9-view" dump --json "$work/traces" >"$work/events"
		disk=$(cat "$work"/traces/*/trace.* | wc -c)
		awk -v level=$level -v none="$none" -v floor="$floor" -v cost="$cost" \
			-v cpu="$(cat "$work/agent.cpu")" -v disk="$disk" -v window="$WINDOW" '
			{
				n = match($0, /"ts_ns":[0-9]+/); t = substr($0, n + 8, RLENGTH - 8) + 0
				if (t > 0) { if (!first || t < first) first = t; if (t > last) last = t }
				events++
			}
			/"event":"(PollStartEvent|agent:NestedPoll|agent:Blocking)"/ { polls++ }
			/"event":"WakeEventEvent"/ { wakes++ }
			END {
				secs = (last - first) / 1e9; share = window / secs
				printf "%s %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.3f\n", level, none, floor, cost, cpu,
					polls * share, wakes * share, events, disk, secs
			}' "$work/events" >>"$work/rows"
	done
	echo "round $round done"
done

# level none floor cost agent_cpu polls wakes events disk secs
awk -v window="$WINDOW" '
	function median(name, n,    i, j, t, v) {
		for (i = 1; i <= n; i++) v[i] = list[name, i]
		for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
		return v[int((n + 1) / 2)]
	}
	{
		i = ++n[$1]
		list[$1 "none", i] = $2; list[$1 "floor", i] = ($3 - $2); list[$1 "cost", i] = ($4 - $2)
		list[$1 "agent", i] = $5 / ($8 * window / $10)
		list[$1 "polls", i] = $6; list[$1 "wakes", i] = $7
		list[$1 "bytes", i] = $9 / $8; list[$1 "rate", i] = $8 / $10
		list[$1 "slow", i] = $4 / $2
	}
	END {
		m = n["full"]
		printf "\nserver: %.0f polls/s, %.0f wakes/s, %.0f %% of a core with nothing attached\n",
			median("fullpolls", m) / window, median("fullwakes", m) / window, median("fullnone", m) / window / 1e7
		printf "%-34s %10s %10s %8s\n", "added to the server", "empty", "dial9", "ratio"
		p = median("pollspolls", m)
		a = median("pollsfloor", m) / p; b = median("pollscost", m) / p
		printf "%-34s %7.0f ns %7.0f ns %8.2f   goal 1.3\n", "a poll (level polls)", a, b, b / a
		w = median("wakeswakes", m)
		a2 = (median("wakesfloor", m) - median("pollsfloor", m)) / w
		b2 = (median("wakescost", m) - median("pollscost", m)) / w
		printf "%-34s %7.0f ns %7.0f ns %8.2f   goal 1.3\n", "a wake (level wakes less polls)", a2, b2, b2 / a2
		p = median("fullpolls", m)
		a = median("fullfloor", m) / p; b = median("fullcost", m) / p
		printf "%-34s %7.0f ns %7.0f ns %8.2f   goal 1.3\n", "a poll with all its events (full)", a, b, b / a
		printf "\nserver CPU, level full against nothing: %.3f\n", median("fullslow", m)
		printf "agent CPU per event: %.0f ns at %.0f events/s   goal 100\n", median("fullagent", m), median("fullrate", m)
		printf "bytes per event on disk: %.2f   goal 2.5\n", median("fullbytes", m)
	}' "$work/rows"
