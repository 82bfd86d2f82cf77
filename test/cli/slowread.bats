# SPDX-License-Identifier: Apache-2.0
# An answer that nobody reads: it ends, and nobody else waits for it.
load view

setup() { cd "$BATS_TEST_TMPDIR" || return; }

@test "slow readers: the answer that nobody reads ends, others are served, memory stays" {
	mkdir -p wide
	"$BUILD/test/bench/make_big" wide 60000 60 raw
	"$VIEW" serve --json wide >wide.json 2>/dev/null </dev/null 3>&- &
	pid=$! got=
	for _ in $(seq 100); do [ -s wide.json ] && jq -e .port wide.json >/dev/null 2>&1 && break; sleep 0.1; done
	timeout 150 python3 - "$(jq -r .port wide.json)" $pid <<-'END' || got=failed
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
	query = f'cells?r=0&from=0&to={length}&px=4096&lanes=0-59'
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
	while time.time() - asked < 100 and (most < 50 or files() > held + 4):
	    for nr, s in enumerate(slow):  # each reads a little, so that it is never silent
	        try:
	            s.setblocking(False)
	            s.recv(3000 if nr % 2 else 1)
	        except OSError:
	            pass
	    peak, most = max(peak, rss_mb()), max(most, files() - held)
	    with urllib.request.urlopen(base + 'trace', timeout=20) as r:
	        assert r.status == 200
	    seen += 1
	    time.sleep(0.5)
	print(f'largest {largest} bytes, {before} MB before, {peak} at most, {seen} others served, {time.time() - asked:.0f} s')
	assert largest > 1 << 20, largest
	assert most >= 50, most
	assert files() <= held + 4, f'{files() - held} slow readers live on'
	assert peak - before < 400, 'memory grew'
	END
	kill $pid
	wait $pid || true
	[ -z "$got" ]
}
