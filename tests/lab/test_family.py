"""Workloads that are compared as if they were one, and connections whose set-up is in the time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lab.test_matrix import written
from tests.lab.trials import SECOND_NS, interval, summary
from wiretrial.errors import UsageProblem
from wiretrial.machine.pinning import Pinning
from wiretrial.studies import judge, matrix, plans
from wiretrial.studies.spec import Study

TEXT = """
title = "Which?"
question = "Which way of talking?"
subjects = ["one", "two"]
trials = 3

[[workload]]
name = "asking"
family = "load"
label = "{subject} by HTTP"
protocol = "http"
contract = "rpc"
connections = 10
requests_per_connection = "opened"
requests_each = [1, 50]
environment = ["loopback", "vpn"]

[[workload]]
name = "talking"
family = "load"
label = "{subject} by socket"
protocol = "ws"
contract = "ws-echo"
payload = 16
connections = 10
requests_per_connection = "opened"
requests_each = [1]
environment = ["vpn"]
subjects = ["two"]

[[claim]]
text = "One is as quick as the other"
source = "nowhere"
metric = "elapsed"
published = 1.0

[claim.of]
subject = "one by HTTP"
workload = "load"
levels = { requests_each = 1, environment = "vpn" }

[claim.to]
subject = "two by socket"
workload = "load"
levels = { requests_each = 1, environment = "vpn" }
"""


def expanded(folder: Path, text: str = TEXT, **options: Any) -> Study:
    return matrix.expand("mine", written(folder, text), command="again", seed=7, **options)


def test_a_family_is_compared_level_by_level(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    groups: dict[str, list[str | None]] = {}
    for case in study.cases:
        if case.scenario.twin_of is None:
            groups.setdefault(case.scenario.group, []).append(case.scenario.label)
            assert case.scenario.levels["workload"] == "load"
    assert set(groups) == {
        "load, 1 message each, over vpn",
        "load, 1 message each, over loopback",
        "load, 50 messages each, over loopback",
        "load, 50 messages each, over vpn",
    }
    one = groups["load, 1 message each, over vpn"]
    assert sorted(map(str, one)) == ["one by HTTP", "two by HTTP", "two by socket"]


def test_an_opened_connection_is_used_for_all_of_its_messages(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    case = study.case("two by socket: load, 1 message each, over vpn")
    assert (case.load.requests_per_connection, case.requests_each) == (1, 1)
    fifty = study.case("one by HTTP: load, 50 messages each, over loopback")
    assert (fifty.load.requests_per_connection, fifty.requests_each) == (50, 50)
    assert fifty.sources == ()
    plan = plans.plan_of(study, fifty, "http://127.0.0.1:1/", Pinning((), (), None))
    assert plan.times_setup
    kept = plan.model_copy(
        update={"load": plan.load.model_copy(update={"requests_per_connection": None})}
    )
    assert not kept.times_setup


def test_the_window_begins_where_the_connections_are_opened() -> None:
    late = summary().model_copy(update={"first_send_ns": SECOND_NS // 2, "measure_start_ns": 100})
    for times_setup, begin in ((True, 100), (False, SECOND_NS // 2)):
        found = judge.window_of(
            [interval(0)],
            late,
            warmup_allowance_ns=0,
            duration_ns=None,
            times_setup=times_setup,
        )
        assert (found.start_ns, found.end_ns) == (begin, SECOND_NS)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('label = "{subject} by HTTP"\n', "", "go together"),
        ('family = "load"\n', "", "go together"),
        ("requests_each = [1, 50]\n", "", "needs `requests_each`"),
        ('workload = "load"', 'workload = "lead"', "no such workload"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(UsageProblem, match=words):
        written(tmp_path, TEXT.replace(old, new, 1))
