#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every Tokio minor and every kind of build: is what is recorded equal to the program's own log?
#   run.sh [--short] [BUILD|VERSION|BUILD/VERSION...]
#   make matrix; make matrix SHORT=1; make matrix CELLS="musl 1.32"
# For each cell of cells.txt: build it (cargo, cached below build/targets), record everything that it
# can do at level full, then (not with --short) steady work at level wakes with many CPU samples.
# One TAP line a cell, then the grid; a run of all writes the table of README.md. Figures stay in
# build/matrix/. BUILT=1 takes programs that are there as they are, older than their sources too.
set -u
cd "$(dirname "$0")/../.." || exit 1
BATS_TEST_DIRNAME=$PWD/test/e2e
. test/e2e/helpers.bash
BUILD_SH=test/targets/build.sh
OUT=$BUILD/matrix
short=0 wanted=()
for arg; do
	case $arg in
	--short) short=1 ;;
	*) wanted+=("$arg") ;;
	esac
done
[ "$(id -u)" = 0 ] || { echo 'matrix: recording needs root: sudo make matrix' >&2; exit 1; }

full_version() { # 1.32 | newest
	if [ "$1" = newest ]; then sh $BUILD_SH --versions | tail -n 1; else sh $BUILD_SH --versions | grep "^$1\\."; fi
}
cells() { # BUILD VERSION, one a line
	local build tokio diag what v
	while read -r build tokio diag what; do
		case $build in '#'* | '') continue ;; esac
		if [ $short = 1 ]; then
			[ "$diag" = - ] || echo "$build $(full_version "$diag")"
		elif [ "$tokio" = all ]; then
			for v in $(sh $BUILD_SH --versions); do echo "$build $v"; done
		else
			for v in ${tokio//,/ }; do echo "$build $(full_version "$v")"; done
		fi
	done <test/matrix/cells.txt
}
is_wanted() { # BUILD VERSION
	local w
	[ ${#wanted[@]} -gt 0 ] || return 0
	for w in "${wanted[@]}"; do
		case $1/$2 in "$w" | "$w"/* | */"$w" | */"$w".*) return 0 ;; esac
	done
	return 1
}

record() { # PROGRAM LEVEL ARGS...: one run from before its start to its end; events in $T/events
	local bin=$1 level=$2
	shift 2
	rm -rf "$TRACES"
	target_run "$bin" --log "$T/truth" "$@" && agent_start --level "$level" --cpu-hz "$hz" $stepped && target_go &&
		target_end && agent_end && verify >"$T/verify" && events >"$T/events"
}
polls_equal() { # level wakes: polls to the number, neither spawns nor exact ends
	local own seen
	own=$(awk '$1 == "mark" && $3 == "go" { go = $2 } $1 == "poll" { t[NR] = $4 } END { for (i in t) n += t[i] >= go; print n + 0 }' "$T/truth")
	seen=$(grep -cE '"event":"(PollStartEvent|agent:NestedPoll|agent:Blocking)"' "$T/events")
	[ "$own" = "$seen" ] || { say "differs: level wakes has $seen polls, the program's own log $own"; return 1; }
}
word_agrees() { # learnt, never another task's (but a dropped one's); or refused, and that is said
	local word
	word=$(sed -n 's/^word //p' "$1")
	case $word in
	unknown:* | refused:*) ;;
	[0-9]*) ! grep -qE '^check .*differs [1-9]' "$1" || { say "differs: task word $(grep ^check "$1")"; return 1; } ;;
	*) say "differs: nothing says what became of the task word"; return 1 ;;
	esac
}

only_unread() { # all that truth.py found: ends that stay unknown, no more than are counted as lost
	awk '/^differs.*: 0 ends, should be 1$/ { gone += $2; next }
		/^differs.*, cancel\): nothing says how it ended$/ { next }
		/^differs.* lost: Header$/ { lost = $4; next }
		/^differs/ { other = 1 }
		END { exit other || !lost || gone > lost }' "$T/count"
}

cell() { # BUILD VERSION: 0 pass, 1 differs, 3 cannot be built here; facts in $figures
	local bin rc=0 hz=99 stepped=
	bin=$BUILD/targets/bin/rich-$2-$1
	if [ -z "${BUILT-}" ] || ! [ -x "$bin" ]; then
		bin=$(sh $BUILD_SH "$2" "$1" 2>"$T/build.err") || { rc=$?; cat "$T/build.err"; return $rc; }
	fi
	PIDS=()
	record "$bin" full --mode all --secs 2 --slice-ms 60 || { cat "$T/agent.err" "$T/verify" 2>/dev/null; return 1; }
	if python3 test/e2e/truth.py "$T/truth" <"$T/events" >"$T/count"; then
		:
	elif [[ $1 = musl* ]] && only_unread; then
		# musl gives a freed task's memory back at once: at the poll's end there is nothing to
		# be read. Whether it is gone the kernel tells from 5.17 on, but for the moments in which
		# another thread changes the map: then the end stays unknown, and the trace counts it
		sed -i 's/^differs/unread/' "$T/count"
	else
		# are sites that the kernel must single-step all that was missing?
		sed 's/^/without: /' "$T/count" >"$T/without"
		stepped=--allow-stepped
		record "$bin" full --mode all --secs 2 --slice-ms 60 || { cat "$T/agent.err"; return 1; }
		python3 test/e2e/truth.py "$T/truth" <"$T/events" >"$T/count" || rc=1
		{ echo "stepped $(grep -m 1 ^without:.differs "$T/without")"; cat "$T/without"; } >>"$T/count"
	fi
	python3 test/matrix/facts.py "$T/truth" "$T/events" >"$T/facts" || rc=1
	cat "$T/count" "$T/facts" >"$figures"
	if [ $short = 1 ]; then
		word_agrees "$T/facts" >>"$figures" || rc=1
		grep ^differs "$figures"
		return $rc
	fi
	hz=997
	record "$bin" wakes --mode steady --rate 10000 --secs 1.5 || { cat "$T/agent.err"; return 1; }
	polls_equal >>"$figures" || rc=1
	python3 test/matrix/facts.py "$T/truth" "$T/events" >"$T/facts" || rc=1
	sed -n 's/^word/steady-word/p; s/^check/steady-check/p' "$T/facts" >>"$figures"
	word_agrees "$T/facts" >>"$figures" || rc=1
	grep ^differs "$figures"
	return $rc
}

mkdir -p "$OUT"
BATS_TEST_TMPDIR=$(mktemp -d)
setup
trap 'teardown; rm -rf "$T"' EXIT
trap 'exit 130' INT TERM
list=$(cells | while read -r b v; do is_wanted "$b" "$v" && echo "$b $v"; done)
[ -n "$list" ] || { echo 'matrix: no such cell' >&2; exit 2; }
echo "1..$(echo "$list" | wc -l)"
if [ $short = 1 ]; then # cargo has one thread at times: two builds at once; what fails is said below
	xargs -P 2 -L 1 sh -c 'sh "$0" "$2" "$1"' $BUILD_SH <<<"$list" >/dev/null 2>&1 || :
fi
n=0 bad=0
while read -r build version; do
	n=$((n + 1)) figures=$OUT/$version-$build.txt
	rm -f "$figures"
	said=$(cell "$build" "$version" </dev/null 3>&-)
	rc=$?
	teardown
	PIDS=()
	case $rc in
	0) echo "ok $n - Tokio $version $build"; verdict=pass ;;
	3) echo "ok $n - Tokio $version $build: not built, $said"; verdict="absent $said" ;;
	*) bad=1 verdict=differs; echo "not ok $n - Tokio $version $build"; printf '%s\n' "$said" | sed 's/^/# /' ;;
	esac
	printf '%s\n' "verdict $verdict" >>"$figures"
done <<<"$list"
[ $short = 1 ] || [ ${#wanted[@]} -gt 0 ] || write=--readme
python3 test/matrix/grid.py ${write-} "$OUT" <<<"$list" || bad=1
exit $bad
