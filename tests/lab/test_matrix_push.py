"""`publish` of a study: its scenarios, and what they become."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.test_matrix import expanded
from wiretrial.errors import UsageProblem
from wiretrial.plan import ClosedLoop, NoPayload
from wiretrial.studies.pushed import Publishing

PUSHED = """
title = "t"
question = "q"
subjects = ["reference"]
trials = 2

[[workload]]
name = "events"
protocol = ["http", "ws"]
contract = "push"
connections = [10, 100]
"""


def test_receivers_and_rates_make_a_grid(tmp_path: Path) -> None:
    study = expanded(tmp_path, PUSHED + "publish = [10, 200]\npayload = 100\n")
    cases = [case for case in study.cases if case.scenario.twin_of is None]
    assert len(cases) == 8
    assert {(case.protocol, case.http.sse) for case in cases} == {("http", True), ("ws", False)}
    assert {case.path for case in cases} == {"/subscribe"}
    published = {case.publishing for case in cases}
    assert published == {Publishing(rate=10, bytes=100), Publishing(rate=200, bytes=100)}
    for case in cases:
        assert isinstance(case.load.executor, ClosedLoop)
        assert isinstance(case.message.source, NoPayload)
    told = {case.scenario.workload for case in cases}
    assert "events: 100 bytes, 10 connections, held, 200 events/s" in told


@pytest.mark.parametrize(
    ("url", "warmup_ns", "posted", "settle_ns"),
    [
        ("http://127.0.0.1:8/subscribe", 10**10, "http://127.0.0.1:8/publish", 10**9),
        ("wss://127.0.0.1:9/subscribe", 10**9, "https://127.0.0.1:9/publish", 5 * 10**8),
        ("ws://127.0.0.1:8/subscribe", 0, "http://127.0.0.1:8/publish", 5 * 10**7),
    ],
)
def test_events_are_posted_beside_their_receivers(
    url: str, warmup_ns: int, posted: str, settle_ns: int
) -> None:
    found = Publishing(rate=5).plan(url, warmup_ns)
    assert (found.url, found.settle_ns, found.bytes) == (posted, settle_ns, 64)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "`publish` and the contract `push` go together"),
        ("publish = 0\n", "greater than 0"),
        ("publish = 5\ndepth = 2\n", "`depth`"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(UsageProblem, match=said):
        expanded(tmp_path, PUSHED + more)
