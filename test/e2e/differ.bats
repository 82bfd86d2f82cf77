#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The same trace, dial9's own demo, through dial9's JavaScript toolkit 0.5.7 and through dial9-view:
# where the definitions agree the answers are equal, to the ns. Where they differ, ANALYSES.md says
# why, and the difference is checked to be just that one.

load helpers

setup_file() {
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	setup
	local kit demo
	kit=$(sh "$ROOT/test/targets/toolkit.sh" toolkit)
	demo=$(sh "$ROOT/test/targets/toolkit.sh" demo)
	ln -s "$demo" "$BATS_FILE_TMPDIR/demo.bin"
	node "$ROOT/test/e2e/differ.js" "$kit" "$demo" >"$BATS_FILE_TMPDIR/theirs"
	teardown
}

theirs() { jq -c "$1" "$BATS_FILE_TMPDIR/theirs"; }
view() { "$VIEW" "$@" "$BATS_FILE_TMPDIR/demo.bin"; }
query() { "$VIEW" sql --json --limit 0 "$BATS_FILE_TMPDIR/demo.bin" "$1" | jq -c .rows; }
same() { # WHAT THEIRS OURS
	[ -n "$2" ] && [ "$2" = "$3" ] || { echo "$1: dial9: $2"; echo "$1: ours: $3"; return 1; }
}

@test "polls: count, sum and longest by task type and by worker" {
	same types "$(theirs '[.types | to_entries[] | [.key, .value.count, .value.sum, .value.max]] | sort')" \
		"$(view report --json --top 0 | jq -c '[.recordings[0].types[] | select(.poll.count > 0) |
			[.type, .poll.count, .poll.sum_ns, .poll.max_ns]] | sort')"
	same workers "$(theirs '[.workers | to_entries[] | [(.key | tonumber), .value.count, .value.sum]] | sort')" \
		"$(view workers --json | jq -c '[.recordings[0].workers[] | [.worker, .polls, .busy_ns]] | sort')"
}
@test "the twenty longest polls" {
	same longest "$(theirs .longest)" \
		"$(view polls --longest --json --limit 20 | jq -c '[.recordings[0].polls[] |
			[.duration_ns, .start_ns, .task, .worker]]')"
}
@test "parks: count and sum by worker" {
	same parks "$(theirs '[.parks | to_entries[] | [(.key | tonumber), .value.count, .value.sum]] | sort')" \
		"$(query "select l.id, count(*), sum(x.dur_ns) from parks x join lanes l on l.rowid = x.lane
			where x.dur_ns > 0 group by 1 order by 1")"
}
@test "queues: the injection queue over all runtimes, the deepest own queue" {
	same queue "$(theirs '[[.queue.samples, .queue.max, .queue.sum]]')" \
		"$(query "select count(*), max(d), sum(d) from (select sum(depth) d from queues group by ts_ns)")"
	same local "$(theirs .local_max)" \
		"$(view sched --json --limit 0 | jq '[.recordings[0].worker_queues[].max] | max')"
}
@test "tasks spawned and ended, samples, samples in polls" {
	same tasks "$(theirs '[[.spawned, .ended]]')" \
		"$(query "select sum(spawn_ns > 0), sum(end_ns > 0) from tasks")"
	same samples "$(theirs '[[.samples, .samples_in_polls, .off_samples, .off_samples_in_polls]]')" \
		"$(query "select sum(source = 0), sum(source = 0 and poll is not null), sum(source = 1),
			sum(source = 1 and poll is not null) from samples")"
}
@test "spans by name, but for those of a single event" {
	same spans "$(theirs '[.spans | to_entries[] | select(.key | contains("_")) |
		[.key, .value.count, .value.sum, .value.max]] | sort')" \
		"$(view sched --json --limit 0 | jq -c '[.recordings[0].spans.names[] |
			[.name, .count, .sum_ns, .max_ns]] | sort')"
	same unmatched "$(theirs .unmatched)" \
		"$(view sched --json | jq '.recordings[0].spans.unmatched')"
}
@test "red flags: the same ones, as severe" {
	same flags "$(theirs .flags)" \
		"$(view issues --json | jq -c '[.recordings[0].issues[] | select(.kind | IN("long-poll",
			"late-poll", "queue-depth", "kernel-delay", "cpu-contention", "task-leak")) |
			"\(.kind) \(.severity)"] | unique')"
}
@test "waits: equal where one wake led to the poll, ours the longer where several did" {
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
		"$BATS_FILE_TMPDIR/theirs" | tee "$T/waits"
	[ "$(jq -c '[.unequal, .shorter, .ours_alone]' "$T/waits")" = '[0,0,0]' ]
	[ "$(jq '.same > 80000 and .several > 5000' "$T/waits")" = true ]
}
@test "Tokio's own measure of the wait is nearer to ours than the latest wake is" {
	query "select l.id, x.start_ns, x.start_ns - x.ready_ns from polls x
		join lanes l on l.rowid = x.lane where x.ready_ns is not null" >"$T/ours"
	jq -c --slurpfile ours "$T/ours" '
		def median: sort | .[length / 2 | floor];
		def away: if . < 0 then - . else . end;
		(.delays.measured | map({key: "\(.[0]) \(.[1])", value: .[2]}) | from_entries) as $m |
		($ours[0] | map({key: "\(.[0]) \(.[1])", value: .[2]}) | from_entries) as $o |
		[.delays.several[] | "\(.[0]) \(.[1])" as $k | select($m[$k]) |
			[($o[$k] - $m[$k] | away), (.[2] - $m[$k] | away)]] |
		[(map(.[0]) | median), (map(.[1]) | median)]' "$BATS_FILE_TMPDIR/theirs" | tee "$T/medians"
	[ "$(jq '.[0] < 1000 and .[1] > 10 * .[0]' "$T/medians")" = true ]
}
