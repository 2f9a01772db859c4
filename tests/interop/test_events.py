"""Streams of events between other people's software and ours, in both directions."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tornado.httpserver
import tornado.netutil
import tornado.web

from conformance.process import Process
from tests.interop import chromium
from tests.interop.conftest import program
from tests.interop.parts import LIMIT_S
from wiretrial.engine import Engine
from wiretrial.snapshot import SNAPSHOT, Summary

HERE = Path(__file__).resolve().parent


def hear(engine: Engine, url: str, *flags: str) -> Summary:
    """One second of three streams, or of three connections with some each."""
    command = [str(engine.binary), "load", url, "--sse", "-c", "3", "-d", "1s", "--warmup", "0s"]
    done = subprocess.run(
        [*command, "--format", "json", *flags],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    summary = SNAPSHOT.validate_json(done.stdout.splitlines()[-1])
    assert isinstance(summary, Summary), (done.stdout, done.stderr)
    return summary


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Addresses of Node's servers: HTTP/1.1 and HTTP/2."""
    command = [program("node", "Node.js"), str(HERE / "node_events.cjs")]
    with Process(command, log=tmp_path_factory.mktemp("node") / "log") as server:
        yield server.hear(r"ready http=(\S+) "), server.hear(r"http2=(\S+)\n")


@pytest.mark.parametrize("version", ["1.1", "2"])
def test_node_tells_events(engine: Engine, node: tuple[str, str], version: str) -> None:
    plain, second = node
    if version == "1.1":
        url, flags, streams = f"http://{plain}/events", [], 3
    else:
        url, flags, streams = f"http://{second}/events", ["--http", "2", "--depth", "4"], 12
    summary = hear(engine, url, "--expect", "json:n", *flags)
    counters = summary.counters
    errors = {name: count for name, count in counters.errors.items() if count}
    # Each stream ends after twenty events, and was asked for again.
    assert set(errors) <= {"closed"}, summary.examples
    assert errors["closed"] >= streams
    assert counters.ok >= 20 * errors["closed"]
    assert "delivery_time" not in summary.histograms, "nobody stamps these"
    if version == "1.1":
        with urllib.request.urlopen(f"http://{plain}/seen", timeout=LIMIT_S) as told:
            seen = json.load(told)
        assert {accept for accept, _ in seen} == {"text/event-stream"}
        assert {"", "20"} <= {last for _, last in seen}


def test_what_node_sends_as_text_is_no_stream(engine: Engine, node: tuple[str, str]) -> None:
    command = [str(engine.binary), "load", f"http://{node[0]}/text", "--sse", "-d", "1s"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode != 0
    assert "text/plain" in done.stderr
    assert "leave --sse out" in done.stderr


class Ticks(tornado.web.RequestHandler):
    """Events without ids, until the client leaves."""

    async def get(self) -> None:
        self.set_header("Content-Type", "text/event-stream")
        for number in range(10_000):
            self.write(f"data: tick {number}\n\n")
            try:
                await self.flush()
            except tornado.iostream.StreamClosedError:
                return
            await asyncio.sleep(0.005)


@pytest.fixture(scope="module")
def ticking() -> Iterator[str]:
    """The address of a server that tornado wrote."""
    address: list[str] = []
    ready = threading.Event()
    over: list[Callable[[], object]] = []

    async def serve() -> None:
        [sock] = tornado.netutil.bind_sockets(0, "127.0.0.1")
        server = tornado.httpserver.HTTPServer(tornado.web.Application([("/", Ticks)]))
        server.add_socket(sock)
        address.append(f"127.0.0.1:{sock.getsockname()[1]}")
        done, loop = asyncio.Event(), asyncio.get_running_loop()
        over.append(lambda: loop.call_soon_threadsafe(done.set))
        ready.set()
        await done.wait()
        server.stop()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(LIMIT_S)
    yield address[0]
    over[0]()
    thread.join(LIMIT_S)


def test_tornado_tells_events(engine: Engine, ticking: str) -> None:
    summary = hear(engine, f"http://{ticking}/", "--expect", "regex:^tick [0-9]+$")
    counters = summary.counters
    assert not any(counters.errors.values()), summary.examples
    assert counters.ok > 30
    assert counters.in_flight == 3
    assert "message_time" in summary.histograms


def test_a_browser_hears_our_events(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "browser").mkdir()
    command = [str(engine.binary), "respond", "--http", "127.0.0.1:0"]
    with (
        Process(command, log=tmp_path / "reference") as server,
        chromium.page(program("chromium", "Chromium"), None, tmp_path / "browser") as page,
    ):
        address = server.hear(r"ready http=(\S+)\n")
        page.open(f"http://{address}/message")
        script = (HERE / "events.js").read_text(encoding="utf-8")
        ids: Any = page.run(f"({script})()")
    assert ids == list(range(1, 13)), "it went on behind the last id"
