# SPDX-License-Identifier: Apache-2.0
load view

setup_file() { load view; make_traces; }
setup() { cd "$BATS_FILE_TMPDIR"; }

broken() { # the checks that fail, by name
	code 1 verify --json "$1"
	jq -r '.recordings[].checks[] | select(.judged and .broken > 0) | "\(.check) \(.broken)"' "$out"
}

@test "text" { expect verify verify traces; }
@test "JSON" { expect verify-json verify --json traces/abcd-42; }

@test "each broken file breaks its check, once" {
	[ "$(broken polls.bin)" = "polls_alternate 1" ]
	[ "$(broken parks.bin)" = "parks_alternate 1" ]
	[ "$(broken workers.bin)" = "one_worker 1" ]
	[ "$(broken ids.bin)" = "ids_unique 1" ]
	[ "$(broken ended.bin)" = "ended_stay 1" ]
	[ "$(broken nested.bin)" = "nested_inside 1" ]
	[ "$(broken blocking.bin)" = "blocking_alternate 1" ]
	[ "$(broken sums.bin)" = "sums_fit 5" ]
	[ "$(broken fields.bin)" = "fields_present 1" ]
	[ "$(broken pools.bin)" = "pools_resolve 1" ]
	[ "$(broken traces/efgh-43)" = "numbers_whole 1" ]
	# in order of time the park of 25 us stands between the two others
	[ "$(broken time.bin)" = "$(printf 'parks_alternate 1\ntime_forward 1')" ]
}
@test "text says where" {
	code 1 verify workers.bin
	grep -q "no task is polled on two workers at once: 1 of 4, first at 1000100000 on worker 0, task 1" "$out"
}

@test "polls that nothing explains are counted, where wakes are claimed" {
	code 0 verify --json traces/abcd-42
	[ "$(jq .recordings[0].unexplained_polls "$out")" = 2 ] # one of them nested
	code 0 verify --json batches.bin
	[ "$(jq .recordings[0].unexplained_polls "$out")" = null ]
}
@test "what is not claimed is not judged" {
	code 0 verify --json batches.bin
	[ "$(jq -r '[.recordings[0].checks[] | select(.judged | not) | .check] | join(" ")' "$out")" = \
		"one_worker ids_unique ended_stay" ]
}

@test "damage: exit 3" {
	code 3 verify cut.bin
	grep -q "verdict: damaged" "$out"
	code 3 verify --json flipped.bin.zst
	[ "$(jq -r .verdict "$out")" = damaged ]
	code 3 verify empty.bin
}
@test "an open file that is cut off is not damaged" { code 0 verify cut.bin.active; }
@test "an open file without a byte is called empty" {
	: >none.bin.active
	code 0 verify none.bin.active
	grep -q "none.bin.active: empty: its recorder has just begun it, or was killed" "$err"
	grep -q " empty: none.bin.active" "$out"
	grep -q "verdict: ok, but there is no event to judge" "$out"
	code 0 verify --json none.bin.active
	[ "$(jq -r '.recordings[0].segments[0].state' "$out")" = empty ]
	rm none.bin.active
}

@test "every cut of a trace is read without a crash" {
	size=$(stat -c %s cut.bin)
	for ((i = 0; i < size; i += 7)); do
		head -c "$i" cut.bin >part.bin
		[[ $(status_of "$VIEW" verify part.bin) =~ ^[03]$ ]] || { echo "cut at $i"; return 1; }
		[[ $(status_of "$VIEW" report part.bin) =~ ^[03]$ ]] || { echo "cut at $i"; return 1; }
	done
}
@test "every flipped byte of a trace is read without a crash" {
	size=$(stat -c %s cut.bin)
	for ((i = 0; i < size; i += 5)); do
		cp cut.bin part.bin
		printf '\xff' | dd of=part.bin bs=1 seek=$i conv=notrunc status=none
		for command in "verify" "report --json" "dump --json"; do
			[[ $(status_of "$VIEW" $command part.bin) =~ ^[013]$ ]] ||
				{ echo "$command, byte $i"; return 1; }
		done
	done
}
@test "the golden traces, good and bad, are read without a crash" {
	for f in "$ROOT"/test/golden/*.{bin,gz,zst} "$ROOT"/test/golden_bad/*.{bin,gz,zst}; do
		for command in "verify" "verify --json" "report" "report --json" "dump" "dump --json"; do
			want='^[01]$'
			[[ $f =~ golden_bad ]] && want='^3$'
			[[ $(status_of "$VIEW" $command "$f") =~ $want ]] ||
				{ echo "$command $f: $(status_of "$VIEW" $command "$f")"; return 1; }
		done
	done
}
@test "each session is judged by itself" {
	code 0 verify sessions
	grep -q "2 sessions, each judged by itself" "$out"
	grep -q "segments 0-5 are gone (evicted)" "$out"
	grep -q "raw: no checksum" "$out"
}
@test "copied and mixed segments: exit 3" { code 3 verify copied; code 3 verify mixed; }
