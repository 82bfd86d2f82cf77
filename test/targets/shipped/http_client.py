#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients of an HTTP server on loopback: keep-alive connections, one request after another.

usage: http_client.py PORT SECS PATH...
Prints "rounds N". Fails when a request fails, or none was made.
"""
import http.client
import sys
import threading
import time

CLIENTS = 6
counts = [0] * CLIENTS
failures = []


def client(i: int, port: int, end: float, paths: list[str]) -> None:
    try:
        server = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        while time.monotonic() < end:
            server.request("GET", paths[counts[i] % len(paths)])
            answer = server.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"status {answer.status}")
            counts[i] += 1
    except BaseException as failure:  # a thread's exception ends nobody else
        failures.append(f"{type(failure).__name__} {failure}")


def main() -> int:
    port, end = int(sys.argv[1]), time.monotonic() + float(sys.argv[2])
    threads = [
        threading.Thread(target=client, args=(i, port, end, sys.argv[3:])) for i in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        print("http_client:", failure, file=sys.stderr)
    print("rounds", sum(counts), flush=True)
    return 0 if min(counts) and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
