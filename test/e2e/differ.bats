#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# dial9's own demo traces, of 0.5.7 and of 0.3.10, through dial9's JavaScript toolkit 0.5.7 and through
# dial9-view: where the definitions agree the answers are equal, to the ns. Where they differ,
# ANALYSES.md says why, and the difference is checked to be just that one.

load helpers

setup_file() {
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	setup
	local kit d
	kit=$(sh "$ROOT/test/targets/toolkit.sh" toolkit)
	ln -s "$(sh "$ROOT/test/targets/toolkit.sh" demo)" "$BATS_FILE_TMPDIR/new.bin"
	ln -s "$(sh "$ROOT/test/targets/toolkit.sh" old-demo)" "$BATS_FILE_TMPDIR/old.bin"
	for d in new old; do
		node "$ROOT/test/e2e/differ.js" "$kit" "$BATS_FILE_TMPDIR/$d.bin" >"$BATS_FILE_TMPDIR/$d.theirs"
	done
	teardown
}

# All of these ask about the trace $d.
theirs() { jq -c "$1" "$BATS_FILE_TMPDIR/$d.theirs"; }
view() { "$VIEW" "$@" "$BATS_FILE_TMPDIR/$d.bin"; }
query() { "$VIEW" sql --json --limit 0 "$BATS_FILE_TMPDIR/$d.bin" "$1" | jq -c .rows; }
same() { # WHAT THEIRS OURS
	[ -n "$2" ] && [ "$2" = "$3" ] || { echo "$d, $1: dial9: $2"; echo "$d, $1: ours: $3"; return 1; }
}
both() { # FUNCTION
	local d
	for d in new old; do "$1" || return 1; done
}

polls() {
	same types "$(theirs '[.types | to_entries[] | [.key, .value.count, .value.sum, .value.max]] | sort')" \
		"$(view report --json --top 0 | jq -c '[.recordings[0].types[] | select(.poll.count > 0) |
			[.type, .poll.count, .poll.sum_ns, .poll.max_ns]] | sort')" || return 1
	same workers "$(theirs '[.workers | to_entries[] | [(.key | tonumber), .value.count, .value.sum]] | sort')" \
		"$(view workers --json | jq -c '[.recordings[0].workers[] | [.worker, .polls, .busy_ns]] | sort')" || return 1
}
@test "polls: count, sum and longest by task type and by worker" { both polls; }
longest() {
	same longest "$(theirs .longest)" \
		"$(view polls --longest --json --limit 20 | jq -c '[.recordings[0].polls[] |
			[.duration_ns, .start_ns, .task, .worker]]')" || return 1
}
@test "the twenty longest polls" { both longest; }
parks() {
	same parks "$(theirs '[.parks | to_entries[] | [(.key | tonumber), .value.count, .value.sum]] | sort')" \
		"$(query "select l.id, count(*), sum(x.dur_ns) from parks x join lanes l on l.rowid = x.lane
			where x.dur_ns > 0 group by 1 order by 1")" || return 1
}
@test "parks: count and sum by worker" { both parks; }
queues() {
	same queue "$(theirs '[[.queue.samples, .queue.max, .queue.sum]]')" \
		"$(query "select count(*), max(d), sum(d) from (select sum(depth) d from queues group by ts_ns)")" || return 1
	same local "$(theirs .local_max)" \
		"$(view sched --json --limit 0 | jq '[.recordings[0].worker_queues[].max] | max')" || return 1
}
@test "queues: the injection queue over all runtimes, the deepest own queue" { both queues; }
tasks() {
	same tasks "$(theirs '[[.spawned, .ended]]')" \
		"$(query "select sum(spawn_ns > 0), sum(end_ns > 0) from tasks")" || return 1
	same samples "$(theirs '[[.samples, .samples_in_polls, .off_samples, .off_samples_in_polls]]')" \
		"$(query "select sum(source = 0), sum(source = 0 and poll is not null), sum(source = 1),
			sum(source = 1 and poll is not null) from samples")" || return 1
}
@test "tasks spawned and ended, samples, samples in polls" { both tasks; }
spans() {
	same spans "$(theirs '[.spans | to_entries[] | select(.key | contains("_")) |
		[.key, .value.count, .value.sum, .value.max]] | sort')" \
		"$(view sched --json --limit 0 | jq -c '[.recordings[0].spans.names[] |
			[.name, .count, .sum_ns, .max_ns]] | sort')" || return 1
	same unmatched "$(theirs .unmatched)" \
		"$(view sched --json | jq '.recordings[0].spans.unmatched')" || return 1
}
@test "spans by name, but for those of a single event" { both spans; }
flags() {
	same flags "$(theirs .flags)" \
		"$(view issues --json | jq -c '[.recordings[0].issues[] |
			select(.kind != "queue-depth" or .evidence.worker == null) | select(.kind | IN("long-poll",
			"late-poll", "queue-depth", "kernel-delay", "cpu-contention", "task-leak")) |
			{kind, severity}] | group_by(.kind) | map("\(.[0].kind) \(
			if any(.severity == "critical") then "critical"
			elif any(.severity == "warning") then "warning" else "info" end)")')" || return 1
}
@test "red flags: the same ones, as severe" { both flags; }
waits() {
	query "select l.id, x.start_ns, x.start_ns - x.ready_ns from polls x
		join lanes l on l.rowid = x.lane where x.ready_ns is not null" >"$T/ours"
	jq -c --slurpfile ours "$T/ours" '
		($ours[0] | map({key: "\(.[0]) \(.[1])", value: .[2]}) | from_entries) as $o |
		(.delays.zero | map("\(.[0]) \(.[1])")) as $zero |
		([.delays.same, .delays.several, .delays.old] | add | map({key: "\(.[0]) \(.[1])", value: 1}) |
			from_entries) as $all |
		{ same: (.delays.same | length),
		  unequal: ([.delays.same[] | select($o["\(.[0]) \(.[1])"] != .[2])] | length),
		  several: (.delays.several | length),
		  shorter: ([.delays.several[] | select($o["\(.[0]) \(.[1])"] < .[2])] | length),
		  ours_alone: ([$o | keys[] | select($all[.] | not) | select(IN($zero[]) | not)] | length) }' \
		"$BATS_FILE_TMPDIR/$d.theirs" | tee "$T/waits"
	[ "$(jq -c '[.unequal, .shorter, .ours_alone]' "$T/waits")" = '[0,0,0]' ] || return 1
	[ "$(jq '.same > 30000 and .several > 1500' "$T/waits")" = true ]
}
@test "waits: equal where one wake led to the poll, ours the longer where several did" { both waits; }
@test "Tokio's own measure of the wait is nearer to ours than the latest wake is" {
	local d=new
	query "select l.id, x.start_ns, x.start_ns - x.ready_ns from polls x
		join lanes l on l.rowid = x.lane where x.ready_ns is not null" >"$T/ours"
	jq -c --slurpfile ours "$T/ours" '
		def median: sort | .[length / 2 | floor];
		def away: if . < 0 then - . else . end;
		(.delays.measured | map({key: "\(.[0]) \(.[1])", value: .[2]}) | from_entries) as $m |
		($ours[0] | map({key: "\(.[0]) \(.[1])", value: .[2]}) | from_entries) as $o |
		[.delays.several[] | "\(.[0]) \(.[1])" as $k | select($m[$k]) |
			[($o[$k] - $m[$k] | away), (.[2] - $m[$k] | away)]] |
		[(map(.[0]) | median), (map(.[1]) | median)]' "$BATS_FILE_TMPDIR/new.theirs" | tee "$T/medians"
	[ "$(jq '.[0] < 1000 and .[1] > 10 * .[0]' "$T/medians")" = true ]
}
splits() {
	[ "$(view workers --json --limit 0 | jq '.recordings[0] | (.last_ns - .first_ns) as $span | [.workers[] |
		.busy_ns + .parked_ns + .delayed_ns + .between_ns + .unknown_ns == $span] | length > 1 and all')" = true ] || return 1
	[ "$(view tasks --json --limit 0 | jq '[.recordings[0].tasks[] | .life_ns == (.running_ns // 0) +
		(.off_cpu_ns // 0) + (.ready_ns // 0) + (.idle_ns // 0) + .unknown_ns] | length > 50 and all')" = true ]
}
@test "the parts of each worker's time and of each task's life sum to it" { both splits; }
