#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An editor at work: drives `biome lsp-proxy`, which starts biome's daemon and forwards to it.

usage: lsp_client.py BIOME DIR SECS
Prints "pid N proxy" and "pid N daemon" once both serve, then changes and formats a file for SECS
seconds, then prints "rounds N formatted M". DIR holds the files, the socket and biome's logs.
"""
import json
import os
import subprocess
import sys
import time

FUNCTIONS = 12
CAPABILITIES = {
    "workspace": {"configuration": True, "workspaceFolders": True},
    "textDocument": {"formatting": {"dynamicRegistration": True}, "publishDiagnostics": {}},
}


class Proxy:
    def __init__(self, biome: str, where: str) -> None:
        env = dict(os.environ, XDG_CACHE_HOME=where, XDG_RUNTIME_DIR=where, TMPDIR=where)
        self.process = subprocess.Popen(
            [biome, "lsp-proxy"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=where,
            env=env,
        )
        self.last = 0
        self.registered = False

    def send(self, **message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method: str, params) -> None:
        self.send(method=method, params=params)

    def receive(self) -> dict:
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                raise SystemExit("lsp_client: biome closed the connection")
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def call(self, method: str, params):
        self.last += 1
        self.send(id=self.last, method=method, params=params)
        while True:
            message = self.receive()
            if "method" in message:
                self.answer(message)
            elif message.get("id") == self.last:
                return message.get("result")

    def answer(self, message: dict) -> None:
        """The server's own requests; its notifications need nothing."""
        if "id" not in message:
            return
        asked = message["method"]
        if asked == "client/registerCapability":
            self.registered = True
        items = message.get("params", {}).get("items", [])
        self.send(id=message["id"], result=[None for _ in items] if items else None)


def daemon_of(biome: str, where: str) -> int:
    """The daemon leaves its parent: found by its executable and its working files."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if b"__run_server" in words and os.path.samefile(f"/proc/{pid}/exe", biome):
                if any(word.startswith(f"--log-path={where}".encode()) for word in words):
                    return int(pid)
        except OSError:
            continue
    raise SystemExit("lsp_client: biome started no daemon")


def source(seed: int) -> str:
    lines = (
        f"function  f{i}(a,b){{ let x=a+ b*{i + seed};if(x>3){{return [x,a , b]}} return x }}"
        for i in range(FUNCTIONS)
    )
    return "\n".join(lines)


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    biome, where, secs = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    os.makedirs(where, exist_ok=True)
    with open(f"{where}/biome.json", "w", encoding="ascii") as file:
        file.write("{}\n")
    root, uri = f"file://{where}", f"file://{where}/a.ts"
    proxy = Proxy(biome, where)
    proxy.call(
        "initialize",
        {
            "processId": os.getpid(),
            "rootUri": root,
            "workspaceFolders": [{"uri": root, "name": "work"}],
            "capabilities": CAPABILITIES,
        },
    )
    proxy.notify("initialized", {})
    opened = {"uri": uri, "languageId": "typescript", "version": 1, "text": source(0)}
    proxy.notify("textDocument/didOpen", {"textDocument": opened})
    print("pid", proxy.process.pid, "proxy", flush=True)
    print("pid", daemon_of(biome, where), "daemon", flush=True)

    rounds = formatted = 0
    end = time.monotonic() + float(secs)
    while time.monotonic() < end:
        rounds += 1
        target = {"uri": uri, "version": rounds + 1}
        change = [{"text": source(rounds)}]
        proxy.notify("textDocument/didChange", {"textDocument": target, "contentChanges": change})
        options = {"tabSize": 2, "insertSpaces": True}
        edits = proxy.call(
            "textDocument/formatting", {"textDocument": {"uri": uri}, "options": options}
        )
        formatted += bool(edits)
    proxy.call("shutdown", None)
    proxy.notify("exit", None)
    proxy.process.stdin.close()
    proxy.process.wait(10)
    print("rounds", rounds, "formatted", formatted, flush=True)
    return 0 if formatted else 1


if __name__ == "__main__":
    sys.exit(main())
