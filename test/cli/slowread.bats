# SPDX-License-Identifier: Apache-2.0
# Answers that nobody reads, or byte by byte: they end, are not held without bound, and nobody else waits.
load view

setup() { cd "$BATS_TEST_TMPDIR" || return; }

@test "slow readers: the answer that nobody reads ends, others are served, memory stays" {
	mkdir -p wide
	"$BUILD/test/bench/make_big" wide 60000 100 raw
	"$VIEW" serve --json wide >wide.json 2>/dev/null </dev/null 3>&- &
	pid=$! got=
	for _ in $(seq 100); do [ -s wide.json ] && jq -e .port wide.json >/dev/null 2>&1 && break; sleep 0.1; done
	timeout 220 python3 - "$(jq -r .port wide.json)" $pid <<-'END' || got=failed
	import json, os, socket, sys, time, urllib.request
	port, pid = int(sys.argv[1]), sys.argv[2]
	base = f'http://127.0.0.1:{port}/api/'
	def rss_mb():
	    return int(open(f'/proc/{pid}/statm').read().split()[1]) >> 8
	deadline = time.time() + 60
	while json.load(urllib.request.urlopen(base + 'trace', timeout=20))['recordings'][0]['state'] != 'ready':
	    assert time.time() < deadline
	    time.sleep(0.1)
	length = json.load(urllib.request.urlopen(base + 'recording?r=0'))['length']
	query = f'cells?r=0&from=0&to={length}&px=4096&lanes=0-99'
	largest = len(urllib.request.urlopen(base + query, timeout=60).read())
	before = rss_mb()
	files = lambda: len(os.listdir(f'/proc/{pid}/fd'))
	slow, held = [], files()
	for i in range(80):
	    s = socket.socket()
	    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
	    s.connect(('127.0.0.1', port))
	    s.send(f'GET /api/{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n'.encode())
	    slow.append(s)
	peak, most, seen, asked = before, 0, 0, time.time()
	got, first, began = [0] * len(slow), [b''] * len(slow), 1e9  # began: when all had a first byte
	while time.time() - asked < 100 and (most < 20 or files() > held + 4):
	    for nr, s in enumerate(slow):  # one reads a byte at a time; the other so much that the server is never idle
	        try:
	            s.setblocking(False)
	            for _ in range(8 if nr % 2 else 1):
	                data = s.recv(2000 if nr % 2 else 1)
	                got[nr] += len(data)
	                first[nr] = (first[nr] + data)[:12]
	        except OSError:
	            pass
	    peak, most = max(peak, rss_mb()), max(most, files() - held)
	    with urllib.request.urlopen(base + 'trace', timeout=60) as r:
	        assert r.status == 200
	    if all(first):
	        began = min(began, time.time() - asked)
	    seen += 1
	    time.sleep(0.5)
	print(f'largest {largest} bytes, {before} MB before, {peak} at most, {seen} others served, {time.time() - asked:.0f} s')
	assert len(slow) * largest > 1.5 * (128 << 20), largest
	assert most >= 20, most
	assert files() <= held + 4, f'{files() - held} slow readers live on'
	assert max(got) < largest, 'one was allowed to read to the end'
	# where answers are made so slowly that the first have ended by then, they do not meet
	assert began > 10 or first.count(b'HTTP/1.1 503') >= 10, 'the cap of answers under way was not met'
	assert peak - before < 300, 'memory grew'
	assert len(urllib.request.urlopen(base + query, timeout=60).read()) == largest
	END
	kill $pid
	wait $pid || true
	[ -z "$got" ]
}
