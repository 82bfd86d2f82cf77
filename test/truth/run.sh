#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Our trace against dial9's own of the same process, workload by workload; one row each.
#   run.sh [--short] [--keep DIR] [ROW...]
# A row is workload[,workload...]@WORKERS[+how]; how: late (attach while it runs), twice (detach and
# attach again), SECONDS. Without rows: all of them, or the quick ones with --short. Exit code 1:
# a row differs. 2: usage or no root. The mutations run with rows "mutate" and in the full run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/truth
agent=$root/build/dial9-agent
keep=
rows=()

short_rows="pingpong@2 pingpong@1 plain,yields@2 timers@2 timers,meeting@8 timers,joinset@64 joinset,detached@2
	meeting,foreign@2 tiny@2 abort,panics@2 blocking,lock@2 in_place@2 sleep_in_poll,nested@2
	localset@2 current_thread@2 runtimes@2 rebuild@2 alive100k@2 storm@2 pingpong,timers@2+late
	pingpong@2+twice long_poll@2+3"
full_rows="$short_rows pingpong@8 pingpong@64 tiny@1 storm@1 storm@8 yields@1 in_place@8 abort@8
	panics@8 rebuild@8+4 runtimes@8 foreign@64 alive100k@8 storm@2+late current_thread,pingpong@2+twice
	pingpong,timers,joinset,meeting@2+10 long_poll@2+10"

usage() {
	sed -n '3,7s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

mutate=0
list=$full_rows
while [ $# -gt 0 ]; do
	case $1 in
	--short) list=$short_rows ;;
	--keep) [ $# -ge 2 ] || usage; keep=$2; shift ;;
	mutate) mutate=1 ;;
	-*) usage ;;
	*@*) rows+=("$1") ;;
	*) usage ;;
	esac
	shift
done
if [ ${#rows[@]} -eq 0 ] && [ $mutate -eq 0 ]; then
	read -r -a rows <<<"$(echo $list)"
	mutate=1
fi
[ "$(id -u)" = 0 ] || { echo "run.sh: the agent needs root" >&2; exit 2; }
for made in "$agent" "$build/match" "$build/mutate"; do
	[ -x "$made" ] || { echo "run.sh: $made is missing: make truth builds it" >&2; exit 2; }
done
if ! RUSTFLAGS="--cfg tokio_unstable" cargo build --quiet --release --locked \
	--manifest-path "$here/Cargo.toml" --target-dir "$build" >"$build.log" 2>&1; then
	cat "$build.log" >&2
	exit 1
fi

work=${keep:-$(mktemp -d)}
mkdir -p "$work"
truth_pid=0 agent_pid=0
finish() {
	[ $agent_pid = 0 ] || kill $agent_pid 2>/dev/null
	[ $truth_pid = 0 ] || kill $truth_pid 2>/dev/null
	[ -n "$keep" ] || rm -rf "$work"
}
trap finish EXIT

now() { # ns of CLOCK_MONOTONIC
	"$build/match" -t
}

attach() { # sets from
	: >"$dir/agent.log.$1"
	"$agent" --level full --pid "$truth_pid" --trace-dir "$dir/ours" --cpu-hz 0 >"$dir/agent.log.$1" 2>&1 &
	agent_pid=$!
	for _ in $(seq 400); do
		grep -q '^dial9-agent: recording' "$dir/agent.log.$1" && break
		kill -0 $agent_pid 2>/dev/null || break
		sleep 0.025
	done
	from=$(now)
}

detach() { # sets to
	to=$(now)
	kill -INT $agent_pid
	wait $agent_pid
	status=$?
	agent_pid=0
}

says() { # waits until the program says WORD; keeps what it says
	local line
	while read -r -t 120 -u 7 line; do
		echo "$line" >>"$dir/said"
		[ "${line%% *}" = "$1" ] && return 0
	done
	return 1
}

one() { # one ROW: 0 equal
	local row=$1 how secs=1.5 workers names status=0 windows=() coproc_pid
	how=${row#*+}
	[ "$how" = "$row" ] && how=
	names=${row%%@*}
	workers=${row#*@}
	workers=${workers%%+*}
	case $how in '' | late | twice) ;; *) secs=$how ;; esac
	[ "$how" = twice ] && secs=4
	[ "$how" = late ] && secs=3
	dir=$work/$row
	rm -rf "$dir"
	mkdir -p "$dir/theirs" "$dir/ours"
	coproc T {
		exec "$build/release/truth" --out "$dir/theirs/t.bin" --secs "$secs" \
			--workers "$workers" ${names//,/ } 2>"$dir/truth.err"
	}
	truth_pid=$T_PID coproc_pid=$T_PID
	exec 7<&"${T[0]}" 8>&"${T[1]}"
	says ready || { echo "$row: the program did not start: $(cat "$dir/truth.err")"; return 1; }
	if [ "$how" = late ]; then
		echo go >&8
		sleep 1
		attach 1
	else
		attach 1
		echo go >&8
	fi
	if [ "$how" = twice ]; then
		sleep 1
		detach
		windows+=(-w "$from:$to")
		sleep 0.4
		attach 2
	fi
	says idle || echo "$row: the program did not end its work"
	sleep 0.1
	if [ "$how" = late ] || [ "$how" = twice ]; then
		detach
		windows+=(-w "$from:$to")
	else
		windows+=(-w "$from:")
	fi
	echo end >&8
	says written || echo "$row: the program did not write its trace"
	exec 7<&- 8>&-
	wait "$coproc_pid" 2>/dev/null
	truth_pid=0
	if [ $agent_pid != 0 ]; then
		wait $agent_pid
		status=$?
		agent_pid=0
	fi
	[ $status = 0 ] || echo "$row: the agent ended with $status: $(tail -n 1 "$dir"/agent.log.*)"
	echo "${windows[*]}" >"$dir/windows"
	"$build/match" -v -n "$row" "${windows[@]}" "$dir/theirs/t.0.bin" "$dir/ours" 2>"$dir/more"
	local rc=$?
	[ $rc = 0 ] || cat "$dir/more"
	sed -n 's/^ran [^ ]* \(.\)/  \1/p' "$dir/said"
	[ -n "$keep" ] || [ "$row" = "$mutate_row" ] || rm -rf "$dir"
	[ $rc = 0 ] && [ $status = 0 ]
}

# One thing at a time is broken in a trace that was equal; each must be noticed.
mutations() { # sets missed
	local how dir=$work/$mutate_row found
	found=$(find "$dir/ours" -name 'trace.0.*')
	read -r -a windows <"$dir/windows"
	for how in $("$build/mutate" --list); do
		"$build/mutate" "$how" "$found" "$dir/mutated" || return 1
		row=$("$build/match" -n "$how" "${windows[@]}" "$dir/theirs/t.0.bin" "$dir/mutated" 2>&1)
		if [ $? = 1 ]; then
			[ "$how" = none ] && missed=$((missed + 1))
			echo "mutation $how: noticed:${row##*DIFFERS:}"
		else
			[ "$how" = none ] || missed=$((missed + 1))
			echo "mutation $how: ${row##*  }"
		fi
	done
}

mutate_row=timers@2
failed=0 missed=0
if [ $mutate = 1 ] && [[ " ${rows[*]} " != *" $mutate_row "* ]]; then
	rows+=("$mutate_row")
fi
"$build/match" -H
for row in "${rows[@]}"; do
	one "$row" || failed=$((failed + 1))
done
[ $mutate = 0 ] || mutations || missed=$((missed + 1))
echo "${#rows[@]} workloads, $failed differ; $missed mutations unnoticed"
[ $failed = 0 ] && [ $missed = 0 ]
