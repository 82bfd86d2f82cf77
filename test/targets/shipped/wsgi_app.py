# SPDX-License-Identifier: Apache-2.0
"""What granian serves."""


def app(environ, start_response):
    body = b"hello\n"
    start_response("200 OK", [("content-type", "text/plain"), ("content-length", str(len(body)))])
    return [body]
