#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make bench: what the recording costs, as ratios within one run on one machine.
#   ROUNDS=9 SECS=1 test/bench/bench.sh
#
# 1. Two tasks that send each other messages on one worker, as fast as it goes: no system call, one
#    wake and one poll a message. In each round, runs in turn: nothing attached; an empty BPF
#    program at the sites of a level; the least program that could record something there
#    (empty.bpf.c); the agent at that level. The process's CPU time for one poll, above that of the
#    run with nothing, is what the probes cost. Medians of the rounds.
# 2. An HTTP server as busy as one load generator makes it: throughput kept, the agent's own CPU
#    time for one event, bytes on disk for one event.
# Other work on the machine makes all of it larger and wilder.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-9}
SECS=${SECS:-1}
LEVELS="polls wakes full"
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
. test/bench/load.bash
program=$(sh test/targets/build.sh newest stripped)

attach() { # PID none|empty|least|agent LEVEL: by pid PROBER, 0 for none; returns when it is attached
	PROBER=0
	case $2 in
	none) return ;;
	empty | least)
		sites "$1" "$3" >"$work/sites"
		"$BUILD/test/bench/bench_empty" "$2" "$1" "/proc/$1/exe" <"$work/sites" >"$work/prober" 2>&1 &
		;;
	agent)
		rm -rf "$work/traces"
		"$BUILD/dial9-agent" --pid "$1" --level "$3" --cpu-hz 0 --trace-dir "$work/traces" \
			>"$work/prober" 2>&1 </dev/null &
		;;
	esac
	PROBER=$!
	pids+=($PROBER)
	wait_line "$work/prober" '^attached\|recording pid' $PROBER
}

detach() {
	[ $PROBER != 0 ] || return 0
	kill -INT $PROBER 2>/dev/null || :
	wait $PROBER || { cat "$work/prober" >&2; exit 1; }
}

# ---- 1. what a probe costs ----
messages() { # none|empty|least|agent LEVEL: prints CPU ns for one poll
	local shell pid
	rm -f "$work/go" "$work/out"
	(
		TIMEFORMAT='%3U %3S'
		{ time "$program" --mode pingpong --workers 1 --secs "$SECS" --go-file "$work/go" \
			>"$work/out" 2>&1; } 2>"$work/time"
	) &
	shell=$!
	wait_line "$work/out" '^ready' $shell
	pid=$(sed -n 's/^pid \([0-9]*\) .*/\1/p' "$work/out")
	pids+=("$pid")
	attach "$pid" "$1" "$2"
	: >"$work/go"
	wait $shell
	[ "$1" != empty ] && [ "$1" != least ] || detach
	[ "$1" != agent ] || wait $PROBER # it ends with its target
	awk -v secs="$SECS" 'FNR == NR { cpu = $1 + $2; next }
		/polls_per_s/ { printf "%.2f\n", cpu * 1e9 / ($3 * secs) }' "$work/time" "$work/out"
}

echo "messages: $ROUNDS rounds of 10 runs of $SECS s"
for round in $(seq "$ROUNDS"); do
	none=$(messages none -)
	for level in $LEVELS; do
		floor=$(messages empty $level)
		least=$(messages least $level)
		cost=$(messages agent $level)
		echo "$level $none $floor $cost $least" >>"$work/rows"
	done
done

awk "$median"'
	{
		i = ++n[$1]
		list[$1 " none", i] = $2; list[$1 " floor", i] = $3 - $2; list[$1 " cost", i] = $4 - $2
		list[$1 " least", i] = $5 - $2
	}
	function row(what, a, l, b) {
		printf "  %-38s %7.0f ns %7.0f ns %7.0f ns %6.2f %6.2f\n", what, a, l, b, l / a, b / a
	}
	END {
		m = n["full"]
		printf "\n  %-38s %10s %10s %10s   over empty: goal 1.15\n", "added to the target for", "empty", "least", "dial9"
		p = median("polls floor", m); l = median("polls least", m); q = median("polls cost", m)
		w = median("wakes floor", m); k = median("wakes least", m); x = median("wakes cost", m)
		row("a poll, end inferred (level polls)", p, l, q)
		row("a wake (level wakes less level polls)", w - p, k - l, x - q)
		row("a poll and its wake (level wakes)", w, k, x)
		row("a poll, its wake and exact end (full)", median("full floor", m), median("full least", m), median("full cost", m))
		printf "  the target itself: %.0f ns for a poll and a wake\n", median("full none", m)
	}' "$work/rows"

# ---- 2. a server at its maximum ----
"$program" --mode http --secs 86000 >"$work/server" 2>&1 </dev/null &
server=$!
pids+=($server)
wait_line "$work/server" '^listening' $server
port=$(sed -n 's/^listening //p' "$work/server")

requests() { # SECS: answered
	serve $server "$port" 0 "$1" >/dev/null
	sed -n 's/.* requests \([0-9]*\) .*/\1/p' "$work/load"
}

echo
echo "server: 5 rounds of 3 runs of $SECS s"
requests 1 >/dev/null
for round in 1 2 3 4 5; do
	none=$(requests "$SECS")
	attach $server empty full
	floor=$(requests "$SECS")
	detach
	attach $server agent full
	before=$(cpu_ns $PROBER)
	kept=$(requests "$SECS")
	sleep 0.1 # its ticks come every 10 ms
	spent=$(($(cpu_ns $PROBER) - before))
	detach
	"$BUILD/dial9-view" dump --json "$work/traces" >"$work/events"
	echo "$none $floor $kept $spent $(grep -vc SymbolTableEntry "$work/events")" \
		"$(cat "$work"/traces/*/trace.* | wc -c)" \
		"$(grep '"event":"agent:Loss"' "$work/events" | grep -vcE '"kind":"(Stack|SwitchTime)"')" >>"$work/served"
done
awk -v secs="$SECS" "$median"'
	{
		list["floor", NR] = $2 / $1; list["kept", NR] = $3 / $1; list["agent", NR] = $4 / $5
		list["rate", NR] = $5 / secs; list["bytes", NR] = $6 / $5; list["none", NR] = $1 / secs
		lossy += $7 > 0
	}
	END {
		printf "  %.0f requests/s with nothing attached\n", median("none", NR)
		printf "  throughput kept: %.2f with empty probes, %.2f recorded (full)\n", median("floor", NR), median("kept", NR)
		printf "  agent CPU per event: %.0f ns at %.0f events/s   goal 100\n", median("agent", NR), median("rate", NR)
		printf "  bytes per event on disk: %.2f   goal 2.5\n", median("bytes", NR)
		printf "  runs in which events were lost: %d of %d\n", lossy, NR
	}' "$work/served"
