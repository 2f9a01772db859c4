"""HTTP/3 with libraries that have to be compiled: quinn, s2n-quic and quic-go of today.

They are the peers of the bench (`make quic-peers`), and oha where it is installed. What is not
there is skipped, in CI too: Rust's libraries take minutes to build.
"""

from __future__ import annotations

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
from wiretrial.subjects.certificates import Certificate


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
