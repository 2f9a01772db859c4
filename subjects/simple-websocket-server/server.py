"""SimpleWebSocketServer: a WebSocket echo, plain and over TLS, each server in a thread of its own.

The library has one `select` loop per server and one server per port.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading

from SimpleWebSocketServer import SimpleSSLWebSocketServer, SimpleWebSocketServer, WebSocket

MAX_MESSAGE = 128 << 20


class Echo(WebSocket):
    """The echo of the library's README, for messages as large as the contract has them."""

    def __init__(self, server: SimpleWebSocketServer, sock: object, address: object) -> None:
        super().__init__(server, sock, address)
        # The library refuses what reaches this limit, not only what exceeds it.
        self.maxpayload = MAX_MESSAGE + 1

    def handleMessage(self) -> None:  # noqa: N802 - the library calls it so
        self.sendMessage(self.data)


class TalkativeEcho(Echo):
    """The same with the README's lines about who came and went."""

    def handleConnected(self) -> None:  # noqa: N802 - the library calls it so
        print(self.address, "connected")

    def handleClose(self) -> None:  # noqa: N802 - the library calls it so
        print(self.address, "closed")


def main() -> None:
    """Serves until the process is ended, or until `select` has too many descriptors."""
    options = _parse()
    echo = Echo if options.tuned else TalkativeEcho
    servers = (
        SimpleWebSocketServer(options.host, options.port, echo),
        SimpleSSLWebSocketServer(options.host, options.tls_port, echo, options.cert, options.key),
    )
    threads = [threading.Thread(target=_serve, args=(server,)) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tls-port", type=int, required=True)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--tuned", action="store_true", help="say nothing about connections")
    return parser.parse_args()


def _serve(server: SimpleWebSocketServer) -> None:
    try:
        server.serveforever()
    except ValueError as error:
        # A descriptor above 1023; the loop can't go on, and half a server is none.
        print(f"select: {error}", file=sys.stderr, flush=True)
        os._exit(1)


if __name__ == "__main__":
    main()
