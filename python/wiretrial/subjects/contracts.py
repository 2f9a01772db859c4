"""What each contract demands on each protocol that carries it.

Knows which checks there are; must not know how a server is started, or what follows from a failure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from websockets.exceptions import WebSocketException

from wiretrial.errors import SubjectFailed
from wiretrial.plan import SECURE, AnyHttpVersion
from wiretrial.subjects import (
    checks_broadcast,
    checks_grpc,
    checks_http,
    checks_push,
    checks_raw,
    checks_rest,
    checks_rpc,
    checks_socketio,
    checks_table,
    checks_web,
    checks_websocket,
    push_parts,
)
from wiretrial.subjects.checks import Check, address
from wiretrial.subjects.endpoint import Broken, Endpoint, Late
from wiretrial.subjects.first_reply import Told
from wiretrial.subjects.http_connection import HTTP_ERRORS
from wiretrial.subjects.spec import ContractName, Protocol, scheme, version_of
from wiretrial.words import CALLS, HTTP

_SOURCES = (
    *(
        "checks*.py",
        "contracts.py",
        "*_parts.py",
        "*_packets.py",
        "*_connection.py",
        "endpoint.py",
        "quic_versions.py",
        "database.py",
    ),
    *("driver.py", "relay.py", "verify.py"),
)

_OVER_HTTP: dict[ContractName, tuple[Check, ...]] = {
    "http-echo": checks_http.ECHO,
    "static": checks_http.STATIC,
    "rest": checks_rest.REST,
    "rpc": checks_rpc.HTTP,
    "web": checks_web.WEB,
    # What else a proxy has to do needs a backend that does wrong: `checks_proxy`.
    "proxy": checks_http.STATIC[:1],
}
_PUSHED: dict[ContractName, tuple[Check, ...]] = {
    "push": checks_push.PUSH,
    "long-poll": checks_push.LONG_POLL,
}
"""However it is heard."""
_FIRST: dict[ContractName, Callable[[Endpoint], checks_push.Heard]] = {
    "push": partial(checks_push.first_event, push_parts.listener),
    "long-poll": partial(checks_push.first_event, push_parts.Poller),
}
"""What a server that was just started is asked, where its readiness probe pauses for a while."""
_OVER_SOCKETIO: dict[ContractName, tuple[Check, ...]] = {
    "ws-echo": checks_socketio.ECHO,
    "rpc": checks_socketio.RPC,
}

_Found = TypeVar("_Found")


def checks(contract: ContractName, protocol: Protocol) -> tuple[Check, ...]:
    """What a subject that claims the contract must pass, in order; the first tells readiness."""
    if contract in _PUSHED:
        found = _PUSHED[contract]
    elif contract == "table":
        over_websocket = protocol.endswith(("+ws", "+wss"))
        found = checks_table.MESSAGE if over_websocket else checks_table.STREAM
    elif scheme(protocol) in HTTP:
        found = _OVER_HTTP[contract]
    elif protocol in CALLS:
        found = checks_grpc.ECHO
    elif protocol in ("socketio+ws", "socketio+wss"):
        found = _OVER_SOCKETIO[contract]
    elif contract == "ws-broadcast":
        found = checks_broadcast.BROADCAST
    elif protocol in ("ws", "wss"):
        found = checks_websocket.ECHO
    else:
        found = checks_raw.ECHO
    asked = (*found, address())
    version: AnyHttpVersion = "2" if protocol in CALLS else version_of(protocol)
    return tuple(
        check
        for check in asked
        if (check.inside_tls or protocol not in SECURE) and version in check.http
    )


def problem(check: Check, endpoint: Endpoint) -> str | None:
    """How the server fails the check; None where it passes."""
    found = _outcome(check.function, endpoint)
    return found if isinstance(found, str) else None


def first_reply(contract: ContractName, endpoint: Endpoint) -> Told:
    """What comes of the first exchange with a server that was just started."""
    first = _FIRST.get(contract)
    if first is None:
        return Told(problem(checks(contract, endpoint.protocol)[0], endpoint))
    found = _outcome(first, endpoint)
    if isinstance(found, str):
        return Told(found)
    return Told(None, round(found.earlier_s * 1e9), round(found.since_s * 1e9))


def _outcome(function: Callable[[Endpoint], _Found], endpoint: Endpoint) -> _Found | str:
    """What it returns, or how the server fails it."""
    try:
        return function(endpoint)
    except Broken as broken:
        return str(broken)
    except TimeoutError as error:
        return Late(f"{type(error).__name__}: {error}")
    except (OSError, EOFError, UnicodeDecodeError, WebSocketException, *HTTP_ERRORS) as error:
        return f"{type(error).__name__}: {error}"


def probe(endpoint: Endpoint, contract: ContractName) -> None:
    """Raises unless one exchange is right."""
    check = checks(contract, endpoint.protocol)[0]
    found = problem(check, endpoint)
    if found:
        raise SubjectFailed(
            f"{endpoint} breaks {contract} ({check.name}): {found}",
            "see `wiretrial subject verify`",
        )


@cache
def digest() -> str:
    """SHA-256 of the sources of verification: what another one found right counts no more."""
    folder = Path(__file__).parent
    total = hashlib.sha256()
    for path in sorted(path for pattern in _SOURCES for path in folder.glob(pattern)):
        total.update(path.read_bytes())
    return total.hexdigest()
