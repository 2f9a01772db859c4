"""HTTP/3 with what other people wrote: Caddy (quic-go) and hypercorn (aioquic) under our load,
Chromium and niquests (qh3) as clients.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.process import Process
from tests.apps.installed import python_application
from tests.interop import chromium
from tests.interop.conftest import program
from tests.interop.parts import Both, Load, reference_server
from tests.interop.test_http2 import BROWSED, PROXIES, installed
from tests.interop.test_our_server import good, run
from wiretrial.engine import Engine
from wiretrial.subjects import ports
from wiretrial.subjects.certificates import Certificate
from wiretrial.subjects.spec import QUIC_PORT

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def caddy(
    engine: Engine,
    certificate: Certificate,
    reference: Both,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Both]:
    """Caddy, which asks our own server over HTTP/1.1 for all but one line."""
    _, built = installed("caddy", engine)
    folder = tmp_path_factory.mktemp("caddy")
    (port,) = ports.free_ports(["127.0.0.1"], ["https"]).values()
    homes = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    told = {
        "TLS_PORT": str(port),
        "CHAIN": str(certificate.chain),
        "KEY": str(certificate.key),
        "BEHIND": reference.plain,
    }
    command = [str(built.folder / "usr" / "bin" / "caddy"), "run", "--adapter", "caddyfile"]
    command += ["--config", str(PROXIES / "http3.caddyfile")]
    ports.release([port])
    environment = {**os.environ, **homes, **told}
    with Process(command, log=folder / "log", environment=environment) as server:
        server.hear(r"(serving initial configuration)")
        yield Both(plain="", secure=f"127.0.0.1:{port}", certificate=certificate)


@pytest.mark.parametrize(
    ("path", "flags"),
    [
        pytest.param("/line", [], id="get"),
        pytest.param("/line", ["--depth", "16"], id="streams"),
        pytest.param("/line", ["--requests-per-connection", "3"], id="renewed"),
        pytest.param("/bytes/300000", ["--depth", "4"], id="large"),
        pytest.param("/echo", ["--payload", "1000", "--expect", "echo"], id="echo"),
        pytest.param("/echo", ["--payload", "200000", "--expect", "echo"], id="large echo"),
        pytest.param("/echo", ["--payload", "20", "--header-profile", "partly"], id="fields"),
        pytest.param("/line", ["--rate", "2k", "--congestion", "bbr"], id="open loop"),
    ],
)
def test_our_client_asks_caddy(caddy: Both, load: Load, path: str, flags: list[str]) -> None:
    summary = load(caddy, "https", path, "--http", "3", *flags)
    assert summary.http3 is not None


@pytest.fixture(scope="module")
def hypercorn(
    engine: Engine, certificate: Certificate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    """hypercorn, and the application of the subject.

    The subject has no aioquic, which hypercorn needs for HTTP/3: it comes from our own packages.
    """
    built = installed("hypercorn", engine)[1].folder
    (library,) = built.glob("venv/lib/*/site-packages")
    (port,) = ports.free_ports(["127.0.0.1"], [QUIC_PORT]).values()
    address = f"127.0.0.1:{port}"
    command = [sys.executable, "-m", "hypercorn", "--bind", address, "--quic-bind", address]
    command += ["--certfile", str(certificate.chain), "--keyfile", str(certificate.key)]
    # In one process, which does not wait for connections when it is ended.
    command += ["--workers", "0", "--graceful-timeout", "0", f"{built / 'server.py'}:answer"]
    log = tmp_path_factory.mktemp("hypercorn") / "log"
    environment = {**os.environ, "PYTHONPATH": str(library)}
    with Process(command, log=log, environment=environment) as server:
        server.hear(r"(\(QUIC\))")
        yield Both(plain="", secure=address, certificate=certificate)
    ports.release([port])


@pytest.mark.parametrize(
    ("path", "flags"),
    [
        pytest.param("/message", [], id="get"),
        pytest.param("/message", ["--depth", "16"], id="streams"),
        pytest.param("/message", ["--requests-per-connection", "10"], id="renewed"),
        pytest.param("/message", ["--header-profile", "constant"], id="fields that are alike"),
        pytest.param("/echo", ["--payload", "1000", "--expect", "echo"], id="echo"),
        pytest.param("/echo", ["--payload", "20000", "--expect", "echo"], id="large echo"),
    ],
)
def test_our_client_asks_hypercorn(
    hypercorn: Both, load: Load, path: str, flags: list[str]
) -> None:
    load(hypercorn, "https", path, "--http", "3", *flags)


def test_chromium_asks_our_server(engine: Engine, certificate: Certificate, tmp_path: Path) -> None:
    binary = program("chromium", "Debian's chromium")
    (folder := tmp_path / "browser").mkdir()
    with (
        reference_server(engine, certificate, tmp_path, "--http3") as ours,
        chromium.page(binary, certificate.chain, folder, quic=ours.secure) as page,
    ):
        page.open(ours.url("https", "/"))
        assert page.run(f"({BROWSED})()") == [True, "h3"], json.dumps(page.problems)


def test_niquests_asks_our_server(engine: Engine, certificate: Certificate, tmp_path: Path) -> None:
    # In an environment of its own: its urllib3-future takes the place of the package urllib3.
    folder = python_application("niquests", HERE / "niquests")
    command = [str(folder / ".venv" / "bin" / "python"), str(folder / "client.py")]
    with reference_server(engine, certificate, tmp_path, "--http3") as ours:
        told = run([*command, ours.url("https"), str(certificate.authority)])
    wanted = {"get", "head", "post", "post-large", "chunked-reply", "not-found"}
    assert good(told) == wanted | {"events", "streams"}
