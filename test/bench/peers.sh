#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make bench, last part: what a server keeps of its throughput under dial9-agent at each level, with
# dial9's own recorder inside it, and under bpftrace with the same uprobes.
#   ROUNDS=3 SECS=2 WHAT="none stat polls wakes full auto empty dial9 traced bpftrace print" RATES="0 10%" test/bench/peers.sh
#
# One program in three processes: without a recorder, with dial9 0.5.7 (its defaults), and with the
# tasks spawned by dial9's own spawn (traced: only then it has wakes). In each round, for each WHAT,
# the first one alone, then the measured one, then the first one alone again, each warmed up before;
# ratios to the mean of the two, medians of the rounds. none is the first process with nothing: its
# distance from 1 is what the machine does by itself. empty: an empty BPF program at the sites of
# level full. bpftrace: only counts its hits, the least it can do; print: writes time, thread and
# task of each, as a recorder must. Rates are requests a second, 0 as many as one load generator
# makes, N% of that.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-3}
SECS=${SECS:-2}
RATES=${RATES:-0 10%}
WHAT=${WHAT:-none stat polls wakes full auto empty dial9 traced bpftrace print}
[ "$(id -u)" = 0 ] || { echo "peers: probes need root" >&2; exit 1; }
command -v bpftrace >/dev/null || apt-get install -y -qq bpftrace >/dev/null 2>&1 || WHAT=$(echo " $WHAT " | sed 's/ bpftrace / /; s/ print / /')

work=$(mktemp -d)
pids=()
clean() {
	local p
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null || :; done
	wait
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM
. test/bench/load.bash
program=$(sh test/targets/build.sh newest stripped)
served=$(sh test/bench/served.sh)

declare -A pid port
for how in plain dial9 traced; do
	dir=
	[ $how = plain ] || dir=$work/$how.traces
	# shellcheck disable=SC2086 # plain takes no directory
	"$served" $how $dir >"$work/$how" 2>&1 </dev/null &
	pid[$how]=$!
	pids+=($!)
	wait_line "$work/$how" '^listening' "${pid[$how]}"
	port[$how]=$(sed -n 's/^listening //p' "$work/$how")
done

run() { # HOW RATE
	serve "${pid[$1]}" "${port[$1]}" "$2" 0.5 >/dev/null
	serve "${pid[$1]}" "${port[$1]}" "$2" "$SECS"
}

bpftrace_program() { # ACTION: at the sites of level full
	local off list=
	for off in $(sites "${pid[plain]}" full); do
		list+=$(printf 'uprobe:%s:0x%x' "$served" "$off"),$'\n'
	done
	printf '%s { %s }\n' "${list%,*}" "$1"
}

prober=0
attach() { # WHAT
	case $1 in
	empty)
		sites "${pid[plain]}" full >"$work/sites"
		"$BUILD/test/bench/bench_empty" empty "${pid[plain]}" "/proc/${pid[plain]}/exe" <"$work/sites" \
			>"$work/prober" 2>&1 &
		;;
	bpftrace) bpftrace_program '@n = count();' >"$work/program.bt" ;;&
	print) bpftrace_program 'printf("%llu %d %llx\n", nsecs, tid, reg("di"));' >"$work/program.bt" ;;&
	bpftrace | print)
		bpftrace --unsafe -B full -p "${pid[plain]}" "$work/program.bt" >"$work/prober" 2>&1 </dev/null &
		;;
	*)
		rm -rf "$work/traces"
		"$BUILD/dial9-agent" --pid "${pid[plain]}" --level "$1" --trace-dir "$work/traces" --json \
			>"$work/summary" 2>"$work/prober" </dev/null &
		;;
	esac
	prober=$!
	pids+=($prober)
	case $1 in
	bpftrace | print) # it says what it will attach, not when it has
		wait_line "$work/prober" '^Attaching' $prober
		while [ "$(find "/proc/$prober/fd" -lname '*perf_event*' | wc -l)" -lt \
			"$(grep -c uprobe "$work/program.bt")" ]; do sleep 0.1; done
		sleep 0.5
		;;
	*) wait_line "$work/prober" '^attached\|recording pid' $prober ;;
	esac
}

measured() { # WHAT RATE
	case $1 in
	none) run plain "$2" ;;
	dial9 | traced) run "$1" "$2" ;;
	*)
		attach "$1"
		run plain "$2"
		kill -INT $prober
		wait $prober || { cat "$work/prober" >&2; exit 1; }
		;;
	esac
}

top=$(run plain 0)
for rate in $RATES; do
	[ "$rate" = "${rate%\%}" ] || rate=$(awk -v p="${rate%\%}" '{ printf "%d", $1 * p / 100 }' <<<"$top")
	for _ in $(seq "$ROUNDS"); do
		alone=$(run plain "$rate")
		for what in $WHAT; do
			with=$(measured "$what" "$rate")
			again=$(run plain "$rate")
			echo "$rate $what $alone $with $again" >>"$work/rows"
			alone=$again
		done
	done
done
awk -v secs="$SECS" "$median"'
	function goal(what, rate) {
		if (rate) return what ~ /^(stat|polls|wakes|full|auto)$/ ? "1.00" : ""
		return what == "stat" ? "0.99" : what == "auto" ? "0.97, above dial9" : ""
	}
	{
		k = $1 " " $2; i = ++n[k]
		if (i == 1) order[++cnt] = k
		list[k " kept", i] = 2 * $6 / ($3 + $9); list[k " p99", i] = 2 * $7 / ($4 + $10)
		list[k " cpu", i] = $8 - ($5 + $11) / 2; list[k " alone", i] = ($3 + $9) / 2
		list[k " own", i] = ($5 + $11) / 2; list[k " ownp99", i] = ($4 + $10) / 2
	}
	END {
		for (o = 1; o <= cnt; o++) {
			split(order[o], w, " "); k = order[o]; m = n[k]
			if (w[1] != rate || o == 1)
				printf "\nserver, %.0f requests/s alone, p99 %.0f us, %.1f us of CPU each; %d rounds of %s s\n  %-10s %10s %18s %8s %20s\n",
					median(k " alone", m), median(k " ownp99", m), median(k " own", m) / 1e3, m, secs,
					"", "throughput", "goal", "p99", "CPU added a request"
			rate = w[1]
			printf "  %-10s %10.3f %18s %8.2f %17.2f us\n", w[2], median(k " kept", m), goal(w[2], w[1]),
				median(k " p99", m), median(k " cpu", m) / 1e3
			base = median(k " cpu", m); kept = median(k " kept", m)
			if (!w[1]) { top[w[2]] = kept; added[w[2]] = base }
		}
		printf "\n"
		if (added["full"] && added["empty"])
			printf "  full against empty probes at the same sites, CPU added: %.2f   goal 1.15\n", added["full"] / added["empty"]
		if (added["full"] && added["bpftrace"])
			printf "  full against bpftrace that counts: %.2f, that prints: %.2f   goal below 1\n",
				added["full"] / added["bpftrace"], added["full"] / (added["print"] ? added["print"] : 1)
		if (top["auto"] && top["dial9"])
			printf "  throughput kept by the default budget against dial9 inside: %.2f   goal above 1\n", top["auto"] / top["dial9"]
	}' "$work/rows"
