#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# dial9's own readers read what we record, and ours reads what dial9 recorded: same events, same
# counts, no error.

load helpers

# A recording of everything that rich can do, kept for the tests of this file.
setup_file() {
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	setup
	target_start newest stripped-unwind --mode all --secs 4
	agent_start --level full
	target_go
	target_end
	agent_end
	teardown
	"$VIEW" convert --to raw --output "$T/trace.bin" "$TRACES"
	"$VIEW" convert --to gzip --output "$T/trace.bin.gz" "$TRACES"
	events | jq -r .event | sort | uniq -c | awk '{ print $2, $1 }' | sort >"$T/counts"
}

from_check() { # FILE...: "NAME COUNT" lines as dial9's decoder counts
	"$(sh "$ROOT/test/targets/dial9check.sh")" "$@" | jq -r 'to_entries[] | "\(.key) \(.value)"' | sort
}

@test "dial9's decoder (crate dial9-trace-format) reads a raw recording: every event" {
	cat "$BATS_FILE_TMPDIR/counts"
	diff "$BATS_FILE_TMPDIR/counts" <(from_check "$BATS_FILE_TMPDIR/trace.bin")
	grep -q '^PollStartEvent [0-9]' "$BATS_FILE_TMPDIR/counts"
}

@test "the same after convert --to gzip" {
	diff "$BATS_FILE_TMPDIR/counts" <(from_check "$BATS_FILE_TMPDIR/trace.bin.gz")
}

@test "the same of each segment as it is written by --compress none and gzip" {
	local how
	target_start newest stripped --mode steady --secs 60
	target_go
	for how in none gzip; do
		rm -rf "$TRACES"
		agent_start --compress $how --rotation-secs 1 --duration 3s
		agent_end
		[ "$(ls "$TRACES"/*/* | wc -l)" -ge 3 ]
		diff <(events | jq -r .event | sort | uniq -c | awk '{ print $2, $1 }' | sort) \
			<(from_check "$TRACES"/*/trace.*)
	done
}

@test "dial9's JavaScript toolkit 0.5.7 reads it: every event, and its analysis runs" {
	local kit
	kit=$(sh "$ROOT/test/targets/toolkit.sh" toolkit)
	# symbols and segment metadata are kept by key there
	diff <(grep -vE '^(SymbolTableEntry|SegmentMetadataEvent) ' "$BATS_FILE_TMPDIR/counts") \
		<(node "$ROOT/test/e2e/toolkit.js" "$kit" "$BATS_FILE_TMPDIR/trace.bin.gz")
	node "$kit/analyze.js" "$BATS_FILE_TMPDIR/trace.bin.gz" >"$T/analysis" 2>"$T/complaints"
	cat "$T/complaints"
	no grep -qiE 'error|unknown|warning' "$T/complaints"
	grep -q 'Worker 0: ' "$T/analysis"
	[ "$(sed -n 's/^Tasks spawned: *\([0-9]*\)$/\1/p' "$T/analysis")" = "$(sed -n 's/^TaskSpawnEvent //p' "$BATS_FILE_TMPDIR/counts")" ]
}

@test "our reader reads dial9's own demo trace: every event, equal counts" {
	local demo
	demo=$(sh "$ROOT/test/targets/toolkit.sh" demo)
	"$VIEW" dump --json "$demo" | jq -r .event | sort | uniq -c | awk '{ n = $1; $1 = ""; print substr($0, 2), n }' | sort >"$T/ours"
	cat "$T/ours"
	diff <(from_check "$demo") "$T/ours"
	[ "$(awk '{ s += $NF } END { print s }' "$T/ours")" -gt 500000 ]
	"$VIEW" report "$demo" >"$T/report"
	[ -s "$T/report" ]
}
