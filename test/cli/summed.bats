# SPDX-License-Identifier: Apache-2.0
# Parks that were added up, wherever parks are told of: 40 of worker 0 from 100 to 200 ms, 63 of these ms.
load view

setup_file() {
	load view
	mkdir -p "$BATS_FILE_TMPDIR/levels"
	"$BUILD/test/cli/make_levels" "$BATS_FILE_TMPDIR/levels"
}
setup() { cd "$BATS_FILE_TMPDIR"; }

@test "sql: a view of their own" {
	code 0 sql --json levels/levels-7 'select worker, to_ns - from_ns, parks, parked_ns, delayed_ns, tid from parked'
	[ "$(jq -c .rows "$out")" = '[[0,100000000,40,63000000,2000000,null]]' ]
	code 0 sql levels/levels-7
	grep -q 'CREATE TEMP VIEW parked ' "$out"
}
@test "sched: a table of their own" {
	code 0 sched levels/levels-7
	grep -q '^PARKS ADDED UP: ' "$out"
	grep -qE '^  w0 +40 +63\.0 ms .* 2\.00 ms$' "$out"
	[ "$(sed -n '/^PARKS ADDED UP/,$p' "$out" | grep -c '^  w1 ')" = 0 ]
	code 0 sched --json levels/levels-7
	[ "$(jq -c '.recordings[0].parks_added_up' "$out")" = \
		'[{"worker":0,"parks":40,"parked_ns":63000000,"delayed_ns":2000000}]' ]
}
@test "chrome and perfetto: slices that say what they are" {
	code 0 export chrome -o o.chrome levels/levels-7
	[ "$(jq -c '[.traceEvents[] | select(.cat == "parks") | [.name, .dur, .args.parks]]' o.chrome)" = \
		'[["parks added up: 63 % of this",100000,40]]' ]
	code 0 export perfetto -o o.perfetto levels/levels-7
	[ "$(grep -ac 'parks added up: 63 % of this' o.perfetto)" -ge 1 ]
}
