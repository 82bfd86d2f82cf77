#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What level stat shows, held against the program's own log (shown.py): shares of the CPU, blocks
# inside polls, long polls as candidates and confirmed by a closer look, and no long poll where
# there is none.

load ../e2e/helpers

is_stat() { grep -q 'no probe is left in it' "$T/agent.err"; }
changes() { grep -c "debug: pid $TARGET: level " "$T/agent.err" || :; }
changed() { [ "$(changes)" -ge "$1" ]; } # TIMES

# The target's threads go before everything else: what is planted is what happens.
before_others() { chrt --all-tasks --fifo --pid 5 "$TARGET"; }

ends() { # the target has been asked to end; the agent ends with it
	target_end 60
	agent_end
	verify
}

shown() { # WHAT [HZ]
	events >"$T/events"
	python3 "$BATS_TEST_DIRNAME/shown.py" "$1" "$T/target.out" "${2:-99}" <"$T/events" >"$T/shown" || {
		cat "$T/shown" "$T/agent.err"
		grep '"agent:Level"' "$T/events"
		false
	}
	measured "$(tail -n 1 "$T/shown")"
}

cpu_ticks() { sed 's/.*) //' "/proc/$TARGET/stat" | awk '{ print $12 + $13 }'; }
has_used() { [ "$(cpu_ticks)" -ge "$1" ]; } # TICKS of 10 ms

@test "CPU share of each type: stat's samples, full's polls and the program agree" {
	local i before
	target_start newest stripped --mode shown-shares --secs 300
	target_go
	agent_start --verbose --level stat --cpu-hz 997 --on-demand full:1s
	wait_for 15 is_stat
	for i in 1 2 3; do # windows at stat and at full by turns; by CPU time, however busy the machine is
		wait_for 60 has_used $(($(cpu_ticks) + 280))
		before=$(changes)
		kill -USR1 "$AGENT_PID"
		wait_for 10 changed $((before + 2))
	done
	kill -TERM "$TARGET"
	ends
	shown shares
}

@test "blocks of 1 ms in polls are shown, with task, kind and length, and no other" {
	target_start newest stripped --mode shown-blocks --secs 6
	target_go
	agent_start --level stat
	ends
	shown blocks
	[ "$(grep -c 'a park, or a sleep' "$T/agent.out")" = 0 ] # the word tells them apart
}

long_of() { # MS HZ LIMIT
	target_start newest stripped --mode shown-long --count "$1" --secs 300
	target_go
	before_others
	agent_start --level stat --cpu-hz "$2" --on-demand "full:1s,poll>$3"
	wait_for 30 is_stat # wakes in polls are rare here, and what it learns from
	sleep 5
	kill -TERM "$TARGET"
	ends
	shown long "$2"
}

@test "every poll that keeps the CPU for 31 ms is a candidate at 99 Hz, and confirmed" { long_of 31 99 15ms; }
@test "every poll that keeps the CPU for 4 ms is a candidate at 997 Hz, and confirmed" { long_of 4 997 1500us; }

@test "a loop of yields and two tasks at ping-pong: looked at, and no long poll" {
	target_start newest stripped --mode shown-short --secs 5
	target_go
	agent_start --level stat --cpu-hz 997 --on-demand 'full:300ms,poll>10ms'
	ends
	shown short
}
