# SPDX-License-Identifier: Apache-2.0
# The guide's own command lines, run on a recording.
load view

setup_file() { load view; make_traces; }
setup() { cd "$BATS_FILE_TMPDIR"; }

@test "every command line of the guide runs" {
	code 0 guide
	grep -o 'dial9-view [a-z].* DIR' "$out" >lines
	[ "$(wc -l <lines)" -ge 15 ]
	while read -r _ args; do
		code 0 ${args%DIR} traces/abcd-42
		[ -s "$out" ]
	done <lines
	code 0 polls $(sed -n 's/^ *--from/--from/p' "$BATS_TEST_TMPDIR/out" | head -n 1) traces/abcd-42
}
@test "every analysis is in the guide" {
	code 0 guide
	cp "$out" guide
	for c in verify report issues tasks workers polls waits blame hist flame dump; do
		grep -q "dial9-view $c" guide || { echo "$c"; return 1; }
	done
	[ "$(awk '{ print length }' guide | sort -n | tail -n 1)" -le 88 ]
}
@test "it takes no path" { code 2 guide traces; }
@test "the skill file: name, description, and only commands that exist" {
	skill=$ROOT/deploy/skills/dial9-view/SKILL.md
	[ "$(sed -n 1p "$skill")" = --- ]
	grep -qx 'name: dial9-view' "$skill"
	[ "$(sed -n 's/^description: //p' "$skill" | wc -c)" -le 1024 ]
	for c in $(grep -o 'dial9-view [a-z]*' "$skill" | cut -d' ' -f2 | sort -u); do
		code 0 "$c" --help
	done
}
