"""`wiretrial limit` on servers that need a while after a load, or never come back from it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.cli.conftest import Run
from wiretrial.cli import limit, limit_waiting
from wiretrial.cli.output import Format
from wiretrial.errors import EXIT_FAILED, EXIT_GATE, EXIT_INVALID, TargetSilent
from wiretrial.results.limits import Limit

ENOUGH = 20
"""Requests that no preflight sends: a load is on."""
LEVEL: dict[str, Any] = {
    # No level keeps it, so that the search goes down.
    "goal": ["p50 < 1ns"],
    "first": "600",
    "duration": "50ms",
    "connections": "2",
    "searches": "1",
    "warmup": "0",
    "no_learn": True,
}
TYPED = ("--goal", "p50 < 1ns", "--from", "600", "-d", "50ms", "-c", "2", "--searches", "1")


class Answering(BaseHTTPRequestHandler):
    """Two bytes, at once."""

    protocol_version = "HTTP/1.1"
    # Head and content in one piece.
    wbufsize = 1024
    server: Exhausted

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.answered += 1
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Nothing."""


class Exhausted(ThreadingHTTPServer):
    """Answers rightly. When its first load has left, the next connections are closed at once."""

    request_queue_size = 100

    def __init__(self, turned_away: int) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.lock = threading.Lock()
        self.left = turned_away
        """Connections to be closed yet."""
        self.answered = self.open = 0
        self.is_exhausted = False

    def process_request(self, request: Any, client_address: Any) -> None:
        with self.lock:
            is_closed = self.is_exhausted and self.left > 0
            self.left -= is_closed
            self.open += not is_closed
        if is_closed:
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        super().process_request_thread(request, client_address)
        with self.lock:
            self.open -= 1
            self.is_exhausted |= self.open == 0 and self.answered >= ENOUGH

    def handle_error(self, *_: object) -> None:
        """A connection that a load leaves is no news."""


@contextmanager
def exhausted(turned_away: int) -> Iterator[tuple[str, Exhausted]]:
    with Exhausted(turned_away) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", server
        server.shutdown()
        thread.join()


def test_a_server_that_needs_a_while_after_an_overload_is_waited_for(wiretrial: Run) -> None:
    with exhausted(3) as (url, server):
        flags = (*TYPED, "--warmup", "0", "--no-learn", "--poller", "epoll", "--format", "json")
        done = wiretrial("limit", url, *flags)
    assert done.returncode in (EXIT_GATE, EXIT_INVALID), done.stderr
    found = Limit.model_validate_json(done.stdout)
    assert (found.end, found.silent_after) == ("complete", None)
    # It went on behind the wait, to lower rates.
    assert server.left == 0
    assert len({level.rate for level in found.levels}) > 1


def test_a_server_that_stays_away_ends_the_search_with_what_was_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(limit_waiting, "LIMIT_S", 1.0)
    with exhausted(sys.maxsize) as (url, _), pytest.raises(TargetSilent) as ended:
        limit.limit(url, format_=Format.JSON, **LEVEL)
    found = Limit.model_validate_json(capsys.readouterr().out)
    assert found.end == "failed"
    assert found.silent_after == found.levels[-1].rate
    assert ended.value.exit_code == EXIT_FAILED
    told = "the server did not answer again within 1 s after the level at "
    assert ended.value.line().startswith(told)
