#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads Tokio shared objects into python3 and runs them.

usage: load.py LIBRARY[,LIBRARY...] [SECS [GO_FILE]]
Prints "pid N", maps the libraries, prints "ready", waits until GO_FILE exists (if given), runs the
workload of each on a thread of its own for SECS seconds (5) and prints "polls N": the polls of the
libraries' tasks, and "polls N LIBRARY" for each where there are several.
"""
import ctypes
import os
import sys
import threading
import time


def main() -> int:
    if not 2 <= len(sys.argv) <= 4:
        print(__doc__, file=sys.stderr)
        return 2
    paths = sys.argv[1].split(",")
    secs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print("pid", os.getpid(), flush=True)
    libraries = [ctypes.CDLL(os.path.abspath(path)) for path in paths]
    for library in libraries:
        library.tokio_ext_run.argtypes = [ctypes.c_uint32]
        library.tokio_ext_run.restype = ctypes.c_int64
    print("ready", flush=True)
    while len(sys.argv) > 3 and not os.path.exists(sys.argv[3]):
        time.sleep(0.01)
    polls = [0] * len(libraries)

    def run(i: int) -> None:
        polls[i] = libraries[i].tokio_ext_run(secs)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(1, len(libraries))]
    for thread in threads:
        thread.start()
    run(0)
    for thread in threads:
        thread.join()
    if len(libraries) > 1:
        for path, cnt in zip(paths, polls):
            print("polls", cnt, path, flush=True)
    print("polls", sum(polls), flush=True)
    return 0 if min(polls) > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
