"""Runs counted in messages: producers with their own part, levels, trials, floors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lab.test_matrix import written
from tests.lab.test_stall import counted
from wiretrial.errors import UsageProblem
from wiretrial.machine import links
from wiretrial.machine.pinning import Pinning
from wiretrial.plan import FixedContent, FixedPayload, Http, Load
from wiretrial.studies import admission, contracts, estimate, floors, matrix, plans, runner
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects.spec import Part
from wiretrial.subjects.verification import Verification
from wiretrial.subjects.verify import Outcome

TEXT = """
title = "Which?"
question = "Which of the two?"
subjects = ["one", "two"]
trials = 6

[[workload]]
name = "produce"
protocol = "http"
contract = "rest"
payload = "json"
connections = 10
requests_per_connection = [1, "kept"]
requests_each = [200, 1000]
delay_ms = [200]
environment = ["loopback", "vpn"]
server_threads = [28, 4]
trials = 1
quick = { requests_each = 3, subjects = ["one"] }

[[workload]]
name = "free"
protocol = "http"
contract = "rest"
connections = 10
requests_each = 1000
server_threads = [4]
"""


def expanded(folder: Path, text: str = TEXT, **options: Any) -> Study:
    return matrix.expand("mine", written(folder, text), command="again", seed=7, **options)


def test_kept_connections_are_a_level_beside_numbers(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    name = "one: produce, {}, 200 messages each, over vpn, 28 server threads"
    kept = study.case(name.format("kept connections"))
    fresh = study.case(name.format("1 per connection"))
    assert kept.load.requests_per_connection is None
    assert kept.sources == ()
    assert kept.scenario.levels["requests_per_connection"] == "kept"
    assert fresh.load.requests_per_connection == 1
    assert fresh.sources != ()
    assert (kept.requests_each, kept.messages) == (200, 2000)


def test_a_workload_may_want_fewer_trials(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    few = [case for case in study.cases if case.scenario.levels["workload"] == "produce"]
    assert {study.trials_of(case) for case in few} == {1}
    assert {case.scenario.trials for case in few} == {1}
    # The twin of the first scenario is measured as often as that.
    rest = len(study.cases) - len(few)
    assert runner.trials_wanted(study) == len(few) + 6 * rest
    needed = estimate.estimate(study)
    assert needed.block_ns < needed.blocks_ns < 6 * needed.block_ns
    assert expanded(tmp_path, trials=1).trials_of(study.cases[-1]) == 1


def test_more_trials_of_a_workload_are_the_same_study(tmp_path: Path) -> None:
    before = expanded(tmp_path, TEXT.replace("trials = 1\n", "trials = 2\n"))
    more = expanded(tmp_path, TEXT.replace("trials = 1\n", "trials = 3\n"))
    assert len(before.cases) == len(more.cases)
    assert more.digest() == before.digest()
    longer = TEXT.replace("trials = 1\n", "trials = 2\n").replace("each = 1000", "each = 1001")
    assert expanded(tmp_path, longer).digest() != before.digest()


def test_quick_has_its_own_numbers_of_messages(tmp_path: Path) -> None:
    quick = expanded(tmp_path, quick=True)
    few = [case for case in quick.cases if case.scenario.levels["workload"] == "produce"]
    assert {case.requests_each for case in few} == {3}
    assert {case.scenario.subject for case in few} == {"one"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("requests_each = 1000\n", "requests_each = 1000\nrequests = 5\n"),
        ("requests_each = 1000\n", "requests_each = 1000\nrate = 5\n"),
        ("requests_each = 1000\n", "requests_each = 1000\nknee = {}\n"),
        ('[1, "kept"]', '[1, "lost"]'),
        ("trials = 1\n", "trials = 0\n"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(UsageProblem, match=r"study\.toml"):
        written(tmp_path, TEXT.replace(old, new, 1))


def study_of(case: Case) -> Study:
    return Study(
        name="s",
        title="T",
        question="Q",
        command="c",
        cases=(case,),
        seed=1,
        duration_ns=1,
        warmup_allowance_ns=1,
    )


def test_each_producer_has_its_own_part_of_the_plan() -> None:
    case = counted()
    study = study_of(case)
    plan = plans.plan_of(study, case, "http://127.0.0.1:1/", Pinning((), (), None))
    assert (plan.stop.requests_each, plan.stop.requests, plan.stop.duration_ns) == (200, None, None)
    assert plan.phases.warmup_ns == 0
    # The watch ends a stall; a producer may wait its turn.
    assert plan.phases.timeout_ns > 3_600_000_000_000
    timed = plans.plan_of(
        study, case.model_copy(update={"requests_each": None}), "http://127.0.0.1:1/",
        Pinning((), (), None),
    )  # fmt: skip
    assert timed.phases.timeout_ns == 10_000_000_000


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ("loopback", 10),
        ("link:delay=10ms,rate=50mbit", 10),
        ("link:delay=10ms,rate=50mbit,loss=1%/8", 120),
        ("link:up:delay=10ms down:delay=10ms,loss=1%", 120),
        ("4g", 120),
    ],
)
def test_a_link_that_loses_may_take_long_until_all_stands(environment: str, seconds: int) -> None:
    case = counted().model_copy(update={"requests_each": None})
    there = case.scenario.model_copy(update={"environment": environment})
    study = study_of(case)
    plan = plans.plan_of(
        study,
        case.model_copy(update={"scenario": there}),
        "http://127.0.0.1:1/",
        Pinning((), (), None),
    )
    assert plan.phases.connect_ns == seconds * 1_000_000_000


@pytest.mark.parametrize(
    ("threads", "environment", "fresh", "protocol", "seconds"),
    [
        (28, "loopback", True, "http", 40),
        (4, "loopback", True, "http", 100),
        (28, "vpn", True, "http", 60.8),
        (28, "vpn", True, "https", 71.2),
        (28, "vpn", False, "http", 50.4),
        (4, "vpn", True, "http", 100),
        (28, "link:delay=100ms", False, "http", 80),
    ],
)
def test_a_case_has_the_floor_of_its_work_and_its_path(
    threads: int, environment: str, fresh: bool, protocol: str, seconds: float
) -> None:
    case = counted(delay_ms=200, threads=threads, environment=environment)
    load = Load(connections=10, requests_per_connection=1 if fresh else None)
    case = case.model_copy(update={"load": load, "protocol": protocol})
    found = floors.floor_of(case)
    assert found is not None
    assert found.ns == pytest.approx(seconds * 1e9)


def test_quic_is_set_up_in_one_round_trip() -> None:
    case = counted(delay_ms=200, threads=28, environment="vpn")
    load = Load(connections=10, requests_per_connection=1)
    fresh = {"load": load, "protocol": "https", "http": Http(version="3")}
    found = floors.floor_of(case.model_copy(update=fresh))
    assert found is not None
    # As long as without TLS over TCP.
    assert found.ns == pytest.approx(60.8e9)


def test_a_trial_carries_its_floor(tmp_path: Path) -> None:
    told = {case.scenario.group: case.scenario for case in expanded(tmp_path).cases}
    some = told["produce, 1 per connection, 1,000 messages each, over vpn, 28 server threads"]
    assert some.floor_ns == pytest.approx(304e9)
    assert some.floor_formula == "1000 x (200 ms + 104 ms)"
    assert told["free"].floor_ns is None


@pytest.mark.parametrize(
    ("link", "milliseconds"),
    [
        ("vpn", 52),
        ("broadband-far", 105),
        ("delay=5ms,rate=1mbit", 10),
        ("up:delay=20ms down:delay=30ms,jitter=1ms", 50),
        ("rate=1mbit", 0),
    ],
)
def test_a_link_s_round_trip_is_both_delays(link: str, milliseconds: int) -> None:
    assert links.Link.parse(link).round_trip_ns == milliseconds * 1_000_000


def test_the_body_of_the_contract_rest_may_be_json() -> None:
    import base64
    import json

    asked = contracts.request("rest", "json")
    assert isinstance(asked.message.source, FixedPayload)
    assert isinstance(asked.expect.content, FixedContent)
    sent = base64.b64decode(asked.message.source.base64)
    assert len(sent) == 64
    assert json.loads(sent)
    assert base64.b64decode(asked.expect.content.base64) == b"received: " + sent
    assert asked.http.headers == (("Content-Type", "application/json"),)


def failing(part: Part, known: str | None) -> Verification:
    """Everything that `rest` needs holds, but for one part."""
    parts: tuple[Part, ...] = (*("exchange", "many", "half-open", "concurrency", "delay", "pool"),)
    outcomes = [
        Outcome(
            contract="rest",
            protocol="http",
            part=one,
            check=one,
            problem="no" if one == part else None,
            known=known if one == part else None,
        )
        for one in parts
    ]
    key = dict.fromkeys(("digest", "version", "engine", "checks"), "-")
    return Verification.model_validate(
        {"of": {**key, "configuration": "default"}, "at": "-", "outcomes": outcomes}
    )


def kept(delay_ms: int, threads: int, **more: object) -> Case:
    case = counted(delay_ms=delay_ms, threads=threads)
    return case.model_copy(update={"load": Load(connections=10), **more})


@pytest.mark.parametrize("part", ["many", "half-open", "concurrency", "pool"])
def test_a_crowd_that_is_known_not_to_be_served_is_what_the_case_asks(part: Part) -> None:
    case = kept(200, 4)
    assert admission.refusal(case, failing(part, "its tracker says so")) is None
    unknown = admission.refusal(case, failing(part, None))
    assert unknown is not None
    assert part in unknown
    timed = case.model_copy(update={"requests_each": None})
    assert admission.refusal(timed, failing(part, "its tracker says so")) is not None


@pytest.mark.parametrize("part", ["exchange", "delay"])
def test_what_concerns_no_crowd_is_never_forgiven(part: Part) -> None:
    assert admission.refusal(kept(200, 4), failing(part, "its tracker says so")) is not None


@pytest.mark.parametrize(("threads", "admitted"), [(28, True), (10, True), (9, False)])
def test_with_a_thread_for_each_there_is_no_crowd(threads: int, admitted: bool) -> None:
    timed = kept(0, threads, requests_each=None)
    refused = admission.refusal(timed, failing("concurrency", "a thread per connection"))
    assert (refused is None) is admitted
