#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one recording knows of a program's tasks, counted against the program's own log.

    facts.py LOG EVENTS    EVENTS: dial9-view dump --json

Prints one line of KEY=VALUE words: spawn places that are the program's own, those unknown and those
wrong, and those that Tokio itself notes wrong (a place inside Tokio: what spawn_local of 1.54 does to a
task of a LocalSet, since it spawns inside a closure); spawns whose task has a type by name, by the place of its async body, by neither; how many ends
say whether the task finished or panicked; what the recording says about the task word.
Exit code 1 if a spawn place is wrong: a wrong fact is worse than none.
"""
import json
import re
import sys


def main():
    sites, panics = {}, set()
    with open(sys.argv[1]) as log:
        for line in log:
            word = line.split()
            if word[0] == "site":
                sites[int(word[1])] = word[2]
            elif word[0] == "task" and word[6] == "panic":
                panics.add(int(word[1]))
    n = dict.fromkeys("loc noloc wrong inside name place notype panics seen".split(), 0)
    entries, wrong = {}, None
    n["panics"] = len(panics)
    with open(sys.argv[2]) as events:
        for line in events:
            if '"event":"TaskSpawnEvent"' in line:
                fields = json.loads(line)["fields"]
                text = fields["spawn_loc"] or ""
                if re.fullmatch(r"[^{<]*:\d+:\d+", text):
                    same = sites.get(fields["task_id"], text) == text
                    inside = not same and re.search(r"/tokio-1\.\d+\.\d+/src/", text)
                    n["loc" if same else "inside" if inside else "wrong"] += 1
                    if not same and not inside:
                        wrong = wrong or f"{text} is {sites[fields['task_id']]}"
                else:
                    n["noloc"] += 1
                    kind = "place" if text.startswith("{async@") else "name"
                    n["notype" if text.startswith("vtable+") or not text else kind] += 1
            elif '"event":"agent:TaskEnd"' in line:
                fields = json.loads(line)["fields"]
                n["seen"] += fields["cause"] == 4 and fields["task_id"] in panics
            elif '"event":"SegmentMetadataEvent"' in line:
                entries = json.loads(line)["fields"]["entries"]
    print(" ".join(f"{key}={value}" for key, value in n.items()))
    print("word", entries.get("agent.task_id_tls", "-"))
    print("check", entries.get("agent.task_id_tls_check", "-"))
    print("unknown", entries.get("agent.unknown", "-"))
    if wrong:
        print(f"differs, {n['wrong']} times: spawn place {wrong}")
    sys.exit(1 if wrong else 0)


main()
