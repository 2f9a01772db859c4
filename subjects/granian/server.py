"""granian twice: without TLS on one port, inside it on another, each in a process of its own."""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import sys
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from granian import Granian
from granian.constants import Interfaces, Loops

STREAMS = 1000
WINDOW = 1 << 20


def serve(options: dict[str, Any]) -> None:
    """One server, until the process is ended."""
    Granian("app:answer", interface=Interfaces.ASGI, **options).serve()


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tls-port", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--cert", type=Path, required=True)
    parser.add_argument("--key", type=Path, required=True)
    parser.add_argument("--tuned", action="store_true", help="uvloop, larger windows, no log")
    options = parser.parse_args()

    chosen: dict[str, Any] = {"address": options.host, "workers": options.threads}
    if options.tuned:
        from granian.http import HTTP2Settings

        windows = {"initial_connection_window_size": WINDOW, "initial_stream_window_size": WINDOW}
        settings = HTTP2Settings(max_concurrent_streams=STREAMS, **windows)
        chosen |= {"loop": Loops.uvloop, "http2_settings": settings, "log_enabled": False}
    inside = {"ssl_cert": options.cert, "ssl_key": options.key}
    servers = [
        multiprocessing.Process(target=serve, args=({**chosen, **own},))
        for own in ({"port": options.port}, {"port": options.tls_port, **inside})
    ]
    for server in servers:
        server.start()
    signal.signal(signal.SIGTERM, lambda *_: [server.terminate() for server in servers])
    wait([server.sentinel for server in servers])
    for server in servers:
        server.terminate()
        server.join()
    sys.exit(max(server.exitcode or 0 for server in servers))


if __name__ == "__main__":
    main()
