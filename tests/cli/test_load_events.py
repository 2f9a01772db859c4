"""`load --sse`: streams of events, as people see them."""

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
def events() -> Iterator[str]:
    """Where the reference server tells events."""
    binary = str(Engine.find().binary)
    with subprocess.Popen(
        [binary, "respond", "--http", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield f"http://{address_in(process.stdout.readline())}/events"
        process.terminate()


def test_events_are_counted_and_their_delay_is_told(wiretrial: Run, events: str) -> None:
    flags = ("--sse", "-c", "3", "-d", "1s")
    done = wiretrial("load", f"{events}?rate=200", *flags)
    assert done.returncode in MEASURED, done.stderr
    said = " ".join(done.stdout.split())
    assert "verified events/s; delivery time p50" in said
    assert "no event failed" in said
    assert "streams of events, held" in said
    assert re.search(r"event gap +p50 ", done.stdout), done.stdout
    assert re.search(r"delivery time +p50 ", done.stdout), done.stdout
    assert "service time" not in done.stdout


def test_the_result_has_both_times(wiretrial: Run, events: str) -> None:
    flags = ("--sse", "--http", "2", "--streams", "4", "-c", "2", "-d", "1s", "--format", "json")
    done = wiretrial("load", f"{events}?rate=100&shared=1", *flags)
    assert done.returncode in MEASURED, done.stderr
    found = json.loads(done.stdout)
    totals = found["totals"]
    assert totals["in_flight"] == 8
    assert not any(totals["errors"].values())
    assert totals["ok"] > 100
    assert found["target"]["http"]["sse"] is True
    assert found["delivery_time"]["count"] > 100
    assert found["message_time"]["count"] > 100
    assert found["service_time"] is None


def test_idle_streams_are_held_and_their_memory_is_told(wiretrial: Run, events: str) -> None:
    flags = ("--sse", "--hold", "-c", "200", "-d", "1s", "--timeout", "200ms")
    done = wiretrial("load", f"{events}?rate=0", *flags)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "Verdict: valid" in done.stdout
    assert re.search(r"memory +generator .* B/stream\s+\(200 streams\)", done.stdout), done.stdout


def test_failures_have_their_class(wiretrial: Run, events: str) -> None:
    flags = ("--sse", "-c", "2", "-d", "1s", "--format", "json")
    done = wiretrial("load", f"{events}?rate=100&end=5&retry=50", *flags)
    errors = json.loads(done.stdout)["totals"]["errors"]
    assert {name for name, count in errors.items() if count} == {"closed"}


def test_a_stream_without_the_flag_is_told(wiretrial: Run, events: str) -> None:
    done = wiretrial("load", f"{events}?rate=10", "--no-learn", "--connect-timeout", "1s")
    assert done.returncode == 1
    assert "load it with --sse" in done.stderr
