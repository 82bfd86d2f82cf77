#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Programs as their makers ship them, from the npm registry: found, attached while they do real
# work, recorded whole. They are kept in build/shipped between runs.

load helpers

SHIPPED=$BUILD/shipped

# Starts NAME's work; TARGETS are its Tokio processes, TARGET is the last of them.
works() { # NAME SECS
	local p
	sh "$ROOT/test/targets/shipped.sh" "$SHIPPED" "$1" >"$T/path"
	sh "$ROOT/test/targets/shipped_work.sh" "$1" "$SHIPPED" "$2" >"$T/work.out" 2>"$T/work.err" 3>&- &
	WORK=$!
	PIDS+=("$WORK")
	wait_for 60 grep -q '^pid' "$T/work.out"
	sleep 0.5 # biome has two, a proxy and a daemon
	TARGETS=()
	for p in $(sed -n 's/^pid \([0-9]*\) .*/\1/p' "$T/work.out"); do
		TARGETS+=(--pid "$p")
		TARGET=$p
	done
}

# Ends the work; its own processes go with it.
work_ends() {
	wait_end "$WORK" 60
	cat "$T/work.out" "$T/work.err"
	[ "$RC" = 0 ]
}

recorded_at_work() { # NAME TOKIO
	works "$1" 8
	agent_try --dry-run --json --pid "$TARGET"
	cat "$T/agent.err"
	[ "$RC" = 0 ]
	jq -r '.files[] | select(.tokio != "") | "\(.path): tokio \(.tokio), \(.types) types"' "$T/agent.out" >"$T/found"
	cat "$T/found"
	grep -q "tokio $2" "$T/found"
	agent_start "${TARGETS[@]}" --level full --duration 4s
	agent_end
	cat "$T/agent.out"
	code_is_clean "$TARGET"
	verify >"$T/verify" || { cat "$T/verify"; return 1; }
	cat "$T/verify"
	# every poll is paired, and no task is on two workers at once: verify looked at both
	grep -qE 'ok +poll starts and ends alternate per worker' "$T/verify"
	grep -qE 'ok +no task is polled on two workers at once' "$T/verify"
	events >"$T/events"
	[ "$(grep -c '"event":"PollStartEvent"' "$T/events")" -gt 100 ]
	lossless "$T/events"
	measured "$(cat "$T/found" | sed 's|.*/||'), $(grep -c '"event":"PollStartEvent"' "$T/events") polls, $(grep -c '"event":"WakeEventEvent"' "$T/events") wakes, $(sed -n 's/.*attached in \(.*\)/attached in \1/p' "$T/agent.out")"
	work_ends
}

@test "turbo: static musl, stripped" {
	recorded_at_work turbo 1
}

@test "biome: glibc" {
	recorded_at_work biome 1
}

@test "biome: static musl" {
	recorded_at_work biome-musl 1
}

@test "deno: 100 MB, attached within time and memory" {
	local began ready peak size
	works deno 20
	size=$(stat -L -c %s "/proc/$TARGET/exe")
	cat "/proc/$TARGET/exe" >/dev/null # warm page cache, as on a machine where it has run
	began=$(date +%s%N)
	agent_start --level full --cpu-hz 0
	ready=$((($(date +%s%N) - began) / 1000000))
	peak=$(awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$AGENT_PID/status")
	sleep 2
	agent_stop
	code_is_clean "$TARGET"
	verify >"$T/verify" || { cat "$T/verify"; return 1; }
	[ "$(events | grep -c '"event":"PollStartEvent"')" -gt 100 ]
	measured "$((size >> 20)) MiB, start to ready $ready ms (goal 250), peak $peak MiB with rings (goal 64), $(sed -n 's/.*attached in \(.*\)/attached in \1/p' "$T/agent.out")"
	# the time is printed, not judged: it depends on what else the machine does
	[ "$peak" -le 128 ]
	kill "$TARGET"
}
