#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An editor at work: drives a language server.

usage: lsp_client.py biome|dprint|ast-grep PROGRAM DIR SECS
Prints "pid N ROLE" once it serves, then changes a file and has it formatted or searched for SECS
seconds, then prints "rounds N answered M". DIR holds the files, the socket and biome's logs.
`biome lsp-proxy` starts a daemon and forwards to it: both are printed.
"""
import json
import os
import subprocess
import sys
import time

FUNCTIONS = 12
AST_GREP_RULE = """id: sum
language: TypeScript
severity: warning
message: a sum
rule: { pattern: $A + $B }
"""
CAPABILITIES = {
    "workspace": {"configuration": True, "workspaceFolders": True},
    "textDocument": {"formatting": {"dynamicRegistration": True}, "publishDiagnostics": {}},
}


class Server:
    def __init__(self, program: str, where: str, word: str) -> None:
        env = dict(
            os.environ,
            XDG_CACHE_HOME=where,
            XDG_RUNTIME_DIR=where,
            TMPDIR=where,
            DPRINT_CACHE_DIR=f"{where}/cache",
        )
        self.process = subprocess.Popen(
            [program, word],
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
                raise SystemExit("lsp_client: the server closed the connection")
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
        items = (message.get("params") or {}).get("items", [])
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


def write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def source(name: str, seed: int) -> str:
    if name == "dprint":
        return json.dumps({f"key{i}": [seed] * 9 for i in range(FUNCTIONS)})
    lines = (
        f"function  f{i}(a,b){{ let x=a+ b*{i + seed};if(x>3){{return [x,a , b]}} return x }}"
        for i in range(FUNCTIONS)
    )
    return "\n".join(lines)


def prepare(name: str, where: str) -> tuple[str, str, str]:
    """Writes the configuration; the file to work on, its language, and how to start the server."""
    if name == "biome":
        write(f"{where}/biome.json", "{}\n")
        return "a.ts", "typescript", "lsp-proxy"
    if name == "dprint":
        plugin = os.path.relpath(os.environ["DPRINT_PLUGIN"], where)
        write(f"{where}/dprint.json", json.dumps({"json": {}, "plugins": [f"./{plugin}"]}))
        return "a.json", "json", "lsp"
    write(f"{where}/sgconfig.yml", "ruleDirs: [rules]\n")
    write(f"{where}/rules/sum.yml", AST_GREP_RULE)
    return "a.ts", "typescript", "lsp"


def ask(name: str, server: Server, uri: str):
    params = {"textDocument": {"uri": uri}}
    if name != "ast-grep":
        params["options"] = {"tabSize": 2, "insertSpaces": True}
        return server.call("textDocument/formatting", params)
    params["range"] = {"start": {"line": 0, "character": 0}, "end": {"line": 3, "character": 0}}
    params["context"] = {"diagnostics": []}
    return server.call("textDocument/codeAction", params) is not Ellipsis


def main() -> int:
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    name, program, where = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    file, language, word = prepare(name, where)
    root, uri = f"file://{where}", f"file://{where}/{file}"
    write(f"{where}/{file}", source(name, 0))
    server = Server(program, where, word)
    server.call(
        "initialize",
        {
            "processId": os.getpid(),
            "rootUri": root,
            "workspaceFolders": [{"uri": root, "name": "work"}],
            "capabilities": CAPABILITIES,
        },
    )
    server.notify("initialized", {})
    opened = {"uri": uri, "languageId": language, "version": 1, "text": source(name, 0)}
    server.notify("textDocument/didOpen", {"textDocument": opened})
    print("pid", server.process.pid, "proxy" if name == "biome" else "server", flush=True)
    if name == "biome":
        print("pid", daemon_of(program, where), "daemon", flush=True)

    rounds = answered = 0
    end = time.monotonic() + float(sys.argv[4])
    while time.monotonic() < end:
        rounds += 1
        target = {"uri": uri, "version": rounds + 1}
        change = [{"text": source(name, rounds)}]
        server.notify("textDocument/didChange", {"textDocument": target, "contentChanges": change})
        answered += bool(ask(name, server, uri))
    server.call("shutdown", None)
    server.notify("exit", None)
    server.process.stdin.close()
    server.process.wait(10)
    print("rounds", rounds, "answered", answered, flush=True)
    return 0 if answered else 1


if __name__ == "__main__":
    sys.exit(main())
