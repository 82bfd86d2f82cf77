#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Real programs with one known mistake each, and one without: `dial9-view issues` names the mistake,
# its task type and its place, and finds nothing else critical. Once with frame pointers and symbols,
# once stripped, where the place is the system call, or where the task was spawned.

load helpers

# The target's threads go before everything else, so that what else runs here is no mistake of its.
before_others() { chrt --all-tasks --fifo --pid 5 "$TARGET"; }

planted() { # PROFILE MISTAKE [COMMAND to run while it is recorded]
	target_start newest "$1" --mode "planted-$2" --secs 30
	target_go
	"${3:-before_others}"
	agent_start --level full --duration 4s
	agent_end
	"$VIEW" issues --json "$TRACES" >"$T/issues"
	"$VIEW" issues "$TRACES"
}

# All critical findings, as "KIND TYPE PLACE".
critical() {
	jq -r '.recordings[0].issues[] | select(.severity == "critical") |
		"\(.kind) \(.type // "-" | gsub(".*/test/targets/rich/"; "")) \(.place // "-")"' "$T/issues"
}

# The line in the source where the task of FUNCTION begins, as stripped types name it.
is_in() { # FUNCTION TEXT
	local line from to
	line=$(sed -n 's/^[^ ]* planted\.rs:\([0-9]*\):.*/\1/p' <<<"$2")
	from=$(grep -n "^fn $1(" "$ROOT/test/targets/rich/planted.rs" | cut -d: -f1)
	to=$(tail -n "+$from" "$ROOT/test/targets/rich/planted.rs" | grep -n '^}' | head -n 1 | cut -d: -f1)
	[ "$line" -gt "$from" ] && [ "$line" -lt $((from + to)) ]
}

one_critical() { # PATTERN: there is just one, and it looks like this
	critical >"$T/critical"
	cat "$T/critical"
	[ "$(wc -l <"$T/critical")" = 1 ]
	[[ $(cat "$T/critical") == $1 ]]
}

hogs() { # four that never sleep, for two workers
	local i
	for i in 1 2 3 4; do
		nice -n -5 sh -c 'while :; do :; done' 3>&- &
		PIDS+=($!)
	done
}

@test "a blocking call of 100 ms in a poll" {
	planted release-fp blocking
	one_critical 'long-poll rich::planted::blocking::* clock_nanosleep in rich::planted::blocking::*'
	[ "$(jq '.recordings[0].issues[0] | .worst_ns >= 100000000 and .worst_ns < 200000000' "$T/issues")" = true ]
}
@test "a blocking call of 100 ms in a poll, stripped" {
	planted stripped blocking
	one_critical 'long-poll planted.rs:* clock_nanosleep'
	is_in blocking "$(cat "$T/critical")"
}
@test "a lock convoy in polls" {
	planted release-fp convoy
	one_critical 'lock-in-poll rich::planted::convoy::* futex in rich::planted::convoy::*'
}
@test "a lock convoy in polls, stripped" {
	planted stripped convoy
	one_critical 'lock-in-poll planted.rs:* futex'
	is_in convoy "$(cat "$T/critical")"
}
@test "a wake storm" {
	planted release-fp storm
	one_critical 'wake-storm rich::planted::storm::* rich::planted::storm::*'
}
@test "a wake storm, stripped" {
	planted stripped storm
	one_critical 'wake-storm planted.rs:* *planted.rs:*'
	is_in storm "$(cat "$T/critical")"
}
@test "workers without CPU" {
	planted release-fp busy hogs
	one_critical 'cpu-starved rich::planted::well_behaved::* preempted in rich::planted::*'
}
@test "workers without CPU, stripped" {
	planted stripped busy hogs
	one_critical 'cpu-starved planted.rs:* preempted in *planted.rs:*'
}
@test "a healthy program: nothing critical" {
	planted release-fp healthy
	[ -z "$(critical)" ]
	[ "$("$VIEW" polls --json "$TRACES" | jq '.recordings[0].known')" -gt 1000 ]
}
@test "a healthy program, stripped: nothing critical" {
	planted stripped healthy
	[ -z "$(critical)" ]
	[ "$("$VIEW" polls --json "$TRACES" | jq '.recordings[0].known')" -gt 1000 ]
}
