# SPDX-License-Identifier: Apache-2.0
# Each format, read by a tool of that format, holds what sql says the recording holds.
load view

setup_file() { load view; make_traces; }
setup() { cd "$BATS_FILE_TMPDIR" && rm -f o.*; }

export_to() { # FORMAT [ARGS...]: o.FORMAT
	local format=$1
	shift
	code 0 export "$format" "$@" -o "o.$format" traces/abcd-42
}
ask() { # QUERY: its one value
	"$VIEW" sql --json traces/abcd-42 "$1" | jq '.rows[0][0]'
}
decode() { # NAME MESSAGE: no field may be unknown to the schema
	protoc --proto_path="$BATS_TEST_DIRNAME" --decode="$2" "$1.proto" >o.text
	! grep -qE '^ *[0-9]+[:{ ]' o.text
}

@test "perfetto: a slice per poll and park, wakes flow to their polls, counters" {
	export_to perfetto
	decode perfetto Trace <o.perfetto
	slices=$(ask "select (select count(*) from polls) + (select count(*) from parks)")
	[ "$(grep -c 'type: SLICE_BEGIN' o.text)" = "$slices" ]
	[ "$(grep -c 'type: SLICE_END' o.text)" = "$slices" ]
	[ "$(grep -c 'type: COUNTER' o.text)" = "$(ask 'select count(*) from queues')" ]
	woken=$(ask "select count(*) from polls where wake is not null")
	[ "$(grep -c 'terminating_flow_ids' o.text)" = "$woken" ]
	[ "$(grep -c ' flow_ids' o.text)" -ge "$woken" ]
	grep -q 'name: "worker 1"' o.text
}
@test "pprof: samples, time off CPU and waits" {
	export_to pprof
	gzip -dc o.pprof >o.raw
	decode pprof Profile <o.raw
	samples=$(ask "select (select count(*) from samples where source = 0) +
		(select count(*) from offs where poll is not null) +
		(select count(distinct place) from polls where ready_ns < start_ns)")
	[ "$(grep -c '^sample {' o.text)" = "$samples" ]
	grep -q 'string_table: "off_cpu"' o.text
	if command -v go >/dev/null; then
		HOME=$PWD GOFLAGS=-mod=mod go tool pprof -sample_index=samples -raw o.pprof >o.go
		grep -q 'alpha::work' o.go
	fi
}
@test "chrome: JSON with a slice per poll and park, flows in pairs" {
	export_to chrome
	[ "$(jq '[.traceEvents[] | select(.ph == "X" and .cat == "poll")] | length' o.chrome)" = \
		"$(ask 'select count(*) from polls')" ]
	jq -e '[.traceEvents[] | select(.ph == "s") | .id] == [.traceEvents[] | select(.ph == "f") | .id]' o.chrome
	jq -e 'all(.traceEvents[]; has("ph") and has("pid") and has("tid") and has("ts"))' o.chrome
}
@test "speedscope: what its schema asks for" {
	export_to speedscope
	jq -e '.["$schema"] == "https://www.speedscope.app/file-format-schema.json" and
		(.shared.frames | length) as $n | all(.profiles[]; .type == "sampled" and
		(.samples | length) == (.weights | length) and .endValue == (.weights | add // 0) and
		all(.samples[][]; . >= 0 and . < $n))' o.speedscope
	jq -e '.profiles[0].weights | length > 0' o.speedscope
}
@test "firefox: a marker per poll, park and time off CPU, a sample per CPU sample" {
	export_to firefox
	[ "$(jq '[.threads[].markers.length] | add' o.firefox)" = \
		"$(ask 'select (select count(*) from polls) + (select count(*) from parks) + (select count(*) from offs)')" ]
	[ "$(jq '[.threads[].samples.length] | add' o.firefox)" = "$(ask 'select count(*) from samples where source = 0')" ]
	jq -e '[.shared | .stringArray as $s | .funcTable.name[] | $s[.]] | contains(["alpha::work"])' o.firefox
	jq -e '[.threads[] | select(.name == "worker 1") | .markers.data[] | select(.type == "poll") | .task] | length > 0' o.firefox
}
@test "folded: outermost first, a count behind each" {
	export_to folded
	[ "$(awk '{ n += $NF } END { print n }' o.folded)" = \
		"$(ask 'select count(*) from samples where source = 0 and stack > 0')" ]
	grep -q '^0x9000;alpha::work;alpha::spin 1$' o.folded
}
@test "csv and ndjson: every poll once" {
	export_to csv
	[ "$(($(wc -l <o.csv) - 1))" = "$(ask 'select count(*) from polls')" ]
	export_to ndjson
	[ "$(jq -s '[.[] | select(.table == "polls")] | length' o.ndjson)" = "$(ask 'select count(*) from polls')" ]
	jq -se 'any(.[]; .table == "polls" and .ready_ns == null)' o.ndjson
}
@test "sqlite: the same rows in a database" {
	export_to sqlite
	[ "$(sqlite3 o.sqlite 'pragma integrity_check')" = ok ]
	for t in polls parks wakes samples offs tasks records facts; do
		[ "$(sqlite3 o.sqlite "select count(*) from $t")" = "$(ask "select count(*) from $t")" ]
	done
	[ "$(sqlite3 o.sqlite 'select sum(dur_ns) from polls')" = "$(ask 'select sum(dur_ns) from polls')" ]
}
@test "html: one page without scripts, its style sheet known by its hash" {
	export_to html
	grep -q '<title>abcd-42</title>' o.html
	hash=$(python3 -c 'import base64, hashlib, re
text = re.search("<style>(.*?)</style>", open("o.html").read()).group(1)
print(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())')
	grep -qF "style-src 'sha256-$hash'" o.html || { echo "html.c: HTML_STYLE_HASH must be $hash"; return 1; }
	if grep -qiE '<(script|img|link|iframe|object|a) |https?://|style="| on[a-z]+="' o.html; then return 1; fi
	# the findings are those of issues, the polls those of report
	[ "$(grep -c '<td class="\(info\|warning\|critical\)">' o.html)" = \
		"$("$VIEW" issues --json traces/abcd-42 | jq '.recordings[0].issues | length')" ]
	"$VIEW" report --json traces/abcd-42 | jq -r '.recordings[0].types[].type' | while read -r type; do
		grep -qF "<td>$type</td>" o.html || { echo "$type"; return 1; }
	done
}
@test "--from and --to" {
	export_to csv --from +8ms --to +20ms
	[ "$(($(wc -l <o.csv) - 1))" -lt "$(ask 'select count(*) from polls')" ]
	[ "$(wc -l <o.csv)" -gt 1 ]
}
@test "a file that is there stays, unless forced" {
	echo mine >o.csv
	code 1 export csv -o o.csv traces/abcd-42
	[ "$(cat o.csv)" = mine ]
	code 0 export csv --force -o o.csv traces/abcd-42
	[ "$(cat o.csv)" != mine ]
	[ -z "$(ls o.csv.* 2>/dev/null)" ]
}
@test "html tells of a bad file once" {
	code 3 export html --force -o o.html cut.bin
	[ "$(grep -c cut.bin "$err")" = 1 ]
}
@test "hostile names do not break a format" {
	for f in html perfetto chrome speedscope ndjson firefox; do
		code 0 export $f --force -o o.h hostile.bin
	done
	jq . o.h >/dev/null
}
@test "usage" {
	code 2 export tarball -o o.x traces/abcd-42
	code 2 export csv traces/abcd-42
	code 2 export csv -o o.x
	code 2 export sqlite -o - traces/abcd-42
	[ ! -e o.x ]
}
