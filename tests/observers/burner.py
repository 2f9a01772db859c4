"""A server that spends so much CPU time of its own on each request, in one process.

Usage: python burner.py PORT MICROSECONDS. Prints `ready PORT`; on SIGTERM the CPU time of the whole
process in nanoseconds, then it ends.
"""

from __future__ import annotations

import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import FrameType

BURN_NS = int(sys.argv[2]) * 1000


class Burner(BaseHTTPRequestHandler):
    """Answers each request after it has burnt its share."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        until = time.process_time_ns() + BURN_NS
        while time.process_time_ns() < until:
            pass
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        pass


def _end(_number: int, _frame: FrameType | None) -> None:
    print(time.process_time_ns(), flush=True)
    sys.exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    with HTTPServer(("127.0.0.1", int(sys.argv[1])), Burner) as server:
        print("ready", server.server_address[1], flush=True)
        server.serve_forever()
