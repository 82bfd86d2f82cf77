#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The grid of the matrix, and the table of what is known in which build.

    grid.py [--readme] DIR    cells "BUILD VERSION" on standard input

DIR holds what run.sh left of each cell, VERSION-BUILD.txt. With --readme the table between the
markers of README.md is written anew, from the cells themselves.
"""
import collections
import os
import re
import sys

BEGIN = "<!-- matrix: written by make matrix -->"
END = "<!-- end of matrix -->"


def read_cell(path):
    cell = collections.defaultdict(str)
    try:
        with open(path) as lines:
            for line in lines:
                word, _, rest = line.rstrip("\n").partition(" ")
                if "=" in word:
                    cell.update(w.split("=", 1) for w in line.split())
                elif word == "differs," or word == "differs:":
                    cell["why"] = cell["why"] or line.strip()
                else:
                    cell[word] = rest
    except OSError:
        cell["verdict"] = "not run"
    return cell


def share(part, whole):
    """all, most (a tenth may be missing), some or no: what a reader can count on"""
    if not whole:
        return "-"
    if part == whole:
        return "all"
    return "no" if not part else "most" if part * 10 >= whole * 9 else "some"


def place(cell):
    known = int(cell["loc"] or 0)
    others = sum(int(cell[key] or 0) for key in ("noloc", "wrong", "inside"))
    return share(known, known + others)


def kind_of_type(cell):
    count = {key: int(cell[key] or 0) for key in ("name", "place", "notype")}
    named, told = count["name"], count["place"]
    if not sum(count.values()):
        return "spawn place instead"
    words = [text for n, text in ((named, "name"), (told, "async body's place"), (count["notype"], "vtable")) if n]
    return ", ".join(words)


def task_word(cell):
    looks = re.search(r"agrees (\d+), at rest (\d+), drops (\d+), differs (\d+)", cell["steady-check"] or cell["check"])
    if looks:
        agrees, differs = int(looks[1]), int(looks[4])
        return f"{100 * agrees / max(1, agrees + differs):.0f} % of {agrees + differs}"
    return cell["steady-word"] or "-"


def ends(cell):
    return share(int(cell["seen"] or 0), int(cell["panics"] or 0))


def row(build, version, cell):
    verdict = cell["verdict"]
    if verdict.startswith(("absent", "not run")):
        return (build, version, verdict, "", "", "", "")
    verdict = "pass" if verdict == "pass" else "differs"
    if cell["unread,"] and verdict == "pass":
        verdict = "pass but for ends counted as unread"
    if cell["stepped"] and verdict == "pass":
        verdict = "pass with --allow-stepped"
    return (build, version, verdict, place(cell), kind_of_type(cell), ends(cell), task_word(cell))


HEAD = ("build", "Tokio", "ids, polls, spawns, ends", "spawn place", "type", "panics told", "task word")


def print_grid(rows, cells):
    width = [max(len(line[i]) for line in [HEAD, *rows]) for i in range(len(HEAD))]
    for line, cell in [(HEAD, None), *zip(rows, cells)]:
        print("  ".join(text.ljust(w) for text, w in zip(line, width)).rstrip())
        for why in filter(None, (cell["why"], cell["stepped"], cell["unread,"]) if cell else ()):
            print("      " + why)


def kinds():
    """the order and the words of cells.txt"""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cells.txt")) as table:
        for line in table:
            if line.strip() and not line.startswith("#"):
                build, _, _, what = line.split(None, 3)
                yield build, what.strip()


def write_readme(rows):
    by_build = collections.defaultdict(list)
    for line in rows:
        by_build[line[0]].append(line)
    out = [BEGIN, "", "| build | cells | equal to its own log | spawn place | type | panics told | task word |",
           "|---|---|---|---|---|---|---|"]
    for build, what in kinds():
        lines = [r for r in by_build[build] if r[3]]
        if not lines:
            why = by_build[build][0][2] if by_build[build] else "not run"
            out.append(f"| `{build}`: {what} | 0 | {why} | | | | |")
            continue
        text = [" / ".join(dict.fromkeys(r[i] for r in lines)) for i in (3, 4, 5)]
        equal = str(sum(r[2] == "pass" for r in lines))
        stepped = sum(r[2].startswith("pass with") for r in lines)
        unread = sum(r[2].startswith("pass but") for r in lines)
        equal += f", {unread} but for ends that are counted as unread" if unread else ""
        equal += f", with `--allow-stepped` {stepped} more" if stepped else ""
        right = sum(r[6].startswith("100 %") for r in lines)
        out.append(f"| `{build}`: {what} | {len(lines)} | {equal} | {text[0]} | {text[1]} | {text[2]} | {right} of {len(lines)} |")
    out += ["", END]
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    path = os.path.join(root, "README.md")
    with open(path) as page:
        text = page.read()
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 or end < begin:
        sys.exit(f"grid.py: README.md has no lines '{BEGIN}' and '{END}'")
    with open(path, "w") as page:
        page.write(text[:begin] + "\n".join(out) + text[end + len(END):])


def main():
    args = [a for a in sys.argv[1:] if a != "--readme"]
    names = [line.split() for line in sys.stdin if line.strip()]
    cells = [read_cell(os.path.join(args[0], f"{version}-{build}.txt")) for build, version in names]
    rows = [row(build, version, cell) for (build, version), cell in zip(names, cells)]
    print_grid(rows, cells)
    if "--readme" in sys.argv:
        write_readme(rows)


main()
