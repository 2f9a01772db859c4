"""The parts that every HTTP contract has, for whatever a contract's requests are.

Knows HTTP's own rules, in each version; must not know routes.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from wiretrial.subjects import any_connection, checks
from wiretrial.subjects.any_connection import HttpConversation, connect, streamed
from wiretrial.subjects.checks import HTTP_1, HTTP_2, HTTP_3, Check
from wiretrial.subjects.endpoint import Endpoint, expect
from wiretrial.subjects.http_connection import Request
from wiretrial.subjects.spec import Part

REQUESTS_AT_ONCE = 20
CHUNKS = 7
PIECES_APART = 8
PIECE_PAUSE_S = 0.005
"""So many first bytes are sent so far apart that a server reads each by itself."""
NO_SUCH_ROUTE = (404,)
NO_SUCH_METHOD = (404, 405, 501)

Sample = Callable[[int], Request]
"""The request of a number, another one for each where the contract has any."""


def parts(
    sample: Sample, unknown_routes: Sequence[Request], wrong_methods: Sequence[Request]
) -> tuple[Check, ...]:
    """Every part that follows from one kind of request; the first is the readiness probe."""

    def begin(endpoint: Endpoint) -> HttpConversation:
        return HttpConversation(endpoint, sample)

    return (
        checks.exchange(begin),
        checks.many(begin),
        checks.at_once(begin, "pipelining", REQUESTS_AT_ONCE, "requests"),
        Check("routes", "unknown routes", _refused(sample, unknown_routes, NO_SUCH_ROUTE)),
        Check("methods", "wrong methods", _refused(sample, wrong_methods, NO_SUCH_METHOD)),
        *of_connections(sample, begin),
    )


def of_connections(sample: Sample, begin: checks.Begin) -> tuple[Check, ...]:
    """The parts that follow from connections, whatever a request is and however it is refused."""
    return (
        Check("pieces", "request in pieces", _in_pieces(sample)),
        Check("close", "close", _close(sample), http=HTTP_1),
        Check("close", "our end of stream", _left(sample), inside_tls=False, http=HTTP_2),
        Check("ping", "ping", _ping(sample), http=HTTP_2 | HTTP_3),
        *checks.half_open(begin, _half(sample), silent=any_connection.begin),
        Check("half-open", "peers that read nothing", _starving(sample), http=HTTP_2 | HTTP_3),
        Check(
            "close",
            "a peer that has said all",
            _said_all(sample),
            inside_tls=False,
            # A connection of HTTP/2 or HTTP/3 has one end, not one on each side.
            http=HTTP_1,
        ),
        *checks.concurrency(begin),
    )


def body(name: Part, what: str, request: Request) -> Check:
    """One more exchange, with another body."""

    def check(endpoint: Endpoint) -> None:
        with connect(endpoint) as connection:
            connection.exchange(request)

    return Check(name, what, check)


def chunked(request: Request) -> Check:
    """A body of which nobody knows the length beforehand."""

    def check(endpoint: Endpoint) -> None:
        with connect(endpoint) as connection:
            connection.send_in_chunks(request, CHUNKS)
            connection.receive(request)

    return Check("pieces", f"a body in {CHUNKS} chunks", check)


def _refused(
    sample: Sample, requests: Sequence[Request], allowed: Sequence[int]
) -> Callable[[Endpoint], None]:
    """Each is refused; after it the connection goes on, or ends as the refusal said."""

    def check(endpoint: Endpoint) -> None:
        for number, request in enumerate(requests):
            with connect(endpoint) as connection:
                connection.send(request)
                answer = connection.receive_any(request.method)
                wanted = " or ".join(str(status) for status in allowed)
                expect(
                    answer.status in allowed, f"{request} answered {answer.status}, not {wanted}"
                )
                if answer.will_close:
                    expect(not connection.says_something(), f"{request}: answered too much")
                else:
                    connection.exchange(sample(number))

    return check


def _in_pieces(sample: Sample) -> Callable[[Endpoint], None]:
    """A request that arrives byte by byte up to its middle is the same request."""

    def check(endpoint: Endpoint) -> None:
        request = sample(0)
        with connect(endpoint) as connection:
            whole = connection.encode(request)
            middle = len(whole) // 2
            for at in range(middle):
                connection.write(whole[at : at + 1])
                if at < PIECES_APART:
                    time.sleep(PIECE_PAUSE_S)
            connection.write(whole[middle:])
            connection.receive(request)

    return check


def _close(sample: Sample) -> Callable[[Endpoint], None]:
    def check(endpoint: Endpoint) -> None:
        request = replace(sample(0), close=True)
        with connect(endpoint) as connection:
            answer = connection.exchange(request)
            expect(answer.will_close, "`Connection: close` was not answered in kind")
            expect(not connection.says_something(), "more came after `Connection: close`")

    return check


def _left(sample: Sample) -> Callable[[Endpoint], None]:
    """Who says GOAWAY and ends its side sees the server end its own."""

    def check(endpoint: Endpoint) -> None:
        from wiretrial.subjects.http2_connection import Http2Connection

        with Http2Connection(endpoint) as connection:
            connection.exchange(sample(0))
            connection.leave()
            connection.end_sending()
            expect(not connection.says_something(), "more came after GOAWAY")

    return check


def _ping(sample: Sample) -> Callable[[Endpoint], None]:
    """A ping is acknowledged, between requests and while one is answered."""

    def check(endpoint: Endpoint) -> None:
        with streamed(endpoint) as connection:
            connection.exchange(sample(0))
            connection.ping()
            connection.send(sample(1))
            connection.ping()
            connection.receive(sample(1))

    return check


def _starving(sample: Sample) -> Callable[[Endpoint], None]:
    """Peers whose windows let nothing through keep nobody else from an answer."""

    def check(endpoint: Endpoint) -> None:
        starving = [streamed(endpoint, 0) for _ in range(checks.PEERS)]
        try:
            for one in starving:
                one.send(*(sample(number) for number in range(REQUESTS_AT_ONCE)))
            with connect(endpoint) as connection:
                connection.exchange(sample(0))
        finally:
            for one in starving:
                one.close()

    return check


def _half(sample: Sample) -> checks.HalfWay:
    def half_way(endpoint: Endpoint) -> socket.socket:
        connection = connect(endpoint)
        whole = connection.encode(sample(0))
        connection.write(whole[: len(whole) // 2])
        return connection.release()

    return half_way


def _said_all(sample: Sample) -> Callable[[Endpoint], None]:
    """A peer that ends its side after a whole request gets its answer, or the server's end."""

    def check(endpoint: Endpoint) -> None:
        request = sample(0)
        with connect(endpoint) as connection:
            connection.send(request)
            connection.end_sending()
            if connection.says_something():
                connection.receive(request)

    return check
