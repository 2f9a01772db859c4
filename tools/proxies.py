"""Writes studies/proxies/BREAKS.md: what becomes of a request when the server behind breaks.

Usage: python -m tools.proxies [NAME[:CONFIGURATION]...]. Of those that are named it prints the page
and writes nothing: it would lose the others. Counted, not timed: the backend of the checks breaks
on purpose, counts who asks it, and the client tells what it sees.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from wiretrial.engine import Engine
from wiretrial.errors import SubjectUnavailable
from wiretrial.machine import facts
from wiretrial.subjects import build, registry
from wiretrial.subjects.any_connection import connect
from wiretrial.subjects.backend_parts import BREAKS, CUT, CUT_CHUNKS, GARBAGE, Backend
from wiretrial.subjects.checks_http import MESSAGE_PATH
from wiretrial.subjects.checks_proxy import CUT_SHORT, PAUSE_S
from wiretrial.subjects.endpoint import Endpoint, payload
from wiretrial.subjects.http_connection import Connection, Request
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import ConfigurationName, Protocol

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "studies" / "proxies" / "BREAKS.md"
PROTOCOLS: Final[tuple[Protocol, ...]] = ("http", "h2")
COLUMNS: Final = (
    *("proxy", "GET, new", "GET, kept", "PUT, kept", "POST, kept"),
    *("half, length", "half, chunks", "no HTTP", "nobody there"),
)
HEAD: Final = """# What becomes of a request when the server behind a proxy breaks

<!-- Written by `python -m tools.proxies` on {system}. -->

The server behind breaks on purpose and counts: nothing here is timed, but for the last column. In
front is HTTP/1.1 without TLS, and HTTP/2 inside TLS where it is named.

- **GET, PUT, POST**: the server reads the whole request, and ends the connection without a reply.
  Told is how often the request came to it, and what the client saw. `new`: the proxy has no
  connection to the server yet; `kept`: it has one.
- **half**: half of a reply, whose length was told or that came in chunks, then the end. `cut` is
  right: the client sees that it is no whole reply.
- **no HTTP**: bytes that begin no reply.
- **nobody there**: the server is gone; after how many seconds the client has its answer.

`cut`: the connection or the stream ended before a whole reply. `silent`: nothing within ten
seconds.
"""


def main(names: Sequence[str]) -> None:
    """Asks these proxies and prints the page, or all in both configurations and writes it."""
    engine = Engine.find().binary
    told = page([row for name in names or _all() for row in _rows(name, engine)])
    if names:
        sys.stdout.write(told)
    else:
        PAGE.write_text(told, encoding="utf-8")


def page(rows: Sequence[Sequence[str]]) -> str:
    """The whole page."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    head = HEAD.format(system=facts.system() or "this machine")
    return "\n".join([head, *lines]) + "\n"


def row(begin: Callable[[Backend], Server], protocol: Protocol) -> tuple[str, ...]:
    """What is seen over the protocol, in columns; `begin` starts the proxy before a backend."""
    with Backend() as backend, begin(backend) as proxy:
        proxy.wait_ready(())
        endpoint = proxy.endpoint(protocol)
        return tuple(_seen(endpoint, backend))


def _all() -> list[str]:
    proxies = [one.spec for one in registry.catalogue() if one.spec.backend]
    return [f"{one.name}:{name}" for one in proxies for name in one.configurations]


def _rows(name: str, engine: Path) -> Iterator[tuple[str, ...]]:
    subject_name, _, chosen = name.partition(":")
    configuration: ConfigurationName = chosen or "default"
    subject = registry.find(subject_name)
    try:
        built = build.install(subject, engine)
    except SubjectUnavailable as error:
        print(error.line(), file=sys.stderr)
        return

    def begin(backend: Backend) -> Server:
        return Server(subject, built, configuration, engine=engine, backend=backend.endpoint)

    for protocol in (one for one in PROTOCOLS if one in subject.spec.speaks):
        called = f"{subject_name}, {configuration}{'' if protocol == 'http' else ', HTTP/2'}"
        yield (f"{called} ({built.version})", *row(begin, protocol))


def _seen(endpoint: Endpoint, backend: Backend) -> Iterator[str]:
    message = Request("GET", MESSAGE_PATH)
    for method, is_kept in (("GET", False), ("GET", True), ("PUT", True), ("POST", True)):
        backend.drop()
        # Until the proxy has seen it: else a request that is to be answered goes there.
        time.sleep(PAUSE_S)
        before = backend.asked(BREAKS)
        body = b"" if method == "GET" else payload(64)
        with connect(endpoint) as connection:
            if is_kept:
                connection.exchange(message)
            seen = _answer(connection, Request(method, BREAKS, body))
        yield f"{backend.asked(BREAKS) - before} x, {seen}"
    for path in (CUT, CUT_CHUNKS, GARBAGE):
        with connect(endpoint) as connection:
            yield _answer(connection, Request("GET", path))
    backend.leave()
    begun = time.monotonic()
    with connect(endpoint) as connection:
        seen = _answer(connection, message)
    yield f"{seen}, {time.monotonic() - begun:.1f} s"


def _answer(connection: Connection, request: Request) -> str:
    """The status of the answer, or that there is no whole one."""
    try:
        connection.send(request)
        return str(connection.receive_any(request.method).status)
    except TimeoutError:
        return "silent"
    except CUT_SHORT:
        return "cut"


if __name__ == "__main__":
    main(sys.argv[1:])
