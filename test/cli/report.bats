# SPDX-License-Identifier: Apache-2.0
# The figures in report.expected, worked out from make_traces.c (us):
#   span 0..20000; level full 0..18000 = 90 %; lost 3 of 3 + 41 events = 6.8 %
#   type 10:5: polls 2000 + 400 + 100 = 2500 busy; waits 1000 and 100
#   type 20:9: polls 12000 + 100, less 100 nested = 12000 busy; nested 1:1 100; sum 14600
#   shares 12000, 2500, 100 of 14600 = 82.2, 17.1, 0.7 %
#   worker 0: busy 2500; between 500 + 500 + 500 + 100 + 400 = 2000; parked 5000 - 500 + 10000;
#     delay 500; unknown 500; sum 20000
#   worker 1: busy 12100; between 1000 + 100 + 800; parked 1000 + 3000; unknown 2000; sum 20000
#   p50 of three polls is the second, 400 us: its bucket 397.3..401.4 answers with 399
load view

setup_file() { load view; make_traces; }
setup() { cd "$BATS_FILE_TMPDIR"; }

@test "text" { expect report report traces; }
@test "JSON" { expect report-json report --json traces/abcd-42; }
@test "events of one thread after the other are put in order" { expect report-batches report batches.bin; }
@test "--top cuts the tables and says so" {
	code 0 report --top 1 traces/abcd-42
	grep -q "2 more: --top 0 prints all" "$out"
}

@test "the parts of each worker's time sum to the span" {
	code 0 report --json traces
	[ "$(jq -r '.recordings[] | .span.ns as $s | .workers[] |
		(.busy_ns // 0) + (.parked_ns // 0) + (.kernel_delay_ns // 0) + .between_ns + .unknown_ns == $s' \
		"$out" | sort -u)" = true ]
}
@test "the JSON names its schema" {
	code 0 report --json traces
	[ "$(jq -r .schema "$out")" = dial9-view.report/1 ]
	[ "$(jq '.recordings | length' "$out")" = 2 ]
}
@test "hostile names do not reach the terminal" {
	code 0 report hostile.bin
	! grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$out"
}
@test "a damaged file: reported as far as it goes, exit 3" {
	code 3 report cut.bin
	grep -q "segments  1 damaged" "$out"
	grep -q "src/main.rs:10:5" "$out"
}
@test "twice the same" {
	code 0 report --json traces
	cp "$out" first
	code 0 report --json traces
	cmp "$out" first
}
@test "a change of session: nothing between it is counted, costs do not cross it" {
	# levels 10 + 10 of 40 ms; each session costs 0.1 and 0.2 ms in 10 ms
	code 0 report sessions
	grep -q "level     full 50.0 % (poll ends exact), unknown 50.0 %" "$out"
	grep -q "sessions  2, 20.0 ms between them not recorded" "$out"
	grep -q "segments 0-5 are gone (evicted)" "$out"
	grep -q "cost      agent 1.0 % of a CPU, target about 2.0 % of a CPU" "$out"
}
@test "copied and mixed segments: said, exit 3, no time counted twice" {
	code 3 report copied
	grep -q "a copy, or out of order" "$err"
	grep -q "level     full 100.0 %" "$out"
	code 3 report mixed
	grep -q "of another process" "$err"
}
