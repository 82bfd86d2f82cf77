# SPDX-License-Identifier: Apache-2.0
# One query over a recording; the answers are those of report and dump on the same trace.
load view

setup_file() { load view; make_traces; }
setup() { cd "$BATS_FILE_TMPDIR"; }

@test "rows for people" {
	expect sql sql traces/abcd-42 "select poll, start_ns, dur_ns, wait_ns, worker, task, type
		from poll order by poll"
}
@test "rows for programs; NULL is what was not recorded" {
	code 0 sql --json traces/abcd-42 "select count(*), max(dur_ns) from poll where kind = 0"
	[ "$(jq -r '.schema, .complete' "$out" | tr '\n' ' ')" = 'dial9-view.sql/1 true ' ]
	polls=$("$VIEW" dump --json --kind PollStartEvent traces/abcd-42 | wc -l)
	[ "$(jq '.rows[0][0]' "$out")" = "$polls" ]
	code 0 sql --json traces/abcd-42 "select ready_ns from polls where ready_ns is null limit 1"
	[ "$(jq -c .rows "$out")" = '[[null]]' ]
}
@test "a lookup gives what a scan gives" {
	for t in polls:start_ns parks:start_ns wakes:ts_ns samples:ts_ns offs:start_ns; do
		table=${t%:*} time=${t#*:}
		code 0 sql --json traces/abcd-42 "select
			(select count(*) from $table where lane = 0 and $time >= 1000300000 and $time < 1020000000)
			= (select count(*) from $table where +lane = 0 and +$time >= 1000300000 and +$time < 1020000000),
			(select count(*) from $table a join $table b on a.rowid = b.rowid)
			= (select count(*) from $table)"
		[ "$(jq -c .rows "$out")" = '[[1,1]]' ]
	done
	code 0 sql --json traces/abcd-42 "select count(*) from tasks a join tasks b on a.id = b.id"
	[ "$(jq '.rows[0][0]' "$out")" -gt 0 ]
}
@test "nothing but one SELECT" {
	for q in "drop table polls" "create table t(x)" "insert into polls values(1)" "pragma user_version" \
		"attach 'new.db' as n" "select 1; select 2" "vacuum into 'new.db'" \
		"select load_extension('x')" "" "selec 1"; do
		code 2 sql traces/abcd-42 "$q"
	done
	[ ! -e new.db ]
}
@test "the row limit is said" {
	code 0 sql --limit 1 traces/abcd-42 "select rowid from polls"
	grep -q 'there are more: --limit 0 for all' "$err"
	code 0 sql --json --limit 1 traces/abcd-42 "select rowid from polls"
	[ "$(jq '.complete' "$out")" = false ]
}
@test "the time limit ends a query that does not, and is said" {
	forever="with recursive r(n) as (select 1 union all select n + 1 from r) select count(*) from r"
	code 1 sql --seconds 1 traces/abcd-42 "$forever"
	grep -q 'took more than 1 s and was stopped' "$err"
	[ ! -s "$out" ]
	code 1 sql --json --seconds 1 traces/abcd-42 "$forever"
	[ "$(jq -c '[.complete, .rows]' "$out")" = '[false,[]]' ]
	# within the tables as well: every pair of pairs of rows
	code 1 sql --seconds 1 traces/abcd-42 "select count(*) from polls a, polls b, polls c, polls d,
		polls e, polls f, polls g, polls h, polls i, polls j"
	code 2 sql --seconds soon traces/abcd-42 "select 1"
}
@test "a value too great for memory is an error" {
	code 1 sql traces/abcd-42 "select zeroblob(2000000000)"
	code 1 sql traces/abcd-42 "select zeroblob(20000000)"
	code 1 sql traces/abcd-42 "select length(hex(zeroblob(10000000)))"
	grep -q 'SQL: ' "$err"
}
@test "without a query: tables, columns, views" {
	code 0 sql traces/abcd-42
	grep -q '^polls: ' "$out"
	grep -q 'CREATE TEMP VIEW poll ' "$out"
}
@test "hostile text is made harmless" {
	code 0 sql hostile.bin "select * from texts" || code 2 sql hostile.bin "select * from texts"
	code 0 sql hostile.bin "select name, fields from event"
	! grep -q $'\x1b' "$out"
}
@test "filters leave rows out, in sql and in exports" {
	code 0 sql --json --task 1 --worker 0 --to +9200us traces/abcd-42 "select count(*), max(dur_ns) from polls"
	[ "$(jq -c .rows "$out")" = '[[2,2000000]]' ]
	code 0 sql --json --runtime none traces/abcd-42 "select count(*) from polls"
	[ "$(jq -c .rows "$out")" = '[[0]]' ]
	code 0 export --output - --type main.rs:20 csv traces/abcd-42
	[ "$(grep -c 'main.rs:20' "$out")" = 2 ]
	[ "$(grep -c 'main.rs:10' "$out")" = 0 ]
}
