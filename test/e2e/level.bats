#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The level of detail changes while the target runs: on demand, and by the budget.
# `make levels` changes it CHANGES=1000 times, otherwise it is 50.

load helpers

CHANGES=${CHANGES:-50}

levels() { # of each change: stamp, level of all types but the dropped ones, reason
	events --kind agent:Level |
		jq -r 'select(.fields.types == "") | [.ts_ns, .fields.level, .fields.reason] | @tsv'
}

changes() { grep -c "debug: pid $TARGET: level " "$T/agent.err" || :; }
changed() { [ "$(changes)" -ge "$1" ]; } # TIMES

server_start() { # SECS
	local bin
	bin=$(rich newest stripped)
	"$bin" --mode http --secs "$1" >"$T/target.out" 2>"$T/target.err" 3>&- &
	TARGET=$!
	PIDS+=("$TARGET")
	wait_for 20 grep -qs '^listening' "$T/target.out"
	PORT=$(sed -n 's/^listening //p' "$T/target.out")
}

serve() { # SECS [RATE]
	"$(rich newest stripped)" --mode load --addr "127.0.0.1:$PORT" --conns 8 --paths /,/,/,/spawn \
		--rate "${2:-0}" --secs "$1" >"$T/load" 2>&1
}

@test "levels change under load: nothing is lost uncounted, no poll unpaired, the target unharmed" {
	local i=0
	target_start newest stripped --mode all --secs $((CHANGES / 5 + 5)) --slice-ms 50
	agent_start --verbose --level polls --on-demand full:50ms
	target_go
	while [ $((2 * i)) -lt "$CHANGES" ]; do
		kill -USR1 "$AGENT_PID"
		i=$((i + 1))
		wait_for 10 changed $((2 * i))
	done
	agent_stop
	code_is_clean "$TARGET"
	target_end $((CHANGES / 5 + 60))
	verify
	events >"$T/events"
	lossless "$T/events"
	[ "$(levels | wc -l)" -gt "$CHANGES" ]
	[ "$(levels | cut -f 3 | grep -c 'on demand: a signal')" = $i ]
	measured "$(changes) changes, $(grep -c PollStartEvent "$T/events") polls"
}

@test "a hot server goes down the ladder within a second and comes back when the load ends" {
	local began ended down up
	server_start 60
	agent_start --level auto
	began=$(now_ns)
	serve 4
	ended=$(now_ns)
	sleep 9
	agent_stop
	kill "$TARGET"
	wait_end "$TARGET" 10
	verify
	levels >"$T/levels"
	cat "$T/levels"
	[ "$(head -1 "$T/levels" | cut -f 2,3)" = "full	asked for" ]
	down=$(awk '/over the budget/ { print $1; exit }' "$T/levels")
	[ "$down" -gt "$began" ]
	[ $((down - began)) -lt 1000000000 ]
	[ "$(awk -v t=$((began + 1000000000)) -v e="$ended" '$1 > t && $1 < e && $2 == "full"' "$T/levels")" = "" ]
	up=$(awk -v e="$ended" '$1 > e && $2 == "full" { print $1; exit }' "$T/levels")
	[ -n "$up" ]
	[ $((up - ended)) -lt 8000000000 ]
	[ "$(wc -l <"$T/levels")" -le 8 ]
	"$VIEW" report "$TRACES" | tee "$T/report" | grep -E '^ +level +.*full [0-9.]+ %.*(polls|stat) [0-9.]+ %'
	measured "down after $(((down - began) / 1000000)) ms, up $(((up - ended) / 1000000)) ms after the load"
}

@test "a budget is kept: what the probes cost stays within it" {
	server_start 60
	agent_start --level auto --json
	serve 8
	agent_stop
	kill "$TARGET"
	wait_end "$TARGET" 10
	verify
	jq -c .budget "$T/agent.out"
	# the first moments at full detail count too; what switches cost is paid at every level
	[ "$(jq '.budget | (.cost_ns - .base_ns) / (.target_cpu_ns - .cost_ns) < 0.04' "$T/agent.out")" = true ]
	[ "$(jq '.budget.changes >= 1 and .budget.hits > 0' "$T/agent.out")" = true ]
	measured "$(jq -r '.budget | "\(.cost_ns / .target_cpu_ns * 1000 | round / 10) % of the CPU time, \(.base_ns / .target_cpu_ns * 1000 | round / 10) % for switches and samples"' "$T/agent.out")"
}

@test "a quiet target is recorded in full detail" {
	target_start newest stripped --mode idle --secs 3
	agent_start --level auto
	target_go
	target_end
	agent_end
	verify
	levels
	[ "$(levels | wc -l)" = 1 ]
	[ "$(levels | cut -f 2)" = full ]
}

@test "no budget, or a fixed level: it stays whatever it costs" {
	local args
	for args in '--level auto --max-overhead none' '--level full' '--level polls --max-overhead 1%'; do
		rm -rf "$TRACES"
		target_start newest stripped --mode steady --secs 2
		agent_start $args
		target_go
		target_end
		agent_end
		verify
		levels
		[ "$(levels | wc -l)" = 1 ]
	done
}

@test "a condition takes a closer look for its time" {
	target_start newest stripped --mode sleep-in-poll --secs 4
	agent_start --level polls --on-demand full:500ms,poll\>2ms
	target_go
	target_end
	agent_end
	verify
	levels
	[ "$(levels | cut -f 2 | head -3 | xargs)" = "polls full polls" ]
	[ "$(levels | sed -n 2p | cut -f 3)" = "on demand: a long poll" ]
	[ "$(levels | awk 'NR == 2 { t = $1 } NR == 3 { print ($1 - t > 400000000 && $1 - t < 900000000) }')" = 1 ]
}

zoom() { "$AGENT" --pid "$TARGET" --zoom "$1" 2>"$T/zoom.err"; }

@test "a closer look is asked for by the control socket, and refused where it cannot be had" {
	local socket
	target_start newest stripped --mode steady --secs 60
	no zoom full:300ms
	grep 'no dial9-agent records process' "$T/zoom.err"
	agent_start --verbose --level polls --on-demand wakes:1h
	socket=$(echo /run/dial9-agent/"$TARGET"-*.sock)
	[ "$(stat -c '%a %u' "$socket")" = "600 0" ]
	no zoom full:300ms
	grep 'without the probes of that level' "$T/zoom.err"
	zoom wakes:300ms
	wait_for 20 changed 2
	agent_stop
	[ ! -e "$socket" ]
	kill "$TARGET"
	wait_end "$TARGET" 10
	verify
	levels
	[ "$(levels | cut -f 2 | xargs)" = "polls wakes polls" ]
	[ "$(levels | sed -n 2p | cut -f 3)" = "on demand: the control socket" ]
}

@test "a hot type falls to stat alone: the polls of the others are all there, with their ends" {
	target_start newest stripped --mode steady --rate 300000 --secs 3
	agent_start --verbose --level auto --max-overhead 20%
	target_go
	target_end
	agent_end
	verify
	events >"$T/events"
	lossless "$T/events"
	python3 "$BATS_TEST_DIRNAME/kept.py" "$T/truth" elder <"$T/events" >"$T/kept" || { cat "$T/kept"; false; }
	"$VIEW" report "$TRACES" >"$T/report"
	grep -E '^ +stat [0-9.]+ % +.*flows\.rs:' "$T/report"
	[ "$("$VIEW" report --json "$TRACES" | jq '[.recordings[0].type_levels[] | select(.level == "stat" and .ns > 0)] | length > 0')" = true ]
	measured "$(head -1 "$T/kept")"
}
