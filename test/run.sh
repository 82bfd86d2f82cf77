#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests in layers, cheap ones first:   test/run.sh [LAYER...]
#   gcc clang layers unit asan fuzz cli formats page targets truth e2e shown soak matrix kernels
#   (default: all but kernels, in this order)
# One line per test; a program that crashes, hangs past its cap, prints no result or leaves a
# process behind is a failure, and so is a skipped test. Logs of failures stay in
# build/test-logs. Ends with "N passed, N failed" alone on a line.
set -u
shopt -s lastpipe nullglob
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C.UTF-8
BUILD=${BUILD:-build}
JOBS=${JOBS:-$(nproc)}
FUZZ_SECS=${FUZZ_SECS:-10}
LOGS=$BUILD/test-logs
rm -rf "$LOGS" && mkdir -p "$LOGS" || exit 1

# Every process of this run carries this in its environment, whatever it does to its session or
# parent: so what is left behind can be found, and nothing else is ever hit.
export DIAL9_TEST_RUN=$$.$(date +%s%N)

passed=0 failed=0
table=()

leftovers() { # pids of this run's processes outside its own group; each test has its own group
	local f pid group
	grep -lzxF "DIAL9_TEST_RUN=$DIAL9_TEST_RUN" /proc/[0-9]*/environ 2>/dev/null | while read -r f; do
		pid=${f#/proc/} pid=${pid%/environ}
		group=$(ps -o pgid= -p "$pid" | tr -d ' ')
		[ -z "$group" ] || [ "$group" = "$own_group" ] || echo "$pid"
	done
}
own_group=$(ps -o pgid= -p $$ | tr -d ' ')

reap() { # kills what is left; prints what it was
	local pid
	for pid in $(leftovers); do
		printf 'pid %s: %s\n' "$pid" "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | cut -c 1-120)"
		kill -KILL "$pid" 2>/dev/null
	done
}
trap 'reap >/dev/null' EXIT
trap 'exit 130' INT TERM HUP

result() { # ok|not NAME [DETAIL]
	if [ "$1" = ok ]; then
		passed=$((passed + 1))
		printf '  ok      %s\n' "$2"
	else
		failed=$((failed + 1))
		printf '  FAILED  %s%s\n' "$2" "${3:+ ($3)}"
	fi
}

# Runs a command in its own process group with a time cap, all output to $log.
capped() { # SECONDS COMMAND...
	local cap=$1
	shift
	timeout --kill-after=10 "$cap" "$@" </dev/null
}

exit_text() { # STATUS CAP
	case $1 in
	124 | 137) echo "no end within $2 s" ;;
	*) if [ "$1" -gt 128 ]; then echo "killed by signal $(($1 - 128))"; else echo "exit code $1"; fi ;;
	esac
}

check_left() { # NAME: nothing of it may still run
	local left i
	for i in 1 2 3 4 5; do # what is just about to end is not left behind
		[ -n "$(leftovers)" ] || return
		sleep 0.2
	done
	left=$(reap)
	[ -z "$left" ] || result not "$1: leaves no process" "$left"
}

show_log() { # FILE: what a failure said; of a build, what the compiler complained about
	{ grep -m 20 -A 4 -E '(error|Error|undefined reference)' "$1" || tail -n 40 "$1"; } |
		head -n 40 | sed 's/^/          /'
}

step() { # NAME CAP COMMAND...: one test, judged by its exit code
	local name=$1 cap=$2 log=$LOGS/${1//[^A-Za-z0-9_.-]/_}.log rc
	shift 2
	capped "$cap" "$@" >"$log" 2>&1
	rc=$?
	if [ $rc = 0 ]; then
		result ok "$name"
		rm -f "$log"
	else
		result not "$name" "$(exit_text $rc "$cap"), $log"
		show_log "$log"
	fi
	check_left "$name"
	return $rc
}

tap() { # NAME CAP COMMAND...: many tests, judged by the TAP lines it prints
	local name=$1 cap=$2 log=$LOGS/${1//[^A-Za-z0-9_.-]/_}.log rc line plan='' seen=0 bad=0
	shift 2
	{ capped "$cap" "$@" 2>&1; echo "exit status $?"; } | tee "$log" |
		while IFS= read -t $((cap + 30)) -r line; do
			case $line in
			[0-9]*..[0-9]*) plan=${line#*..} plan=${plan%%[!0-9]*} ;;
			'ok '*'# SKIP'* | 'ok '*'# skip'*)
				seen=$((seen + 1)) bad=$((bad + 1))
				result not "$name: ${line#ok }" "skipped" ;;
			'ok '[0-9]*)
				seen=$((seen + 1)) line=${line#ok } line=${line#* }
				result ok "$name: ${line#- }" ;;
			'not ok '[0-9]*)
				seen=$((seen + 1)) bad=$((bad + 1)) line=${line#not ok } line=${line#* }
				result not "$name: ${line#- }" ;;
			'exit status '*) rc=${line#exit status } ;;
			'#'*) # diagnostics of bats and cmocka stand below the failure they belong to
				[ $bad = 0 ] || printf '          %s\n' "${line#\# }" ;;
			'measured: '*) printf '          %s\n' "${line#measured: }" ;;
			esac
		done
	rc=${rc:-124}
	if [ -z "$plan" ] || [ "$plan" = 0 ]; then
		bad=$((bad + 1))
		result not "$name" "ran no test, $(exit_text "$rc" "$cap"), $log"
		show_log "$log"
	elif [ "$seen" -lt "$plan" ]; then
		bad=$((bad + 1))
		result not "$name" "$((plan - seen)) of $plan tests gave no result, $(exit_text "$rc" "$cap"), $log"
		show_log "$log"
	elif [ "$rc" != 0 ] && [ $bad = 0 ]; then
		bad=1
		result not "$name" "$(exit_text "$rc" "$cap") after its last test, $log"
		show_log "$log"
	fi
	[ $bad = 0 ] && rm -f "$log"
	check_left "$name"
}

build() { # NAME CAP MAKE-ARGUMENTS...
	local name=$1 cap=$2
	shift 2
	step "$name" "$cap" make -j"$JOBS" BUILD="$BUILD" "$@"
}

# ---- layers ----
layer_gcc() { build 'build with gcc' 900 CC=gcc all bins unit-bins; }

layer_clang() { build 'build with clang' 900 CC=clang BUILD="$BUILD/clang" all bins unit-bins; }

layer_layers() { tap layers 60 bash test/layers.sh; }

cmocka() { # LABEL DIR CAP
	local src bin
	for src in test/unit/test_*.c; do
		bin=$2/${src%.c}
		[ -x "$bin" ] || { result not "$1 $(basename "$src" .c)" 'was not built'; continue; }
		tap "$1 $(basename "$src" .c)" "$3" env CMOCKA_MESSAGE_OUTPUT=TAP "$bin"
	done
}
layer_unit() {
	build 'build the unit tests' 600 -k unit-bins
	cmocka unit "$BUILD" 60
}
layer_asan() {
	build 'build the unit tests with ASan and UBSan' 600 -k asan-bins
	UBSAN_OPTIONS=print_stacktrace=1 cmocka asan "$BUILD/asan" 180
}
layer_fuzz() {
	local src noun bin dir
	build 'build the fuzz targets' 600 -k fuzz-bins
	for src in test/fuzz/fuzz_*.c; do
		noun=$(basename "$src" .c) noun=${noun#fuzz_}
		bin=$BUILD/${src%.c} dir=$BUILD/fuzz/corpus/$noun
		[ -x "$bin" ] || { result not "fuzz $noun" 'was not built'; continue; }
		mkdir -p "$dir"
		# finds go to build/; what is in test/fuzz/corpus is only read
		step "fuzz $noun for $FUZZ_SECS s" $((FUZZ_SECS + 120)) "$bin" \
			-max_total_time="$FUZZ_SECS" -timeout=5 -rss_limit_mb=2048 -verbosity=0 \
			-print_final_stats=1 -artifact_prefix="$LOGS/$noun-" "$dir" \
			$([ -d "test/fuzz/corpus/$noun" ] && echo "test/fuzz/corpus/$noun")
	done
}

bats_file() { # FILE CAP [ARGS of bats...]
	tap "$(basename "$(dirname "$1")") $(basename "$1" .bats)" "$2" bats --tap "$1" "${@:3}"
}
layer_cli() {
	local f
	build 'build the programs' 600 all bins
	for f in test/cli/*.bats; do bats_file "$f" 300; done
}

layer_formats() { # with tools from npm and PyPI
	build 'build the programs' 600 all bins
	tap formats 300 bash test/formats/run.sh
}

layer_page() { # the built files that are committed are those of the sources
	step "the page's modules" 300 make page-modules
	step "the page is free of type errors" 120 node viewer/page/node_modules/typescript/bin/tsc -p viewer/page
	step "the page is built the same again" 120 sh -c 'node viewer/page/build.mjs "$1" && diff -r viewer/page/dist "$1"' sh "$PWD/$BUILD/page"
	build "build the programs for the page" 600 all bins
	tap page 300 bash test/browser/run.sh
	tap page 180 bash test/browser/alone.sh
	tap page 180 bash test/browser/grows.sh
}

layer_targets() {
	local version profile
	for version in 1.24 1.32 1.38 1.43 1.47 newest; do
		step "target: Tokio $version stripped, fat LTO, panic=abort" 900 \
			sh test/targets/build.sh "$version" stripped
	done
	for profile in debug release release-fp stripped-unwind unstable; do
		step "target: newest Tokio $profile" 900 sh test/targets/build.sh newest $profile
	done
	step 'target: shared object with Tokio inside' 900 sh test/targets/build.sh newest release cdylib
}

layer_truth() { # a few rows, no times; make truth has them all
	if [ "$(id -u)" != 0 ]; then
		result not 'truth' 'needs root: sudo test/run.sh truth'
		return
	fi
	build 'build the programs for truth' 600 truth-bins
	step "truth: build a program with dial9's recorder" 900 bash test/truth/run.sh --build || return
	step "truth: our traces equal dial9's own, and 9 mutations do not" 600 \
		bash test/truth/run.sh --short
}

layer_e2e() {
	local f
	if [ "$(id -u)" != 0 ]; then
		result not 'e2e' 'needs root: sudo make test-e2e'
		return
	fi
	build 'build the programs for e2e' 600 all bins
	# the cap is that of a hang; what a file may take is said inside it
	for f in test/e2e/*.bats; do bats_file "$f" 900; done
}

layer_shown() { # each planted block; make shown holds shares and long polls too
	if [ "$(id -u)" != 0 ]; then
		result not 'shown' 'needs root: sudo make shown'
		return
	fi
	build 'build the programs for shown' 600 all bins
	bats_file test/shown/shown.bats 300 --filter 'blocks of 1 ms'
}

layer_soak() { # left on for half a minute; make soak takes ten
	if [ "$(id -u)" != 0 ]; then
		result not 'soak' 'needs root: sudo make soak'
		return
	fi
	build 'build the programs for soak' 600 all
	tap soak 300 bash test/soak/run.sh --short
}

layer_matrix() { # old and new Tokio, each kind of build that e2e has not; make matrix has them all
	if [ "$(id -u)" != 0 ]; then
		result not 'matrix' 'needs root: sudo make matrix SHORT=1'
		return
	fi
	build 'build the programs for the matrix' 600 all bins
	tap matrix 900 bash test/matrix/run.sh --short
}

layer_kernels() { # the oldest that apt has, emulated; make kernels has them all
	build 'build the programs for the kernels' 600 all bins
	tap kernels 900 bash test/kernels/run.sh --short
}

layers=${*:-gcc clang layers unit asan fuzz cli formats page targets truth e2e shown soak matrix}
for layer in $layers; do
	declare -F "layer_$layer" >/dev/null || { echo "run.sh: no layer '$layer'" >&2; exit 2; }
done
for layer in $layers; do
	echo "$layer"
	began=$SECONDS ok=$passed bad=$failed
	"layer_$layer"
	table+=("$(printf '%-10s %6d s %6d passed %4d failed' "$layer" $((SECONDS - began)) \
		$((passed - ok)) $((failed - bad)))")
done

rmdir "$LOGS" 2>/dev/null
echo
printf '%s\n' "${table[@]}"
[ "$failed" = 0 ] || echo "logs of the failures: $LOGS"
[ $((passed + failed)) -gt 0 ] || failed=1
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
