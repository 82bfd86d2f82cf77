# SPDX-License-Identifier: Apache-2.0
load view

setup_file() { load view; make_traces; }
setup() { cd "$BATS_FILE_TMPDIR"; }

@test "text" { expect dump dump traces/abcd-42; }
@test "JSON, several recordings" { expect dump-json dump --json traces; }
@test "hostile names do not reach the terminal" {
	expect dump-hostile dump hostile.bin
	! grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$BATS_TEST_TMPDIR/got"
}
@test "hostile names are valid JSON, integers exact" { expect dump-hostile-json dump --json hostile.bin; }
@test "every line is one JSON document" {
	code 0 dump --json traces
	[ "$(jq -s length "$out")" = "$(wc -l <"$out")" ]
	[ "$(wc -l <"$out")" = 51 ] # 32 + 9 of abcd-42, 5 + 5 of efgh-43
}

@test "one kind, by its name in the trace or in records.def" {
	code 0 dump --kind PollStartEvent traces/abcd-42
	[ "$(grep -vc '^#' "$out")" = 5 ]
	code 0 dump --kind poll_start -k WakeEventEvent traces/abcd-42
	[ "$(grep -vc '^#' "$out")" = 8 ]
	code 0 dump --kind Nothing traces/abcd-42
	grep -q "no event called 'Nothing'" "$err"
}

@test "a part of the time: both ends belong to it" {
	code 0 dump --from +9ms --to +9.6ms traces/abcd-42
	[ "$(grep -vc '^#' "$out")" = 7 ] # 9000 9200 9400 9500 and three at 9600 us
	code 0 dump --from 1009000000 --to 1009600000 traces/abcd-42
	[ "$(grep -vc '^#' "$out")" = 7 ]
	code 0 dump --from +20ms traces/abcd-42
	[ "$(grep -vc '^#' "$out")" = 1 ]
	code 0 dump --to 999999999 traces/abcd-42
	[ "$(grep -vc '^#' "$out")" = 0 ]
}

@test "unknown is unknown: a queue of 0 where reading was partial, never else" {
	code 0 dump --json --kind poll_start traces/abcd-42
	[ "$(jq -c .fields.local_queue "$out" | tr '\n' ' ')" = "3 null null 1 null " ]
	code 0 dump --json --kind worker_park traces/abcd-42
	[ "$(jq -c .fields.cpu_time_ns "$out" | sort -u)" = null ]
}

@test "a cut tail: all before it, said, exit 3; of an open file exit 0" {
	expect dump-cut dump --kind SymbolTableEntry cut.bin
	code 0 dump cut.bin.active
	[ "$(grep -vc '^#' "$out")" = 31 ]
	grep -q "still open" "$err"
}
@test "damaged data: said, exit 3" { code 3 dump flipped.bin.zst; grep -q "compressed data is damaged" "$err"; }
@test "nothing on a pipe but the events" { code 0 dump batches.bin; [ ! -s "$err" ]; }
