#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tokio inside a shared object that a foreign program loaded: python3 has none of its own.

load helpers

# A python3 that has loaded the library and waits for the go-file before it runs Tokio for SECS.
loaded() { # PROFILE SECS
	local lib
	lib=$(sh "$ROOT/test/targets/build.sh" newest "$1" cdylib)
	rm -f "$T/go"
	python3 "$ROOT/test/targets/shared/load.py" "$lib" "$2" "$T/go" >"$T/target.out" 2>"$T/target.err" 3>&- &
	TARGET=$!
	PIDS+=("$TARGET")
	wait_for 20 grep -q '^ready' "$T/target.out"
}

@test "a cdylib in python3, recorded from before its runtime starts: every poll" {
	local own seen
	loaded release 3
	agent_start --level full
	target_go
	target_end
	agent_end
	verify
	events >"$T/events"
	own=$(sed -n 's/^polls //p' "$T/target.out")
	seen=$(grep -cE '"event":"(PollStartEvent|agent:NestedPoll)"' "$T/events")
	say "polls $seen, own count $own"
	measured "polls $seen, own count $own"
	[ "$own" -gt 1000 ]
	[ "$seen" = "$own" ]
	[ "$(grep -c '"event":"TaskSpawnEvent"' "$T/events")" -gt 0 ]
	[ "$(grep -c '"event":"WakeEventEvent"' "$T/events")" -gt 0 ]
	[ "$(grep -c '"event":"WorkerParkEvent"' "$T/events")" -gt 0 ]
	lossless "$T/events"
}

@test "two versions of Tokio in one process: each poll told apart" {
	local libs polls
	libs=$(sh "$ROOT/test/targets/build.sh" newest release cdylib),$(sh "$ROOT/test/targets/build.sh" 1.38 release cdylib)
	python3 "$ROOT/test/targets/shared/load.py" "$libs" 2 "$T/go" >"$T/target.out" 2>"$T/target.err" 3>&- &
	TARGET=$!
	PIDS+=("$TARGET")
	wait_for 20 grep -q '^ready' "$T/target.out"
	agent_start --level full
	target_go
	target_end
	agent_end
	verify # the two count their tasks alike: were they mixed up, ids would be used twice
	events >"$T/events"
	# which of the two is the first depends on where they lie
	polls=$(jq -r 'select(.event == "PollStartEvent") | .fields.task_id / pow(2; 48) | floor' "$T/events" | sort | uniq -c | awk '{ print $1 }' | sort)
	say "$polls"
	diff <(echo "$polls") <(sed -n 's/^polls \([0-9]*\) .*/\1/p' "$T/target.out" | sort)
	[ "$(grep -c '"event":"TaskSpawnEvent"' "$T/events")" = 20 ]
	[ "$(grep -c '"event":"TaskTerminateEvent"' "$T/events")" = 20 ]
	grep -qE '"tokio.copy.1":"1\.(54|38)\.' "$T/events"
	lossless "$T/events"
	measured "polls" $polls
}

@test "a cdylib in python3, stripped, attached while it runs" {
	loaded stripped 60
	target_go
	sleep 0.5
	agent_start --level full --duration 2s
	agent_end
	verify
	[ "$(events | grep -c PollStartEvent)" -gt 1000 ]
	code_is_clean "$TARGET"
	no is_gone "$TARGET"
}

@test "--wait: a python3 without Tokio is waited for until it imports some" {
	local lib
	lib=$(sh "$ROOT/test/targets/build.sh" newest release cdylib)
	python3 - "$ROOT/test/targets/shared/load.py" "$lib" "$T/load" "$T/go" >"$T/target.out" 2>"$T/target.err" 3>&- <<-'T' &
		import os, runpy, sys, time
		script, lib, load, go = sys.argv[1:]
		print("up", flush=True)
		while not os.path.exists(load):
		    time.sleep(0.01)
		sys.argv = [script, lib, "2", go]
		runpy.run_path(script, run_name="__main__")
	T
	TARGET=$!
	PIDS+=("$TARGET")
	wait_for 20 grep -q '^up' "$T/target.out"
	agent_try --pid "$TARGET"
	refused 1 'carries no Tokio.*--wait'
	"$AGENT" --level full --trace-dir "$TRACES" --pid "$TARGET" --wait >"$T/agent.out" 2>"$T/agent.err" 3>&- &
	AGENT_PID=$!
	PIDS+=("$AGENT_PID")
	sleep 1
	grep -q waiting "$T/agent.err"
	: >"$T/load"
	wait_for 20 is_ready
	target_go
	target_end
	agent_end
	verify
	[ "$(events | grep -c '"event":"PollStartEvent"')" = "$(sed -n 's/^polls //p' "$T/target.out")" ]
}
