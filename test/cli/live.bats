# SPDX-License-Identifier: Apache-2.0
# A recording that grows while it is served: each answer is that of a server started anew on the same files.
load view

setup() { cd "$BATS_TEST_TMPDIR" || return; }

@test "live: at each growth of a recording the answers are those of a cold start" {
	mkdir -p made
	"$BUILD/test/bench/make_big" made 60000 6 raw 10000
	timeout 200 python3 - "$VIEW" made <<-'END'
	import json, os, re, shutil, struct, subprocess, sys, time, urllib.parse, urllib.request
	view, made = sys.argv[1:3]
	files = sorted(os.listdir(made))
	assert len(files) >= 5, files
	servers = []
	def serve(where):
	    p = subprocess.Popen([view, 'serve', '--json', where], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
	                         stderr=subprocess.DEVNULL, env={**os.environ, 'XDG_CACHE_HOME': os.path.abspath(where) + '.cache'})
	    servers.append(p)
	    text = ''
	    while '}' not in text:
	        line = p.stdout.readline().decode()
	        assert line, 'the server ended'
	        text += line
	    return json.loads(text)['url'] + 'api/'
	def ask(url, what):
	    return urllib.request.urlopen(url + what, timeout=30).read()
	def recording(url):
	    got = json.loads(ask(url, 'trace'))['recordings']
	    return got[0] if got else {'state': 'waiting', 'generation': 0}
	def answers(url):
	    """All answers, without the generation and the size in memory; the number of events."""
	    head = json.loads(ask(url, 'recording?r=0'))
	    end, lanes = head['length'], f"0-{len(head['lanes']) - 1}"
	    polls = json.loads(ask(url, f'rows?r=0&from={end * 3 // 4}&to={end}&lanes=0-1'))['polls']
	    row, task, place = polls[-1]['row'], polls[-1]['task'], urllib.parse.quote(polls[-1]['place'])
	    got = {}
	    for what in ['recording', f'strip?from=0&to={end}&px=500', f'cells?from=0&to={end}&px=700&lanes={lanes}',
	                 f'cells?from={end // 3}&to={end // 2}&px=900&lanes={lanes}', f'at?from=0&to={end}&lane=0',
	                 f'rows?from={end * 9 // 10}&to={end}&lanes={lanes}', 'range', f'range?lanes=1-2&from={end // 2}', 'heat?what=polls&px=300',
	                 'heat?what=waits&px=300', 'flame?kind=cpu', 'flame?kind=off', f'flame?kind=cpu&place={place}',
	                 f'poll?row={row}', f'wakes?poll={row}', f"poll?lane=1&at={end}",
	                 f'task?id={task}', 'worst?kind=long', 'worst?kind=late', 'worst?kind=blocked', 'search?q=main', 'search?q=dur%3E1ms',
	                 'queues?runtime=main&px=300', 'levels', 'parked', 'glimpses?px=300', 'spans']:
	        try:
	            a = ask(url, what + ('&' if '?' in what else '?') + 'r=0')
	        except urllib.error.HTTPError as e:
	            a = b'%d ' % e.code + e.read()
	        name = what.split('?')[0]
	        if name in ('strip', 'cells', 'heat', 'rows') and a[:2] == b'D9':
	            at = 12 if name in ('strip', 'cells') else 16
	            a = a[:at] + bytes(4) + a[at + 4:]
	        got[what] = re.sub(rb'"(generation|memory)":\d+', b'', a)
	    assert sum(a[:4] in (b'400 ', b'404 ') for a in got.values()) <= 2, [w for w, a in got.items() if a[:1] == b'4']
	    return got, head['events']
	os.makedirs('live/made-1')
	url, generation, step = None, 0, 0
	def put(name, data, age_s):  # whole when it appears
	    with open('live/new', 'wb') as f:
	        f.write(data)
	    os.utime('live/new', (time.time() - age_s,) * 2)
	    os.rename('live/new', 'live/made-1/' + name)
	def check(said):
	    global url, generation, step
	    step += 1
	    cold_dir = f'cold{step}'
	    shutil.copytree('live', cold_dir)  # with their times
	    cold_url = serve(cold_dir)
	    cold = servers[-1]
	    deadline = time.time() + 60
	    while recording(cold_url)['state'] != 'ready':
	        assert time.time() < deadline, said
	        time.sleep(0.05)
	    want, events = answers(cold_url)
	    cold.kill()
	    cold.wait()
	    url = url or serve('live')
	    while True:
	        r = recording(url)
	        if r['state'] == 'ready' and r['generation'] > generation and answers(url)[1] == events:
	            break
	        assert time.time() < deadline, (said, r, events)
	        time.sleep(0.05)
	    generation = r['generation']
	    got, _ = answers(url)
	    for what in want:
	        assert got.get(what) == want[what], (said, what, want[what][:400], got.get(what, b'')[:400])
	try:
	    for nr, name in enumerate(files):
	        data = open(f'{made}/{name}', 'rb').read()
	        if nr % 2:  # it is seen while it is written
	            put(name + '.active', data[:len(data) // 2], 0)
	            check(name + ' begun')
	            os.unlink(f'live/made-1/{name}.active')
	        put(name, data, 60 if nr % 3 else 0)
	        check(name)
	    os.unlink('live/made-1/' + files[0])
	    check('without the oldest')
	finally:
	    for p in servers:
	        p.kill()
	        p.wait()
	END
}

@test "live: while nobody asks nothing is decoded again; it comes when somebody does" {
	mkdir -p made idle/made-1
	"$BUILD/test/bench/make_big" made 20000 2 raw 10000
	cp made/trace.0.bin idle/made-1/
	timeout 100 python3 - "$VIEW" made idle <<-'END'
	import json, os, subprocess, sys, time, urllib.request
	view, made, where = sys.argv[1:4]
	p = subprocess.Popen([view, 'serve', '--json', where], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
	def recording():
	    got = json.load(urllib.request.urlopen(url + 'api/trace', timeout=30))['recordings']
	    return got[0] if got else {'state': 'waiting'}
	try:
	    text = ''
	    while '}' not in text:
	        text += p.stdout.readline().decode()
	    url = json.loads(text)['url']
	    deadline = time.time() + 60
	    while recording()['state'] != 'ready':
	        assert time.time() < deadline
	        time.sleep(0.1)
	    time.sleep(11)
	    os.rename(f'{made}/trace.1.bin', f'{where}/made-1/trace.1.bin')
	    time.sleep(3)
	    first = recording()  # the first one to ask is told of what was there
	    assert first['generation'] == 1, first
	    while recording()['generation'] == 1:
	        assert time.time() < deadline
	        time.sleep(0.1)
	    assert len(json.load(urllib.request.urlopen(url + 'api/recording?r=0'))['segments']) == 2
	finally:
	    p.kill()
	    p.wait()
	END
}
