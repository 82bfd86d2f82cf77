#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Left on: does the agent stay as it was after its first minute?
#   run.sh [--short] [SECONDS]            make soak; make soak SECS=3600
# Records two programs at the default level, one that does all a task can do (runtimes come and go,
# threads are born and die), one that spawns tasks all the time, with short segments and a disk
# budget that is used up soon, and a closer look now and then. Ten samples a second of the agent's
# memory, descriptors and threads and of the disk; at the end what is left of the trace is verified.
# TAP, then the figures. --short: 24 seconds.
set -u
cd "$(dirname "$0")/../.." || exit 1
BATS_TEST_DIRNAME=$PWD/test/e2e
. test/e2e/helpers.bash
secs=600
for arg; do
	case $arg in --short) secs=24 ;; *) secs=$arg ;; esac
done
[ "$(id -u)" = 0 ] || { echo 'soak: recording needs root: sudo make soak' >&2; exit 1; }
BATS_TEST_TMPDIR=$(mktemp -d)
trap 'teardown; rm -rf "$BATS_TEST_TMPDIR"' EXIT
trap 'exit 130' INT TERM HUP
setup
DISK_MB=1 # of each program: reached within seconds
MEMORY_MB=200 # of the agent
HELD_MB=4 # what the agent keeps in reserve for a segment that is being written, and directories

bin=$(rich newest stripped) || exit 1
target_run "$bin" --mode all --secs "$secs" || exit 1
first=$TARGET
cp "$T/target.out" "$T/first.out"
target_run "$bin" --mode storm --secs "$secs" --rate 20000 --workers 1 || exit 1
second=$TARGET
: >"$T/agent.err" # the shell below may empty it only after is_ready has looked
"$AGENT" --pid "$first" --pid "$second" --trace-dir "$TRACES" --rotation-secs 2 \
	--max-disk-usage-mb $DISK_MB --max-file-size-mb 1 --on-demand full:2s --json >"$T/agent.out" 2>"$T/agent.err" &
AGENT_PID=$!
PIDS+=("$AGENT_PID")
WANTED_READY=2
wait_for 30 is_ready_or_gone
is_ready || { cat "$T/agent.err" >&2; exit 1; }
target_go

sample() { # secs, RSS in KiB, descriptors, threads, KiB of the trace
	local status
	status=$(cat "/proc/$AGENT_PID/status" 2>/dev/null) || return 1
	printf '%s %s %s %s %s\n' "$SECONDS" "$(sed -n 's/VmRSS:[^0-9]*\([0-9]*\).*/\1/p' <<<"$status")" \
		"$(ls "/proc/$AGENT_PID/fd" | wc -l)" "$(sed -n 's/Threads:[^0-9]*//p' <<<"$status")" \
		"$(du -sk "$TRACES" 2>/dev/null | cut -f 1)"
}
SECONDS=0 looks=0
while [ $SECONDS -lt "$secs" ] && ! is_gone "$AGENT_PID"; do
	sample >>"$T/samples" || break
	[ $((SECONDS / 4)) -le $looks ] || { looks=$((SECONDS / 4)); kill -USR1 "$AGENT_PID"; }
	[ ! -t 2 ] || printf '\rsoak: %d of %d s ' "$SECONDS" "$secs" >&2
	sleep 0.1
done
[ ! -t 2 ] || printf '\r\033[K' >&2

nr=0 failed=0
check() { # NAME COMMAND...: one TAP line
	local name=$1
	shift
	nr=$((nr + 1))
	if "$@" >"$T/why" 2>&1; then
		echo "ok $nr - $name"
	else
		failed=$((failed + 1))
		echo "not ok $nr - $name"
		tail -n 20 "$T/why" | sed 's/^/# /'
	fi
}
both_end() { # as they would have without the agent
	local p
	for p in "$first" "$second"; do
		wait_end "$p" 60
		[ "$RC" = 0 ] || { say "pid $p exits with $RC"; return 1; }
	done
}
# The last quarter beside the second one; the first is warming up.
steady() { # COLUMN SLACK: the greatest of the last quarter is no more than that above
	awk -v column="$1" -v slack="$2" '
		{ v[NR] = $column }
		END {
			for (i = int(NR / 4) + 1; i <= NR / 2; i++) if (v[i] > a) a = v[i]
			for (i = int(NR * 3 / 4) + 1; i <= NR; i++) if (v[i] > b) b = v[i]
			printf "%d in the second quarter, %d in the last\n", a, b
			exit !(NR >= 40 && b <= a + slack)
		}' "$T/samples"
}
below() { # COLUMN MAX
	awk -v column="$1" -v max="$2" '$column > max { print "after " $1 " s: " $column; bad = 1 } END { exit bad }' "$T/samples"
}
disk_kept() {
	below 5 $((2 * (DISK_MB + HELD_MB) * 1024))
}
evicted() { # else nothing was tried
	jq -es 'length == 2 and all(.segments_evicted > 0)' "$T/agent.out"
}
nothing_lost() {
	jq -es 'all(.lost == [] and .unwritten_events == 0)' "$T/agent.out" || { cat "$T/agent.out"; return 1; }
}

echo 1..9
check 'both programs end as they would have' both_end
check 'the agent ends by itself and well' agent_end
# in half a minute buffers still fill, and threads that take probes out may lag behind
if [ "$secs" -lt 120 ]; then
	check "its memory stays below $MEMORY_MB MiB" below 2 $((MEMORY_MB * 1024))
	check 'it has few descriptors' below 3 160
	check 'it has few threads' below 4 32
else
	check 'its memory does not grow' steady 2 8192
	check 'it keeps no descriptor' steady 3 4
	check 'it keeps no thread' steady 4 4
fi
check 'the disk budget is kept' disk_kept
check 'oldest segments were evicted' evicted
check 'no event was lost' nothing_lost
check 'what is left of the trace is sound' verify
awk '{ if ($2 > rss) rss = $2; if ($3 > fd) fd = $3; if ($5 > kb) kb = $5 }
	END { printf "measured: %d s, at most %d KiB of memory, %d descriptors, %d KiB of disk\n", $1, rss, fd, kb }' "$T/samples"
exit $((failed > 0))
