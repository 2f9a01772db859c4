"""Checks of the contract `proxy`: what comes of a backend that breaks, goes, is silent or wrong.

Knows what is asked and which answers are right; must not know how a proxy is started. That all that
stands behind it is answered through it, other contracts check.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from wiretrial.subjects import contracts
from wiretrial.subjects.any_connection import connect
from wiretrial.subjects.backend_parts import (
    BREAKS,
    CONTENT,
    CUT,
    CUT_CHUNKS,
    GARBAGE,
    SILENT,
    Backend,
)
from wiretrial.subjects.checks import MESSAGES, PEERS, STANDARD, Check, Setting
from wiretrial.subjects.checks_http import MESSAGE_PATH
from wiretrial.subjects.endpoint import Broken, Endpoint, Late, expect, payload
from wiretrial.subjects.http_connection import HTTP_ERRORS, Answer, Connection, Request
from wiretrial.subjects.spec import PROXY, ConfigurationName, Part, Protocol, Spec
from wiretrial.subjects.verify import ENDING_S, Outcome, Started, how_it_ended, outcome_of

MOST_KEPT: Final = MESSAGES // 10
"""Connections to the backend that many requests on one connection may take."""
NOBODY: Final = (502, 503, 504)
"""What a proxy answers where nobody stands behind it (RFC 9110, 15.6.3 to 15.6.5)."""
LOWEST_STATUS: Final = 100
"""Below it is none, which a client takes for an error of the server's (RFC 9110, 15)."""
PAUSE_S: Final = 0.05
CUT_SHORT: Final = (Broken, OSError, EOFError, *HTTP_ERRORS)
"""What an answer raises that is no whole one."""

StartBefore = Callable[[Setting, Endpoint], AbstractContextManager[Started]]
"""Starts the proxy anew before that backend, so that all its ports answer."""


@dataclass(frozen=True)
class _Check:
    part: Part
    name: str
    function: Callable[[Backend, Endpoint], None]
    late: str | None = None
    """How it came to no end when it was tried before."""


def verify(spec: Spec, configuration: ConfigurationName, start: StartBefore) -> Iterator[Outcome]:
    """Every check on every protocol over which it is a proxy, as each is done.

    What came to no end in time is tried once more, as checks of other contracts are.
    """
    setting = replace(STANDARD, threads=max(STANDARD.threads, spec.least_threads))
    for contract, protocol in spec.claims():
        waiting = deque(_CHECKS if contract == PROXY else ())
        while waiting:
            # After a failure the next check gets a fresh proxy, as those of other contracts do.
            with Backend() as backend, start(setting, backend.endpoint) as proxy:
                yield from _until_problem(spec, configuration, protocol, proxy, backend, waiting)


def _until_problem(
    spec: Spec,
    configuration: ConfigurationName,
    protocol: Protocol,
    proxy: Started,
    backend: Backend,
    waiting: deque[_Check],
) -> Iterator[Outcome]:
    """Takes checks off `waiting` and does them, up to the first that fails.

    One that came to no end in time for the first time goes back to the front of `waiting`.
    """
    endpoint = proxy.endpoint(protocol)
    while waiting:
        check = waiting.popleft()
        problem = _problem(check, endpoint, backend)
        how = how_it_ended(proxy, ENDING_S if problem else 0.0)
        if isinstance(problem, Late) and not (how or check.late):
            waiting.appendleft(replace(check, late=problem))
            return
        if how:
            problem = f"{problem or 'answered'}; then the server ended: {how}"
        claim = (PROXY, protocol)
        part, name = check.part, check.name
        yield outcome_of(spec, configuration, claim, part, name, problem, check.late)
        if problem:
            return


def _problem(check: _Check, endpoint: Endpoint, backend: Backend) -> str | None:
    bound = Check(check.part, check.name, partial(check.function, backend))
    return contracts.problem(bound, endpoint)


def _is_right(answer: Answer) -> None:
    expect(answer.content == CONTENT, f"{MESSAGE_PATH} came as {answer.content[:80]!r}")


_MESSAGE = Request("GET", MESSAGE_PATH, right=_is_right)


def _kept(backend: Backend, endpoint: Endpoint) -> None:
    before = backend.accepted
    with connect(endpoint) as connection:
        for _ in range(MESSAGES):
            connection.exchange(_MESSAGE)
    opened = backend.accepted - before
    expect(
        opened <= MOST_KEPT,
        f"{MESSAGES} requests on one connection opened {opened} to the backend,"
        f" {MOST_KEPT} at most are right",
    )


def _left_open(backend: Backend, endpoint: Endpoint) -> None:
    """A backend may end a connection that it keeps at any time (RFC 9112, 9.3)."""
    with connect(endpoint) as connection:
        for request in (_MESSAGE, _posted(MESSAGE_PATH)):
            connection.exchange(_MESSAGE)
            backend.drop()
            # The end is on its way over loopback: it has been seen by then.
            time.sleep(PAUSE_S)
            connection.exchange(request)


def _once(backend: Backend, endpoint: Endpoint) -> None:
    """What has an effect must not be sent again by a proxy (RFC 9110, 9.2.2)."""
    before = backend.asked(BREAKS)
    with connect(endpoint) as connection:
        # The connection behind it is one that is kept.
        connection.exchange(_MESSAGE)
        connection.send(_posted(BREAKS))
        _expect_failure(connection, "POST", BREAKS)
    times = backend.asked(BREAKS) - before
    expect(times == 1, f"POST {BREAKS} came to the backend {times} times, not once")


def _cut(path: str, _backend: Backend, endpoint: Endpoint) -> None:
    """A reply that came in part is no whole one (RFC 9112, 8)."""
    with connect(endpoint) as connection:
        connection.send(Request("GET", path))
        _expect_failure(connection, "GET", path)


def _gone(backend: Backend, endpoint: Endpoint) -> None:
    with connect(endpoint) as connection:
        connection.exchange(_MESSAGE)
    backend.leave()
    status = _status(endpoint)
    wanted = ", ".join(map(str, NOBODY))
    expect(status in NOBODY, f"without a backend it answered {status}, not one of {wanted}")
    backend.come()
    ends = time.monotonic() + endpoint.deadline_s
    while (status := _status(endpoint)) != 200:
        expect(
            time.monotonic() < ends,
            f"{endpoint.deadline_s:g} s after its backend came back it still answered {status}",
        )
        time.sleep(PAUSE_S)


def _silence(_backend: Backend, endpoint: Endpoint) -> None:
    with ExitStack() as stack:
        for _ in range(PEERS):
            waiting = stack.enter_context(connect(endpoint))
            waiting.send(Request("GET", SILENT))
        for _ in range(PEERS):
            with connect(endpoint) as connection:
                connection.exchange(_MESSAGE)


def _posted(path: str) -> Request:
    return Request("POST", path, payload(64), _is_right)


def _status(endpoint: Endpoint) -> int:
    """The status of an answer on a connection of its own."""
    with connect(endpoint) as connection:
        connection.send(_MESSAGE)
        return connection.receive_any("GET").status


def _expect_failure(connection: Connection, method: str, path: str) -> None:
    """Its answer is an error of the server's, or none that is whole."""
    try:
        answer = connection.receive_any(method)
    except TimeoutError:
        raise
    except CUT_SHORT:
        return
    expect(
        answer.status >= 500 or answer.status < LOWEST_STATUS,
        f"{method} {path} answered {answer.status} with {len(answer.content)} bytes, as if it were"
        " whole",
    )


_CHECKS: Final = (
    _Check("kept", f"connections to its backend, {MESSAGES} requests", _kept),
    _Check("kept", "connections that its backend ended", _left_open),
    _Check("once", "a request with an effect, a backend that breaks", _once),
    _Check("cut", "half of a reply", partial(_cut, CUT)),
    _Check("cut", "half of a reply in chunks", partial(_cut, CUT_CHUNKS)),
    _Check("wrong-reply", "a reply that is no HTTP", partial(_cut, GARBAGE)),
    _Check("silence", "requests beside those that wait", _silence),
    _Check("refused", "a backend that goes and comes back", _gone),
)
