#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Which worker a thread is, how long its queue is, what a runtime has queued and alive: read from
# a stopped truth, for each Tokio version stripped, and for other builds of two of them.

load helpers

agree() { # VERSION PROFILE [WORKERS]
	local bin
	bin=$(sh "$ROOT/test/targets/build.sh" "$1" "$2" seats)
	"$BUILD/test/e2e/seatcheck" "$bin" "${3:-3}" >"$T/figures" 2>"$T/err" || { cat "$T/figures" "$T/err"; return 1; }
	measured "$(tail -n 1 "$T/figures")"
	# a learnt build costs at most 10 reads a thread
	[ "$(sed -n 's/.* reads \([0-9]*\) .*/\1/p' "$T/figures")" -le 10 ]
	grep -q 'inject known' "$T/figures"
}

known() { grep -q 'alive known' "$T/figures"; }

@test "seats of Tokio 1.24, stripped (no count of live tasks there)" { agree 1.24 stripped; }
@test "seats of Tokio 1.32, stripped" { agree 1.32 stripped && known; }
@test "seats of Tokio 1.38, stripped" { agree 1.38 stripped && known; }
@test "seats of Tokio 1.43, stripped" { agree 1.43 stripped && known; }
@test "seats of Tokio 1.47, stripped" { agree 1.47 stripped && known; }
@test "seats of the newest Tokio, stripped" { agree newest stripped && known; }
@test "seats of the newest Tokio, tokio_unstable" { agree newest unstable && known; }
@test "seats of a runtime with one worker" { agree newest stripped 1 && known; }
@test "seats of a runtime with 40 workers" { agree newest stripped 40 && known; }
