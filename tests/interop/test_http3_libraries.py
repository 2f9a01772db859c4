"""HTTP/3 with what has to be compiled: quinn, s2n-quic and quic-go of today, nginx, tokio-quiche.

The first three are the peers of the bench (`make quic-peers`), beside oha where it is installed.
The servers of the other two are subjects of the catalogue. What is not there is skipped, in CI
too: much of it takes minutes to build.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.generators import Ask
from bench.places import QUIC_GO, QUIC_GO_REMEDY
from bench.quic_generators import PEERS, QuicGenerator
from bench.quic_loads import PATH, QuicLoad
from conformance.process import Process
from tests.interop.parts import Both, Load, reference_server
from tests.interop.test_our_server import run
from wiretrial.engine import Engine
from wiretrial.subjects import build, registry
from wiretrial.subjects.certificates import Certificate
from wiretrial.subjects.process import Server

ECHOING = "tokio-quiche-http3"
COMPILED = ["nginx-http3", ECHOING]
"""Subjects that nobody waits for: `wiretrial subject verify` builds them."""


@pytest.mark.parametrize("streams", [1, 8])
@pytest.mark.parametrize("peer", PEERS, ids=[peer.name for peer in PEERS])
def test_asks_our_server(
    peer: QuicGenerator, streams: int, engine: Engine, certificate: Certificate, tmp_path: Path
) -> None:
    if peer.binary() is None:
        pytest.skip(f"there is no {peer.name}: {peer.remedy}")
    with reference_server(engine, certificate, tmp_path, "--http3") as ours:
        ask = Ask(ours.url("https", PATH), str(certificate.authority), seconds=1, cpu=0)
        asked = peer.asked(QuicLoad("reference", streams, connections=3), ask, tmp_path)
        # A client ends with an error at the first request that fails.
        assert peer.messages(run(asked.command)) > 0


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param([], id="get"),
        pytest.param(["--depth", "16"], id="streams"),
        pytest.param(["--requests-per-connection", "10"], id="renewed"),
        pytest.param(["--header-profile", "constant"], id="fields that are alike"),
    ],
)
def test_our_client_asks_quic_go(
    flags: list[str], certificate: Certificate, load: Load, tmp_path: Path
) -> None:
    if not QUIC_GO.is_file():
        pytest.skip(f"there is no server of quic-go: {QUIC_GO_REMEDY}")
    command = [str(QUIC_GO), "serve", "127.0.0.1:0", str(certificate.chain), str(certificate.key)]
    with Process([*command, "100000"], log=tmp_path / "log") as server:
        both = Both(plain="", secure=server.hear(r"ready (\S+)\n"), certificate=certificate)
        load(both, "https", "/", "--http", "3", *flags)


@pytest.fixture(scope="module")
def subject(request: pytest.FixtureRequest, engine: Engine) -> Iterator[Both]:
    """A server of the catalogue, where it was built before."""
    chosen = registry.find(request.param)
    built = build.installed(chosen, engine.binary)
    if built is None:
        name = chosen.spec.name
        pytest.skip(f"{name} is not built: wiretrial subject verify {name}")
    with Server(chosen, built, "default", engine=engine.binary) as server:
        server.wait_ready([("static", "h3")])
        endpoint = server.endpoint("h3")
        address = f"{endpoint.host}:{endpoint.port}"
        yield Both(plain="", secure=address, certificate=server.certificate)


@pytest.mark.parametrize("subject", COMPILED, indirect=True)
@pytest.mark.parametrize(
    "flags",
    [
        pytest.param([], id="get"),
        pytest.param(["--depth", "16"], id="streams"),
        pytest.param(["--requests-per-connection", "10"], id="renewed"),
        pytest.param(["--header-profile", "constant"], id="fields that are alike"),
        pytest.param(["--rate", "2k"], id="open loop"),
    ],
)
def test_our_client_asks_a_subject(subject: Both, load: Load, flags: list[str]) -> None:
    load(subject, "https", "/message", "--http", "3", *flags)


@pytest.mark.parametrize("subject", [ECHOING], indirect=True)
@pytest.mark.parametrize("size", ["1000", "200000"])
def test_our_client_uploads_to_a_subject(subject: Both, load: Load, size: str) -> None:
    flags = ["--payload", size, "--expect", "echo", "--depth", "8"]
    load(subject, "https", "/echo", "--http", "3", *flags)
