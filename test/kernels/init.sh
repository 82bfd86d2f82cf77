#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# The first process of a machine that run.sh has made: records the program of /bin/target once at
# level full, once with the agent killed, and hands back what came of it on the second serial port.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mkdir /tmp/out && cd /tmp/out || exit 1

start_target() { # ARGS...: held back until /tmp/go is there
	rm -f /tmp/go /tmp/target.out
	target --go-file /tmp/go "$@" >/tmp/target.out 2>&1 &
	target=$!
	until grep -q '^ready' /tmp/target.out; do sleep 0.1; done
}
start_agent() { # LEVEL
	dial9-agent --pid $target --level "$1" --trace-dir "/tmp/out/$1" >"$1.out" 2>"$1.err" &
	agent=$!
	until grep -q 'recording pid' "$1.err"; do
		kill -0 $agent || break
		sleep 0.1
	done
}
says() { # NAME VALUE: one fact for run.sh
	echo "$1 $2" >>facts
}

says release "$(uname -r)"
dial9-agent doctor >doctor 2>&1
says doctor $?

start_target --mode all --secs 2 --log /tmp/out/truth
start_agent full
touch /tmp/go
wait $target
says target $?
wait $agent
says agent $?
dial9-view verify full >verify 2>&1
says verify $?

# the agent is killed: nothing of it stays in the program, which works on. Without uprobe_multi the
# kernel takes probes out one after another, 0.1 s each
start_target --mode all --secs 600
start_agent polls
touch /tmp/go
sleep 1
kill -9 $agent
wait $agent
left=1
for i in $(seq 120); do
	codebytes $target >codebytes 2>&1 && { left=0; break; }
	sleep 0.5
done
says left $left
sleep 1
kill $target
says killed $?

stty -F /dev/ttyS1 raw
tar c -C /tmp/out . >/dev/ttyS1
poweroff -f
