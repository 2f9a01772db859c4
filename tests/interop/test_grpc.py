"""gRPC with what other people wrote: servers under our calls, clients against our server.

tonic is left out here, for it compiles for minutes: `wiretrial subject verify tonic` asks the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from tests.interop.test_http2 import installed
from wiretrial.engine import Engine
from wiretrial.subjects import checks_driver, checks_streams
from wiretrial.subjects.checks import Setting
from wiretrial.subjects.driver import Driver, Job
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import Mode, Protocol

CALLS: list[Protocol] = ["grpc", "grpcs"]
ASKED = {
    "calls of 64 bytes",
    "calls of 100,000 bytes",
    "calls with a stream from the server",
    "calls with a stream from the client",
    "calls with streams both ways",
}
CALLED = 50
LIMIT_S = 60.0


@pytest.mark.parametrize("name", ["grpc-go", "grpc-java", "grpc-js", "grpcio"])
def test_our_client(name: str, engine: Engine) -> None:
    subject, built = installed(name, engine)
    with Server(subject, built, "default", engine=engine.binary) as server:
        server.wait_ready([("grpc-echo", protocol) for protocol in CALLS])

        @contextlib.contextmanager
        def start(_: Setting) -> Iterator[Server]:
            yield server

        outcomes = list(checks_streams.verify(subject.spec, "default", start, engine))
    assert [one.problem for one in outcomes if one.problem] == []
    names = {one.check.partition(" ")[2].rpartition(" on ")[0] for one in outcomes}
    assert (names, len(outcomes)) == (ASKED, len(CALLS) * len(ASKED))


@pytest.fixture(scope="module")
def reference(engine: Engine) -> Iterator[Server]:
    subject, built = installed("reference-grpc", engine)
    with Server(subject, built, "default", engine=engine.binary) as server:
        server.wait_ready([("grpc-echo", protocol) for protocol in CALLS])
        yield server


@pytest.mark.parametrize(
    "name", ["grpc-go-client", "grpc-java-client", "grpc-js-client", "grpcio-client"]
)
@pytest.mark.parametrize("protocol", CALLS)
@pytest.mark.parametrize(("size", "mode"), [(1000, "fresh"), (200_000, "kept")])
def test_clients_of_others(
    reference: Server, name: str, protocol: Protocol, size: int, mode: Mode, engine: Engine
) -> None:
    subject, built = installed(name, engine)
    endpoint = reference.endpoint(protocol)
    job = Job(
        url=endpoint.url(checks_driver.PATHS[protocol]),
        payload=size,
        mode=mode,
        iterations=CALLED,
        authority=endpoint.authority if protocol == "grpcs" else None,
    )
    (told,) = Driver(subject, built, "default", engine=engine.binary).run(job, LIMIT_S)
    assert (told.errors, told.first_error) == (0, None)
