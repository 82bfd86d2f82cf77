# SPDX-License-Identifier: Apache-2.0
load view

setup_file() { load view; make_traces; }
setup() { cd "$BATS_FILE_TMPDIR"; }

@test "help" { expect help --help; }
@test "help of report" { expect help-report report --help; }
@test "help of serve" { expect help-serve serve --help; }
@test "help of issues" { expect help-issues issues --help; }
@test "help of tasks" { expect help-tasks tasks --help; }
@test "help of workers" { expect help-workers workers --help; }
@test "help of polls" { expect help-polls polls --help; }
@test "help of waits" { expect help-waits waits --help; }
@test "help of blame" { expect help-blame blame --help; }
@test "help of hist" { expect help-hist hist --help; }
@test "help of flame" { expect help-flame flame --help; }
@test "help of guide" { expect help-guide guide --help; }
@test "help of diff" { expect help-diff diff --help; }
@test "help of link" { expect help-link link --help; }
@test "help of dump" { expect help-dump dump --help; }
@test "help of verify" { expect help-verify verify --help; }
@test "help of convert" { expect help-convert convert --help; }

@test "each help fits a screen of 80 columns and 24 lines" {
	for args in "" $("$VIEW" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
		code 0 $args --help
		[ "$(wc -l <"$out")" -le 24 ]
		[ "$(awk '{ print length }' "$out" | sort -n | tail -n 1)" -le 80 ]
	done
}

@test "a word that is neither command nor path: exit 2, names it" {
	code 2 nosuchword .
	grep -q "nosuchword: no such command, FILE or DIR" "$err"
}

@test "the man page names every command and option" {
	for word in $("$VIEW" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
		grep -q "^\.It Cm $word" "$ROOT/viewer/dial9-view.1" || { echo "$word"; return 1; }
		for option in $("$VIEW" "$word" --help | sed -n 's/^ .*--\([a-z-]*\) .*/\1/p'); do
			grep -q "^\.It .*Fl Fl $option" "$ROOT/viewer/dial9-view.1" ||
				{ echo "--$option"; return 1; }
		done
	done
}

@test "the agent's man page names every option" {
	"${BUILD}/dial9-agent" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u >options
	[ "$(wc -l <options)" -ge 20 ]
	while read -r option; do
		grep -qE -- "^\.It .*Fl -${option#--}( |$)" "$ROOT/agent/dial9-agent.8" || { echo "$option"; return 1; }
	done <options
}

@test "usage errors: one line that names the culprit, exit 2" {
	while read -r args; do
		code 2 $args
		[ ! -s "$out" ]
		[ "$(wc -l <"$err")" = 1 ]
		cat "$err"
	done >"$BATS_TEST_TMPDIR/lines" <<-'END'
		dump
		dump one two
		dump --nonsense hostile.bin
		dump -x hostile.bin
		dump --kind
		dump --json=yes hostile.bin
		dump --from soon hostile.bin
		dump --to 5parsec hostile.bin
		report --top many hostile.bin
		report --kind X hostile.bin
		convert hostile.bin
		convert --to lzma -o x hostile.bin
		convert --to raw hostile.bin
		convert --to raw -o x traces
		--nonsense
	END
	[ -z "${UPDATE:-}" ] || cp "$BATS_TEST_TMPDIR/lines" "$BATS_TEST_DIRNAME/usage.expected"
	diff -u "$BATS_TEST_DIRNAME/usage.expected" "$BATS_TEST_TMPDIR/lines"
}

@test "without arguments: the help, exit 2" { code 2; [ -s "$out" ]; }
@test "version" { code 0 --version; grep -qE '^dial9-view [0-9]+\.[0-9]+\.[0-9]+$' "$out"; }

@test "what cannot be read: exit 1 or 3, one line" {
	code 1 dump nowhere
	[ "$(cat "$err")" = "dial9-view: nowhere: cannot read it: No such file or directory" ]
	mkdir -p nothing
	code 3 dump nothing
	grep -q "nothing: no trace in it" "$err"
	code 3 dump /etc/passwd
	grep -q "not a dial9 trace" "$err"
}

@test "a full disk: said, exit 1" {
	status=0
	"$VIEW" dump batches.bin >/dev/full 2>err || status=$?
	[ "$status" = 1 ]
	grep -q "standard output: cannot write it: No space left" err
}
