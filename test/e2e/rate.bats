#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# 200,000 events a second, sustained, of the stripped fat-LTO build of every Tokio version: none
# is lost, and the count of polls is the program's own.

load helpers

WANTED=200000 # events a second
POLLS=90000 # a second: each is a start, an end and nearly always a wake

# A busy machine may keep the program from its rate; that says nothing, and is tried again.
nothing_lost() { # VERSION
	local try
	for try in 1 2 3; do
		rm -rf "$TRACES"
		one_run "$1"
		[ "$rate" -lt $WANTED ] || return 0
	done
	say "the program never reached $WANTED events a second on this machine"
	return 1
}

one_run() { # VERSION: the rate it came to in `rate`
	local begun ended secs cnt own seen
	target_start "$1" stripped --mode steady --rate $POLLS --secs 6
	agent_start --level full
	begun=$(now_ns)
	target_go
	target_end
	ended=$(now_ns)
	agent_end
	verify >"$T/verify" || { cat "$T/verify"; return 1; }
	events >"$T/events"
	cnt=$(grep -cE '"event":"(Poll|Wake|Task|Worker|agent:(Nested|Blocking|TaskEnd))' "$T/events")
	secs=$(((ended - begun) / 1000000))
	rate=$((cnt * 1000 / secs))
	own=$(awk '$1 == "mark" && $3 == "go" { go = $2 } $1 == "poll" { t[NR] = $4 } END { for (i in t) n += t[i] >= go; print n }' "$T/truth")
	seen=$(grep -cE '"event":"(PollStartEvent|agent:NestedPoll|agent:Blocking)"' "$T/events")
	say "$(cat "$T/target.out")"
	measured "$rate events/s for $secs ms, polls $seen (own log $own)"
	lossless "$T/events"
	[ "$seen" = "$own" ]
}

@test "Tokio 1.24: nothing lost at 200,000 events a second" {
	nothing_lost 1.24
}

@test "Tokio 1.32: nothing lost at 200,000 events a second" {
	nothing_lost 1.32
}

@test "Tokio 1.38: nothing lost at 200,000 events a second" {
	nothing_lost 1.38
}

@test "Tokio 1.43: nothing lost at 200,000 events a second" {
	nothing_lost 1.43
}

@test "Tokio 1.47: nothing lost at 200,000 events a second" {
	nothing_lost 1.47
}

@test "Tokio newest: nothing lost at 200,000 events a second" {
	nothing_lost newest
}
