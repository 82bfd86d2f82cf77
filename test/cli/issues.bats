# SPDX-License-Identifier: Apache-2.0
# The answer is worked out in viewer/ANALYSES.md.
load view

setup_file() { load view; make_traces; }
setup() { cd "$BATS_FILE_TMPDIR"; }

@test "text" { expect issues issues traces/abcd-42; }
@test "one long poll, blocked in nanosleep" {
	code 0 issues --json traces/abcd-42
	[ "$(jq -c '.schema, (.recordings[0].issues[] | [.kind, .severity, .type, .place, .count,
		.worst_ns, .evidence.poll])' "$out")" = '"dial9-view.issues/1"
["long-poll","warning","src/main.rs:20:9","nanosleep",1,12000000,"p:2.1"]' ]
}
@test "--fail-on: exit 1 when a finding reaches it" {
	code 1 issues --fail-on warning traces/abcd-42
	code 0 issues --fail-on critical traces/abcd-42
	code 2 issues --fail-on often traces/abcd-42
}
@test "filters leave findings out" {
	for f in "--task t:1" "--type main.rs:10" "--worker w0" "--to +1ms" "--runtime other"; do
		code 0 issues --fail-on warning $f traces/abcd-42
	done
	code 1 issues --fail-on warning --task 2 --type 20:9 --worker 1 --runtime main traces/abcd-42
}
@test "twice the same" {
	code 0 issues --json traces
	cp "$out" first
	code 0 issues --json traces
	cmp "$out" first
}
