"""A small application: a login, a list, an item, an order. Its replies vary from one to the next.

Usage: shop.py [HOST PORT] [--wrong-every N] [--leak-every N] [--item-ms MS]. It prints its port.
The price of each N-th item is wrong, the user of each N-th list another one, each item takes so
long.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

PRICES = {number: number * 1.5 for number in range(1, 101)}


class Shop(BaseHTTPRequestHandler):
    """Tokens are those of this process."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    tokens: ClassVar[dict[str, str]] = {}
    items_seen: ClassVar[itertools.count[int]] = itertools.count(1)
    lists_seen: ClassVar[itertools.count[int]] = itertools.count(1)
    wrong_every: ClassVar[int] = 0
    leak_every: ClassVar[int] = 0
    item_s: ClassVar[float] = 0

    def do_POST(self) -> None:
        """A login, or an order."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/login":
            token = uuid.uuid4().hex
            self.tokens[token] = body["user"]
            self._say(200, {"token": token, "at": time.time()})
        elif self._user() is None:
            self._say(401, {"error": "log in first"})
        else:
            self._say(201, {"id": str(uuid.uuid4()), "total": body["price"] * 2})

    def do_GET(self) -> None:
        """The list, or one item."""
        user = self._user()
        if user is None:
            self._say(401, {"error": "log in first"})
        elif self.path.startswith("/items?"):
            leaks = self.leak_every and next(self.lists_seen) % self.leak_every == 0
            items = [{"id": number} for number in range(1, 21)]
            self._say(200, {"user": "somebody else" if leaks else user, "items": items})
        else:
            number = int(self.path.rpartition("/")[2])
            time.sleep(self.item_s)
            wrong = self.wrong_every and next(self.items_seen) % self.wrong_every == 0
            self._say(200, {"id": number, "price": -1 if wrong else PRICES[number]})

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""

    def _user(self) -> str | None:
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        return self.tokens.get(token) if scheme == "Bearer" else None

    def _say(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    """As many connections at once as a test opens."""

    request_queue_size = 128
    daemon_threads = True


def main() -> None:
    """Serves until it is stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--wrong-every", type=int, default=0)
    parser.add_argument("--leak-every", type=int, default=0)
    parser.add_argument("--item-ms", type=float, default=0)
    parser.add_argument("place", nargs="*", default=("127.0.0.1", "0"))
    asked = parser.parse_args()
    Shop.wrong_every, Shop.leak_every = asked.wrong_every, asked.leak_every
    Shop.item_s = asked.item_ms / 1000
    host, port = asked.place
    server = Server((host, int(port)), Shop)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
