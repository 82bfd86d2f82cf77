# SPDX-License-Identifier: Apache-2.0
# Each analysis on a trace made for it. The answers are worked out by hand in make_cases.c.
load view

setup_file() { load view; cd "$BATS_FILE_TMPDIR" && "$BUILD/test/cli/make_cases" .; }
setup() { cd "$BATS_FILE_TMPDIR"; }

is() { # JQ-FILTER WANT: of the JSON in $out
	local got
	got=$(jq -c ".recordings[0] | $1" "$out")
	[ "$got" = "$2" ] || { echo "$1: $got, not $2"; return 1; }
}

@test "availability: blackouts, and the worst window of each length" {
	code 0 sched --json availability.bin
	is '.runtimes[0].availability | [.span_ns, .blackouts, .blackout_ns, .longest_ns, .longest_at_ns]' \
		'[14000000,3,3000000,1000000,1002000000]'
	is '.runtimes[0].availability.worst_windows | map([.window_ns, .free_ns])' \
		'[[1000000,0],[10000000,7000000]]'
	code 0 sched --json --to +7ms availability.bin
	is '.runtimes[0].availability | [.blackouts, .blackout_ns]' '[2,2000000]'
}
@test "starvation: ready while another slept, or while all worked" {
	code 0 sched --json starvation.bin
	is '.runtimes[0].workers' 3
	is '.runtimes[0].starved | [.count, .total_ns, .worst, .idle_peers]' '[1,9000000,"p:2.1",1]'
	is '.runtimes[0].saturated | [.count, .total_ns, .worst]' '[1,9000000,"p:2.2"]'
	is '.runtimes[0].single' null
	is '.runtimes[0].stuck_queues | [.count, .total_ns, .worst]' '[1,10000000,"p:1.1"]'
}
@test "imbalance: polls and time of the workers" {
	code 0 sched --json starvation.bin
	is '.runtimes[0] | [.most_polls, .least_polls, .most_busy_ns, .least_busy_ns]' \
		'[4,1,20200000,10000000]'
}
@test "LIFO stalls: behind the poll that woke it, while another slept" {
	code 0 sched --json starvation.bin
	is '.lifo_stalls | [.count, .total_ns, .polls_woken_by_the_one_before]' '[1,9000000,2]'
	is '.lifo_stalls.types[0] | [.type, .worst, .behind, .idle_peers]' '["victim","p:2.1","p:1.1",1]'
}
@test "wakes: effective, in the poll, redundant, by itself, perhaps yields" {
	code 0 sched --json wakes.bin
	is '.wakes | map([.type, .wakes, .effective, .in_poll, .redundant, .self, .maybe_yields])' \
		'[["t",6,3,1,2,1,1]]'
}
@test "queues: build-ups" {
	code 0 sched --json queues.bin
	is '.injection_queues | map([.runtime, .samples, .sum, .max, .max_at_ns, .buildups, .buildup_ns, .longest_ns])' \
		'[["main",6,647,200,1020000000,2,30000000,20000000]]'
	is '.worker_queues | map([.worker, .samples, .max, .buildups, .buildup_ns])' '[[0,2,250,1,0]]'
}
@test "task leaks and churn" {
	code 0 sched --json leaks.bin
	is '.alive | map([.type, .spawned, .ended, .churn, .quarters, .is_leak])' \
		'[["leaky",200,0,0,[51,101,151,200],true],["brief",10,10,10,[0,0,0,0],false]]'
	is '.alive[0].oldest_ns' 40000000
}
@test "the blocking pool: at work, queued, saturated" {
	code 0 sched --json pool.bin
	is '.blocking_pool | [.tasks, .threads, .most_at_work, .most_queued, .saturated_ns, .queued_max_ns, .long_runs, .busy_ns, .limit]' \
		'[4,2,2,2,9000000,9000000,2,32000000,null]'
}
@test "spans of dial9's tracing layer: many in a poll, outliers, not left" {
	code 0 sched --json spans.bin
	is '.spans | [.count, .unmatched, .crowded_polls, .most_in_one_poll, .most_in]' \
		'[22,1,1,21,"p:1.1"]'
	is '.spans.names | map([.name, .count, .sum_ns, .p50_ns, .max_ns, .outliers])' \
		'[["work",22,410000,10000,200000,1]]'
}
@test "the critical path, step by step and by type" {
	code 0 path --json --task 3 path.bin
	is '[.paths, .total_ns, .steps, .began_by.outside.paths]' '[1,2500000,4,1]'
	is '.path | map([.poll, .running_ns, .ready_ns])' \
		'[["p:3.2",100000,100000],["p:3.1",300000,600000],["p:2.1",700000,200000],["p:1.1",400000,100000]]'
	code 0 path --json path.bin # only task 3 ended
	is '.types | map([.type, .running_ns, .ready_ns])' \
		'[["c",400000,700000],["b",700000,200000],["a",400000,100000]]'
	code 0 path --json --explain p:2.1 path.bin # to 2600: 900 + 200 + 400 + 100
	is '[.total_ns, .steps]' '[1600000,2]'
	code 0 path --json --task 99 path.bin
	is .paths 0
}
@test "findings: starvation, stuck queues, LIFO stalls, no free worker, spans" {
	code 0 issues --json starvation.bin
	is '[.issues[] | select(.kind | IN("starvation", "stuck-queue", "lifo-stall")) |
		[.kind, .severity, .type, .count, .worst_ns, .evidence.poll]] | sort' \
		'[["lifo-stall","info","victim",1,9000000,"p:2.1"],["starvation","info","victim",1,9000000,"p:2.1"],["stuck-queue","info","hog",1,10000000,"p:1.1"]]'
	code 0 issues --json spans.bin
	is '[.issues[] | [.kind, .severity, .count, .place]] | sort' \
		'[["many-spans","warning",1,null],["span-outliers","info",1,"work"],["unmatched-spans","info",1,null]]'
	code 0 issues --json availability.bin # no blackout of 50 ms
	is '[.issues[] | select(.kind == "no-free-worker")]' '[]'
}
@test "what was not recorded is unknown, not 0" {
	code 0 sched --json pool.bin
	is '[.runtimes, .lifo_stalls.count, .injection_queues]' '[[],null,[]]'
	code 0 sched --json path.bin
	is .blocking_pool null
	code 0 path wakes.bin
	grep -q 'PATHS: unknown, no ends of tasks' "$out"
	code 0 sched pool.bin
	grep -q 'WAKES: unknown' "$out"
	grep -q 'not recorded: polls, wakes, spawns and ends, parks' "$out"
}
@test "ANALYSES.md defines every kind of finding" {
	for kind in $(cat "$ROOT"/viewer/judge*.c | tr '\n' ' ' | grep -o 'findings_add(f, *"[a-z-]*"' |
		cut -d'"' -f2) lock-in-poll; do
		grep -q "^| $kind |" "$ROOT/viewer/ANALYSES.md" || { echo "$kind"; return 1; }
	done
	[ "$(grep -c '^\*Example\*' "$ROOT/viewer/ANALYSES.md")" -ge 8 ]
}
@test "filters choose what is counted" {
	code 0 sched --json --task 3 wakes.bin
	is .wakes '[]'
	code 0 sched --json --from +20ms starvation.bin
	is '.runtimes[0] | [.starved.count, .saturated.count]' '[0,1]'
	code 0 sched --json --type victim starvation.bin
	is '.runtimes[0] | [.starved.count, .stuck_queues.count]' '[1,0]'
	code 0 sched --json --runtime other starvation.bin
	is .runtimes '[]'
}
@test "text and JSON are the same twice" {
	for c in sched path; do
		for f in *.bin; do
			code 0 $c $f
			cp "$out" first
			code 0 $c $f
			cmp "$out" first
		done
	done
}
