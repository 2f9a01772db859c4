"""A server of the contract `web` that keeps it, but for the fault that it is told to have.

Usage: web.py HOST PORT, with DATABASE_URL in its environment. GET /fault?name=FAULT sets the fault.
"""

from __future__ import annotations

import html
import itertools
import json
import os
import queue
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator

FAULTS: set[str] = set()
ROWS, STEP, MOST = 10_000, 7919, 100
CHANGE = "UPDATE world SET number = %s WHERE id = %s"
ONE = "SELECT id, number FROM world WHERE id = %s"

connections: queue.SimpleQueue[psycopg.Connection[Any]] = queue.SimpleQueue()
cached: dict[int, int] = {}
stale: dict[int, int] = {}
writing = threading.Lock()
asked = itertools.count()


@contextmanager
def database() -> Iterator[psycopg.Connection[Any]]:
    """A connection of the pool."""
    connection = connections.get()
    try:
        yield connection
    finally:
        connections.put(connection)


def chain(first: int, count: int) -> list[int]:
    """The rows of a request."""
    return [(first - 1 + place * STEP) % ROWS + 1 for place in range(count)]


def clamped(text: str) -> int:
    """How many rows are asked for."""
    try:
        count = int(text)
    except ValueError:
        return 1
    if "unclamped" in FAULTS:
        return max(count, 1)
    return min(max(count, 0 if "none" in FAULTS else 1), MOST)


def one_row(row: int) -> dict[str, int]:
    """A row of `world`."""
    if "stale" in FAULTS and row in stale:
        return {"id": row, "number": stale[row]}
    with database() as connection:
        found = connection.execute(ONE, (row,)).fetchone()
    assert found
    stale[row] = found[1]
    wrong = "wrong-row" in FAULTS or ("sometimes-wrong" in FAULTS and next(asked) % 7 == 6)
    return {"id": found[0], "number": found[1] + wrong}


def queries(first: int, count: int) -> list[dict[str, int]]:
    """Rows of `world`, each by a statement of its own."""
    ids = chain(first, count)
    if "one-statement" in FAULTS:
        with database() as connection:
            found = connection.execute("SELECT id, number FROM world WHERE id = ANY(%s)", (ids,))
            told = dict(found.fetchall())
        return [{"id": row, "number": told[row]} for row in ids]
    return [one_row(row) for row in ids]


def updates(first: int, count: int, number: int) -> list[dict[str, int]]:
    """Rows that are read and changed."""
    pairs = list(zip(chain(first, count), chain(number, count), strict=True))
    with database() as connection:
        if "blind" not in FAULTS:
            for row, _ in pairs:
                connection.execute(ONE, (row,)).fetchone()
        for place, (row, value) in enumerate(pairs):
            if "forgets" in FAULTS and place == len(pairs) - 1:
                continue
            connection.execute(CHANGE, (value, row))
            if "others" in FAULTS:
                connection.execute(CHANGE, (value, row % ROWS + 1))
    return [{"id": row, "number": value} for row, value in pairs]


def cached_rows(first: int, count: int) -> list[dict[str, int]]:
    """Rows of `cached_world`, which are kept."""
    if not cached or "uncached" in FAULTS:
        with database() as connection:
            cached.update(connection.execute("SELECT id, number FROM cached_world").fetchall())
    return [{"id": row, "number": cached[row]} for row in chain(first, count)]


def fortunes() -> str:
    """The page."""
    with database() as connection:
        rows = connection.execute("SELECT id, message FROM fortune").fetchall()
    if "no-more" not in FAULTS:
        rows.append((0, "One more fortune, made while you wait."))
    if "unsorted" not in FAULTS:
        rows.sort(key=lambda row: row[1].lower() if "caseless" in FAULTS else row[1])
    if "unescaped" not in FAULTS:
        rows = [(row, html.escape(text)) for row, text in rows]
    if "escaped-twice" in FAULTS:
        rows = [(row, html.escape(text)) for row, text in rows]
    cells = "".join(f"<tr><td>{row}</td><td>{text}</td></tr>" for row, text in rows)
    return (
        "<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>"
        f"<tr><th>id</th><th>message</th></tr>{cells}</table></body></html>"
    )


def login(said: Any) -> tuple[int, Any]:
    """A token for a name with its password."""
    by_name = "SELECT id FROM account WHERE name = %s"
    with_password = " AND digest = encode(sha256(convert_to(%s, 'UTF8')), 'hex')"
    with database() as connection:
        if "any-password" in FAULTS:
            found = connection.execute(by_name, (said["name"],)).fetchone()
        else:
            values = (said["name"], said["password"])
            found = connection.execute(by_name + with_password, values).fetchone()
        if not found:
            return 401, {}
        made = "INSERT INTO session (account) VALUES (%s) RETURNING token"
        token = connection.execute(made, found).fetchone()
    assert token
    return 200, {"token": "x" * 36 if "unkept-token" in FAULTS else token[0]}


def account_of(fields: Any) -> int | None:
    """Whose token it is."""
    token = fields.get("Authorization", "").removeprefix("Bearer ")
    with database() as connection:
        sql = "SELECT account FROM session WHERE token = %s"
        found = connection.execute(sql, (token,)).fetchone()
    if found:
        return int(found[0])
    return 1 if "open" in FAULTS else None


def listed(account: int) -> list[dict[str, Any]]:
    """The newest items of the account."""
    order = "ASC" if "oldest" in FAULTS else "DESC"
    whose = "account = account OR account" if "everybody" in FAULTS else "account"
    sql = f"SELECT id, text FROM item WHERE {whose} = %s ORDER BY id {order} LIMIT 20"
    with database() as connection:
        found = connection.execute(sql.encode(), (account,)).fetchall()
    return [{"id": row, "text": text} for row, text in found]


def created(account: int, said: Any) -> tuple[int, Any]:
    """A new item."""
    sql = "INSERT INTO item (account, text) VALUES (%s, %s) RETURNING id"
    text = said["text"].encode("ascii", "replace").decode() if "ascii" in FAULTS else said["text"]
    with database() as connection:
        made = connection.execute(sql, (account, text)).fetchone()
    assert made
    return (200 if "ok-created" in FAULTS else 201), {"id": made[0], "text": said["text"]}


class Handler(BaseHTTPRequestHandler):
    """All routes."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        """What is read, and updates."""
        path, values = self._asked()
        first, count = int(values.get("id", "1")), values.get("count", "")
        if path == "/plaintext":
            self._say(200, "text/plain", "Hello, World!")
        elif path == "/json":
            self._json(200, {"message": "Hello, World!"})
        elif path == "/db":
            self._json(200, one_row(first))
        elif path == "/queries":
            self._json(200, queries(first, clamped(count)))
        elif path == "/updates":
            free = writing.acquire(blocking="alone" not in FAULTS)
            try:
                changed = updates(first, clamped(count), int(values["number"])) if free else []
            finally:
                if free:
                    writing.release()
            self._json(200 if free else 503, changed)
        elif path == "/cached":
            self._json(200, cached_rows(first, clamped(count)))
        elif path == "/fortunes":
            times = 0 if "no-charset" in FAULTS else 2 if "charset-twice" in FAULTS else 1
            self._say(200, "text/html" + times * "; charset=utf-8", fortunes())
        elif path == "/fault":
            FAULTS.clear()
            FAULTS.add(values["name"])
            stale.clear()
            cached.clear()
            self._json(200, {})
        elif path == "/items":
            account = account_of(self.headers)
            self._json(*((401, {}) if account is None else (200, listed(account))))
        else:
            self._json(404, {})

    def do_POST(self) -> None:
        """What is written."""
        said = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or "{}")
        path, _ = self._asked()
        if path == "/login":
            self._json(*login(said))
        elif path == "/items":
            account = account_of(self.headers)
            self._json(*((401, {}) if account is None else created(account, said)))
        else:
            self._json(404, {})

    def do_PUT(self) -> None:
        """Nothing can be put."""
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self._json(405, {})

    def do_DELETE(self) -> None:
        """Nothing can be deleted."""
        self._json(405, {})

    def _asked(self) -> tuple[str, dict[str, str]]:
        parts = urlsplit(self.path)
        return parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}

    def _json(self, status: int, said: Any) -> None:
        self._say(status, "application/json", json.dumps(said))

    def _say(self, status: int, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class Server(ThreadingHTTPServer):
    """A thread for each connection."""

    daemon_threads = True
    request_queue_size = 128


for _ in range(int(os.environ["DATABASE_POOL"])):
    connections.put(psycopg.connect(os.environ["DATABASE_URL"], autocommit=True))
Server((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
