# SPDX-License-Identifier: Apache-2.0
# A trace that dial9 itself wrote, of a real service, in the published source of its viewer: every
# event is read. The counts are those that dial9's own toolkit prints for it.
load view

setup_file() {
	load view
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir -p peer/src && cd peer || return 1
	: >src/lib.rs
	cat >Cargo.toml <<-'END'
		[package]
		name = "peer"
		version = "0.0.0"
		edition = "2021"
		[dependencies]
		dial9-viewer = "=0.5.7"
	END
	cargo fetch --quiet
	crate=$(cargo metadata --format-version 1 | jq -r '.packages[] | select(.name == "dial9-viewer") | .manifest_path')
	ln -s "$(dirname "$crate")/ui/dist/demo-trace.bin" ../demo-trace.bin
}
setup() { cd "$BATS_FILE_TMPDIR"; }

@test "verify: whole, every invariant that applies holds, the counts are dial9's" {
	code 0 verify --json demo-trace.bin
	[ ! -s "$err" ]
	[ "$(jq -r .verdict "$out")" = ok ]
	[ "$(jq -c '.recordings[0].event_counts | [.PollStartEvent, .PollEndEvent, .WakeEventEvent,
		.TaskDumpEvent, .CpuSampleEvent]' "$out")" = "[99717,99717,98133,31278,7861]" ]
}
@test "dump: as many lines as events, all of them JSON" {
	code 0 verify --json demo-trace.bin
	events=$(jq .recordings[0].events "$out")
	code 0 dump --json demo-trace.bin
	[ "$(wc -l <"$out")" = "$events" ]
	[ "$(jq -n 'reduce inputs as $e (0; . + 1)' "$out")" = "$events" ]
}
@test "report: its polls and its workers" {
	code 0 report --json demo-trace.bin
	[ "$(jq '[.recordings[0].types[].polls] | add' "$out")" = 99717 ]
	[ "$(jq -c '[.recordings[0].workers[].worker]' "$out")" = "[0,1,2,3]" ]
	[ "$(jq .recordings[0].late_events "$out")" = 0 ]
}
@test "convert: dial9's gzip to zstd and back is the same trace" {
	code 0 convert --to zstd -o demo.zst demo-trace.bin
	code 0 convert --to gzip -o demo.gz demo.zst
	cmp <(gzip -dc demo.gz) <(gzip -dc demo-trace.bin)
}
