"""Answers HTTP with the head in one send and the body in another, and lets Nagle's algorithm be.

Prints the port it listens on. It ends with its standard input.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n"
BODY = b"x" * 64


def main() -> None:
    """Serves until nobody is there any more."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        threading.Thread(target=accept, args=(listening,), daemon=True).start()
        sys.stdin.read()
        # Threads that read would be waited for.
        os._exit(0)


def accept(listening: socket.socket) -> None:
    """A thread for each connection."""
    while True:
        connection, _ = listening.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


def serve(connection: socket.socket) -> None:
    """Answers one connection's requests in turn."""
    with connection:
        waiting = b""
        while received := connection.recv(1 << 16):
            waiting += received
            while b"\r\n\r\n" in waiting:
                _, _, waiting = waiting.partition(b"\r\n\r\n")
                connection.sendall(HEAD)
                connection.sendall(BODY)


if __name__ == "__main__":
    main()
