#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients of mini-redis: set, get and publish over several connections.

usage: resp_client.py PORT SECS
Prints "rounds N".
"""
import socket
import sys
import threading
import time

CLIENTS = 6
counts = [0] * CLIENTS


def request(*words: bytes) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


def client(i: int, port: int, end: float) -> None:
    with socket.create_connection(("127.0.0.1", port)) as sock:
        answers = sock.makefile("rb")
        while time.monotonic() < end:
            value = b"value%d" % counts[i]
            sock.sendall(request(b"set", b"key%d" % i, value))
            if answers.readline() != b"+OK\r\n":
                raise SystemExit("resp_client: set was refused")
            sock.sendall(request(b"get", b"key%d" % i))
            answers.readline()
            if answers.readline() != value + b"\r\n":
                raise SystemExit("resp_client: got another value")
            counts[i] += 1


def main() -> int:
    port, end = int(sys.argv[1]), time.monotonic() + float(sys.argv[2])
    threads = [threading.Thread(target=client, args=(i, port, end)) for i in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("rounds", sum(counts), flush=True)
    return 0 if min(counts) else 1


if __name__ == "__main__":
    sys.exit(main())
