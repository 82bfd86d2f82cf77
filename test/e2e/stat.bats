#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Level stat: probes only until it is known where Tokio keeps the id of the task polled; then none.

load helpers

is_stat() { grep -q 'no probe is left in it' "$T/agent.err"; }

# Mode all sleeps, locks and blocks in polls, and moves workers from thread to thread.
stat_of() { # VERSION
	local polls switches waits from
	target_start "$1" stripped --mode all --secs 60
	target_go
	agent_start --level stat --cpu-hz 997
	wait_for 15 is_stat
	code_is_clean "$TARGET" # while it is being recorded
	sleep 4
	agent_stop
	cat "$T/agent.err" "$T/agent.out"
	from=$(events --kind agent:Level | jq -r 'select(.fields.level == "stat") | .ts_ns' | head -n 1)
	[ -n "$from" ]
	# nothing of a poll after it, but for a hit under way; blocks inside polls go on
	polls=$(events --kind PollStartEvent | jq --argjson f "$from" 'select(.ts_ns > $f + 1000000)' | wc -l)
	[ "$polls" = 0 ]
	events --kind agent:OffCpu |
		jq -c --argjson f "$from" 'select(.ts_ns > $f and .fields.task_id != null)' >"$T/blocks"
	switches=$(jq -c 'select(.fields.syscall == 230)' "$T/blocks" | wc -l) # clock_nanosleep
	# a thread that waits between polls waits until there is work, as those of the pool do: no poll
	# here blocks on a lock or for events so long
	waits=$(jq -c 'select((.fields.syscall == 202 or .fields.syscall == 232) and
		.ts_ns - .fields.out_ns > 250000000)' "$T/blocks" | wc -l)
	say "$switches sleeps, $waits long waits with a task id"
	[ "$switches" -gt 0 ]
	[ "$waits" = 0 ]
	# each task that a sample or a block shows has a type, but for those of the blocking pool
	events --kind agent:Sample | jq .fields.task_id | sort -u >"$T/sampled"
	events --kind agent:Alive | jq .fields.task_id | sort -u >"$T/typed"
	[ -s "$T/sampled" ]
	[ "$(comm -12 "$T/sampled" "$T/typed" | wc -l)" -ge $(($(wc -l <"$T/sampled") / 2)) ]
	lossless <(events --kind agent:Loss | grep -v '"TaskId"' || :)
	verify
	measured "$switches sleeps inside polls in 4 s, no probe"
}

@test "Tokio 1.24: no probe is left, blocks inside polls are seen" { stat_of 1.24; }
@test "Tokio 1.38" { stat_of 1.38; }
@test "newest Tokio" { stat_of newest; }

@test "polls are neither claimed nor counted where none were recorded" {
	target_start newest stripped --mode steady --secs 60
	target_go
	agent_start --level stat
	wait_for 15 is_stat
	sleep 1
	agent_stop
	events --kind SegmentMetadataEvent | jq -r '.fields.entries["agent.has"]' | sort -u >"$T/has"
	cat "$T/has"
	grep -q agent:OffCpu "$T/has"
	grep -q agent:Sample "$T/has"
	no grep -E 'Poll|Wake|Spawn|Terminate' "$T/has"
	"$VIEW" report --json "$TRACES" >"$T/report"
	jq -e '.recordings[0] | .polls_not_recorded_ns > 800000000 and
		(.workers | length > 0 and all(.busy_ns == null and .unknown_ns > 0))' "$T/report"
	"$VIEW" report "$TRACES" >"$T/text"
	cat "$T/text"
	grep -q 'no polls were recorded' "$T/text"
	"$VIEW" polls "$TRACES" | grep -q 'unknown: polls'
}

@test "an idle target keeps its probes: they cost nothing, and it may wake up" {
	target_start newest stripped --mode idle --secs 60
	target_go
	agent_start --level stat --duration 3s
	agent_end
	no is_stat
	verify
}

switches() { # of the target's threads so far, as the kernel counts them
	cat /proc/"$TARGET"/task/*/status | awk '/ctxt_switches/ { s += $2 } END { printf "%.0f\n", s }'
}

# Switches in the trace from .. to, where sums count if they lie inside (IN) or touch it
counted() { # FROM TO IN|TOUCH
	jq -s --argjson a "$1" --argjson b "$2" --arg how "$3" '
		map(.fields as $f | if .event == "agent:Parks" then
			(if $how == "IN" then $f.from_ns >= $a and $f.to_ns <= $b
			 else $f.to_ns > $a and $f.from_ns < $b end) as $is |
			if $is then $f.parks + $f.preempted + $f.polls_preempted + $f.others else 0 end
		else if .ts_ns >= $a and .ts_ns <= $b then 1 else 0 end end) | add' "$T/parks"
}

@test "a busy server's switches are added up, and none is missing" {
	local a b around till cnt least most # now_ns is up to 10 ms behind
	target_start newest stripped --mode http --secs 60
	target_go
	wait_for 20 grep -qs '^listening' "$T/target.out"
	agent_start --level stat
	"$(rich newest stripped)" --mode load --addr "127.0.0.1:$(sed -n 's/^listening //p' "$T/target.out")" \
		--conns 8 --paths / --rate 0 --secs 30 >"$T/load" 2>&1 3>&- &
	PIDS+=($!)
	wait_for 15 is_stat
	sleep 1
	around=$(now_ns)
	cnt=$(switches)
	a=$(($(now_ns) + 10000000))
	sleep 2
	b=$(now_ns)
	cnt=$(($(switches) - cnt))
	till=$(($(now_ns) + 10000000))
	sleep 0.5
	kill -KILL "${PIDS[-1]}"
	sleep 2.5 # it sleeps, and this is told without a switch
	agent_stop
	verify
	events >"$T/events"
	lossless "$T/events"
	grep -E '"event":"(agent:Parks|agent:OffCpu|WorkerParkEvent)"' "$T/events" >"$T/parks"
	least=$(counted "$a" "$b" IN) most=$(counted "$around" "$till" TOUCH)
	say "$cnt switches, in the trace $least to $most"
	[ "$least" -le "$cnt" ]
	[ "$most" -ge $((cnt - 200)) ] # of threads that are no workers: the main thread, the pool
	grep -c '"event":"agent:Parks"' "$T/parks"
	# what is added up fits into its time; of each thread, one event follows the other
	grep '"event":"agent:Parks"' "$T/parks" | jq -se 'map(.fields) | all(.to_ns > .from_ns and
		.parked_ns + .delayed_ns + .preempted_ns + .polls_preempted_ns + .others_ns <= .to_ns - .from_ns) and
		(group_by(.tid) | all(. as $e | all(range(1; length); $e[.].from_ns >= $e[. - 1].to_ns)))'
	"$VIEW" report --json "$TRACES" | jq -e '.recordings[0].workers | length == 2 and
		all(.parked_ns > 2000000000 and .unparks_with_delay <= .unparks)'
	measured "$cnt switches, in the trace $least to $most"
}
