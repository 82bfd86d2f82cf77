#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Our trace against dial9's own of the same process, workload by workload; one row each.
#   run.sh [--short] [--keep DIR] [ROW...]   |   run.sh --build
# A row is workload[,workload...]@WORKERS[+how]; how: late (attach while it runs), twice (detach and
# attach again), SECONDS, polls or wakes (recorded at that level). A row in which nothing but times
# differs is run again, five times at most: noise only adds to them. Without rows: all of them, which also writes the tables in README.md and
# test/truth/README.md; or a few with --short, which judges no times and so holds on a busy machine.
# Program and agent run before what else runs: a machine is seldom empty.
# Exit code 1: a row differs. 2: usage or no root. Mutations: with row "mutate" and without rows.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/truth
agent=$root/build/dial9-agent
keep=
rows=()

short_rows="pingpong,timers@2 plain,yields@2 joinset,detached@2 abort,panics@2 in_place,nested@2
	current_thread,localset@2 rebuild@2 pingpong@2+twice timers@2 pingpong,timers@2+polls
	joinset,yields@2+wakes"
full_rows="pingpong@2 pingpong@1 plain,yields@2 timers@2 timers,meeting@8 timers,joinset@64
	joinset,detached@2 meeting,foreign@2 tiny@2 abort,panics@2 blocking,lock@2 in_place@2
	sleep_in_poll,nested@2 backlog@2 localset@2 current_thread@2 runtimes@2 rebuild@2 alive100k@2
	storm@2 pingpong,timers@2+late pingpong@2+twice long_poll@2+3 pingpong@8 pingpong@64 tiny@1
	storm@1 storm@8 yields@1 in_place@8 abort@8 panics@8 rebuild@8+4 runtimes@8 foreign@64
	alive100k@8 storm@2+late current_thread,pingpong@2+twice pingpong,timers,joinset,meeting@2+10
	long_poll@2+10"
level_rows="pingpong@2+polls timers@2+polls yields@2+polls tiny@2+polls joinset,detached@2+polls
	abort,panics,pingpong@2+polls blocking,lock,pingpong@2+polls in_place,pingpong@2+polls
	sleep_in_poll,nested@2+polls long_poll@2+polls storm@2+polls current_thread@2+polls
	pingpong@8+polls pingpong@2+wakes timers,meeting@2+wakes plain,yields@2+wakes
	joinset,detached@2+wakes blocking,lock,pingpong@2+wakes storm@2+wakes pingpong@8+wakes"
full_rows="$full_rows $level_rows"

usage() {
	sed -n '3,10s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

mutate=0 is_full=0 is_build=0
list=$full_rows
judge=() # options of match
while [ $# -gt 0 ]; do
	case $1 in
	--short) list=$short_rows judge=(-b) ;;
	--build) is_build=1 ;;
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
	[ "$list" != "$full_rows" ] || is_full=1
fi
[ $is_build = 1 ] || [ "$(id -u)" = 0 ] || { echo "run.sh: the agent needs root" >&2; exit 2; }
for made in "$agent" "$build/match" "$build/mutate"; do
	[ -x "$made" ] || { echo "run.sh: $made is missing: make truth builds it" >&2; exit 2; }
done
if ! RUSTFLAGS="--cfg tokio_unstable" cargo build --quiet --release --locked \
	--manifest-path "$here/Cargo.toml" --target-dir "$build" >"$build.log" 2>&1; then
	cat "$build.log" >&2
	exit 1
fi
[ $is_build = 0 ] || exit 0

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
	nice -n -10 "$agent" --level "$level" --pid "$truth_pid" --trace-dir "$dir/ours" --cpu-hz 0 >"$dir/agent.log.$1" 2>&1 &
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

one() { # one ROW: 0 equal, 4 only times differ; its facts in facts.row
	local row=$1 how level=full secs=1.5 workers names status=0 windows=() coproc_pid
	how=${row#*+}
	[ "$how" = "$row" ] && how=
	names=${row%%@*}
	workers=${row#*@}
	workers=${workers%%+*}
	case $how in
	'' | late | twice) ;;
	polls | wakes) level=$how ;;
	*) secs=$how ;;
	esac
	[ "$how" = twice ] && secs=4
	[ "$how" = late ] && secs=3
	dir=$work/$row
	rm -rf "$dir"
	mkdir -p "$dir/theirs" "$dir/ours"
	coproc T {
		exec nice -n -10 "$build/release/truth" --out "$dir/theirs/t.bin" --secs "$secs" \
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
	rm -f "$work/facts.row"
	"$build/match" -v "${judge[@]}" -l "$level" -c "$workers" -n "$row" -f "$work/facts.row" "${windows[@]}" \
		"$dir/theirs/t.0.bin" "$dir/ours" 2>"$dir/more"
	local rc=$?
	[ $rc = 0 ] || cat "$dir/more"
	sed -n 's/^ran [^ ]* \(.\)/  \1/p' "$dir/said"
	case $row in storm@[0-9]) sed -n 's/^ran .*spawns_per_s //p' "$dir/said" >>"$work/rates" ;; esac
	[ -n "$keep" ] || [ "$row" = "$mutate_row" ] || rm -rf "$dir"
	[ $status = 0 ] || return 1
	return $rc
}

settle() { # settle ROW: again while only times differ
	local rc again
	for again in 0 1 2 3 4; do
		one "$1"
		rc=$?
		[ $rc = 4 ] || break
	done
	[ ! -s "$work/facts.row" ] || sed "s/\$/ again=$again/" "$work/facts.row" >>"$facts"
	return $rc
}

# One thing at a time is broken in a trace that was equal; each must be noticed.
mutations() { # sets missed
	local how dir=$work/$mutate_row found
	found=$(find "$dir/ours" -name 'trace.0.*')
	read -r -a windows <"$dir/windows"
	for how in $("$build/mutate" --list); do
		"$build/mutate" "$how" "$found" "$dir/mutated" || return 1
		row=$("$build/match" "${judge[@]}" -n "$how" "${windows[@]}" "$dir/theirs/t.0.bin" "$dir/mutated" 2>&1)
		if [ $? = 1 ]; then
			[ "$how" = none ] && missed=$((missed + 1)) || noticed=$((noticed + 1))
			echo "mutation $how: noticed:${row##*DIFFERS:}"
		else
			[ "$how" = none ] || missed=$((missed + 1))
			echo "mutation $how: ${row##*  }"
		fi
	done
}

# Puts standard input between the marks of that name in FILE.
put_table() { # FILE [MARK]
	local mark=${2:-make truth}
	{
		sed "/<!-- $mark -->/q" "$1"
		cat
		sed -n "/<!-- \/$mark -->/,\$p" "$1"
	} >"$work/page" && grep -q "<!-- /$mark -->" "$work/page" && cat "$work/page" >"$1"
}

tables() {
	local end="${#rows[@]} workloads, $failed differ; $noticed of $noticed mutations noticed"

	[ $missed = 0 ] || end="${#rows[@]} workloads, $failed differ; $missed mutations NOT noticed"
	end="$end; storm: up to $(sort -n "$work/rates" | tail -n 1) spawns a second. Linux $(uname -r), $(nproc)
CPUs, Tokio $(sed -n 's/^tokio = .*"=\([0-9.]*\)".*/\1/p' "$here/Cargo.toml"), dial9 $(sed -n \
		's/^dial9-tokio-telemetry = .*"=\([0-9.]*\)".*/\1/p' "$here/Cargo.toml")."
	{ awk -v kind=short -v cpus="$(nproc)" -f "$here/table.awk" "$facts"; printf '\n%s\n' "$end"; } | put_table "$root/README.md"
	awk -v kind=long -v cpus="$(nproc)" -f "$here/table.awk" "$facts" | put_table "$here/README.md"
	awk -v kind=levels -f "$here/table.awk" "$facts" | put_table "$here/README.md" "make truth, levels"
}

mutate_row=timers@2
failed=0 missed=0 noticed=0
facts=$work/facts
: >"$facts"
if [ $mutate = 1 ] && [[ " ${rows[*]} " != *" $mutate_row "* ]]; then
	rows+=("$mutate_row")
fi
"$build/match" -H
for row in "${rows[@]}"; do
	settle "$row" || failed=$((failed + 1))
done
[ $mutate = 0 ] || mutations || missed=$((missed + 1))
echo "${#rows[@]} workloads, $failed differ; $missed mutations unnoticed"
[ $is_full = 0 ] || tables
[ $failed = 0 ] && [ $missed = 0 ]
