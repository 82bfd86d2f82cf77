# SPDX-License-Identifier: Apache-2.0
# The answers are worked out beside the events in make_traces.c, and in viewer/ANALYSES.md.
load view

setup_file() { load view; make_traces; }
setup() { cd "$BATS_FILE_TMPDIR"; }

@test "polls by time, and the longest first" {
	expect polls polls traces/abcd-42
	code 0 polls --json --longest -n 2 traces/abcd-42
	[ "$(jq -c '.schema, .recordings[0].known, (.recordings[0].polls[] | [.poll, .duration_ns,
		.verdict, .off_cpu_ns, .off_cpu_longest_in])' "$out")" = '"dial9-view.polls/1"
5
["p:2.1",12000000,"blocking",10000000,"nanosleep"]
["p:1.1",2000000,"compute",0,null]' ]
}
@test "polls of a recording without times off CPU: the verdict is unknown, not compute" {
	code 0 polls --json crowd.bin
	[ "$(jq -c '[.recordings[0].polls[].verdict] | unique' "$out")" = '["unknown"]' ]
	[ "$(jq -c '[.recordings[0].polls[].off_cpu_ns] | unique' "$out")" = '[null]' ]
}
@test "waits: from the first of two wakes; from the poll's end when woken in it" {
	expect waits waits traces/abcd-42
}
@test "waits --explain: the polls that one wait stood behind" {
	expect waits-explain waits --explain p:3.1 crowd.bin
	code 0 waits --json --explain p:3.1 crowd.bin
	[ "$(jq -c '.recordings[0] | .waits[0].duration_ns, .waits[0].parts.behind_polls_ns,
		(.behind[] | [.poll, .duration_ns, .shared_ns])' "$out")" = '1600000
1500000
["p:1.1",2000000,1000000]
["p:2.1",500000,500000]' ]
	code 0 waits --explain p:3.7 crowd.bin
	grep -q 'follows no wake' "$out"
	for bad in 3.1 p:3 p:3.0 p:3.1x p:x.1; do code 2 waits --explain "$bad" crowd.bin; done
}
@test "blame: whose polls made others wait" {
	expect blame blame crowd.bin
	code 0 blame --json crowd.bin
	[ "$(jq -c '.recordings[0] | .harm_ns, (.types[] | [.type, .harm_ns, .waits_delayed,
		.suffered_ns])' "$out")" = '3300000
["hog",2800000,2,0]
["victim",500000,1,3300000]' ]
}
@test "tasks: the parts of a life sum to it" {
	expect tasks tasks traces/abcd-42
	for t in traces crowd.bin batches.bin workers.bin; do
		"$VIEW" tasks --json -n 0 "$t" >tasks.json
		[ "$(jq '[.recordings[].tasks[] | select(.life_ns != .running_ns + (.off_cpu_ns // 0)
			+ (.ready_ns // 0) + (.idle_ns // 0) + .unknown_ns)] | length' tasks.json)" = 0 ]
		[ "$(jq '[.recordings[].tasks[]] | length' tasks.json)" != 0 ]
	done
}
@test "workers: the parts of a worker's time sum to the time looked at" {
	expect workers workers traces/abcd-42
	for f in "" "--from +3ms" "--to +9ms" "--from +3ms --to +9ms"; do
		code 0 workers --json $f traces/abcd-42
		jq -c '[.recordings[0].workers[] | .unknown_ns + .busy_ns + .parked_ns + .delayed_ns
			+ .between_ns] | unique' "$out" >>sums
	done
	[ "$(tr '\n' ' ' <sums)" = '[20000000] [17000000] [9000000] [6000000] ' ]
}
@test "hist: counts by powers of two" {
	expect hist hist traces/abcd-42
	code 0 hist --json --type 20:9 traces/abcd-42
	[ "$(jq -c '.recordings[0].polls | .count, .sum_ns, .max_ns, [.buckets[].count]' "$out")" = '2
12100000
12000000
[1,1]' ]
}
@test "flame: samples by type and stack, and times off CPU" {
	expect flame flame traces/abcd-42
	expect flame-folded flame --folded traces/abcd-42
	code 0 flame --json --off traces/abcd-42
	[ "$(jq -c '.recordings[0] | .unit, (.roots[] | [.name, .total, .self])' "$out")" = '"ns"
["src/main.rs:20:9",10000000,10000000]' ]
}
@test "what was not recorded is unknown" {
	code 0 flame --json crowd.bin
	[ "$(jq -c '.recordings[0].events' "$out")" = null ]
	code 0 flame --off crowd.bin
	grep -q 'unknown, not recorded' "$out"
	code 0 hist batches.bin
	code 0 blame --json polls.bin
}
@test "filters: each command takes all of them" {
	for c in tasks workers polls waits blame hist flame; do
		code 0 $c --json --from +1ms --to +15ms --task t:2 --type 20:9 --worker w1 \
			--runtime main traces/abcd-42
		jq -e .schema "$out" >/dev/null
		code 2 $c --worker x traces/abcd-42
	done
	code 0 polls --json --task 1 traces/abcd-42
	[ "$(jq .recordings[0].known "$out")" = 3 ]
	code 0 waits --json --worker w1 traces/abcd-42
	[ "$(jq .recordings[0].known "$out")" = 0 ]
}
@test "a hostile recording: no byte of it reaches the terminal as it is" {
	for c in tasks workers polls waits blame hist flame "flame --folded"; do
		"$VIEW" $c hostile.bin >hostile.out 2>&1 || [ $? = 3 ]
		if LC_ALL=C grep "$(printf '[\001-\010\013-\037\177]')" hostile.out; then return 1; fi
	done
}
@test "diff: rates, types of one side only" {
	expect diff diff traces/abcd-42 crowd.bin
	code 0 diff --json traces/abcd-42 traces/abcd-42
	[ "$(jq '[.types[] | select(.a != .b)] | length' "$out")" = 0 ]
	# 2.5 ms of 20 ms busy in 3 polls; none in the other
	code 0 diff --json traces/abcd-42 crowd.bin
	[ "$(jq -c '.types[] | select(.type == "src/main.rs:10:5") | .a.busy_ns_per_s, .a.polls_per_s,
		.b' "$out")" = '125000000
150
null' ]
	code 2 diff traces/abcd-42
	code 2 diff traces crowd.bin
	code 2 diff crowd.bin crowd.bin crowd.bin
	code 1 diff crowd.bin nowhere
}
@test "diff: filters, of both sides" {
	code 0 diff --json traces/abcd-42 crowd.bin
	jq -S .types "$out" >all.json
	# one that lets everything pass changes nothing
	code 0 diff --json --from +0ms traces/abcd-42 crowd.bin
	jq -S .types "$out" | diff all.json -
	[ "$(jq '[.a, .b | .filter | has("from_ns")] | all' "$out")" = true ]
	code 0 diff --json --type main.rs:10 traces/abcd-42 crowd.bin
	[ "$(jq -c '[.types[].type]' "$out")" = '["src/main.rs:10:5"]' ]
	# rates are those of the time looked at, and a poll counts by its start
	code 0 polls --json --limit 0 --to +10ms traces/abcd-42
	polls=$(jq '[.recordings[0].polls[]] | length' "$out")
	code 0 diff --json --to +10ms traces/abcd-42 traces/abcd-42
	[ "$(jq '[.types[].a.polls] | add' "$out")" = "$polls" ]
	[ "$(jq '.types[0].a | .polls_per_s == .polls * 100' "$out")" = true ]
	code 0 diff --json --worker w999 traces/abcd-42 traces/abcd-42
	[ "$(jq '.types | length' "$out")" = 0 ]
	code 0 diff --task 2 traces/abcd-42 crowd.bin
	grep -q '^  filter    task t:2$' "$out"
}
@test "commands about whole recordings say which ones filter" {
	for c in report verify; do
		code 2 $c --task 2 traces/abcd-42
		grep -q "^dial9-view: --task: $c has no such filter. tasks, " "$err"
		code 2 $c --from=+1ms traces/abcd-42
		grep -q -- "--from=+1ms: $c has no such filter" "$err"
	done
}
@test "link: the page's parameters, absolute" {
	code 0 link --from +1ms --explain p:2.1 --type 20:9 traces/abcd-42
	[ "$(cat "$out")" = "/?rec=abcd-42&start=1001000000&region=1002000000-1014000000&poll=1002000000:2&task=2&task-scope=20%3A9#v=1" ]
	code 1 link --explain p:2.9 traces/abcd-42
	code 0 link --json traces
	[ "$(jq -c '[.recordings[].link]' "$out")" = '["/?rec=abcd-42#v=1","/?rec=efgh-43#v=1"]' ]
}
@test "twice the same" {
	for c in tasks workers polls waits blame hist flame; do
		"$VIEW" $c --json traces >first
		"$VIEW" $c --json traces >second
		cmp first second
	done
}
@test "the parts of each worker's time and of each task's life sum to it" {
	for f in traces/abcd-42 crowd.bin workers.bin; do
		"$VIEW" workers --json --limit 0 $f >parts || [ $? = 3 ]
		[ "$(jq '.recordings[0] | (.last_ns - .first_ns) as $span | [.workers[] | .busy_ns + .parked_ns +
			.delayed_ns + .between_ns + .unknown_ns == $span] | length > 0 and all' parts)" = true ]
		"$VIEW" tasks --json --limit 0 $f >parts || [ $? = 3 ]
		[ "$(jq '[.recordings[0].tasks[] | .life_ns == (.running_ns // 0) + (.off_cpu_ns // 0) +
			(.ready_ns // 0) + (.idle_ns // 0) + .unknown_ns] | length > 0 and all' parts)" = true ]
	done
}
