#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The agent is killed with SIGKILL at random moments: the program it recorded goes on unharmed,
# no probe stays, and what was recorded can be read up to a second before.

load helpers

# One life of the agent: killed after a random time, in half of the rounds before it records.
kill_round() { # NUMBER
	local n=$1 killed last late ready=0
	rm -rf "$TRACES"
	: >"$T/agent.err"
	"$AGENT" --pid "$TARGET" --trace-dir "$TRACES" --level full >"$T/agent.out" 2>"$T/agent.err" 3>&- &
	AGENT_PID=$!
	PIDS+=("$AGENT_PID")
	if [ $((n % 2)) = 0 ]; then
		wait_for 30 is_ready_or_gone
		ready=$(now_ns)
		sleep "0.$((RANDOM % 9))$((RANDOM % 10))"
		[ $((n % 10)) != 0 ] || sleep 1.5
	else
		sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
	fi
	is_gone "$AGENT_PID" && { say "round $n: the agent was gone before it was killed"; cat "$T/agent.err"; return 1; }
	killed=$(now_ns)
	kill -KILL "$AGENT_PID"
	wait "$AGENT_PID" || :
	forget "$AGENT_PID"

	is_gone "$TARGET" && { say "round $n: the target died"; cat "$T/target.err"; return 1; }
	code_is_clean "$TARGET"
	[ $ready != 0 ] || return 0
	recorded=$((recorded + 1))
	verify >"$T/verify.out" || { say "round $n"; cat "$T/verify.out"; return 1; }
	# the last event may be one flush old, and one more flush may have been under way
	last=$(events 2>/dev/null | jq -s "map(.ts_ns) + [$ready] | max")
	late=$(((killed - last) / 1000000))
	[ "$late" -le "$worst_ms" ] || worst_ms=$late
	[ "$late" -le 1500 ] || { say "round $n: the trace ends $late ms before the kill"; return 1; }
}

@test "60 kills at random moments: target unharmed, code clean, segments readable to within a second" {
	local n polls recorded=0 worst_ms=0
	target_start newest stripped --mode steady --rate 2000 --secs 600
	target_go
	"$CODEBYTES" "$TARGET"
	for n in $(seq 60); do
		kill_round "$n"
	done
	[ "$recorded" -ge 25 ]
	measured "$recorded of 60 were recording; the trace ended at most $worst_ms ms before the kill"

	# the next recorder finds the directory as the killed ones left it
	agent_start --level full
	sleep 1
	agent_stop
	# it has sealed the killed one's segment as it was, so one may end in the middle
	"$VIEW" verify "$TRACES" >"$T/verify.out" || [ $? = 3 ]
	no grep -q BROKEN "$T/verify.out"
	kill -TERM "$TARGET"
	target_end
	grep -q '^total ' "$T/truth"
}

@test "codebytes sees a probe while the agent records, none before and none after" {
	target_start newest stripped --mode steady --rate 1000 --secs 60
	"$CODEBYTES" "$TARGET"
	agent_start --level full
	run "$CODEBYTES" "$TARGET"
	[ "$status" = 1 ]
	[[ $output = *"cc in memory"* ]]
	agent_stop
	code_is_clean "$TARGET"
}

@test "a second process of the same binary keeps clean code while the first is recorded" {
	local other
	target_start newest stripped --mode steady --rate 1000 --secs 60
	"$(rich newest stripped)" --mode idle --secs 60 --quiet >/dev/null 2>&1 3>&- &
	other=$!
	PIDS+=("$other")
	agent_start --level full
	"$CODEBYTES" "$other"
	agent_stop
}
