"""Held connections, copies, bursts, compression in studies: what is expanded, what is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lab.conftest import Children
from tests.lab.test_matrix import written
from tests.lab.trials import SECOND_NS, interval, summary
from tests.lab.trials import trial as made_up
from wiretrial.engine import Engine
from wiretrial.errors import UsageProblem
from wiretrial.machine import preflight
from wiretrial.machine.pinning import Pinning
from wiretrial.plan import ClosedLoop, Deflate, Hold, Load, Plan, RandomBurst, Stop, Target
from wiretrial.report import html, markdown, model, text
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import admission, estimate, events, judge, matrix, plans, runner
from wiretrial.studies.spec import Study, parse
from wiretrial.subjects import needs

TEXT = """
title = "Which?"
question = "Which holds the most?"
subjects = ["reference"]
trials = 2

[[workload]]
name = "held"
protocol = "ws"
contract = "ws-echo"
connections = [200, 400]
hold = "300ms"
copies = 2
quick = { connections = [100], hold = "100ms" }

[[workload]]
name = "bursts"
protocol = "ws"
protocol_of = { socket-io = "socketio+ws" }
contract = "ws-echo"
payload = 20
connections = 50
pack = [10, 1]
pattern = ["steady", "random-burst"]
duration = "300ms"
warmup = "100ms"
subjects = ["reference", "socket-io"]

[[workload]]
name = "compressed"
protocol = "ws"
contract = "ws-echo"
payload = 4096
deflate = [true, false]
duration = "300ms"
warmup = "100ms"
subjects = ["reference:deflate"]

[[workload]]
name = "large"
protocol = "ws"
contract = "ws-echo"
payload = 1048576
connections = 1
requests = 3
rank = "bandwidth"
"""

HELD = "reference: held, {} connections"


def expanded(folder: Path, source: str = TEXT, **options: Any) -> Study:
    return matrix.expand("mine", written(folder, source), command="again", seed=7, **options)


def test_held_connections_are_a_load_of_their_own(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    case = study.case(HELD.format(400))
    assert case.load == Load(connections=400, executor=Hold(idle_ns=300_000_000))
    assert (case.is_held, case.is_counted, case.copies) == (True, False, 2)
    assert case.scenario.ranked_by == "connect_rate"
    assert "held idle for 0.3 s" in case.scenario.workload
    assert needs.needed_parts(admission.workload_of(case)) >= {"ping", "half-open"}
    assert expanded(tmp_path, quick=True).case("reference: held").load.connections == 100


def test_sources_are_as_many_as_ports_ask_for(tmp_path: Path) -> None:
    case = expanded(tmp_path).case(HELD.format(200))
    assert case.sources == ()
    many = expanded(tmp_path, TEXT.replace("[200, 400]", "[100000]")).case("reference: held")
    assert len(many.sources) * 12_000 >= 100_000
    assert len(set(many.sources)) == len(many.sources)
    assert not any(source.startswith("127.0.16.") for source in many.sources)


def test_a_pack_is_in_flight_whole_and_a_burst_has_no_depth(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    steady = study.case("reference: bursts, steady, packs of 10")
    burst = study.case("reference: bursts, random bursts, packs of 10")
    assert steady.load == Load(connections=50, depth=10, pack=10, executor=ClosedLoop())
    assert burst.load == Load(connections=50, depth=10, pack=10, executor=RandomBurst())
    assert burst.scenario.levels["pattern"] == "random-burst"
    twins = [case.scenario for case in study.cases if case.scenario.twin_of]
    assert twins
    assert {twin.ranked_by for twin in twins} <= {None, "server"}


def test_a_subject_may_carry_the_contract_over_another_protocol(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    case = study.case("socket-io: bursts, steady, packs of 10")
    assert case.protocol == case.scenario.protocol == "socketio+ws"
    assert case.message.kind == "text"
    ours = study.case("reference: bursts, steady, packs of 10")
    assert (ours.protocol, ours.scenario.group) == ("ws", case.scenario.group)


def test_compression_is_a_factor(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    on = study.case("reference:deflate: compressed, compressed")
    off = study.case("reference:deflate: compressed, as they are")
    assert (on.websocket.deflate, off.websocket.deflate) == (Deflate(), None)
    assert on.scenario.levels["deflate"] == "on"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('hold = "300ms"', 'hold = "300ms"\nrate = 5', "`rate` is for workloads with an open loop"),
        ('hold = "300ms"', 'hold = "0ms"', "greater than 0"),
        ("copies = 2", 'copies = 2\nenvironment = "vpn"', "copies are on addresses of loopback"),
        ("copies = 2", 'copies = "many"', "copies"),
        ("pack = [10, 1]", "depth = 4", "a burst is one pack for each kept connection"),
        ("payload = 4096\n", 'payload = 4096\nprotocol_of = { reference = "http" }\n', "not kept"),
        ('rank = "bandwidth"', 'rank = "beauty"', "rank"),
    ],
)
def test_what_excludes_each_other_is_refused(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in TEXT
    with pytest.raises(UsageProblem, match=words):
        written(tmp_path, TEXT.replace(old, new, 1))


def test_a_plan_has_a_thread_for_each_table_and_ends_when_all_were_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "_descriptors", lambda: 300)
    study = expanded(tmp_path)
    case = study.case(HELD.format(400))
    plan = plans.plan_of(study, case, "ws://h:1/", Pinning((), (), None), ("127.0.16.1:1",))
    assert plan.generator.threads == 2
    assert plan.stop.requests == 400
    assert plan.stop.duration_ns is not None
    assert plan.target.addresses == ("127.0.16.1:1",)
    assert preflight.copies_for(400) == 10, "44 each, beside what a server holds itself"


def test_what_this_machine_cannot_hold_is_told_with_what_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    monkeypatch.setattr(preflight, "_files", lambda: 600)
    study = expanded(tmp_path, only=["reference: held*"])
    folder = ResultsFolder.create(tmp_path / "r", "mine", study.model_dump_json(by_alias=True))
    seen = runner.run(study, folder, engine)
    refused = next(event for event in seen if isinstance(event, events.Unavailable))
    assert refused.reason == (
        "reference: held, 400 connections is not measured: needs 800 open files, 600 are available;"
        " about 300 connections would fit"
    )


def test_time_is_estimated_from_their_number(tmp_path: Path) -> None:
    few = estimate.estimate(expanded(tmp_path, only=["reference: held, 2*"])).block_ns
    many = TEXT.replace("[200, 400]", "[200, 400000]")
    more = estimate.estimate(expanded(tmp_path, many, only=["reference: held, 4*"])).block_ns
    assert more > few + 30 * SECOND_NS


def opening(**changes: Any) -> tuple[Plan, judge.Known]:
    load = Load(connections=100, executor=Hold())
    plan = Plan(target=Target(url="ws://h/"), load=load, stop=Stop(requests=100, **changes))
    return plan, judge.Known()


@pytest.mark.parametrize(
    ("ok", "closed", "words"),
    [
        (100, {}, None),
        (99, {}, "99 of 100 connections were shown to be alive"),
        (100, {"server": 3}, "the server closed 3 of 100 held connections"),
        (100, {"reset": 1}, "1 reset of 0 connections broke"),
    ],
)
def test_connections_count_as_held_only_where_all_stay_and_answer(
    ok: int, closed: dict[str, int], words: str | None
) -> None:
    plan, known = opening()
    whole = summary(ok=ok)
    whole = whole.model_copy(
        update={
            "connect_start_ns": 5,
            "connected_ns": 50_000_000,
            "connections": whole.connections.model_copy(update={"closed": closed}),
        }
    )
    window = judge.window_of(
        [interval(0)], whole, warmup_allowance_ns=0, duration_ns=None, is_opening=True
    )
    assert (window.start_ns, window.end_ns) == (5, 50_000_000)
    found = judge.judge([interval(0)], whole, window, plan, known)
    assert found.verdict == ("invalid" if words else "valid")
    if words:
        assert words in found.evidence


@pytest.fixture(scope="module")
def measured(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> list[Trial]:
    """One trial of each kind, for real."""
    folder = tmp_path_factory.mktemp("held")
    wanted = ["reference: held*", "reference: bursts*", "reference:deflate: *", "reference: large"]
    study = expanded(folder, trials=1, only=wanted)
    results = ResultsFolder.create(folder, "mine", study.model_dump_json(by_alias=True))
    seen = list(runner.run(parse(results.document()), results, engine))
    assert [event for event in seen if isinstance(event, events.TrialFailed)] == []
    assert [event for event in seen if isinstance(event, events.Unavailable)] == []
    return results.trials()


def of(measured: list[Trial], name: str) -> Trial:
    return next(trial for trial in measured if trial.scenario.name == name)


@pytest.mark.alone
def test_copies_hold_what_is_opened_and_all_are_alive(
    measured: list[Trial], children: Children
) -> None:
    trial = of(measured, HELD.format(400))
    assert trial.subject is not None
    assert trial.subject.copies == 2
    assert len(set(trial.start.addresses)) == 2
    assert trial.judgement.verdict in ("valid", "client-bound"), trial.judgement.evidence
    assert trial.summary.counters.ok == 400
    assert trial.summary.connections.open == 400
    assert trial.summary.connected_ns is not None
    assert trial.summary.first_send_ns - trial.summary.connected_ns >= 300_000_000
    assert (trial.window.rule, trial.window.end_ns) == (judge.OPENING, trial.summary.connected_ns)
    assert trial.observation is not None
    named = {plateau.name: plateau for plateau in trial.observation.plateaus}
    assert (named["before"].connections, named["connected"].connections) == (0, 400)
    assert trial.observation.per_connection is not None
    assert children() == []


@pytest.mark.alone
def test_bursts_and_steady_loops_are_measured_alike(measured: list[Trial]) -> None:
    for pattern in ("steady", "random bursts"):
        trial = of(measured, f"reference: bursts, {pattern}, packs of 10")
        assert trial.summary.counters.ok > 0
        assert trial.summary.counters.errors == {}
        assert trial.judgement.verdict in ("valid", "client-bound"), trial.judgement.evidence


@pytest.mark.alone
def test_compression_is_agreed_upon_where_it_is_asked_for(measured: list[Trial]) -> None:
    on = of(measured, "reference:deflate: compressed, compressed")
    off = of(measured, "reference:deflate: compressed, as they are")
    assert on.start.deflate
    assert not off.start.deflate
    each = [t.summary.bytes.application_sent / t.summary.counters.sent for t in (on, off)]
    assert each[0] < each[1]


@pytest.mark.alone
def test_every_form_of_the_report_shows_what_was_held(measured: list[Trial]) -> None:
    found = model.build(measured, question="Which?", title="Held", command="again")
    held = [group for group in found.groups if "held" in group.title]
    assert [group.contest.metric.key for group in held] == ["connect_rate"] * 2
    large = next(group for group in found.groups if "large" in group.title)
    assert large.contest.metric.key == "bandwidth"
    for shown in (
        text.render(found, width=160, colour=False),
        markdown.render(found),
        html.render(found),
    ):
        assert "Held connections" in shown
        assert "2 x 1" in shown


def test_a_made_up_trial_without_set_up_has_no_rate() -> None:
    rows = model.build([made_up()], question="q", title="t", command="c").scenarios
    assert "connect_rate" not in rows[0].estimates
