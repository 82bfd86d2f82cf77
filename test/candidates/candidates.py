# SPDX-License-Identifier: Apache-2.0
# What candidates.bats asks of a recording: candidates.py polls|verdicts|shares TRUTH EVENTS|REPORT
import collections
import json
import sys

what, truth, trace = sys.argv[1:]
LONG_NS = 31_000_000  # at 99 Hz at least three samples lie in it
RUN_NS = 10_000_000  # of the first to the last: viewer/busyruns.h
SHARE_LIMIT = 0.03

label, polls = {}, collections.defaultdict(list)
for line in open(truth):
    word = line.split()
    if word[0] == 'task':
        label[int(word[1])] = word[3]
    elif word[0] == 'poll':
        polls[int(word[1])].append((int(word[3]), int(word[4])))


def events():
    return (json.loads(line) for line in open(trace))


def windows(level):
    """[(from, to)] in which the recording held this level."""
    found, since, last = [], None, 0
    for e in events():
        last = max(last, e['ts_ns'] or 0)
        if e['event'] != 'agent:Level':
            continue
        is_it = e['fields']['level'] == level
        if is_it and since is None:
            since = e['ts_ns']
        elif not is_it and since is not None:
            found.append((since, e['ts_ns']))
            since = None
    return found + ([(since, last)] if since is not None else [])


def inside(at, spans):
    return any(a <= at < b for a, b in spans)


def fail(text):
    print(text)
    sys.exit(1)


if what == 'polls':
    stat = windows('stat')
    samples, off = collections.defaultdict(list), collections.defaultdict(list)
    for e in events():
        if e['event'] == 'agent:Sample':
            samples[e['fields']['task_id']].append(e['ts_ns'])
        elif e['event'] == 'agent:OffCpu' and e['fields'].get('task_id'):
            off[e['fields']['task_id']].append((e['fields']['out_ns'], e['ts_ns']))
    planted = missed = 0
    for task, spans in polls.items():
        for a, b in spans:
            on_cpu_ns = b - a - sum(min(b, y) - max(a, x) for x, y in off[task] if x < b and y > a)
            if on_cpu_ns < LONG_NS or not any(x <= a and b <= y for x, y in stat):
                continue
            planted += 1
            seen = [t for t in samples[task] if a <= t <= b]
            if len(seen) < 2 or seen[-1] - seen[0] < RUN_NS:
                missed += 1
                print(f'no candidate: task {task} {label.get(task)} {(b - a) / 1e6:.1f} ms at {a}: {seen}')
    if planted < 10 or missed:
        fail(f'{missed} of {planted} long polls missed')
    print(f'{planted} long polls of the program at level stat, each a candidate')
elif what == 'verdicts':
    runs = json.load(open(trace))['recordings'][0]['busy_runs']
    said = {label.get(r['task']): r['type_polls_say'] for r in runs}
    if said.get('spinner') != 'confirmed':
        fail(f'spinner: {said}')
    wrong = {k: v for k, v in said.items() if k in ('yielder', 'ping', 'pong') and v != 'not seen'}
    if wrong:
        fail(f'called long polls, or not looked at: {wrong}')
else:
    stat, full = windows('stat'), windows('full')
    by_samples, by_polls = collections.Counter(), collections.Counter()
    open_poll = {}
    for e in events():
        f, ts = e['fields'], e['ts_ns']
        if e['event'] == 'agent:Sample' and inside(ts, stat):
            by_samples[label.get(f['task_id'])] += 1
        elif e['event'] == 'PollStartEvent' and inside(ts, full):
            open_poll[f['worker_id']] = (ts, f['task_id'])
        elif e['event'] == 'PollEndEvent' and f['worker_id'] in open_poll:
            a, task = open_poll.pop(f['worker_id'])
            by_polls[label.get(task)] += ts - a
    worst = 0
    cnt, ns = sum(by_samples.values()), sum(by_polls.values())
    if cnt < 3000 or ns < 1_000_000_000:
        fail(f'too little: {cnt} samples, {ns} ns in polls')
    for name in ('spinner', 'yielder', 'ping', 'pong', 'ticker', 'counter'):
        a, b = by_samples[name] / cnt, by_polls[name] / ns
        worst = max(worst, abs(a - b))
        print(f'{name} {a:.3f} by samples, {b:.3f} by polls;', end=' ')
    print(f'{cnt} samples, {ns / 1e9:.1f} s in polls, worst {100 * worst:.1f} points')
    if worst > SHARE_LIMIT:
        sys.exit(1)
