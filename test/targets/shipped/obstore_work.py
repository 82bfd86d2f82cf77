#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An object store at work: obstore, a Python extension, writes and reads files in DIR.

usage: obstore_work.py DIR SECS
Prints "pid N run" once it works, at the end "rounds N". asyncio waits for Tokio's tasks.
"""
import asyncio
import os
import sys
import time

import obstore
from obstore.store import LocalStore

AT_ONCE = 16


async def main() -> int:
    where, secs = sys.argv[1], float(sys.argv[2])
    os.makedirs(f"{where}/objects", exist_ok=True)
    store = LocalStore(f"{where}/objects")
    names = [f"object{i}" for i in range(AT_ONCE)]
    print("pid", os.getpid(), "run", flush=True)
    rounds, end = 0, time.monotonic() + secs
    while time.monotonic() < end:
        body = b"%d" % rounds * 100
        await asyncio.gather(*(obstore.put_async(store, name, body) for name in names))
        for got in await asyncio.gather(*(obstore.get_async(store, name) for name in names)):
            if bytes(await got.bytes_async()) != body:
                raise SystemExit("obstore_work: read other bytes than were written")
        rounds += 1
    print("rounds", rounds, flush=True)
    return 0 if rounds else 1


if __name__ == "__main__":
    code = asyncio.run(main())
    sys.stdout.flush()
    # obstore's threads may still call into the interpreter: ending it aborts 4 of 40 runs, recorded or not
    os._exit(code)
