#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The id of the task that a thread polls, as Tokio notes it in thread-local storage: learnt from the
# probes, then compared with them all the time. Either it agrees, or it is refused and said why.

load helpers
load shipped

# What the trace says in its last metadata under KEY.
metadata() { # KEY
	events --kind SegmentMetadataEvent | tail -n 1 | jq -r --arg k "$1" '.fields.entries[$k] // ""'
}

# The recording that has just ended has learnt the word, and it never was another task's; but for one
# that is over, whose output or future the poll was seen to drop: Tokio notes that task meanwhile.
agreed() { # LOOKS: that many agreed at least
	local known check
	cat "$T/agent.err" "$T/agent.out"
	known=$(metadata agent.task_id_tls)
	check=$(metadata agent.task_id_tls_check)
	say "word: $known; $check"
	[[ $known =~ ^[0-9]+( tagged)?$ ]]
	[[ $check =~ ^agrees\ ([0-9]+),\ at\ rest\ ([0-9]+),\ drops\ ([0-9]+),\ differs\ ([0-9]+)$ ]]
	[ "${BASH_REMATCH[1]}" -ge "$1" ]
	[ "${BASH_REMATCH[3]}" -le $((BASH_REMATCH[1] / 50 + 3)) ] # rare, or something else is the matter
	[ "${BASH_REMATCH[4]}" = 0 ]
	grep -q 'below the thread pointer' "$T/agent.err"
	measured "-$known, $check"
}

learns() { # VERSION PROFILE MODE [AGENT ARGS...]
	local version=$1 profile=$2 mode=$3
	shift 3
	target_start "$version" "$profile" --mode "$mode" --secs 60
	target_go
	agent_start --duration 3s --cpu-hz 997 "$@" # each sample in a poll is a look
	agent_end
	agreed 20
	polled_by "$mode"
	verify
}

# A current_thread runtime here is driven by the main thread, beside workers that wake up now and then;
# workers of other runtimes never are that thread.
polled_by() { # MODE
	local all main
	events --kind CpuSampleEvent | jq 'select(.fields.worker_id < 254).fields.tid' >"$T/tids"
	all=$(wc -l <"$T/tids")
	main=$(grep -cx "$TARGET" "$T/tids") || :
	say "samples of workers: $all, of the main thread $main"
	if [ "$1" = current_thread ]; then [ $((2 * main)) -gt "$all" ]; else [ "$all" -gt 0 ] && [ "$main" = 0 ]; fi
}

@test "Tokio 1.24, stripped, multi_thread" { learns 1.24 stripped steady; }
@test "Tokio 1.24, stripped, current_thread" { learns 1.24 stripped current_thread; }
@test "Tokio 1.32, stripped, multi_thread" { learns 1.32 stripped steady; }
@test "Tokio 1.32, stripped, current_thread" { learns 1.32 stripped current_thread; }
@test "Tokio 1.38, stripped, multi_thread" { learns 1.38 stripped steady; }
@test "Tokio 1.38, stripped, current_thread" { learns 1.38 stripped current_thread; }
@test "Tokio 1.43, stripped, multi_thread" { learns 1.43 stripped steady; }
@test "Tokio 1.43, stripped, current_thread" { learns 1.43 stripped current_thread; }
@test "Tokio 1.47, stripped, multi_thread" { learns 1.47 stripped steady; }
@test "Tokio 1.47, stripped, current_thread" { learns 1.47 stripped current_thread; }
@test "newest Tokio, stripped, multi_thread" { learns newest stripped steady; }
@test "newest Tokio, stripped, current_thread" { learns newest stripped current_thread; }
@test "newest Tokio, stripped, many short tasks" { learns newest stripped storm --cpu-hz 99; }
@test "level wakes: ends are inferred, the word agrees all the same" { learns newest stripped steady --level wakes; }

@test "all the odd things a task can do: nested polls, block_in_place, LocalSet, blocking, panics" {
	target_start newest stripped-unwind --mode all --secs 12
	target_go
	agent_start
	target_end
	agent_end
	agreed 100
}

@test "what one run learns of a build is kept, confirmed by the next, and dropped where it is wrong" {
	local line id
	export DIAL9_TASK_WORDS=$T/state/task-words
	target_start newest stripped --mode steady --secs 60
	target_go
	agent_start
	wait_for 20 grep -q 'below the thread pointer' "$T/agent.err"
	agent_stop
	line=$(tail -n +2 "$DIAL9_TASK_WORDS")
	say "kept: $line"
	[[ $line =~ ^([0-9a-f]{16,40})\ ([0-9]+)\ [01]$ ]]
	id=${BASH_REMATCH[1]}
	[ "${BASH_REMATCH[2]}" = "$(metadata agent.task_id_tls | grep -o '^[0-9]*')" ]

	agent_start --trace-dir "$T/again"
	wait_for 20 grep -q 'below the thread pointer.*as kept of this build' "$T/agent.err"
	agent_stop
	[ "$(tail -n +2 "$DIAL9_TASK_WORDS")" = "$line" ]

	printf 'dial9 task words 1\n%s 8 0\n' "$id" >"$DIAL9_TASK_WORDS"
	agent_start --trace-dir "$T/wrong"
	wait_for 20 grep -q 'was kept of this build, 8 bytes below .* is dropped' "$T/agent.err"
	agent_stop
	[ "$(tail -n +2 "$DIAL9_TASK_WORDS")" = "$line" ]
}

@test "an idle process: not learnt, and the trace says so" {
	target_start newest stripped --mode idle --secs 60
	target_go
	agent_start --duration 1s
	agent_end
	cat "$T/agent.out"
	[[ $(metadata agent.task_id_tls) == "unknown: "* ]]
	grep -q 'task word *unknown: ' "$T/agent.out"
}

@test "Tokio in a shared object: refused with the reason" {
	local lib
	lib=$(sh "$ROOT/test/targets/build.sh" newest stripped cdylib)
	python3 "$ROOT/test/targets/shared/load.py" "$lib" 60 "$T/go" >"$T/target.out" 2>"$T/target.err" 3>&- &
	TARGET=$!
	PIDS+=("$TARGET")
	wait_for 20 grep -q '^ready' "$T/target.out"
	target_go
	agent_start --duration 1s
	agent_end
	[[ $(metadata agent.task_id_tls) == "unknown: Tokio lies in a shared object"* ]]
	grep -q 'unknown: Tokio lies in a shared object' "$T/agent.err"
	# a sleep there may be one inside a poll: written as a park, and counted as unsure
	agent_start --level stat --duration 5s
	agent_end
	grep -q 'TaskId *a park, or a sleep inside a poll *[1-9]' "$T/agent.out"
}

@test "levels come and go while workers move to other threads: the word agrees each time" {
	local i
	target_start newest stripped --mode all --secs 60
	agent_start --level auto --cpu-hz 499 --on-demand full:500ms
	target_go
	for i in 1 2 3 4 5 6; do
		sleep 1 # at a level without probes, in which runtimes end and begin
		kill -USR1 "$AGENT_PID"
	done
	agent_stop
	agreed 20
	verify
}

# NAME, as its makers ship it, at work: the word is learnt, and is the task that the probes know. Level
# stat, which learns it from fewer probes, then does without any; or it says why it has no task ids.
shipped_learns() { # NAME
	local without
	works "$1" 100
	tokio_found 1.
	agent_start "${TARGETS[@]}" --level full --cpu-hz 997
	wait_for 45 all_say 'below the thread pointer'
	sleep 1
	agent_stop
	cat "$T/agent.err"
	words | tee "$T/words"
	[ "$(grep -cE '^agent.task_id_tls	[0-9]+( tagged)?$' "$T/words")" = "$WANTED_READY" ]
	[ "$(grep -cE '^agent.task_id_tls_check	agrees [1-9][0-9]*, at rest [0-9]+, drops [0-9]+, differs 0$' "$T/words")" = "$WANTED_READY" ]
	measured "agrees, at rest, drops, differs: $(word_cell)"

	TRACES=$T/stat
	agent_start "${TARGETS[@]}" --level stat --cpu-hz 997
	wait_for 45 all_say 'no probe is left in it\|level stat without task ids'
	sleep 2
	agent_stop
	cat "$T/agent.err"
	verify
	words | tee "$T/words"
	without=$(grep -c 'level stat without task ids' "$T/agent.err") || :
	[ "$(grep -c '^agent.task_id_tls	unknown: .' "$T/words")" = "$without" ]
	# tasks are known where nothing is probed
	[ "$without" = "$WANTED_READY" ] || events --kind agent:Sample | grep -c agent:Sample
}
all_say() { [ "$(grep -c "$1" "$T/agent.err")" = "$WANTED_READY" ]; }

@test "turbo, static musl, from npm" { shipped_learns turbo; }
@test "biome, glibc, from npm" { shipped_learns biome; }
@test "biome, static musl, from npm" { shipped_learns biome-musl; }
