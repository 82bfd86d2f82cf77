# SPDX-License-Identifier: Apache-2.0
"""Holds a trace against what the program itself says it did (modes shown-* of the target).

shown.py WHAT LOG [HZ] <EVENTS: WHAT is shares, blocks, long or short, LOG the program's output,
EVENTS `dial9-view dump --json`. Prints what it found; exit code 1 where they differ.
"""
import json
import sys

STAT_EDGE = 2_000_000  # ns after the level's event in which the kernel may not know of it yet
BLOCK = 1_000_000
SYSCALLS = {"sleep": (35, 230), "futex": (202,), "pipe": (0,), "fsync": (74, 75)}


class Trace:
    def __init__(self, lines):
        self.levels, self.samples, self.off, self.polls, self.types = [], [], [], [], {}
        self.losses, self.inferred, open_polls, last = [], {}, {}, 0
        for line in lines:
            e = json.loads(line)
            f, ts, name = e["fields"], e.get("ts_ns") or 0, e["event"]
            last = max(last, ts)
            if name == "agent:Level" and f["types"] == "":
                self.levels.append((ts, f["level"], f["reason"]))
            elif name == "agent:Sample":
                self.samples.append((ts, f["tid"], f["task_id"]))
            elif name == "agent:OffCpu" and f.get("task_id") is not None:
                self.off.append((f["out_ns"], ts, f["tid"], f["task_id"], f["reason"], f.get("syscall")))
            elif name == "agent:InferredIn":  # the switch-in came between the two
                self.inferred[f["tid"], ts] = f.get("runnable_ns") or 0
            elif name == "PollStartEvent":
                open_polls[f["worker_id"]] = (ts, f["task_id"])
            elif name == "PollEndEvent" and f["worker_id"] in open_polls:
                start, task = open_polls.pop(f["worker_id"])
                self.polls.append((start, ts, task))
            elif name == "agent:Alive":
                self.types[f["task_id"]] = f["type"]
            elif name == "agent:Loss" and f["kind"] not in ("Stack", "TaskId", "SwitchTime"):
                self.losses.append(f)
        self.samples.sort()
        self.levels.sort()
        self.last = last

    def spans(self, level):  # in which it held, once each
        spans = []
        for i, (ts, name, _) in enumerate(self.levels):
            end = self.levels[i + 1][0] if i + 1 < len(self.levels) else self.last
            if name != level or ts + STAT_EDGE >= end:
                continue
            if spans and ts == spans[-1][1]:  # said again at the start of a segment
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((ts + STAT_EDGE, end))
        return spans


class Log:
    def __init__(self, path):
        self.task, self.plants, self.late, self.used = {}, [], [], {}
        for line in open(path, encoding="utf-8"):
            w = line.split()
            if w[:1] == ["task"]:
                self.task[int(w[1])] = w[2]
            elif w[:1] == ["plant"]:
                self.plants.append((w[1], *map(int, w[2:])))
            elif w[:1] == ["late"]:
                self.late.append((int(w[2]), int(w[3])))
            elif w[:1] == ["used"]:
                self.used[w[1]] = int(w[2])


def within(spans, start, end):
    return any(s <= start and end <= e for s, e in spans)


def shared(sums):
    return {k: 100 * v / sum(sums.values()) for k, v in sums.items()}


def text(shares):
    return ", ".join(f"{k} {shares[k]:.1f}" for k in sorted(shares))


def shares(t, log, _):
    """CPU time of each type, by samples at stat and by the program's own clocks: at most 3 points
    apart. By polls at full it is printed beside them and held to 6: others on the machine lengthen
    polls, and what a hypervisor takes is no time off the CPU.

    Of 7,000 samples a type with a share of one half has 50 +- 0.6 (one sigma) percent: 3 points are
    5 sigma. Fewer samples than that are no proof, and a failure."""
    kinds = {label: 0 for label in log.used}
    by_samples, by_polls, types = dict(kinds), dict(kinds), {}
    stat, full = t.spans("stat"), t.spans("full")
    for ts, _, task in t.samples:
        if within(stat, ts, ts) and task in log.task:
            by_samples[log.task[task]] += 1
            types.setdefault(t.types.get(task), set()).add(log.task[task])
    off = {}
    for out, into, _, task, _, _ in t.off:
        off.setdefault(task, []).append((out, into))
    for start, end, task in t.polls:
        if within(full, start, end) and task in log.task:
            away = sum(i - o for o, i in off.get(task, ()) if start <= o and i <= end)
            by_polls[log.task[task]] += end - start - away
    cnt = sum(by_samples.values())
    s, p, u = shared(by_samples), shared(by_polls), shared(log.used)
    print(f"{cnt} samples: {text(s)}; polls: {text(p)}; the program says: {text(u)} %")
    good = cnt >= 7000 and all(abs(s[k] - p[k]) <= 6 and abs(s[k] - u[k]) <= 3 for k in kinds)
    # each kind is one type in the trace, and each type one kind
    return good and None not in types and len(types) == 3 and all(len(v) == 1 for v in types.values())


def blocks(t, log, _):
    """Blocks of 1 ms and more are there, with task, kind and length, and no other one is."""
    stat, bad, missed, longer, found = t.spans("stat"), 0, 0, 0, {k: 0 for k in SYSCALLS}

    def back(off):  # the earliest time at which it may have been on a CPU again
        return max(off[0], t.inferred.get((off[2], off[1]), off[1]))

    ids = {label: task for task, label in log.task.items()}
    mine = {}
    for off in t.off:
        mine.setdefault((off[2], off[3]), []).append(off)
    for kind, tid, t0, t1, cpu in log.plants:
        if not within(stat, t0, t1) or t1 - t0 - cpu < BLOCK:
            continue
        there = [o for o in mine.get((tid, ids[kind]), ()) if t0 <= o[0] and back(o) <= t1]
        away, slept = sum(o[1] - o[0] for o in there), [o for o in there if o[4] != 0]
        is_there = slept and all(o[5] in SYSCALLS[kind] for o in slept)
        is_sure = all((o[2], o[1]) not in t.inferred for o in there)
        if not is_there or away < t1 - t0 - cpu - 300_000 or is_sure and away > t1 - t0:
            print("planted, but not shown so:", kind, tid, t0, t1, cpu, there)
            missed += not is_there
            longer += bool(is_there)
        found[kind] += 1
    for off in t.off:
        out, into, tid, task, reason, syscall = off
        if reason == 0 or into - out < BLOCK or not within(stat, out, into):
            continue
        if not any(p[1] == tid and p[2] <= out and back(off) <= p[3] for p in log.plants):
            print("shown, but not planted:", out, into, tid, log.task.get(task, task), syscall)
            bad += 1
    print(f"blocks of 1 ms and more, {missed} not shown, {longer} of another length, {bad} shown wrongly: " + ", ".join(f"{v} {k}" for k, v in found.items()))
    # a disk may be faster than that, or the file in memory
    # the program takes for blocked, what a hypervisor or an interrupt takes from it before and after:
    # seen up to 1.3 % of them; where lengths are wrong all are
    return not bad and not missed and longer * 20 <= sum(found.values()) and all(found[k] >= 50 for k in ("sleep", "futex", "pipe"))


def long(t, log, hz):
    """Each long poll has its row of samples at stat; at full it is there with its length."""
    stat, full, bad, cnt = t.spans("stat"), t.spans("full"), 0, [0, 0]
    period = 1e9 / hz
    for _, tid, t0, t1, cpu in log.plants:
        if within(stat, t0, t1):
            run = [s[0] for s in t.samples if t0 <= s[0] <= t1 and s[1] == tid and s[2] in log.task]
            # a clock that ticks each period does so three times in three periods and a bit
            if len(run) < 3 or run[-1] - run[0] < 1.9 * period:
                print("no candidate:", tid, t0, t1, cpu, run)
                bad += 1
            cnt[0] += 1
        elif within(full, t0, t1):
            if not any(s <= t0 and t1 <= e and e - s < 2 * (t1 - t0) and k in log.task
                       for s, e, k in t.polls):
                print("not confirmed:", tid, t0, t1, cpu)
                bad += 1
            cnt[1] += 1
    zooms = [r for _, level, r in t.levels if level == "full" and "on demand" in r]
    print(f"{cnt[0]} long polls at stat, {bad} missed; {cnt[1]} confirmed in {len(zooms)} closer looks")
    return not bad and cnt[0] >= 20 and cnt[1] >= 5 and zooms


def short(t, log, _):
    """Busy runs made the agent look closer; it saw polls, and no long one but what was interrupted."""
    full = t.spans("full")
    polls = [p for p in t.polls if within(full, p[0], p[1]) and p[2] in log.task]
    long_ones = [p for p in polls if p[1] - p[0] >= 10_000_000]
    bad = [p for p in long_ones if not any(a < p[1] and p[0] < b for a, b in log.late)]
    zooms = [r for _, level, r in t.levels if level == "full" and "on demand" in r]
    kinds = {log.task[p[2]] for p in polls}
    print(f"{len(zooms)} closer looks, {len(polls)} polls of {', '.join(sorted(kinds))}, "
          f"{len(long_ones)} interrupted, {len(bad)} long: {bad[:3]}")
    return zooms and not bad and kinds == {"yield", "ping", "pong"}


trace = Trace(sys.stdin)
if trace.losses:
    print("lost:", trace.losses[:3])
ok = globals()[sys.argv[1]](trace, Log(sys.argv[2]), int((sys.argv + ["99"])[3]))
sys.exit(0 if ok and not trace.losses else 1)
