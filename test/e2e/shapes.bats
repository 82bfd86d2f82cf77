#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Shapes of programs beyond those of rich (count.bats): who drives a runtime, and what a process
# does to itself while it is recorded.

load helpers

shapes() { # PROFILE: path of the built target
	sh "$ROOT/test/targets/shapes.sh" "$1"
}

# Starts MODE, held back by its go-file, with its own log of what it did.
shape_start() { # PROFILE MODE [ARGS...]
	local bin
	bin=$(shapes "$1")
	target_run "$bin" --mode "$2" --log "$T/truth" "${@:3}"
}

compare() { # [LOG]: the trace against the program's own log
	events | python3 "$ROOT/test/e2e/truth.py" "${1:-$T/truth}" >"$T/figures" ||
		{ cat "$T/figures" "$T/agent.err"; return 1; }
	measured "$(head -n 1 "$T/figures")"
}

sound() { # the trace keeps its invariants, and each poll in it has a reason
	verify >"$T/verify" || { cat "$T/verify"; return 1; }
}

# Records MODE from before its start to its end.
equal_to_truth() { # PROFILE MODE
	shape_start "$1" "$2"
	agent_start --level full
	target_go
	target_end
	agent_end
	sound
	compare
}


@test "a current_thread runtime driven by four threads in turn" {
	equal_to_truth release shared-core
}

@test "LocalRuntime, two of them" {
	equal_to_truth stripped local-runtime
}

@test "LocalSets on threads of their own beside a multi_thread runtime" {
	equal_to_truth stripped local-sets
}

@test "a runtime and block_on inside blocking tasks" {
	equal_to_truth stripped in-blocking
}

@test "workers handed over by block_in_place all the time" {
	equal_to_truth stripped hand-off
}

@test "rayon beside Tokio: wakes and spawns by its threads" {
	equal_to_truth stripped rayon
}

@test "threads and runtimes made before and after the attach" {
	equal_to_truth stripped threads
}

# Children of fork and their parent, recorded from before the second and third fork.
forking() { # PROFILE
	shape_start "$1" fork "$T/children" "$T/end"
	agent_start --level full
	target_go
	wait_for 30 grep -q '^worked' "$T/target.out"
	wait_for 30 has_lines "$T/children" 3
	agent_stop
	cat "$T/children"
}
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE COUNT

@test "children forked before, during and inside polls: unharmed, clean, not recorded as the parent" {
	local child
	forking stripped
	sound
	compare
	# each did what it would have done alone: 3 polls of each of 100 tasks; 200 yields of the forker,
	# and whatever else its copied worker polled meanwhile
	[ "$(grep -c '^outside [0-9]* 300$' "$T/children")" = 2 ]
	[ "$(sed -n 's/^inside [0-9]* //p' "$T/children")" -ge 200 ]
	for child in $(awk '{ print $2 }' "$T/children"); do
		code_is_clean "$child"
		no grep -q "\"tid\":$child[,}]" <(events)
	done
	code_is_clean "$TARGET"
	: >"$T/end"
	target_end
}

@test "exec into another Tokio program: the first recording ends, a second one begins" {
	local bin next
	bin=$(shapes stripped)
	next="$(rich newest release) --mode all --secs 2 --log $T/truth2 --go-file $T/go2"
	shape_start stripped exec "$next"
	agent_start --level full
	target_go
	WANTED_READY=2
	wait_for 30 is_ready_or_gone
	is_ready || { cat "$T/agent.err"; return 1; }
	: >"$T/go2"
	target_end
	agent_end
	cat "$T/agent.err"
	grep -q 'became another program (exec)' "$T/agent.err"
	sound
	# the segments of each session against the log of its program
	[ "$(ls "$TRACES"/*/trace.*.bin.zst | wc -l)" = 2 ]
	"$VIEW" dump --json "$TRACES"/*/trace.0.bin.zst | python3 "$ROOT/test/e2e/truth.py" "$T/truth"
	"$VIEW" dump --json "$TRACES"/*/trace.1.bin.zst | python3 "$ROOT/test/e2e/truth.py" "$T/truth2"
}

@test "exec into a program without Tokio: the recording ends and says so" {
	shape_start stripped exec "/bin/sleep 60"
	agent_start --level full
	target_go
	agent_end 30
	cat "$T/agent.err"
	grep -q 'became another program (exec)' "$T/agent.err"
	grep -q 'carries no Tokio' "$T/agent.err"
	sound
	compare
	no is_gone "$TARGET"
	code_is_clean "$TARGET"
}

@test "a library with a Tokio of its own, loaded while recorded: both are recorded from then on" {
	local lib own seen
	lib=$(sh "$ROOT/test/targets/build.sh" 1.38 release cdylib)
	shape_start stripped dlopen "$lib" "$T/guest-go"
	agent_start --level full
	target_go
	WANTED_READY=2
	wait_for 30 is_ready_or_gone
	is_ready || { cat "$T/agent.err"; return 1; }
	: >"$T/guest-go"
	target_end
	agent_end
	cat "$T/agent.err"
	[ "$(grep -c ': recording pid' "$T/agent.err")" = 2 ]
	sound
	events >"$T/events"
	own=$(sed -n 's/^guest polls //p' "$T/target.out")
	# whose they are, the spawn place tells as well as the id
	seen=$(jq -r 'select(.event == "PollStartEvent" and .fields.task_id >= pow(2; 48)) | 1' "$T/events" | wc -l)
	say "guest polls $seen, own count $own"
	measured "polls of the loaded Tokio $seen, own count $own"
	[ "$seen" = "$own" ]
	lossless "$T/events"
}
