# SPDX-License-Identifier: Apache-2.0
# What the tests of shipped programs share: put one to work, record it, judge what came of it.

SHIPPED=$BUILD/shipped

# A server's own children end only when it is asked to end, not killed.
teardown() {
	local p
	[ -z "${WORK:-}" ] || kill "$WORK" 2>/dev/null || :
	[ -z "${WORK:-}" ] || wait_for 10 is_gone "$WORK" || :
	for p in "${PIDS[@]}"; do
		kill -KILL "$p" 2>/dev/null || :
		wait "$p" 2>/dev/null || :
	done
}

# Starts NAME's work; TARGETS are its Tokio processes, TARGET is the last of them.
works() { # NAME SECS
	local p
	sh "$ROOT/test/targets/shipped.sh" "$SHIPPED" "$1" >"$T/path"
	sh "$ROOT/test/targets/shipped_work.sh" "$1" "$SHIPPED" "$2" >"$T/work.out" 2>"$T/work.err" 3>&- &
	WORK=$!
	PIDS+=("$WORK")
	wait_for 60 has_pid_or_ended
	no is_gone "$WORK" || { cat "$T/work.err"; return 1; }
	sleep 0.5 # some have two, a proxy and a daemon
	TARGETS=()
	for p in $(sed -n 's/^pid \([0-9]*\) .*/\1/p' "$T/work.out"); do
		TARGETS+=(--pid "$p")
		TARGET=$p
	done
}
has_pid_or_ended() { grep -q '^pid' "$T/work.out" || is_gone "$WORK"; }

# Ends the work; its own processes go with it.
work_ends() {
	wait_end "$WORK" 60
	cat "$T/work.out" "$T/work.err"
	[ "$RC" = 0 ]
}

tokio_found() { # TOKIO-PREFIX: the plan of TARGET; what carries Tokio is in $T/found
	agent_try --dry-run --json --pid "$TARGET"
	cat "$T/agent.err"
	[ "$RC" = 0 ]
	jq -r '.files[] | select(.tokio != "") | "\(.path): tokio \(.tokio), \(.types) types"' "$T/agent.out" >"$T/found"
	cat "$T/found"
	grep -q "tokio $1" "$T/found"
}

count_of() { # EVENT: how many there are, over all recordings
	jq "[.recordings[].event_counts[\"$1\"] // 0] | add" "$T/verify.json"
}

polls() { # of all kinds: some programs have only tasks of the blocking pool
	echo $(($(count_of PollStartEvent) + $(count_of agent:NestedPoll) + $(count_of agent:Blocking)))
}

# Ends of polls that were not seen, and those that are put before the seen one, because another worker
# had the task by then (rule 9): the thread was kept from returning after it had given the task back.
inferred_ends() { # unseen | early
	events --kind agent:InferredEnd |
		jq -n --arg which "$1" '[inputs | select((.fields.rule == 9) == ($which == "early"))] | length'
}

# What verify says of the recording: whole, no event lost, no invariant broken.
judged() {
	verify >"$T/verify" || { cat "$T/verify"; return 1; }
	cat "$T/verify"
	"$VIEW" verify --json "$TRACES" >"$T/verify.json"
	[ "$(jq '[.recordings[].lost_events] | add' "$T/verify.json")" = 0 ]
}

# What each recording says last of Tokio's own note of the task polled, "KEY<tab>VALUE": where it
# stands, and how often it agreed with the probes.
words() {
	local dir
	for dir in "$TRACES"/*/; do
		"$VIEW" dump --json --kind SegmentMetadataEvent "$dir" | tail -n 1 |
			jq -r '.fields.entries | to_entries[] | select(.key | startswith("agent.task_id_tls")) |
				"\(.key)\t\(.value)"'
	done
}

# The same for the table: how often the note was that task, was at rest (at the edges of polls), was
# one whose output the poll dropped, was another task; or why it is not used.
word_cell() {
	words | sed -n -e 's/^agent.task_id_tls_check\tagrees \([0-9]*\), at rest \([0-9]*\), drops \([0-9]*\), differs \([0-9]*\)$/\1, \2, \3, \4/p' \
		-e 's/^agent.task_id_tls\tunknown: \([^:]*\).*/\1/p' | paste -sd ';'
}

# A row for the table of `make shipped`.
note_row() { # NAME HOW
	mkdir -p "$SHIPPED/rows"
	printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$2" \
		"$(sed -n 's/.*: tokio \([^,]*\),.*/\1/p' "$T/found" | sort -u | paste -sd ' ')" \
		"$(count_of PollStartEvent)" "$(($(polls) - $(count_of PollStartEvent)))" \
		"$(count_of WakeEventEvent)" "$(inferred_ends unseen)" "$(inferred_ends early)" \
		"$(jq '[.recordings[].unexplained_polls // 0] | add' "$T/verify.json")" "$(word_cell)" \
		"$(jq -r .verdict "$T/verify.json")" >"$SHIPPED/rows/$1"
}

recorded_at_work() { # NAME TOKIO-PREFIX HOW
	works "$1" 7
	tokio_found "$2"
	agent_start "${TARGETS[@]}" --level full --duration 3s
	agent_end
	cat "$T/agent.out"
	is_gone "$TARGET" || code_is_clean "$TARGET"
	judged
	say "polls: $(polls)"
	[ "$(polls)" -gt 100 ]
	note_row "$1" "$3"
	measured "$(cat "$SHIPPED/rows/$1"), $(sed -n 's/.*attached in \(.*\)/attached in \1/p' "$T/agent.out" | paste -sd ' ')"
	work_ends
}
