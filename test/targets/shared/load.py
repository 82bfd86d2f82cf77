#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads the Tokio shared object into python3 and runs it.

usage: load.py LIBRARY [SECS [GO_FILE]]
Prints "pid N", maps the library, prints "ready", waits until GO_FILE exists (if given), runs the
workload SECS seconds (5) and prints "polls N": the polls of the library's tasks.
"""
import ctypes
import os
import sys
import time


def main() -> int:
    if not 2 <= len(sys.argv) <= 4:
        print(__doc__, file=sys.stderr)
        return 2
    secs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print("pid", os.getpid(), flush=True)
    library = ctypes.CDLL(os.path.abspath(sys.argv[1]))
    library.tokio_ext_run.argtypes = [ctypes.c_uint32]
    library.tokio_ext_run.restype = ctypes.c_int64
    print("ready", flush=True)
    while len(sys.argv) > 3 and not os.path.exists(sys.argv[3]):
        time.sleep(0.01)
    polls = library.tokio_ext_run(secs)
    print("polls", polls, flush=True)
    return 0 if polls > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
