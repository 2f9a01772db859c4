"""A server that tells its name, and which start of it this is: `named.py HOST PORT NAME`."""

from __future__ import annotations

import json
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOST, PORT, NAME = sys.argv[1:]
START = str(uuid.uuid4())


class Named(BaseHTTPRequestHandler):
    """Of all that it answers, the start stands still while it runs."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        told = {"start": START, "request": str(uuid.uuid4()), "at": self.path, "server": NAME}
        if self.path == "/same":
            del told["server"]
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: a test has no log."""


ThreadingHTTPServer((HOST, int(PORT)), Named).serve_forever()
