#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What cannot be recorded is refused with one clear message and the right exit code, and leaves
# nothing behind; what merely looks odd is recorded.

load helpers

@test "a pid that is no process: exit 1" {
	local pid
	sleep 0 &
	pid=$!
	wait $pid
	agent_try --pid $pid
	refused 1 "no such process|no process"
	grep -q "$pid" "$T/agent.err"
}

@test "a kernel thread: exit 1" {
	agent_try --pid 2
	refused 1 "pid 2|process 2|kernel thread"
}

@test "a program without Tokio: exit 1, says so" {
	sleep 60 3>&- &
	PIDS+=($!)
	agent_try --pid $!
	refused 1 "no tokio"
}

@test "--wait in vain: exit 1, says that nothing is recorded" {
	sleep 60 3>&- &
	PIDS+=($!)
	agent_try --pid $! --wait --duration 1s
	refused 1 "nothing recorded.*--duration"
	sleep 60 3>&- &
	PIDS+=($!)
	rm "$T/agent.err"
	(wait_for 20 grep -qs waiting "$T/agent.err" && kill "${PIDS[-1]}") 3>&- &
	agent_try --pid "${PIDS[-1]}" --wait
	refused 1 "nothing recorded.*ended"
}

@test "what cannot be written out is no success: exit 1" {
	for args in doctor --help --version; do
		RC=0
		"$AGENT" $args >/dev/full 2>"$T/agent.err" || RC=$?
		refused 1 "cannot write to standard output"
	done
}

@test "doctor without privileges: says what it could not look at, and where it cannot write" {
	cp "$AGENT" "$T/doctor" && chmod 755 "$T" "$T/doctor"
	RC=0
	setpriv --reuid 65534 --regid 65534 --clear-groups "$T/doctor" doctor --trace-dir /a/b/c >"$T/said" || RC=$?
	cat "$T/said"
	[ "$RC" = 1 ]
	grep -q '^? .*task storage.*not known' "$T/said"
	[ "$(grep -c 'newer kernel' "$T/said")" = 0 ]
	grep -q '^MISS  trace dir /a/b/c can be made' "$T/said"
}

@test "doctor: a trace directory that is a file is missing" {
	: >"$T/file"
	RC=0
	"$AGENT" doctor --trace-dir "$T/file" >"$T/said" || RC=$?
	[ "$RC" = 1 ]
	grep -q "^MISS  trace dir" "$T/said"
}

@test "a 32-bit program: exit 1, says so" {
	# no libc for it is needed
	printf 'void _start(void) { for (;;) __asm__ volatile("int $0x80" : : "a"(29)); }\n' >"$T/old.c"
	gcc -m32 -nostdlib -static -ffreestanding -fno-pie -no-pie -o "$T/old" "$T/old.c"
	"$T/old" 3>&- &
	PIDS+=($!)
	sleep 0.1
	agent_try --pid $!
	refused 1 "32-bit"
}

@test "without root: exit 1, says how" {
	local dir
	target_start newest stripped --mode idle --secs 60
	# the build may lie where nobody else may look
	dir=$(mktemp -d)
	chmod 0755 "$dir"
	cp "$AGENT" "$dir/"
	RC=0
	setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/dial9-agent" --pid "$TARGET" \
		--trace-dir "$dir/traces" >"$T/agent.out" 2>"$T/agent.err" || RC=$?
	rm -r "$dir"
	refused 1 "root|sudo|permission"
	code_is_clean "$TARGET"
}

@test "a trace directory that cannot be made: exit 1, names it" {
	target_start newest stripped --mode idle --secs 60
	TRACES=/proc/no-such-place/traces
	agent_try --pid "$TARGET"
	refused 1 "/proc/no-such-place"
	code_is_clean "$TARGET"
}

@test "a trace directory on a read-only file system: exit 1, names it" {
	target_start newest stripped --mode idle --secs 60
	mkdir "$T/ro"
	mount -t tmpfs -o ro tmpfs "$T/ro"
	MOUNTS+=("$T/ro")
	TRACES=$T/ro
	agent_try --pid "$TARGET"
	refused 1 "$T/ro.*read-only.*remount,rw"
	# all may write to it, which is wrong too; but putting that right would not help
	mount -o remount,ro,mode=1777 "$T/ro"
	[ "$(stat -c %a "$T/ro")" = 1777 ]
	agent_try --pid "$TARGET"
	refused 1 "$T/ro.*read-only.*remount,rw"
	code_is_clean "$TARGET"
}

@test "a trace directory that is a file, or a link: exit 1, names it" {
	target_start newest stripped --mode idle --secs 60
	: >"$T/file"
	TRACES=$T/file
	RC=0
	"$AGENT" --trace-dir "$T/file" --pid "$TARGET" >"$T/agent.out" 2>"$T/agent.err" || RC=$?
	cat "$T/agent.err"
	[ "$RC" = 1 ]
	grep -q "$T/file" "$T/agent.err"
	code_is_clean "$TARGET"
}

@test "a full trace directory at the start: exit 1, says so, leaves nothing" {
	target_start newest stripped --mode idle --secs 60
	mkdir "$T/full"
	mount -t tmpfs -o size=64k tmpfs "$T/full"
	MOUNTS+=("$T/full")
	dd if=/dev/zero of="$T/full/filler" bs=4k 2>/dev/null || :
	TRACES=$T/full/traces
	agent_try --pid "$TARGET" --duration 2s
	cat "$T/agent.err"
	[ "$RC" = 1 ]
	grep -qi "no space\|full" "$T/agent.err"
	code_is_clean "$TARGET"
}

@test "a trace directory that fills up: goes on, counts what is lost, leaves whole segments" {
	mkdir "$T/tiny"
	mount -t tmpfs -o size=1m tmpfs "$T/tiny"
	MOUNTS+=("$T/tiny")
	TRACES=$T/tiny/traces
	target_start newest stripped --mode steady --rate 60000 --secs 30
	agent_start --level full --max-disk-usage-mb 64 --rotation-secs 1
	target_go
	sleep 10
	kill -INT "$AGENT_PID"
	wait_end "$AGENT_PID" 30
	cat "$T/agent.err" "$T/agent.out"
	grep -qi "no space\|full\|evict" "$T/agent.err" "$T/agent.out"
	verify
	code_is_clean "$TARGET"
	kill -TERM "$TARGET"
	target_end
}

@test "a second agent on the same process: exit 1, names the first one's pid" {
	local first
	target_start newest stripped --mode idle --secs 60
	agent_start --level polls
	first=$AGENT_PID
	RC=0
	"$AGENT" --pid "$TARGET" --trace-dir "$T/other" >"$T/agent2.out" 2>"$T/agent2.err" || RC=$?
	cat "$T/agent2.err"
	[ "$RC" = 1 ]
	grep -qw "$first" "$T/agent2.err"
	[ ! -e "$T/other" ] || [ -z "$(ls -A "$T/other")" ]
	# the first one is not disturbed, and when it is gone another may come
	no is_gone "$first"
	agent_stop
	agent_start --level polls
	agent_stop
}

@test "two processes, one of them without Tokio: exit 1 and nothing half attached" {
	target_start newest stripped --mode idle --secs 60
	sleep 60 3>&- &
	PIDS+=($!)
	agent_try --pid "$TARGET" --pid $! --duration 1s
	cat "$T/agent.err"
	[ "$RC" = 1 ]
	grep -qi "no tokio" "$T/agent.err"
	code_is_clean "$TARGET"
}

@test "the same with --best-effort: a warning, and the other one is recorded" {
	target_start newest stripped --mode steady --secs 60
	sleep 60 3>&- &
	PIDS+=($!)
	target_go
	agent_try --pid "$TARGET" --pid $! --best-effort --duration 1s
	cat "$T/agent.err"
	[ "$RC" = 0 ]
	grep -qi "no tokio" "$T/agent.err"
	[ "$(events | grep -c PollStartEvent)" -gt 0 ]
}

# A process that has FILE mapped executable without running any of it.
mapped() { # FILE
	python3 -c '
import mmap, os, sys, time
f = os.open(sys.argv[1], os.O_RDONLY)
m = mmap.mmap(f, 0, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE)
print("ready", flush=True)
time.sleep(60)' "$1" >"$T/mapped.out" 2>&1 3>&- &
	TARGET=$!
	PIDS+=("$TARGET")
	wait_for 20 grep -q ready "$T/mapped.out"
}

@test "truncated and damaged ELF files: exit 1 each, no crash" {
	local bin size cut
	bin=$(rich newest stripped)
	size=$(stat -c %s "$bin")
	for cut in 1 63 64 120 1000 5000 $((size / 4)) $((size / 2)) $((size * 3 / 4)); do
		head -c "$cut" "$bin" >"$T/cut.$cut"
		mapped "$T/cut.$cut"
		agent_try --pid "$TARGET" --duration 1s
		say "cut to $cut bytes: exit code $RC"
		cat "$T/agent.err"
		[ "$RC" = 1 ]
		kill -KILL "$TARGET"
	done
	# headers that lie: program header count, offset and sizes of all ones
	for cut in 32 40 54 56 60; do
		cp "$bin" "$T/lie.$cut"
		printf '\377\377\377\377' | dd of="$T/lie.$cut" bs=1 seek=$cut conv=notrunc 2>/dev/null
		mapped "$T/lie.$cut"
		agent_try --pid "$TARGET" --duration 1s
		say "bytes at $cut: exit code $RC"
		cat "$T/agent.err"
		[ "$RC" -le 1 ]
		kill -KILL "$TARGET"
	done
}

@test "a file that shrinks while it is mapped: exit 1, no crash" {
	cp "$(rich newest stripped)" "$T/shrinks"
	mapped "$T/shrinks"
	truncate -s 5000 "$T/shrinks"
	agent_try --pid "$TARGET" --duration 1s
	cat "$T/agent.err"
	[ "$RC" = 1 ]
}

# Each of these is an ordinary target in odd clothes.
recorded_whole() {
	agent_start --level full
	target_go
	sleep 1
	kill -TERM "$TARGET"
	target_end
	agent_end
	verify
	[ "$(events | grep -c PollStartEvent)" -gt 100 ]
	[ "$(events | grep -c TaskSpawnEvent)" -gt 0 ]
}

@test "no section headers: recorded" {
	local off
	cp "$(rich newest stripped)" "$T/bare"
	off=$(od -An -t u8 -j 40 -N 8 "$T/bare" | tr -d ' ')
	truncate -s "$off" "$T/bare"
	head -c 8 /dev/zero | dd of="$T/bare" bs=1 seek=40 conv=notrunc 2>/dev/null
	head -c 4 /dev/zero | dd of="$T/bare" bs=1 seek=60 conv=notrunc 2>/dev/null
	run readelf -S "$T/bare"
	[[ $output = *"no sections"* ]]
	target_run "$T/bare" --mode storm --rate 2000 --secs 60
	recorded_whole
}

@test "the binary is deleted after the start: recorded" {
	cp "$(rich newest stripped)" "$T/gone"
	target_run "$T/gone" --mode storm --rate 2000 --secs 60
	rm "$T/gone"
	recorded_whole
}

@test "the binary is replaced after the start: the running one is recorded" {
	cp "$(rich newest stripped)" "$T/program"
	target_run "$T/program" --mode storm --rate 2000 --secs 60
	cp /bin/sleep "$T/new"
	mv "$T/new" "$T/program"
	recorded_whole
}

@test "non-PIE and RELR builds: recorded" {
	target_start newest nonpie --mode storm --rate 2000 --secs 60
	recorded_whole
	rm -rf "$TRACES"
	target_start newest relr --mode storm --rate 2000 --secs 60
	recorded_whole
}
