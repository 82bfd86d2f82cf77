#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What is recorded equals the program's own log: every task, every poll, spawn and end, for each
# Tokio version as it would be shipped (fat LTO, panic=abort, stripped) and for other builds.

load helpers

# Records a run of everything that rich can do, from before its start to its end.
equal_to_truth() { # VERSION PROFILE ARGS...
	target_start "$@"
	agent_start --level full
	target_go
	target_end
	agent_end
	verify >"$T/verify" || { cat "$T/verify"; return 1; }
	events | python3 "$ROOT/test/e2e/truth.py" "$T/truth" >"$T/figures" || { cat "$T/figures" "$T/agent.err"; return 1; }
	measured "$(head -n 1 "$T/figures")"
}

@test "Tokio 1.24, stripped fat LTO, panic=abort: equal to its own log" {
	equal_to_truth 1.24 stripped --mode all --secs 4
}

@test "Tokio 1.32, stripped fat LTO, panic=abort: equal to its own log" {
	equal_to_truth 1.32 stripped --mode all --secs 4
}

@test "Tokio 1.38, stripped fat LTO, panic=abort: equal to its own log" {
	equal_to_truth 1.38 stripped --mode all --secs 4
}

@test "Tokio 1.43, stripped fat LTO, panic=abort: equal to its own log" {
	equal_to_truth 1.43 stripped --mode all --secs 4
}

@test "Tokio 1.47, stripped fat LTO, panic=abort: equal to its own log" {
	equal_to_truth 1.47 stripped --mode all --secs 4
}

@test "Tokio newest, stripped fat LTO, panic=abort: equal to its own log" {
	equal_to_truth newest stripped --mode all --secs 4
}

@test "newest Tokio, a debug build: equal to its own log" {
	equal_to_truth newest debug --mode all --secs 4
}

@test "newest Tokio, a release build: equal to its own log" {
	equal_to_truth newest release --mode all --secs 4
}

@test "newest Tokio, release with frame pointers: equal to its own log" {
	equal_to_truth newest release-fp --mode all --secs 4
}

@test "newest Tokio, stripped fat LTO, panic=unwind, tasks that panic: equal to its own log" {
	equal_to_truth newest stripped-unwind --mode all --secs 4
}

@test "newest Tokio, tokio_unstable: equal to its own log" {
	equal_to_truth newest unstable --mode all --secs 4
}

@test "more workers than cores: equal to its own log" {
	equal_to_truth newest stripped --mode all --workers 8 --secs 4
}

@test "level polls: every poll, ends inferred and said to be so" {
	target_start newest stripped --mode steady --rate 5000 --secs 3
	agent_start --level polls
	target_go
	target_end
	agent_end
	verify
	events >"$T/events"
	# polls to the number; spawns, wakes and exact ends are not this level's
	own=$(awk '$1 == "mark" && $3 == "go" { go = $2 } $1 == "poll" { t[NR] = $4 } END { for (i in t) n += t[i] >= go; print n }' "$T/truth")
	seen=$(grep -cE '"event":"(PollStartEvent|agent:NestedPoll|agent:Blocking)"' "$T/events")
	say "polls $seen, own log $own"
	[ "$seen" = "$own" ]
	no grep -qE '"event":"(TaskSpawnEvent|WakeEventEvent)"' "$T/events"
	grep -q '"ends":"inferred"' "$T/events"
}
