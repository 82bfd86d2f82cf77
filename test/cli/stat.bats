# SPDX-License-Identifier: Apache-2.0
# A recording without polls (make_stat.c): what samples and switches tell of its tasks.
load view

setup_file() {
	load view
	mkdir -p "$BATS_FILE_TMPDIR/stat"
	"$BUILD/test/cli/make_stat" "$BATS_FILE_TMPDIR/stat"
}
setup() { cd "$BATS_FILE_TMPDIR"; }

folded() { # ARGS...: of stat-8
	code 0 flame --folded "$@" stat/stat-8
	cat "$out"
}

@test "flame: stacks of a task and of a type, on CPU and off, where no poll was recorded" {
	[ "$(folded)" = "$(printf '%s\n' 'src/main.rs:20:9;app::poll;app::crunch 47' '(outside polls);app::poll;0x4000 1' '(type unknown);app::poll;0x3000 1')" ]
	for by in "--task 5" "--type src/main.rs:20:9"; do
		[ "$(folded $by)" = 'src/main.rs:20:9;app::poll;app::crunch 47' ]
		[ -z "$(folded --off $by)" ]
	done
	for by in "--task 6" "--type src/io.rs:7:1"; do
		[ "$(folded --off $by)" = 'src/io.rs:7:1;app::poll;app::nap 40000000' ]
		[ -z "$(folded $by)" ]
	done
	[ "$(folded --task 7)" = '(type unknown);app::poll;0x3000 1' ]
	[ "$(folded --off --task 7)" = '(type unknown);app::poll;0x3000 5000000' ]
	[ "$(folded --task 5 --worker 1)" = "" ]
}
@test "sql: the task of a sample" {
	code 0 sql --json stat/stat-8 'select t.id, count(*) from samples s left join tasks t on t.rowid = s.task group by 1 order by 2'
	cat "$out"
	[ "$(jq -c .rows "$out")" = '[[null,1],[7,1],[5,47]]' ]
}
@test "the page's flamegraph: of the same; its busy runs" {
	"$VIEW" serve --json stat >url 2>/dev/null </dev/null 3>&- &
	pid=$!
	for _ in $(seq 100); do [ -s url ] && jq -e .port url >/dev/null 2>&1 && break; sleep 0.1; done
	base=http://127.0.0.1:$(jq -r .port url)
	for _ in $(seq 100); do curl -sf "$base/api/recording?r=0" >/dev/null && break; sleep 0.1; done
	for q in 'kind=cpu' 'kind=cpu&task=5' 'kind=cpu&place=src/main.rs:20:9' 'kind=cpu&task=6' 'kind=off&task=6' 'kind=off&place=src/io.rs:7:1' 'kind=off&task=7'; do
		curl -s "$base/api/flame?r=0&$q"
	done >answers
	curl -s "$base/api/busy?r=0" >runs
	curl -s "$base/api/busy?r=0&from=160000000&limit=1" >late
	curl -s "$base/api/timed?r=0&lanes=0" >timed
	curl -s "$base/api/timed?r=0&lanes=1&kind=off&from=100000000&to=123000000" >timed-off
	curl -s "$base/api/search?r=0&q=io-dr" >found
	kill $pid
	wait $pid || true
	[ "$(jq .total answers | xargs)" = '49 47 47 0 40000000 40000000 5000000' ]
	# those that report tells of: at least 30 ms and 15 ms
	[ "$(jq -c '[.least, .count, (.runs[] | [.start, .dur, .lane, .task, .place, .samples, .polls])]' runs)" = \
		'[1750000,2,[20000000,30000000,0,"5","src/main.rs:20:9",31,"unknown"],[150000000,15000000,0,"5","src/main.rs:20:9",16,"unknown"]]' ]
	# a sample lasts until the next one, or a ms; frames that stay are one box
	jq -c . timed timed-off found
	[ "$(jq -c '[.boxes as $b | range(0; $b | length; 4) | $b[.:. + 4]] | sort' timed)" = \
		'[[0,20000000,31000000,"src/main.rs:20:9"],[0,60000000,1000000,"(outside polls)"],[0,150000000,16000000,"src/main.rs:20:9"],[1,20000000,31000000,"app::poll"],[1,60000000,1000000,"app::poll"],[1,150000000,16000000,"app::poll"],[2,20000000,31000000,"app::crunch"],[2,60000000,1000000,"0x4000"],[2,150000000,16000000,"app::crunch"]]' ]
	[ "$(jq -c '[.unit, .boxes[0:4]]' timed-off)" = '["ns",[2,120000000,3000000,"0x3000"]]' ]
	[ "$(jq -c .hits found)" = '[{"kind":"thread","text":"io-driver","lane":1}]' ]
	[ "$(jq -c '[.count, .runs[].start]' late)" = '[1,150000000]' ]
}
@test "events of other kinds by their fields: found, listed" {
	mkdir -p spans && "$BUILD/test/cli/make_cases" . && mv spans.bin spans/trace.0.bin
	"$VIEW" serve --json spans >url 2>/dev/null </dev/null 3>&- &
	pid=$!
	for _ in $(seq 100); do [ -s url ] && jq -e .port url >/dev/null 2>&1 && break; sleep 0.1; done
	base=http://127.0.0.1:$(jq -r .port url)
	for _ in $(seq 100); do curl -sf "$base/api/recording?r=0" >/dev/null && break; sleep 0.1; done
	for q in 'q=LOST' 'q=span_id=50' 'q=50' 'schema=0&limit=2' 'q=span_name=x'; do
		curl -s "$base/api/events?r=0&$q"
	done >answers
	curl -s "$base/api/search?r=0&q=lost" >found
	curl -s "$base/api/spans?r=0" >names
	kill $pid
	wait $pid || true
	jq -c . answers found names
	[ "$(jq -c '[.count, (.events | length), .capped]' answers | xargs)" = '[1,1,false] [2,2,false] [0,0,false] [23,2,false] [0,0,false]' ]
	[ "$(jq -sc '.[0].events' answers)" = '[{"ts":3000000,"schema":0,"fields":["worker_id","0","span_id","60","span_name","lost"]}]' ]
	[ "$(jq -c '.hits' found)" = '[{"kind":"value","text":"span_name=lost","at":3000000}]' ]
	[ "$(jq -c '.names[0] | [.name, .count, .p50, .p90, .p99, .max]' names)" = '["work",22,10000,10000,200000,200000]' ]
}
