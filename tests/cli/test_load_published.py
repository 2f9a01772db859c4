"""`load --publish`: events to many receivers, as people see them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator

import pytest

from tests.cli.conftest import Run, address_in
from tests.cli.test_runs import MEASURED
from wiretrial.engine import Engine


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
    assert found["reach_time"]["count"] > 0
    assert one["response_time"]["count"] == one["ok"]
    plain = wiretrial("load", f"http://{server}/message", "-n", "10", "--format", "json")
    assert json.loads(plain.stdout)["published"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("http://h/", "--publish-rate", "5"), "say where with --publish URL"),
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
