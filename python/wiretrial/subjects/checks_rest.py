"""Checks of the contract `rest`: a service whose `POST /test` blocks a thread of a pool.

Knows routes, right answers and how long a pool must take at least; must not know who serves them.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier

from wiretrial.subjects import http_parts
from wiretrial.subjects.any_connection import connect
from wiretrial.subjects.checks import Check, Setting
from wiretrial.subjects.checks_http import WRONG_PATH
from wiretrial.subjects.endpoint import Endpoint, expect, payload
from wiretrial.subjects.http_connection import Answer, Connection, Request

TEST_PATH = "/test"
STATUS_PATH = "/test/status"
LABELS_PATH = "/test/labels"
RECEIVED = b"received: "
LARGE = 1 << 20

POOL = Setting(threads=2, delay_ms=200)
TRIES = 24
"""How often the pool may show that its threads work at the same time. Where the kernel places each
connection by lot (SO_REUSEPORT), both go to one of two threads half the time: a pool that works
then fails once in 17 million."""

TIMER_MS = 1
"""How much too early a timer in whole milliseconds may ring: Node's counts from the millisecond in
which its loop's turn began."""

SETTLING_S = 0.2
"""For the server to see that the connections of the last try are closed."""


def _request(number: int) -> Request:
    """The three routes in turn: answers that change places are of the wrong kind."""
    if number % 3 == 0:
        return _test(payload(64, number))
    return _status() if number % 3 == 1 else _label(f"label-{number}")


def _test(body: bytes) -> Request:
    return _text("POST", TEST_PATH, body, RECEIVED + body)


def _status() -> Request:
    return _text("GET", STATUS_PATH, b"", b"OK")


def _label(label: str, written: str | None = None) -> Request:
    return _text("GET", f"{LABELS_PATH}/{written or label}", b"", label.encode())


def _text(method: str, path: str, body: bytes, wanted: bytes) -> Request:
    def right(answer: Answer) -> None:
        said = answer.content
        expect(
            said == wanted,
            f"{method} {path} answered {said[:40]!r} ({len(said)} bytes), not {wanted[:40]!r}"
            f" ({len(wanted)} bytes)",
        )
        expect(answer.kind == "text/plain", f"the answer is {answer.kind}, not text/plain")

    return Request(method, path, body, right)


def _routes(endpoint: Endpoint) -> None:
    with connect(endpoint) as connection:
        for request in (
            _test(payload(64)),
            _status(),
            _label("one"),
            _label("two-2_3.4~5"),
            # Another way to write the same path (RFC 3986, 6.2.2.2).
            _label("a-b_c.d~e", "%61%2Db%5Fc%2Ed%7Ee"),
        ):
            connection.exchange(request)


def _delay(endpoint: Endpoint) -> None:
    with connect(endpoint) as connection:
        for seed in range(3):
            began = time.monotonic()
            connection.exchange(_test(payload(64, seed)))
            took_ms = (time.monotonic() - began) * 1e3
            expect(
                took_ms >= endpoint.delay_ms - TIMER_MS,
                f"POST {TEST_PATH} took {took_ms:.1f} ms, less than its delay of"
                f" {endpoint.delay_ms} ms",
            )


def _pool(endpoint: Endpoint) -> None:
    threads, delay_ms = endpoint.threads, endpoint.delay_ms
    longest_ms = _together(endpoint, threads + 1)[-1]
    expect(
        longest_ms >= 2 * (delay_ms - TIMER_MS),
        f"{threads + 1} requests took {longest_ms:.1f} ms with {threads} thread(s) and a delay of"
        f" {delay_ms} ms, less than two delays",
    )
    for _ in range(TRIES):
        # Who places a connection by the load of each thread must not count the last ones any more.
        time.sleep(SETTLING_S)
        answered_ms = _together(endpoint, threads)
        # One after the other, they would be a whole delay apart.
        if answered_ms[-1] - answered_ms[0] < delay_ms / 2:
            return
    expect(False, f"{threads} requests came one after the other with {threads} threads")


def _together(endpoint: Endpoint, clients: int) -> list[float]:
    """When each of several simultaneous requests was answered: ms after the first was sent."""
    everybody = Barrier(clients)

    def ask(connection: Connection) -> tuple[float, float]:
        everybody.wait()
        sent = time.monotonic()
        connection.exchange(_test(payload(64)))
        return sent, time.monotonic()

    with ExitStack() as stack:
        connections = [stack.enter_context(connect(endpoint)) for _ in range(clients)]
        times = list(stack.enter_context(ThreadPoolExecutor(clients)).map(ask, connections))
    first = min(sent for sent, _ in times)
    return sorted((done - first) * 1e3 for _, done in times)


REST: tuple[Check, ...] = (
    *http_parts.parts(
        _request,
        unknown_routes=(Request("GET", WRONG_PATH), Request("GET", f"{STATUS_PATH}-not")),
        wrong_methods=(
            Request("GET", TEST_PATH),
            Request("POST", STATUS_PATH, payload(64)),
            Request("DELETE", f"{LABELS_PATH}/one"),
        ),
    ),
    Check("routes", "known routes", _routes),
    http_parts.chunked(_test(payload(10_000))),
    http_parts.body("large", "1 MiB", _test(payload(LARGE))),
    http_parts.body("empty", "empty body", _test(b"")),
    Check("delay", "delayed answers", _delay, POOL),
    Check("pool", "one request more than threads", _pool, POOL),
)
