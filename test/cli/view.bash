# SPDX-License-Identifier: Apache-2.0
# Shared by the bats files here: traces made by make_traces, and exact comparison.

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$ROOT/$BUILD ;; esac
VIEW=$BUILD/dial9-view
export LC_ALL=C.UTF-8 TZ=UTC

make_traces() { # into the directory the tests run in
	cd "$BATS_FILE_TMPDIR" && "$BUILD/test/cli/make_traces" . && "$BUILD/test/cli/make_broken" .
}

# Runs dial9-view and compares its output (standard error after standard output) and exit code
# with NAME.expected. UPDATE=1 writes the file instead: read what changed before you commit it.
# What a compressor makes of a file depends on its release: those sizes are compared as ZSIZE.
expect() { # NAME ARGS...
	local want=$BATS_TEST_DIRNAME/$1.expected got=$BATS_TEST_TMPDIR/got status=0
	shift
	"$VIEW" "$@" >"$got" 2>"$got.err" </dev/null || status=$?
	{
		cat "$got.err"
		echo "exit $status"
	} >>"$got"
	sed -i -E 's/^(  (zstd|gzip)) +[0-9]+ /\1        ZSIZE /' "$got"
	sed -i -E '/"compression": "(zstd|gzip)"/{n;s/"bytes": [0-9]+/"bytes": ZSIZE/}' "$got"
	[ -z "${UPDATE:-}" ] || cp "$got" "$want"
	diff -u "$want" "$got"
}

# The exit code of a command that may have one of several.
status_of() { # COMMAND...
	local status=0
	"$@" >/dev/null 2>&1 </dev/null || status=$?
	echo "$status"
}

# Runs dial9-view; the exit code must be CODE. Output and error stand in $out and $err.
code() { # CODE ARGS...
	local want=$1 got=0
	shift
	out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err
	"$VIEW" "$@" >"$out" 2>"$err" </dev/null || got=$?
	[ "$got" = "$want" ] || {
		echo "exit code $got, not $want: dial9-view $*"
		cat "$out" "$err"
		return 1
	}
}
