"""`wiretrial load --stages`: load over time, of a URL and of a traffic file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, address_in
from wiretrial.cli import staging
from wiretrial.cli.options import Loop
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GOOD, EXIT_USAGE, UsageProblem
from wiretrial.plan import Load, OpenLoop
from wiretrial.results import offered

SECOND = 10**9


def loop(stages: str, rate: str | None = None, **changes: Any) -> Loop:
    given = {"connections": "10", "depth": "1", "pack": "1", "requests_per_connection": None}
    return Loop(**{**given, **changes}, rate=rate, stages=stages)


def levels(loop: Loop) -> tuple[float, bool, list[tuple[float, float, float]]]:
    """What there is most, whether per second, and for each stage how long and from what to what."""
    staged = staging.of(loop)
    assert staged
    return (
        staged.most,
        staged.is_open,
        [
            (one.for_ns / SECOND, one.start * staged.most, one.to * staged.most)
            for one in staged.stages
        ],
    )


@pytest.mark.parametrize(
    ("stages", "rate", "wanted"),
    [
        (
            "30s:100,2m:500,30s:0",
            None,
            (500, False, [(30, 0, 100), (120, 100, 500), (30, 500, 0)]),
        ),
        ("0s:8, 10s:8", None, (8, False, [(0, 0, 8), (10, 8, 8)])),
        ("30s:100/s,1m:0/s", None, (100, True, [(30, 0, 100), (60, 100, 0)])),
        ("30s:1k", "200", (1000, True, [(30, 200, 1000)])),
        ("30s:600/m", "50", (50, True, [(30, 50, 10)])),
        ("1m30s:5/s,1s:0", None, (5, True, [(90, 0, 5), (1, 5, 0)])),
    ],
)
def test_a_stage_ramps_from_the_level_before_it(
    stages: str, rate: str | None, wanted: object
) -> None:
    assert levels(loop(stages, rate)) == wanted


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (loop("30s"), "'30s' is no stage; write TIME:LEVEL"),
        (loop("30s:5,,"), "'' is no stage"),
        (loop("30x:5"), "no such unit of time"),
        (loop("30s:many"), "not a number"),
        (loop("30s:1.5"), "not a whole number"),
        (loop("30s:0,1m:0"), "all of it is nothing"),
        (loop("30s:5", connections="20"), "leave -c out"),
        (loop("30s:5", hold=True), "--stages and --hold exclude each other"),
        (loop("30s:5", pattern="random-burst"), "--stages and --pattern exclude each other"),
        (loop("30s:5/s", pacing="phased"), "use --pacing constant or poisson"),
        (loop("30s:5", "9", pacing="after-response"), "use --pacing constant or poisson"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_remedy(wrong: Loop, words: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        staging.of(wrong)
    assert words in f"{caught.value.message}; {caught.value.remedy}"


def test_what_is_due_is_the_area_below_the_rate() -> None:
    staged = staging.of(loop("10s:100/s,10s:100/s,0s:50/s,10s:0"))
    assert staged
    load = Load(connections=1, executor=OpenLoop(rate=100), stages=staged.stages)

    def due(start: float, end: float) -> float:
        return offered.due(
            load, 5 * SECOND, (round((5 + start) * SECOND), round((5 + end) * SECOND))
        )

    assert due(0, 10) == pytest.approx(500)
    assert due(4, 5) == pytest.approx(45)
    assert due(10, 20) == pytest.approx(1000)
    assert due(20, 30) == pytest.approx(250)
    assert due(0, 40) == pytest.approx(1750)
    even = Load(connections=1, executor=OpenLoop(rate=100))
    assert offered.due(even, 0, (SECOND, 3 * SECOND)) == pytest.approx(200)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of one that takes its time for each reply, so that connections are seen busy."""
    command = [str(Engine.find().binary), "respond", "--http", "127.0.0.1:0", "--delay", "20ms"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield f"http://{address_in(process.stdout.readline())}/"
        process.terminate()


def told(run: Run, *arguments: str) -> dict[str, Any]:
    done = run("load", *arguments, "--format", "json")
    assert done.returncode == EXIT_GOOD, done.stderr + done.stdout[:2000]
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


def test_as_many_connections_send_as_the_stages_say(wiretrial: Run, server: str) -> None:
    # The run is over long before all of them send.
    document = told(wiretrial, server, "--stages", "0s:2,60s:2,0s:8", "-d", "500ms")
    load, trial = document["load"], document["trial"]
    assert (load["connections"], load["executor"]["kind"]) == (8, "closed")
    assert document["connections"]["opened"] == 8
    assert [stage["to"] for stage in load["stages"]] == [0.25, 0.25, 1]
    assert trial["plan"]["stop"]["duration_ns"] == 500_000_000
    assert max(one["counters"]["in_flight"] for one in trial["intervals"]) <= 2
    assert document["totals"]["ok"] > 2
    assert not [warning for warning in document["warnings"] if warning["code"] == "not-steady"]


def test_a_rate_follows_the_stages(wiretrial: Run, server: str, tmp_path: Path) -> None:
    arguments = ("--stages", "0s:100/s,1s:100/s,1s:0", "--report", "page.html")
    document = told(wiretrial, server, *arguments)
    assert (document["load"]["connections"], document["load"]["executor"]["rate"]) == (10, 100)
    due = document["totals"]["sent"] + document["waiting"] + document["dropped"]
    assert 149 <= due <= 151
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "open loop, requests: 0/s to 100/s, to 100/s in 1 s, to 0/s in 1 s" in page
    assert "Thin lines: a stage of the load ends." in page


def test_stages_and_options_that_exclude_them(wiretrial: Run, server: str) -> None:
    done = wiretrial("load", server, "--stages", "30s:5", "-c", "3")
    assert done.returncode == EXIT_USAGE
    assert "leave -c out" in done.stderr
    assert len(done.stderr.splitlines()) == 1
