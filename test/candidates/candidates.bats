#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Level stat: long polls that compute are candidates, and a closer look tells them from tasks that are
# only busy. The program logs its own polls (mode spinners of test/targets/shapes).

load ../e2e/helpers

record() { # SECS [ARGS...]: mode spinners at level stat, with closer looks
	target_run "$(sh "$ROOT/test/targets/shapes.sh" stripped)" --mode spinners --secs "$1" \
		--log "$T/truth"
	agent_start --level stat "${@:2}"
	target_go
	target_end
	agent_end
	cat "$T/agent.err"
	verify
	events >"$T/events"
}

@test "each long poll is a candidate, a closer look confirms it and clears yields and ping-pong" {
	record 12 --on-demand 'full:2s,poll>15ms'
	grep '"agent:Level"' "$T/events"
	grep '"agent:Level"' "$T/events" | grep -q '"on demand: a long poll"'
	python3 "$BATS_TEST_DIRNAME/candidates.py" polls "$T/truth" "$T/events" >"$T/said" ||
		{ cat "$T/said"; return 1; }
	measured "$(cat "$T/said")"
	"$VIEW" report "$TRACES"
	"$VIEW" report --json "$TRACES" >"$T/report"
	python3 "$BATS_TEST_DIRNAME/candidates.py" verdicts "$T/truth" "$T/report"
}

@test "CPU shares of types: samples at stat against polls at full, in one recording" {
	record 12 --cpu-hz 997 --on-demand 'full:4s,poll>15ms'
	python3 "$BATS_TEST_DIRNAME/candidates.py" shares "$T/truth" "$T/events" >"$T/said" ||
		{ cat "$T/said"; return 1; }
	measured "$(cat "$T/said")"
}
