"""`load --publish`: events to many receivers, as people see them."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.cli.conftest import Run, address_in, serving
from tests.cli.test_runs import MEASURED
from wiretrial.engine import Engine

READER, WRITER = "reader-5d1c7e80", "writer-90ab43f2"
"""Secrets: of the receivers, and of the requests that publish."""
LONGEST_POLL_S = 0.05


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Host and port of the reference server."""
    binary = str(Engine.find().binary)
    with subprocess.Popen(
        [binary, "respond", "--http", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield address_in(process.stdout.readline())
        process.terminate()


@pytest.mark.parametrize(
    ("url", "flags", "held"),
    [
        ("http://{}/subscribe", ("--sse",), "streams of events, held"),
        ("ws://{}/subscribe", (), "WebSockets, held"),
        ("http://{}/next", ("--long-poll",), "long polls, held"),
    ],
)
def test_each_copy_is_verified_and_the_last_one_timed(
    wiretrial: Run, server: str, url: str, flags: tuple[str, ...], held: str
) -> None:
    published = ("--publish", f"http://{server}/publish", "--publish-rate", "50")
    flags = (*flags, "--hold", "-c", "20", "-d", "2s", *published)
    done = wiretrial("load", url.format(server), *flags)
    assert done.returncode in MEASURED, (done.stdout, done.stderr)
    said = " ".join(done.stdout.split())
    assert held in said
    assert "50 events/s published" in said
    assert "all verified, by number and content" in said
    assert re.search(r"delivery time +p50 ", done.stdout), done.stdout
    assert re.search(r"last receiver +p50 ", done.stdout), done.stdout
    found = re.search(r"published (\d+) events to 20 receivers errors 0 .* undelivered 0 ", said)
    assert found is not None, said
    assert int(found[1]) > 20
    assert ("empty polls 0 answered without an event" in said) == ("--long-poll" in flags)


def test_the_result_has_what_was_published(wiretrial: Run, server: str) -> None:
    published = ("--publish", f"http://{server}/publish", "--publish-size", "200")
    flags = ("--sse", "--hold", "--http", "2", "--streams", "5", "-c", "2", "-d", "2s", *published)
    done = wiretrial("load", f"http://{server}/subscribe", *flags, "--format", "json")
    assert done.returncode in MEASURED, (done.stdout, done.stderr)
    found = json.loads(done.stdout)
    one = found["published"]
    assert (one["receivers"], one["undelivered"], one["errors"]) == (10, 0, {})
    assert found["totals"]["ok"] == 10 * one["ok"]
    assert not any(found["totals"]["errors"].values())
    assert found["empty_polls"] is None
    assert found["reach_time"]["count"] > 0
    assert one["response_time"]["count"] == one["ok"]
    plain = wiretrial("load", f"http://{server}/message", "-n", "10", "--format", "json")
    assert json.loads(plain.stdout)["published"] is None


@contextmanager
def forwarding(server: str, seen: list[dict[str, str]]) -> Iterator[str]:
    """Another server, which passes on what is posted to it; its origin. `seen`: header fields."""

    class Forward(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            seen.append(dict(self.headers.items()))
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with closing(http.client.HTTPConnection(server)) as behind:
                behind.request("POST", "/publish", body)
                self.send_response(behind.getresponse().status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with serving(Forward) as origin:
        yield origin


def test_another_server_is_sent_no_header_of_the_receivers(
    wiretrial: Run, server: str, tmp_path: Path
) -> None:
    seen: list[dict[str, str]] = []
    with forwarding(server, seen) as origin:
        done = wiretrial(
            *("load", f"http://{server}/subscribe", "--sse", "--hold", "-c", "3", "-d", "2s"),
            *("-H", f"Authorization: Bearer {READER}", "--publish", f"{origin}/publish"),
            *("--publish-header", f"X-Api-Key: {WRITER}", "--format", "json", "-o", "it.json"),
        )
    assert done.returncode in MEASURED, (done.stdout, done.stderr)
    assert len(seen) > 5
    for fields in seen:
        assert (fields["X-Api-Key"], fields["Content-Type"]) == (WRITER, "text/plain")
        assert "Authorization" not in fields
    kept = (tmp_path / "it.json").read_text(encoding="utf-8")
    assert not any(secret in kept for secret in (READER, WRITER))
    found = json.loads(kept)
    assert (found["secrets"], found["published"]["undelivered"]) == ("redacted", 0)
    assert found["trial"]["plan"]["publish"]["headers"] == [["X-Api-Key", "***"]]


@contextmanager
def polled() -> Iterator[str]:
    """A server that has long polls wait for a short while; its origin."""
    events: list[str] = []
    changed = threading.Condition()

    class Polled(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            event = self.rfile.read(int(self.headers["Content-Length"]))
            with changed:
                events.append(event.decode())
                changed.notify_all()
            self.answer("")

        def do_GET(self) -> None:
            after = parse_qs(urlsplit(self.path).query).get("after")
            with changed:
                known = int(after[0]) if after else len(events)
                changed.wait_for(lambda: len(events) > known, LONGEST_POLL_S if after else 0)
                told = {"last": len(events), "events": events[known:]}
            self.answer(json.dumps(told))

        def answer(self, text: str) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    with serving(Polled) as origin:
        yield origin


def test_polls_that_bring_nothing_are_counted(wiretrial: Run) -> None:
    with polled() as origin:
        done = wiretrial(
            *("load", f"{origin}/next", "--long-poll", "--hold", "-c", "3", "-d", "2s"),
            *("--publish", f"{origin}/publish", "--publish-rate", "4", "--format", "json"),
        )
    assert done.returncode in MEASURED, (done.stdout, done.stderr)
    found = json.loads(done.stdout)
    published = found["published"]
    assert published["ok"] > 0
    assert (published["undelivered"], published["unconfirmed"]) == (0, 0)
    assert found["totals"]["ok"] == 3 * published["ok"]
    # Each waits for a twentieth of a second at most, and most of them for nothing.
    assert found["empty_polls"] > found["totals"]["ok"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("http://h/", "--publish-rate", "5"), "say where with --publish URL"),
        (("http://h/", "--publish-header", "A: b"), "say where with --publish URL"),
        (
            ("ws://h/", "--publish", "http://h/", "--publish-header", "A"),
            "--publish-header number 1 is not `Name: value`",
        ),
        (("http://h/", "--publish", "http://h/"), "hold streams with --sse"),
        (("tcp://h:1", "--publish", "http://h/"), "or ws:// or wss:// without"),
        (("https://h/", "--long-poll", "--publish", "http://h/"), "use --http 1.1"),
        (("ws://h/", "--publish", "ws://h/"), "name a URL of http:// or https://"),
        (("ws://h/", "--publish", "http://h/", "--http", "2"), "use --http 1.1"),
        (("wss://h/", "--publish", "https://h/", "--http", "3"), "use --http 1.1"),
        (("ws://h/", "--publish", "http://h/", "-n", "5"), "-d 60s"),
        (("ws://h/", "--publish", "http://h/", "--rate", "5"), "--publish-rate"),
        (("ws://h/", "--publish", "http://h/", "--depth", "5"), "leave --depth"),
        (("ws://h/", "--publish", "http://h/", "--payload", "5"), "--publish-size"),
    ],
)
def test_what_cannot_be_is_refused_with_the_remedy(
    wiretrial: Run, words: tuple[str, ...], said: str
) -> None:
    done = wiretrial("load", *words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split()), done.stderr
