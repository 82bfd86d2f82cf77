#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make demo: records a real Tokio HTTP server under load for some seconds and prints the report.
#   test/demo.sh [TRACE_DIR]      SECS=10
# The server is an ordinary program: built against the newest Tokio, release, no debug info, and
# it knows nothing of the recorder. Needs root, for the probes.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
SECS=${SECS:-10}

[ "$(id -u)" = 0 ] || { echo "demo: probes need root: sudo make demo" >&2; exit 1; }
bash test/deps.sh
make -s -j"$(nproc)" BUILD="$BUILD" all
echo "building the server (Tokio $(sh test/targets/build.sh --versions | tail -n 1))"
server=$(sh test/targets/build.sh newest release)

traces=${1:-$(mktemp -d "${TMPDIR:-/tmp}/dial9-demo.XXXXXX")}
work=$(mktemp -d)
pids=()
clean() {
	local p
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null || :; done
	for p in "${pids[@]}"; do wait "$p" 2>/dev/null || :; done
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM

"$server" --mode http --secs $((SECS + 60)) >"$work/server" 2>&1 </dev/null &
pid=$!
pids+=($pid)
for _ in $(seq 200); do
	grep -q '^listening' "$work/server" && break
	sleep 0.05
done
port=$(sed -n 's/^listening //p' "$work/server")
[ -n "$port" ] || { echo "demo: the server does not start:" >&2; cat "$work/server" >&2; exit 1; }

"$server" --mode load --addr "127.0.0.1:$port" --paths /,/db,/spawn,/,/,/cpu,/pool,/block \
	--conns 8 --rate 2000 --secs $((SECS + 3)) >"$work/load" 2>&1 </dev/null &
pids+=($!)
sleep 1
echo "recording process $pid for $SECS s"
"$BUILD/dial9-agent" --level full --pid $pid --duration "${SECS}s" --trace-dir "$traces" --service-name demo
wait "${pids[1]}" || :
echo
echo "the load generator saw:"
cat "$work/load"
echo
"$BUILD/dial9-view" report "$traces"
cat <<END

The trace is in $traces. Next:
    $BUILD/dial9-view $traces            # a page in your browser: prints its URL
    $BUILD/dial9-view report $traces --json
    $BUILD/dial9-view dump $traces | less
    $BUILD/dial9-view verify $traces
    sudo $BUILD/dial9-agent --pid PID --duration 10s --trace-dir DIR      # your own Tokio program
END
