#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Programs as their makers ship them, from npm and the Python index: found, attached while they do
# real work, recorded whole. They are kept in build/shipped between runs. `make shipped` does more.

load helpers
load shipped

@test "turbo: static musl, stripped" {
	recorded_at_work turbo 1.50 'npm, static musl'
}

@test "biome: glibc" {
	recorded_at_work biome 1.53 npm
}

@test "biome: static musl" {
	recorded_at_work biome-musl 1.53 'npm, static musl'
}

@test "dprint: a language server" {
	recorded_at_work dprint 1.50 npm
	# its scheduler keeps the address of RawTask::poll in a register over the whole loop
	[ "$(inferred_ends unseen)" -lt $(($(polls) / 100 + 10)) ]
}

@test "ast-grep: a language server" {
	recorded_at_work ast-grep 1.54 npm
}

@test "libsql: an extension of node, every task's end seen" {
	recorded_at_work libsql 1.40 'npm, node extension'
	# node is linked to fixed addresses: its heap lies low, where pointers look like task states
	[ "$(count_of TaskSpawnEvent)" -gt 100 ]
	[ $(($(count_of TaskSpawnEvent) - $(count_of TaskTerminateEvent))) -le 4 ]
}

@test "obstore: an extension of Python, beside asyncio" {
	recorded_at_work obstore 1.53 'PyPI, Python extension'
}

@test "granian: an HTTP server as an extension of Python, in a child process" {
	recorded_at_work granian 1.54 'PyPI, Python extension'
}

@test "deno: 100 MB, attached within time and memory" {
	local began ready peak size
	works deno 20
	tokio_found 1.47
	size=$(stat -L -c %s "/proc/$TARGET/exe")
	cat "/proc/$TARGET/exe" >/dev/null # warm page cache, as on a machine where it has run
	began=$(date +%s%N)
	agent_start --level full --cpu-hz 0
	ready=$((($(date +%s%N) - began) / 1000000))
	peak=$(awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$AGENT_PID/status")
	sleep 2
	agent_stop
	code_is_clean "$TARGET"
	judged
	[ "$(count_of PollStartEvent)" -gt 100 ]
	note_row deno npm
	measured "$((size >> 20)) MiB, start to ready $ready ms (goal 250), peak $peak MiB with rings (goal 64), $(sed -n 's/.*attached in \(.*\)/attached in \1/p' "$T/agent.out")"
	# the time is printed, not judged: it depends on what else the machine does
	[ "$peak" -le 128 ]
	kill "$TARGET"
}
