"""Hurl itself as the judge: it reads what is accepted here, and sends the same requests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.traffic.examples import FILES, GIVEN
from wiretrial.plan_traffic import Route
from wiretrial.traffic import telling
from wiretrial.traffic.compiler import compile_file

HURL, HURLFMT = shutil.which("hurl"), shutil.which("hurlfmt")
LIMIT_S = 30.0

# What a reply decides, or what is another one each time.
UNKNOWN = {"captures", "functions"}


class Recorder(ThreadingHTTPServer):
    """Answers everything, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received: list[tuple[str, str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Recorder
    protocol_version = "HTTP/1.1"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        # The server's library takes the bytes of a field for Latin-1.
        headers = {
            name.lower(): value.encode("latin-1").decode("utf-8")
            for name, value in self.headers.items()
        }
        self.server.received.append((self.command, self.path, headers, body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with Recorder() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.skipif(HURLFMT is None, reason="hurlfmt is not installed (cargo install hurlfmt)")
@pytest.mark.parametrize("name", FILES)
def test_hurl_reads_what_is_accepted_here(name: str, tmp_path: Path) -> None:
    assert HURLFMT is not None
    path = tmp_path / "x.hurl"
    path.write_text(FILES[name], encoding="utf-8")
    done = run([HURLFMT, "--out", "json", str(path)])
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(HURL is None, reason="hurl is not installed (cargo install hurl)")
@pytest.mark.parametrize("name", [name for name in FILES if name not in UNKNOWN])
def test_hurl_sends_the_same(name: str, tmp_path: Path, recorder: Recorder) -> None:
    assert HURL is not None
    path = tmp_path / "x.hurl"
    path.write_text(FILES[name], encoding="utf-8", newline="")
    (tmp_path / "content.txt").write_text("text", encoding="utf-8")
    given = {**GIVEN, "base": recorder.url}
    words = [word for pair in given.items() for word in ("--variable", "=".join(pair))]
    done = run([HURL, "--ignore-asserts", *words, str(path)])
    assert done.returncode == 0, done.stderr
    scenario = compile_file(path, given)
    routes = [scenario.traffic.routes[step.route] for step in scenario.traffic.flows[0].steps]
    assert len(recorder.received) == len(routes)
    for (method, target, headers, body), route in zip(recorder.received, routes, strict=True):
        assert (route.method, telling.text(route.target)) == (method, target)
        assert telling.text(route.body).encode() == body
        assert own(route).items() <= headers.items()
        assert ("content-type" in own(route)) == ("content-type" in headers)


def own(route: Route) -> dict[str, str]:
    """The header fields of a route."""
    return {name.lower(): telling.text(value) for name, value in route.headers}


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environment
    )
