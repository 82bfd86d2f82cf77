# SPDX-License-Identifier: Apache-2.0
# What the end-to-end tests share: start a target, record it, stop, look at the trace.
# Every process started here ends with its test; no test waits without a cap.

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
BUILD=$(cd "$ROOT" && readlink -f "${BUILD:-build}")
AGENT=$BUILD/dial9-agent
VIEW=$BUILD/dial9-view
CODEBYTES=$BUILD/test/e2e/codebytes
VERSIONS=$(sh "$ROOT/test/targets/build.sh" --versions)

setup() {
	T=$BATS_TEST_TMPDIR
	TRACES=$T/traces
	PIDS=() MOUNTS=()
	unset "${!DIAL9_@}" RUST_BACKTRACE
	export DIAL9_TASK_WORDS=none # no test knows what another one learnt
}

teardown() {
	local p
	for p in "${PIDS[@]}"; do
		kill -KILL "$p" 2>/dev/null || :
		wait "$p" 2>/dev/null || :
	done
	for p in "${MOUNTS[@]}"; do umount "$p" || :; done
}

say() { printf '%s\n' "$*"; } # bats shows a test's output when it fails

measured() { echo "measured: $BATS_TEST_DESCRIPTION: $*" >&3; } # run.sh shows it always

now_ns() { # CLOCK_MONOTONIC, as in the trace
	awk '{ printf "%.0f\n", $1 * 1e9 }' /proc/uptime
}

no() { # COMMAND...: it must fail; bats would not see a bare "!" that does not hold
	if "$@"; then
		say "should have failed: $*"
		return 1
	fi
}

lossless() { # FILE of events: none is counted as lost; an event without stack, task or exact time is one all the same
	grep '"event":"agent:Loss"' "$1" | no grep -vE '"kind":"(Stack|TaskId|SwitchTime)"'
}

wait_for() { # SECONDS COMMAND...: until the command succeeds
	local i=0 cap=$(($1 * 50))
	shift
	until "$@"; do
		i=$((i + 1))
		[ $i -lt $cap ] || { say "gave up waiting for: $*"; return 1; }
		sleep 0.02
	done
}

is_gone() { # PID: ended (a zombie of ours has)
	local state
	state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) || return 0
	[ -z "$state" ] || [ "$state" = Z ]
}

wait_end() { # PID SECONDS: its exit code in RC
	wait_for "$2" is_gone "$1"
	RC=0
	wait "$1" || RC=$?
	forget "$1"
}

forget() { # PID: it has been waited for; the number may be another's from now on
	local p left=()
	for p in "${PIDS[@]}"; do [ "$p" = "$1" ] || left+=("$p"); done
	PIDS=("${left[@]}")
}

rich() { sh "$ROOT/test/targets/build.sh" "$1" "$2"; } # VERSION PROFILE: path of the built target

# Starts PROGRAM held back by its go-file; TARGET is its pid.
target_run() { # PROGRAM ARGS...
	rm -f "$T/go"
	"$@" --go-file "$T/go" >"$T/target.out" 2>"$T/target.err" 3>&- &
	TARGET=$!
	PIDS+=("$TARGET")
	wait_for 20 grep -qs '^ready' "$T/target.out" || { cat "$T/target.err"; return 1; }
}

target_start() { # VERSION PROFILE ARGS...: the same, with its own log of what it did
	local bin
	bin=$(rich "$1" "$2")
	shift 2
	target_run "$bin" --log "$T/truth" "$@"
}

target_go() { : >"$T/go"; }

target_end() { # [SECONDS]: it ends by itself and well
	wait_end "$TARGET" "${1:-60}"
	[ "$RC" = 0 ] || { say "target exits with $RC"; cat "$T/target.err"; return 1; }
}

# it says so once for each process
is_ready() { [ "$(grep -c 'recording pid' "$T/agent.err")" -ge "${WANTED_READY:-1}" ]; }
is_ready_or_gone() { is_ready || is_gone "$AGENT_PID"; }

# Records pid TARGET (or what is named by --pid) in the background; returns when it is recording.
agent_start() { # ARGS...
	case " $* " in *' --pid '*) ;; *) set -- --pid "$TARGET" "$@" ;; esac
	WANTED_READY=$(printf '%s\n' "$@" | grep -cxe --pid)
	: >"$T/agent.err" # the shell below may empty it only after is_ready has looked
	# tests count what is in a trace: every poll, unless they ask for another level
	"$AGENT" --level full --trace-dir "$TRACES" "$@" >"$T/agent.out" 2>"$T/agent.err" 3>&- &
	AGENT_PID=$!
	PIDS+=("$AGENT_PID")
	wait_for 30 is_ready_or_gone
	is_ready || { say "the agent ended before it was recording:"; cat "$T/agent.err"; return 1; }
}

agent_end() { # [SECONDS]: it ends by itself and well
	wait_end "$AGENT_PID" "${1:-30}"
	[ "$RC" = 0 ] || { say "the agent exits with $RC"; cat "$T/agent.err"; return 1; }
}

agent_stop() {
	kill -INT "$AGENT_PID"
	agent_end
}

# Runs the agent to its end; RC, $T/agent.out and $T/agent.err are what came of it.
agent_try() { # ARGS...
	RC=0
	timeout -k 5 60 "$AGENT" --level full --trace-dir "$TRACES" "$@" >"$T/agent.out" 2>"$T/agent.err" 3>&- || RC=$?
}

# The last agent_try was refused: exit code, and one line on standard error that matches.
refused() { # CODE REGEX
	say "exit code $RC, said:"
	cat "$T/agent.err"
	[ "$RC" = "$1" ]
	grep -qiE "$2" "$T/agent.err"
	[ "$(wc -l <"$T/agent.err")" -le 3 ]
	[ ! -e "$TRACES" ] || [ -z "$(ls -A "$TRACES")" ]
}

# No probe is left in the process: its code is its files' code. Links are freed by the kernel a
# little after the agent is gone.
code_is_clean() { # PID
	wait_for 5 quietly "$CODEBYTES" "$1" || { "$CODEBYTES" "$1"; return 1; }
}
quietly() { "$@" >/dev/null 2>&1; }

events() { "$VIEW" dump --json "$@" "$TRACES"; } # one JSON object a line

verify() { # the trace is whole and keeps its invariants
	"$VIEW" verify "${1:-$TRACES}" || { say "verify: exit code $?"; return 1; }
}
