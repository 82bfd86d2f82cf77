#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a recording equal to the program's own log?    dial9-view dump --json DIR | truth.py LOG

Reads the log of test/targets/rich (its README states the format and the rule) and the events of
one recording that was started before the program's "go" and ended with the program. Every task
must have been seen: its polls to the number, its spawn and its end once each, with the right
cause; polls must enclose the program's own ones in time; nothing lost, nothing invented.
Prints a line of figures, then up to a few differences. Exit code 1 when there are any.
"""
import collections
import json
import re
import sys

FLAWS = ("Stack", "SwitchTime")  # what has no frame pointers is cut, an unseen switch inferred: both are there
SHOWN_MAX = 12  # kinds of difference shown, each with one example
CLOCK_NS = 2000  # the recorder reads its clock around the program's: never more than this inside

bad = []


def differ(text):
    bad.append(text)


class Task:
    __slots__ = ("kind", "label", "polls", "extra", "cause", "spawn_ns", "old")

    def __init__(self):
        self.kind = self.label = self.cause = "?"
        self.polls, self.extra, self.spawn_ns, self.old = [], 0, None, False


def read_log(path):
    tasks, go, head = collections.defaultdict(Task), None, {}
    spawns, polls = [], []
    with open(path) as log:
        for line in log:
            word = line.split()
            if word[0] == "poll":
                polls.append((int(word[1]), int(word[3]), int(word[4])))
            elif word[0] == "spawn":
                spawns.append((int(word[1]), int(word[3])))
            elif word[0] == "task":
                task = tasks[int(word[1])]
                task.kind, task.label, task.cause = word[2], word[3], word[6]
                task.extra = None if word[5] == "?" else int(word[5])
            elif word[0] == "mark" and word[2] == "go":
                go = int(word[1])
            elif word[0] == "#" and word[1] == "rich-truth":
                head = dict(w.split("=", 1) for w in word[3:] if "=" in w)
    if go is None or not tasks:
        sys.exit(f"truth.py: {path}: no tasks or no 'go' in it")
    if head.get("lost") != "0":
        differ(f"the program's own log lost {head.get('lost')} records")
    for ident, begin in spawns:
        tasks[ident].spawn_ns, tasks[ident].old = begin, begin < go
    for ident, begin, end in polls:
        if begin >= go:
            tasks[ident].polls.append((begin, end))
    for task in tasks.values():
        task.polls.sort()
    return tasks


class Trace:
    def __init__(self):
        self.polls = collections.defaultdict(list)
        self.blocking = collections.defaultdict(list)
        self.spawns = collections.Counter()
        self.ends = collections.Counter()
        self.alive = collections.Counter()
        self.cause, self.lost = {}, collections.Counter()
        self.late_cancels = 0
        self.kinds = collections.Counter()
        self.woken, self.handed_over = set(), set()
        self.inferred = 0


def read_trace(stream):
    t, unclosed = Trace(), {}
    for line in stream:
        ev = json.loads(line)
        name, ts, f = ev["event"], ev["ts_ns"], ev["fields"]
        t.kinds[name] += 1
        if name == "PollStartEvent":
            if f["worker_id"] in unclosed:
                differ(f"worker {f['worker_id']} starts a poll inside another at {ts}")
            unclosed[f["worker_id"]] = (f["task_id"], ts)
        elif name == "PollEndEvent":
            ident, start = unclosed.pop(f["worker_id"], (None, 0))
            if ident is not None:
                t.polls[ident].append((start, ts))
        elif name == "agent:NestedPoll":
            t.polls[f["task_id"]].append((f["start_ns"], ts))
        elif name == "agent:Blocking":
            t.blocking[f["task_id"]].append((f["start_ns"], ts))
        elif name == "TaskSpawnEvent":
            t.spawns[f["task_id"]] += 1
        elif name == "TaskTerminateEvent":
            t.ends[f["task_id"]] += 1
        elif name == "agent:TaskEnd":
            t.cause[f["task_id"]] = f["cause"]
        elif name == "agent:Alive":
            t.alive[f["task_id"]] += 1
        elif name == "WakeEventEvent":
            t.woken.add(f["woken_task_id"])
        elif name == "agent:Loss":
            t.lost[f["kind"]] += f["count"]
        elif name == "agent:BlockInPlace":
            t.handed_over.add(f["task_id"])
        elif name == "agent:InferredEnd":
            t.inferred += 1
    for worker, (ident, start) in unclosed.items():
        differ(f"the poll of task {ident} on worker {worker} at {start} never ends")
    return t


# 1 cancelled, 2 shutdown, 3 finished or panicked, 4 panicked, 5 finished
CAUSES = {"done": (3, 5), "panic": (3, 4), "cancel": (1,), "shutdown": (1, 2)}


def compare_task(ident, task, t, lead, trail):
    what = f"task {ident} ({task.kind} {task.label}, {task.cause})"
    seen = t.blocking[ident] if task.kind == "blocking" else t.polls[ident]
    wrong = t.polls[ident] if task.kind == "blocking" else t.blocking[ident]
    if wrong:
        differ(f"{what}: seen as the wrong kind of task")
    own = len(task.polls)
    want = (own, own + 1) if task.extra is None else (own + task.extra,)
    if len(seen) not in want:
        differ(f"{what}: {len(seen)} polls, the program's own log has {want[0]}")
    elif len(seen) == own:
        for (start, end), (begin, over) in zip(sorted(seen), task.polls):
            lead.append(begin - start)
            trail.append(end - over)
            if start > begin + CLOCK_NS:
                differ(f"{what}: a poll starts {start - begin} ns inside the program's own")
            # in block_in_place the worker goes to another thread: its poll ends there for all to see
            if end < over - CLOCK_NS and ident not in t.handed_over:
                differ(f"{what}: a poll ends {over - end} ns before the program's own ends")
    if task.kind == "blocking":
        return  # agent:Blocking is its whole life
    if task.old:
        if t.spawns[ident]:
            differ(f"{what}: a spawn was invented, it is older than the recording")
        if seen and t.alive[ident] != 1:
            differ(f"{what}: older than the recording, marked so {t.alive[ident]} times")
    elif t.spawns[ident] != 1:
        differ(f"{what}: {t.spawns[ident]} spawns")
    ended = 0 if task.cause == "alive" else 1
    if t.ends[ident] != ended:
        differ(f"{what}: {t.ends[ident]} ends, should be {ended}")
    causes = CAUSES.get(task.cause, ())
    if task.cause == "cancel" and (task.extra == 0 or t.cause.get(ident) in (3, 5)):
        # aborted inside its last poll: once its memory is freed nothing tells that from an end;
        # one aborted just before a poll may meet the probe at that poll's start: few, see main
        t.late_cancels += task.extra != 0
        causes = (1, 3, 5)
    if ident in t.cause and t.cause[ident] not in causes:
        differ(f"{what}: end has cause {t.cause[ident]}")
    if task.cause in ("cancel", "shutdown") and ident not in t.cause:
        differ(f"{what}: nothing says how it ended")


def at(values, share):
    return sorted(values)[int(share * (len(values) - 1))] / 1000 if values else 0.0


def main():
    tasks = read_log(sys.argv[1])
    t = read_trace(sys.stdin)
    lead, trail = [], []
    for ident, task in sorted(tasks.items()):
        compare_task(ident, task, t, lead, trail)

    cancels = sum(task.cause == "cancel" for task in tasks.values())
    if t.late_cancels > max(2, cancels / 50):
        differ(f"{t.late_cancels} of {cancels} cancelled tasks are said to have finished")

    # the runtime has tasks of its own (a worker's blocking task), which no program logs
    for ident in set(t.polls) - set(tasks):
        differ(f"task {ident}: {len(t.polls[ident])} polls of a task that the program never had")
    for ident in (set(t.spawns) | set(t.ends)) - set(tasks) - set(t.blocking):
        differ(f"task {ident}: spawned or ended, but the program never had it")
    for ident in t.woken - set(tasks) - set(t.blocking):
        differ(f"task {ident}: woken, but the program never had it")
    for kind, count in t.lost.items():
        if kind not in FLAWS:
            differ(f"{count} lost: {kind}")
    polls = sum(len(p) for p in t.polls.values()) + sum(len(p) for p in t.blocking.values())
    own = sum(len(task.polls) for task in tasks.values())
    print(
        f"tasks {len(tasks)}, polls {polls} (own log {own}), wakes {t.kinds['WakeEventEvent']}, "
        f"spawns {sum(t.spawns.values())}, ends {sum(t.ends.values())}, "
        f"inferred ends {t.inferred}, lost {sum(n for kind, n in t.lost.items() if kind not in FLAWS)}; "
        f"start before own p50 {at(lead, .5):.2f} p99 {at(lead, .99):.2f} us, "
        f"end after own p50 {at(trail, .5):.2f} p99 {at(trail, .99):.2f} us"
    )
    alike = collections.OrderedDict()
    for text in bad:
        alike.setdefault(re.sub(r"\d+", "N", text), []).append(text)
    for texts in list(alike.values())[:SHOWN_MAX]:
        print(f"differs, {len(texts)} times: {texts[0]}")
    if len(alike) > SHOWN_MAX:
        print(f"differs: and {len(alike) - SHOWN_MAX} more kinds")
    sys.exit(1 if bad else 0)


main()
