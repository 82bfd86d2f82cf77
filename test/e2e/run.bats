#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# How a recording begins and ends, and what its options do.

load helpers

count() { events --kind "$1" 2>/dev/null | wc -l; }

@test "--dry-run prints the plan for people and as JSON, and attaches nothing" {
	target_start newest stripped --mode idle --secs 60
	agent_try --dry-run --pid "$TARGET"
	cat "$T/agent.err" "$T/agent.out"
	[ "$RC" = 0 ]
	grep -q 1.5 "$T/agent.out"
	agent_try --dry-run --json --pid "$TARGET"
	[ "$RC" = 0 ]
	jq -e . "$T/agent.out" >"$T/plan"
	[ "$(jq '[.. | objects | select(has("file_off"))] | length' "$T/plan")" -gt 5 ]
	"$CODEBYTES" "$TARGET"
	[ ! -e "$TRACES" ]
}

@test "--duration: ends by itself after that time with exit code 0 and a summary" {
	local begun took
	target_start newest stripped --mode steady --secs 60
	agent_start --duration 2s
	target_go
	begun=$(now_ns)
	agent_end
	took=$((($(now_ns) - begun) / 1000000))
	say "took $took ms"
	[ $took -ge 1500 ] && [ $took -le 5000 ]
	cat "$T/agent.err" "$T/agent.out"
	cat "$T/agent.err" "$T/agent.out" | grep -qi 'poll'
	cat "$T/agent.err" "$T/agent.out" | grep -qi 'lost'
	cat "$T/agent.err" "$T/agent.out" | grep -qi 'cpu'
	code_is_clean "$TARGET"
	verify
	[ -z "$(find "$TRACES" -name '*.active')" ]
}

@test "SIGTERM: drains, seals, detaches, exit code 0" {
	target_start newest stripped --mode steady --secs 60
	agent_start
	target_go
	sleep 1
	kill -TERM "$AGENT_PID"
	agent_end
	code_is_clean "$TARGET"
	verify
	[ -z "$(find "$TRACES" -name '*.active')" ]
}

@test "the target is killed: its recording is whole, exit code 0" {
	target_start newest stripped --mode steady --secs 60
	agent_start
	target_go
	sleep 1
	kill -KILL "$TARGET"
	wait_end "$TARGET" 10
	agent_end
	verify
	[ "$(count PollStartEvent)" -gt 1000 ]
}

@test "two processes: each gets its own directory, the end of one leaves the other recording" {
	local first
	target_start newest stripped --mode steady --secs 60
	first=$TARGET
	target_go
	target_start 1.38 release --mode steady --secs 60
	target_go
	agent_start --pid "$first" --pid "$TARGET"
	sleep 1
	kill -TERM "$first"
	wait_end "$first" 10
	sleep 1
	no is_gone "$AGENT_PID"
	agent_stop
	verify
	[ "$(ls -d "$TRACES"/????-"$first" "$TRACES"/????-"$TARGET" | wc -l)" = 2 ]
}

@test "names and modes of what is written: boot_id, segments, directory 0750, files 0640" {
	local dir
	target_start newest stripped --mode steady --secs 60
	target_go
	agent_start
	sleep 0.5
	dir=$(ls -d "$TRACES"/*)
	[[ $(basename "$dir") =~ ^[a-z]{4}-$TARGET$ ]]
	[ -e "$dir/trace.0.bin.zst.active" ]
	agent_stop
	[ -e "$dir/trace.0.bin.zst" ]
	[ "$(stat -c %a "$dir")" = 750 ]
	[ "$(stat -c %a "$dir/trace.0.bin.zst")" = 640 ]

	# the same process again: same directory, numbering goes on
	agent_start
	sleep 0.5
	agent_stop
	[ -e "$dir/trace.1.bin.zst" ]
	verify
}

@test "--compress gzip and none: what gzip reads, and plain" {
	target_start newest stripped --mode steady --secs 60
	target_go
	agent_start --compress gzip --duration 1s
	agent_end
	gzip -t "$TRACES"/*/trace.0.bin.gz
	verify
	rm -r "$TRACES"
	agent_start --compress none --duration 1s
	agent_end
	[ "$(head -c 3 "$TRACES"/*/trace.0.bin)" = TRC ]
	verify
}

@test "rotation: segments of a second each, read as one recording; the oldest are evicted" {
	target_start newest stripped --mode steady --rate 20000 --secs 60
	target_go
	agent_start --rotation-secs 1 --duration 5s
	agent_end
	[ "$(ls "$TRACES"/*/trace.*.bin.zst | wc -l)" -ge 4 ]
	verify
	rm -r "$TRACES"
	agent_start --rotation-secs 1 --max-disk-usage-mb 1 --duration 8s
	agent_end
	[ "$(du -sm "$TRACES" | cut -f 1)" -le 2 ]
	verify
}

@test "metadata, service and runtime name, and the DIAL9_ variables" {
	target_start newest stripped --mode steady --secs 60
	target_go
	DIAL9_SERVICE_NAME=shop DIAL9_TRACE_DIR=$T/elsewhere DIAL9_RUNTIME_NAME=till \
		"$AGENT" --level full --pid "$TARGET" --duration 1s --metadata region=north >"$T/agent.out" 2>"$T/agent.err" 3>&-
	TRACES=$T/elsewhere
	verify
	events --kind SegmentMetadataEvent >"$T/meta"
	cat "$T/meta"
	grep -q shop "$T/meta"
	grep -q till "$T/meta"
	grep -q north "$T/meta"
}

@test "DIAL9_TASK_TRACKING_ENABLED=false: no spawns and ends" {
	target_start newest stripped --mode storm --rate 1000 --secs 60
	target_go
	export DIAL9_TASK_TRACKING_ENABLED=false
	agent_start --duration 1s
	agent_end
	[ "$(count PollStartEvent)" -gt 100 ]
	[ "$(count TaskSpawnEvent)" = 0 ]
	[ "$(count TaskTerminateEvent)" = 0 ]
}

@test "blocking inside a poll: switched out, with its system call, in the trace" {
	target_start newest release-fp --mode sleep-in-poll --secs 3
	agent_start
	target_go
	target_end
	agent_end
	verify
	events >"$T/events"
	[ "$(grep -c '"event":"agent:OffCpu"' "$T/events")" -gt 5 ]
	# nanosleep 35 or clock_nanosleep 230
	[ "$(jq -c 'select(.event == "agent:OffCpu" and (.fields.syscall == 230 or .fields.syscall == 35))' "$T/events" | wc -l)" -gt 5 ]
	[ "$(jq -c 'select(.event == "CpuSampleEvent" and .fields.source == 1)' "$T/events" | wc -l)" -gt 5 ]
}

@test "CPU samples: worker, thread and symbols of a busy program" {
	target_start newest release-fp --mode http --secs 60
	target_go
	wait_for 10 grep -q '^listening' "$T/target.out"
	"$(rich newest stripped)" --mode load --addr "127.0.0.1:$(sed -n 's/^listening //p' "$T/target.out")" \
		--paths /cpu,/ --secs 4 --quiet >"$T/load.out" 2>&1 3>&- &
	PIDS+=($!)
	agent_start --cpu-hz 999 --duration 3s
	agent_end
	verify
	events >"$T/events"
	[ "$(jq -c 'select(.event == "CpuSampleEvent" and .fields.source == 0)' "$T/events" | wc -l)" -gt 100 ]
	[ "$(jq -c 'select(.event == "CpuSampleEvent" and .fields.worker_id < 254)' "$T/events" | wc -l)" -gt 50 ]
	grep '"event":"SymbolTableEntry"' "$T/events" | grep -q burn
}

@test "the report of a recorded server" {
	target_start newest release --mode http --secs 60
	target_go
	wait_for 10 grep -q '^listening' "$T/target.out"
	"$(rich newest stripped)" --mode load --addr "127.0.0.1:$(sed -n 's/^listening //p' "$T/target.out")" \
		--paths /,/db,/spawn --secs 3 --quiet >"$T/load.out" 2>&1 3>&- &
	PIDS+=($!)
	agent_start --duration 2s
	agent_end
	"$VIEW" report "$TRACES" >"$T/report"
	cat "$T/report"
	[ -s "$T/report" ]
	grep -qi connection "$T/report"
}
