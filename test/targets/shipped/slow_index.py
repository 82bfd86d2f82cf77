#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A package index on loopback for uv to work against: many small packages, each depending on the
next two, each answer 150 ms late.

usage: slow_index.py COUNT
Prints "port N" and serves until it is killed.
"""
import hashlib
import http.server
import io
import sys
import time
import zipfile

COUNT = int(sys.argv[1])


def wheel(i: int) -> bytes:
    meta = f"Metadata-Version: 2.1\nName: pkg{i}\nVersion: 1.0\n"
    meta += "".join(f"Requires-Dist: pkg{j}\n" for j in (2 * i + 1, 2 * i + 2) if j < COUNT)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(zipfile.ZipInfo(f"pkg{i}-1.0.dist-info/METADATA"), meta)
        z.writestr(zipfile.ZipInfo(f"pkg{i}-1.0.dist-info/WHEEL"), "Wheel-Version: 1.0\nTag: py3-none-any\n")
        z.writestr(zipfile.ZipInfo(f"pkg{i}-1.0.dist-info/RECORD"), "")
        z.writestr(zipfile.ZipInfo(f"pkg{i}.py"), "")
    return out.getvalue()


class Index(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        time.sleep(0.15)
        name = self.path.strip("/").split("/")[-1]
        kind, body = "text/html", b""
        if name.endswith(".whl"):
            kind, body = "application/octet-stream", wheel(int(name[3:].split("-")[0]))
        elif name.startswith("pkg"):
            digest = hashlib.sha256(wheel(int(name[3:]))).hexdigest()
            link = f"{name}-1.0-py3-none-any.whl"
            body = f'<a href="/files/{link}#sha256={digest}">{link}</a>'.encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *args) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256  # uv asks for 50 at once
    daemon_threads = True

    def handle_error(self, request, client_address) -> None:
        pass  # a client that closes


def main() -> None:
    server = Server(("127.0.0.1", 0), Index)
    print("port", server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
