#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are the polls of kept types all there, and right?    dial9-view dump --json DIR | kept.py LOG LABEL

For a program's own log as in truth.py, and a recording in which hot types were dropped: as long as a
level with dropped types holds, but for its edges, each poll of the tasks called LABEL must have been
recorded once, around the program's own stamps, with an end that was seen.
Prints how many, and how much later than the program's its ends are.
"""
import json
import sys

CLOCK_NS = 2000  # the recorder reads its clock around the program's: never more than this inside
EDGE_NS = 100_000_000  # what was under way at a change is not asked for


def main():
    mine, polls, bad = set(), {}, []
    with open(sys.argv[1]) as log:
        for line in log:
            word = line.split()
            if word[0] == "poll":
                polls.setdefault(int(word[1]), []).append((int(word[3]), int(word[4])))
            elif word[0] == "task" and word[3] == sys.argv[2]:
                mine.add(int(word[1]))
    seen, opened, inferred, levels, last = {}, {}, set(), [], 0
    for line in sys.stdin:
        event = json.loads(line)
        kind, ts, field = event["event"], event.get("ts_ns", 0), event.get("fields", {})
        last = max(last, ts)
        if kind == "agent:Level" and not field["types"]:
            levels.append([ts, 0])
        elif kind == "agent:Level":
            levels[-1][1] += 1
        elif kind == "PollStartEvent":
            opened[field["worker_id"]] = (ts, field["task_id"])
        elif kind == "PollEndEvent" and field["worker_id"] in opened:
            start, task = opened.pop(field["worker_id"])
            seen.setdefault(task, []).append((start, ts))
        elif kind == "agent:InferredEnd":
            inferred.add((field["task_id"], ts))
    ends = [ts for ts, _ in levels[1:]] + [last]
    spans = [(ts + EDGE_NS, end - EDGE_NS) for (ts, cnt), end in zip(levels, ends) if cnt]
    spans = [span for span in spans if span[0] < span[1]]
    late, cnt = [], 0
    for begin, end in spans:
        for task in mine:
            got, at = sorted(seen.get(task, [])), 0
            for b, e in sorted(polls.get(task, [])):
                if not begin < b or not e < end:
                    continue
                cnt += 1
                while at < len(got) and got[at][1] < e - CLOCK_NS:
                    if got[at][0] > begin + EDGE_NS:
                        bad.append(f"task {task}: poll {got[at]} never was")
                    at += 1
                if at == len(got) or got[at][0] > b + CLOCK_NS:
                    bad.append(f"task {task}: poll {b}..{e} was not recorded")
                    continue
                late.append(got[at][1] - e)
                if (task, got[at][1]) in inferred:
                    bad.append(f"task {task}: the end at {got[at][1]} is inferred")
                at += 1
    late.sort()
    print(f"{cnt} polls of {len(mine)} kept tasks in {sum(e - b for b, e in spans) / 1e9:.1f} s, ends "
          f"{late[len(late) // 2] if late else 0} ns later (median)")
    if not cnt:
        bad.append("no poll at all")
    if late and late[len(late) // 2] > 100_000:
        bad.append("ends are late")
    for line in bad[:12]:
        print(line)
    return bool(bad)


sys.exit(main())
