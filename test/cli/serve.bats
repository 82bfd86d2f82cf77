# SPDX-License-Identifier: Apache-2.0
# The server from outside: who may ask, what can be asked for, and that nobody can stop it.
load view

setup_file() {
	load view
	make_traces
	"$VIEW" serve --json traces >url.json 2>serve.err </dev/null 3>&- &
	echo $! >pid
	for _ in $(seq 100); do
		[ -s url.json ] && jq -e .port url.json >/dev/null 2>&1 && break
		sleep 0.1
	done
	for _ in $(seq 100); do
		curl -s "$(jq -r .url url.json)api/trace" | jq -e '[.recordings[] | .state] | length > 0 and all(. == "ready" or . == "failed")' >/dev/null && break
		sleep 0.1
	done
}
teardown_file() {
	cd "$BATS_FILE_TMPDIR" || return
	kill "$(cat pid)" 2>/dev/null
	tail --pid="$(cat pid)" -f /dev/null
}
setup() {
	cd "$BATS_FILE_TMPDIR" || return
	PORT=$(jq -r .port url.json) URL=http://127.0.0.1:$(jq -r .port url.json)
}

status() { # CURL-ARGUMENTS...: the status of an answer
	curl -s -o body -w '%{http_code}' --max-time 10 "$@" || true
}

@test "it listens on loopback only, and says where as JSON" {
	jq -e '.schema == "dial9-view.serve/1" and (.url | startswith("http://127.0.0.1:"))' url.json
	ss -Hltn "sport = :$PORT" | awk '{ print $4 }' | sort -u >listening
	[ "$(cat listening)" = "127.0.0.1:$PORT" ]
}

@test "Host: its own names to the letter, nothing else" {
	for host in "127.0.0.1:$PORT" "localhost:$PORT" "LocalHost:$PORT" "[::1]:$PORT"; do
		[ "$(status -H "Host: $host" "$URL/api/trace")" = 200 ] || { echo "$host"; return 1; }
	done
	for host in evil.example "evil.example:$PORT" "127.0.0.1:$PORT.evil.example" "127.0.0.1" \
		"localhost.evil.example:$PORT" "127.0.0.1:1" "127.0.0.2:$PORT" "0.0.0.0:$PORT" "$PORT"; do
		[ "$(status -H "Host: $host" "$URL/api/trace")" = 421 ] || { echo "$host"; return 1; }
		[ "$(status -H "Host: $host" "$URL/")" = 421 ] || { echo "$host for the page"; return 1; }
	done
	[ "$(status -0 -H 'Host:' "$URL/api/trace")" = 400 ]
}

@test "Origin and Sec-Fetch-Site: only its own page may ask" {
	[ "$(status -H "Origin: $URL" "$URL/api/trace")" = 200 ]
	for origin in null http://evil.example "http://localhost:$PORT" "$URL.evil.example" "https://127.0.0.1:$PORT"; do
		[ "$(status -H "Origin: $origin" "$URL/api/trace")" = 403 ] || { echo "$origin"; return 1; }
	done
	[ "$(status -H 'Sec-Fetch-Site: same-origin' "$URL/api/trace")" = 200 ]
	for site in cross-site same-site; do
		[ "$(status -H "Sec-Fetch-Site: $site" "$URL/api/trace")" = 403 ]
		[ "$(status -H "Sec-Fetch-Site: $site" -H 'Sec-Fetch-Mode: navigate' "$URL/api/trace")" = 403 ]
		[ "$(status -H "Sec-Fetch-Site: $site" -H 'Sec-Fetch-Mode: no-cors' "$URL/app.js")" = 403 ]
		# a link from elsewhere opens the page
		[ "$(status -H "Sec-Fetch-Site: $site" -H 'Sec-Fetch-Mode: navigate' "$URL/")" = 200 ]
	done
}

@test "it only reads: other methods and bodies are refused" {
	for method in POST PUT DELETE PATCH OPTIONS TRACE; do
		[ "$(status -X $method "$URL/api/trace")" = 405 ] || { echo $method; return 1; }
	done
	[ "$(status -X GET -d x=1 "$URL/api/trace")" = 400 ]
	[ "$(status -I "$URL/")" = 200 ]
}

@test "no path is ever opened: traversal and names of files are not found" {
	for path in /../etc/passwd /%2e%2e/%2e%2e/etc/passwd '/..%2fetc%2fpasswd' //etc/passwd /traces \
		/dist/app.js /app.js/ /app.js%00 /api /api/ '/api/../app.js' '/api/trace/..' /.git/config; do
		got=$(status --path-as-is "$URL$path")
		[ "$got" = 404 ] || { echo "$path: $got"; return 1; }
	done
}

@test "every answer carries the headers that forbid what the page does not need" {
	for path in / /app.js /api/trace /none; do
		curl -s -D head -o /dev/null "$URL$path"
		grep -qi "^content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'" head
		if grep -qi "unsafe" head; then return 1; fi
		grep -qi '^x-content-type-options: nosniff' head
		grep -qi '^referrer-policy: no-referrer' head
		if grep -qi '^access-control-' head; then return 1; fi
	done
	curl -s "$URL/" >page
	if grep -qiE '<script[^>]*>[^<]|style=|onload=|https?://' page; then return 1; fi
}

@test "the page and the command line give the same numbers" {
	[ "$(status "$URL/api/range?r=0")" = 200 ]
	jq -c '.all | [.polls, .busy, .poll_q, .waits, .wait_q]' body >page
	"$VIEW" hist --json traces/abcd-42 | jq -c '.recordings[0] | [.polls.count, .polls.sum_ns,
		[.polls | .p50_ns, .p90_ns, .p99_ns, ."p99.9_ns", .max_ns], .waits.count,
		[.waits | .p50_ns, .p90_ns, .p99_ns, ."p99.9_ns", .max_ns]]' >terminal
	diff page terminal
}

@test "why a poll was long is said as the command line says it" {
	base=$(curl -s "$URL/api/recording?r=0" | jq -r .base)
	"$VIEW" polls --json traces/abcd-42 | jq -r '.recordings[0].polls[] | "\(.start_ns) \(.task) \(.verdict) \(.off_cpu_longest_in)"' >want
	[ "$(wc -l <want)" -ge 5 ]
	while read -r start task _; do
		curl -s "$URL/api/poll?r=0&at=$((start - base))&task=$task" |
			jq -r --arg head "$start $task" '"\($head) \(.why.verdict) \(if .why.call == "" then "null" else .why.call end)"'
	done <want >got
	sed 's/ in [^ ]*$//' want | diff - got
	grep -q blocking got
	[ "$(curl -s "$URL/api/poll?r=0&at=$((1002000000 - base))&task=2" | jq '.why | .compute + .blocking + .lock + .preempted')" = 12000000 ]
}

@test "the findings are those of the command line; many may ask at once" {
	for i in 1 2 3 4 5 6; do
		curl -s --max-time 60 -o "found.$i" "$URL/api/issues" &
	done
	[ "$(status "$URL/api/trace")" = 200 ]
	wait
	"$VIEW" issues --json traces >terminal || [ $? = 3 ]
	for i in 1 2 3 4 5 6; do
		cmp "found.$i" terminal
	done
}

@test "what was recorded when: levels, types left out, a loss, missing files" {
	mkdir -p levels
	"$BUILD/test/cli/make_levels" levels
	"$VIEW" serve --json levels >levels.json 2>/dev/null </dev/null 3>&- &
	pid=$!
	for _ in $(seq 100); do [ -s levels.json ] && jq -e .port levels.json >/dev/null 2>&1 && break; sleep 0.1; done
	base=http://127.0.0.1:$(jq -r .port levels.json)
	for _ in $(seq 100); do [ "$(status "$base/api/levels?r=0")" = 200 ] && break; sleep 0.1; done
	curl -s "$base/api/parked?r=0" >parked
	curl -s "$base/api/range?r=0&from=100000000&to=150000000" >split
	curl -s "$base/api/glimpses?r=0" >glimpses
	kill $pid
	wait $pid || true
	[ "$(jq -c .bands parked)" = '[[0,100000000,200000000,40,63000000,2000000]]' ]
	# half of what was added up, and worker 1 parked for 9 of each 10 ms
	[ "$(jq -c '.split | [.summed.parks, .summed.parked, .summed.delayed, .parks.sum, .parks.count, .delays.sum]' split)" = \
		'[20,31500000,1000000,77500000,25,1000000]' ]
	# where polls were not recorded, the task is seen without CPU, and in a sample
	cat glimpses
	[ "$(jq -c '[.samples, (.types[] | [.off, .preempted, .max, .count, .samples])]' glimpses)" = \
		'[1,[9000000,1000000,8000000,2,1]]' ]
	[ "$(jq -c '[(.offs | length), (.worst | length)]' glimpses)" = '[2,2]' ]
	[ "$(jq -c '[.spans[] | [.from / 1000000, .level, .polls, .wakes, .dropped_cnt, .reason]]' body)" = \
		'[[0,"full",true,true,0,"asked for"],[100,"stat",false,false,0,"over budget"],[200,"full",true,true,2,"within budget"],[400,"full",true,true,0,"asked for"]]' ]
	[ "$(jq -c '[.holes[0].missing, .holes[0].before, .losses[0].count, .spans[2].dropped[0]]' body)" = '[true,"trace.0.bin",12,"src/hot.rs:3:9"]' ]
}

@test "parameters out of range are an error of one line, never a crash" {
	for q in 'cells?px=0' 'cells?px=999999' 'cells?lanes=9999' 'spans?from=x' 'levels?r=99' 'cells?lanes=0-99999999' 'cells?from=5&to=5' \
		'cells?from=-1' 'range?from=18446744073709551615' 'heat?what=x' 'flame?kind=x' 'busy?limit=0' 'busy?limit=201' 'timed?lanes=0-1' 'timed?lanes=0&kind=x' 'timed?lanes=0&px=0' 'pool?px=2001' 'events?limit=0' 'events?limit=501' 'events?schema=x' 'worst?kind=x' \
		'search' 'poll?row=4294967295' 'poll?at=9223372036854775807&task=1' 'task?id=77777777' \
		'recording?r=1024' 'recording?r=99' 'cells?r=x' 'nothing'; do
		got=$(status "$URL/api/$q")
		[ "$got" = 400 ] || [ "$got" = 404 ] || { echo "$q: $got"; return 1; }
		jq -e .error body >/dev/null
	done
}

@test "what the client offers: zstd, gzip, nothing, and a refusal by q=0" {
	curl -s "$URL/app.js" >plain
	curl -s -H 'Accept-Encoding: zstd' "$URL/app.js" | zstd -dc | cmp - plain
	curl -s -H 'Accept-Encoding: gzip' "$URL/app.js" | gzip -dc | cmp - plain
	curl -s -H 'Accept-Encoding: zstd;q=0, gzip;q=0.5' "$URL/app.js" | gzip -dc | cmp - plain
	curl -s -H 'Accept-Encoding: zstd;q=0, br' "$URL/app.js" | cmp - plain
	etag=$(curl -s -D - -o /dev/null "$URL/app.js" | sed -n 's/^ETag: \(.*\)\r$/\1/p')
	[ "$(status -H "If-None-Match: $etag" "$URL/app.js")" = 304 ]
}

@test "hundreds of silent and dripping connections: others are served, memory stays" {
	timeout 60 python3 - "$PORT" "$(cat pid)" <<-'END'
	import socket, sys, time
	port, pid = int(sys.argv[1]), sys.argv[2]
	def rss():
	    return int(open(f'/proc/{pid}/statm').read().split()[1]) * 4096
	before, held = rss(), []
	for i in range(200):
	    s = socket.create_connection(('127.0.0.1', port), 5)
	    s.send(b'GET / HTTP/1.1\r\nX: ')
	    held.append(s)
	s = socket.create_connection(('127.0.0.1', port), 5)
	s.settimeout(10)
	s.send(f'GET /api/trace HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n'.encode())
	assert s.recv(12) == b'HTTP/1.1 200', 'not served beside slow ones'
	deadline = time.time() + 30
	while held and time.time() < deadline:  # each drips, and is ended all the same
	    for s in held[:]:
	        try:
	            s.send(b'a')
	            s.setblocking(False)
	            if s.recv(1) == b'':
	                held.remove(s)
	        except BlockingIOError:
	            pass
	        except OSError:
	            held.remove(s)
	    time.sleep(0.5)
	assert not held, f'{len(held)} dripping connections live on'
	assert rss() - before < 64 << 20, 'memory grew'
	END
	[ "$(status "$URL/")" = 200 ]
}

@test "ten thousand connections, and a request on every hundredth: none is left open" {
	timeout 120 python3 - "$PORT" "$(cat pid)" <<-'END'
	import os, socket, sys, time
	port, pid = int(sys.argv[1]), sys.argv[2]
	def files():
	    return len(os.listdir(f'/proc/{pid}/fd'))
	ask = f'GET /api/trace HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n'.encode()
	def answered():  # one may be refused while the server has not yet seen that others are gone
	    for _ in range(300):
	        try:
	            with socket.create_connection(('127.0.0.1', port), 30) as s:
	                s.sendall(ask)
	                if s.recv(12) == b'HTTP/1.1 200':
	                    return True
	        except OSError:
	            pass
	        time.sleep(0.1)
	    return False
	before = files()
	for i in range(10000):
	    socket.create_connection(('127.0.0.1', port), 30).close()
	    assert i % 100 or answered(), f'not answered after {i} connections'
	deadline = time.time() + 30
	while files() > before + 4 and time.time() < deadline:
	    time.sleep(0.2)
	assert files() <= before + 4, f'{files()} descriptors, {before} before'
	END
	[ "$(status "$URL/")" = 200 ]
}

@test "bombs: a file that would become 4 GiB ends early, says why, and the server goes on" {
	mkdir -p bombs/made-1
	cp traces/efgh-43/trace.9.bin bombs/made-1/trace.0.bin
	"$VIEW" serve --json bombs >bombs.json 2>/dev/null </dev/null 3>&- &
	pid=$! got=
	for _ in $(seq 100); do [ -s bombs.json ] && jq -e .port bombs.json >/dev/null 2>&1 && break; sleep 0.1; done
	timeout 240 python3 - "$(jq -r .port bombs.json)" $pid bombs <<-'END' || got=failed
	import gzip, json, os, subprocess, sys, time, urllib.request
	port, pid, where = int(sys.argv[1]), sys.argv[2], sys.argv[3]
	def ask(what, timeout=20):
	    return json.load(urllib.request.urlopen(f'http://127.0.0.1:{port}/api/{what}', timeout=timeout))
	def peak_mb():
	    return int(next(l for l in open(f'/proc/{pid}/status') if l.startswith('VmHWM')).split()[1]) >> 10
	def until(is_so):  # each answer comes while the bomb is being read
	    deadline = time.time() + 100
	    while time.time() < deadline:
	        got = ask('trace')
	        if is_so(got):
	            return got
	        time.sleep(0.1)
	    raise SystemExit(f'never came: {got}')
	def put(name, data):  # whole when it appears
	    open(f'{where}/{name}.new', 'wb').write(data)
	    os.rename(f'{where}/{name}.new', f'{where}/{name}')
	ready = lambda r: r['recordings'][0]['state'] == 'ready'
	until(lambda r: r['recordings'] and ready(r))
	good, peak = ask('recording?r=0'), peak_mb()
	whole = open(f'{where}/made-1/trace.0.bin', 'rb').read()
	def bomb(part, pack):  # 4 GiB, in members that are all the same
	    member = pack(part)
	    return member * ((4 << 30) // len(part))
	zstd = lambda b: subprocess.run(['zstd', '-qc'], input=b, stdout=subprocess.PIPE, check=True).stdout
	once = (32 << 20) // len(whole) + 1
	packed = [bomb(whole * once, zstd), zstd(whole) + bomb(bytes(1 << 20), lambda b: gzip.compress(b, 9))]
	for nr, data in enumerate(packed, 1):
	    assert len(data) < 5 << 20, len(data)
	    put(f'made-1/trace.{nr}.bin', data)
	    until(lambda r: ready(r) and r['recordings'][0]['generation'] > nr)
	    segments = ask('recording?r=0')['segments']
	    print(nr, len(data), segments[-1], peak_mb())
	    assert len(segments) == nr + 1 and segments[0] == good['segments'][0], segments
	    assert segments[-1]['error'], segments
	assert 'decompressed size' in segments[1]['error'], segments
	# the findings are worked out beside the server, within their own bounds
	ask('issues', 100)
	assert peak_mb() - peak < 2000, peak_mb()
	END
	kill $pid
	wait $pid || true
	[ -z "$got" ]
}

@test "a link among the segments shows nothing of what it points to" {
	mkdir -p linked/made-1
	cp traces/efgh-43/trace.9.bin linked/made-1/
	echo "secret text of another file" >outside
	ln -s "$PWD/outside" linked/made-1/trace.10.bin
	"$VIEW" serve --json linked >linked.json 2>/dev/null </dev/null 3>&- &
	pid=$!
	for _ in $(seq 100); do [ -s linked.json ] && jq -e .port linked.json >/dev/null 2>&1 && break; sleep 0.1; done
	base=http://127.0.0.1:$(jq -r .port linked.json)
	for _ in $(seq 300); do
		curl -s "$base/api/trace" | jq -e '.recordings[0].state == "ready"' >/dev/null && break
		sleep 0.1
	done
	for q in trace recording range search?q=secret issues; do curl -s "$base/api/$q"; done >all
	kill $pid
	wait $pid || true
	grep -q '"events"' all
	if grep -q 'secret text' all; then return 1; fi
}

@test "live: what a segment gains, and a new one, appear while it serves" {
	mkdir -p live/made-1
	"$BUILD/test/bench/make_big" live 4000 2 raw
	mv live/trace.0.bin whole.bin
	head -c 20000 whole.bin >live/made-1/trace.0.bin.active
	"$VIEW" serve --json live >live.json 2>/dev/null </dev/null 3>&- &
	pid=$!
	for _ in $(seq 100); do [ -s live.json ] && jq -e .port live.json >/dev/null 2>&1 && break; sleep 0.1; done
	base=http://127.0.0.1:$(jq -r .port live.json) got=
	recording() { # JQ-FILTER: is it true of the recording within a minute?
		for _ in $(seq 600); do
			curl -s "$base/api/recording?r=0" >rec && jq -e "$1" rec >/dev/null 2>&1 && return
			sleep 0.1
		done
		got="$got not: $1 ($(jq -c '[.generation, .events]' rec))"
	}
	recording '.events > 100'
	events=$(jq .events rec) generation=$(jq .generation rec) origin=$(jq -r .base rec)
	tail -c +20001 whole.bin >>live/made-1/trace.0.bin.active
	recording ".events > $events and .generation > $generation"
	events=$(jq .events rec) generation=$(jq .generation rec)
	mv live/made-1/trace.0.bin.active live/made-1/trace.0.bin
	cp whole.bin live/made-1/trace.1.bin
	recording ".events == 2 * $events and .generation > $generation and (.segments | length) == 2"
	# what the page counts from stays, so its view does
	[ "$(jq -r .base rec)" = "$origin" ] || got="$got base"
	kill $pid
	wait $pid || true
	[ -z "$got" ] || { echo "$got"; return 1; }
}

@test "a token: asked for by the API, told in the fragment only" {
	"$VIEW" serve --json --token traces >token.json 2>/dev/null </dev/null 3>&- &
	pid=$!
	for _ in $(seq 100); do [ -s token.json ] && jq -e .port token.json >/dev/null 2>&1 && break; sleep 0.1; done
	url=$(jq -r .url token.json) base=http://127.0.0.1:$(jq -r .port token.json) token=${url#*#token=}
	[ ${#token} = 32 ]
	got="$(status "$base/api/trace") $(status -H "X-Dial9-Token: ${token%?}0z" "$base/api/trace") $(status -H "X-Dial9-Token: $token" "$base/api/trace") $(status "$base/")"
	kill $pid
	wait $pid || true
	[ "$got" = '401 401 200 200' ] || { echo "$got"; return 1; }
}
