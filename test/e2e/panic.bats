#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A program that panics says and does the same with every probe on as without the agent.

load helpers

# What differs from run to run: the pid and thread ids. The rest must be equal to the byte.
plain() { sed -E "s/^pid [0-9]+/pid N/; s/^(thread '[^']*') \([0-9]+\)/\1 (N)/" "$1"; }

same_with_agent() { # PROFILE BACKTRACE ARGS...
	local bin profile=$1 rc
	bin=$(rich newest "$profile")
	[ "$2" = unset ] || export RUST_BACKTRACE=$2
	shift 2
	: >"$T/go"
	"$bin" --go-file "$T/go" "$@" >"$T/alone.out" 2>"$T/alone.err" 3>&- &
	PIDS+=($!)
	wait_end $! 30
	rc=$RC

	target_run "$bin" "$@"
	agent_start --level full
	target_go
	wait_end "$TARGET" 30
	say "exit code $RC, without the agent $rc"
	[ "$RC" = "$rc" ]
	diff <(plain "$T/alone.out") <(plain "$T/target.out")
	diff <(plain "$T/alone.err") <(plain "$T/target.err")
	agent_end
	verify
	# it was under probe, and its panics were on standard error
	[ "$(events | grep -c PollStartEvent)" -gt 0 ]
	grep -q panicked "$T/alone.err"
}

@test "a task panics: same output and exit code" {
	same_with_agent release unset --mode panic --count 3
}

@test "a task panics with RUST_BACKTRACE=1: same output and exit code" {
	same_with_agent release 1 --mode panic --count 3
	grep -q 'stack backtrace' "$T/target.err"
}

@test "a task panics in a stripped fat-LTO build, RUST_BACKTRACE=1: same output and exit code" {
	same_with_agent stripped-unwind 1 --mode panic --count 3
}


@test "the main future panics: same output and exit code" {
	same_with_agent release 1 --mode panic-exit --secs 0.5
}

@test "the main future panics in a panic=abort build: same output, killed by SIGABRT" {
	same_with_agent stripped 1 --mode panic-exit --secs 0.5

}
