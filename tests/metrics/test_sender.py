"""Batches are sent beside a measurement: an endpoint that is down or wrong disturbs nothing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler

import pytest

from tests.cli.conftest import serving
from tests.waiting import until
from wiretrial.metrics import families, sender
from wiretrial.metrics.families import Batch, Labels, Value
from wiretrial.metrics.sender import Account, Sender
from wiretrial.services import Service

POINTS = 3
_LOCK = threading.Lock()
RECEIVED: list[bytes] = []
STATUSES: list[int] = []
"""What is answered next; 200 where it is empty."""


class Receiver(BaseHTTPRequestHandler):
    """Keeps what is posted."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with _LOCK:
            status = STATUSES.pop(0) if STATUSES else 200
            if status < 300:
                RECEIVED.append(body)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where a receiver listens."""
    monkeypatch.setenv("no_proxy", "*")
    RECEIVED.clear()
    STATUSES.clear()
    with serving(Receiver) as origin:
        yield origin


def encode(batches: Sequence[Batch], _source: Labels) -> bytes:
    """The instants alone."""
    return b" ".join(str(one.at_ns).encode() for one in batches)


def batch(number: int) -> Batch:
    point = Value(families.OK, (), float(number))
    return Batch(number, 0, (point,) * POINTS)


def sending(url: str, count: int) -> Sender:
    made = Sender(Service("the endpoint", url), encode, {}, (), "TOKEN")
    for number in range(count):
        made.put(batch(number))
    return made


def arrived() -> list[int]:
    return [int(one) for body in RECEIVED for one in body.split()]


def test_all_is_sent_in_order_and_counted(url: str) -> None:
    told = sending(url, 100).close()
    assert arrived() == list(range(100))
    assert (told.sent, told.lost, told.problem) == (100 * POINTS, 0, None)
    assert told.requests == len(RECEIVED) < 100
    assert told.cpu_ns > 0


@pytest.mark.parametrize("status", [500, 503, 429])
def test_what_may_pass_is_tried_again(
    url: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "FIRST_REST_S", 0.05)
    STATUSES.extend([status, status])
    made = sending(url, 5)
    until(lambda: len(arrived()) >= 5)
    told = made.close()
    assert arrived() == list(range(5))
    assert (told.sent, told.lost) == (5 * POINTS, 0)


def test_what_is_refused_for_good_is_lost_and_the_next_is_sent(url: str) -> None:
    STATUSES.append(400)
    made = sending(url, 1)
    until(lambda: not STATUSES)
    made.put(batch(7))
    told = made.close()
    assert arrived() == [7]
    assert (told.sent, told.lost) == (POINTS, POINTS)
    assert told.problem is not None
    assert "status 400" in told.problem


def refused() -> Account:
    """What becomes of metrics at a port at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        began = time.monotonic()
        made = sending(f"http://127.0.0.1:{held.getsockname()[1]}", 10)
        assert time.monotonic() - began < 0.5, "putting waits for nothing"
        return made.close()


def test_an_endpoint_that_is_down_costs_no_time_and_its_points_are_counted() -> None:
    began = time.monotonic()
    told = refused()
    assert time.monotonic() - began < sender.CLOSE_S + 2
    assert (told.sent, told.lost) == (0, 10 * POINTS)
    assert told.problem is not None
    assert "Connection refused" in told.problem


def test_an_endpoint_that_never_answers_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "CLOSE_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        began = time.monotonic()
        told = sending(f"http://127.0.0.1:{listening.getsockname()[1]}", 4).close()
    assert time.monotonic() - began < 4
    assert told.lost == 4 * POINTS


def test_what_waits_is_bounded_and_the_oldest_goes_first(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "FIRST_REST_S", 0.3)
    monkeypatch.setattr(sender, "MOST_WAITING", 10)
    STATUSES.append(503)
    made = sending(url, 1)
    until(lambda: not STATUSES)
    for number in range(1, 31):
        made.put(batch(number))
    told = made.close()
    assert arrived() == list(range(21, 31))
    assert (told.sent, told.lost) == (10 * POINTS, 21 * POINTS)
