"""A server that compiles itself as it runs is asked before its trial, and only such a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab import trials
from tests.lab.test_study import LOAD, scenario, tiny
from wiretrial.engine import Engine
from wiretrial.machine.pinning import Pinning
from wiretrial.plan import Hold, OpenLoop
from wiretrial.results.store import ResultsFolder
from wiretrial.snapshot import FlowFigures, Interval, TrafficFigures
from wiretrial.studies import estimate, events, plans, priming, runner
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import registry

SECOND_NS = 1_000_000_000
RATE = 50.0

NODE = scenario("Node", "ws", "ws", "ws-echo")
REFERENCE = scenario("reference", "reference", "ws", "ws-echo")
PACED = NODE.model_copy(update={"load": LOAD.model_copy(update={"executor": OpenLoop(rate=RATE)})})
HELD = NODE.model_copy(update={"load": LOAD.model_copy(update={"executor": Hold(idle_ns=1)})})


def priming_of(study: Study) -> int:
    [case] = priming.primed(study).cases
    return case.priming_ns


def test_it_lasts_as_long_as_the_subject_asks_for_and_no_longer_than_the_trial() -> None:
    asked = round(registry.find("ws").spec.priming_s * SECOND_NS)
    assert asked > 0
    assert priming_of(tiny(NODE, duration_ns=60 * SECOND_NS)) == asked
    assert priming_of(tiny(NODE, duration_ns=SECOND_NS)) == SECOND_NS


def test_a_study_may_ask_for_more_than_a_trial_lasts() -> None:
    """Trials may be shorter than a JVM takes to compile what it runs."""
    study = tiny(NODE, duration_ns=SECOND_NS // 10)
    asked = round(registry.find("ws").spec.priming_s * SECOND_NS)
    for most, is_primed in ((SECOND_NS, SECOND_NS), (60 * SECOND_NS, asked)):
        [case] = priming.primed(study, most).cases
        assert case.priming_ns == is_primed


def test_what_is_compiled_before_it_runs_is_not_primed() -> None:
    assert priming_of(tiny(REFERENCE)) == 0


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(HELD, id="held connections, whose memory is measured"),
        pytest.param(NODE.model_copy(update={"url": "ws://127.0.0.1:1/"}), id="an own server"),
        pytest.param(scenario("nobody", "nobody", "ws", "ws-echo"), id="a subject that is not"),
    ],
)
def test_nor_is(case: Case) -> None:
    assert priming_of(tiny(case)) == 0


def test_the_estimate_has_it() -> None:
    study = tiny(NODE)
    more = estimate.estimate(priming.primed(study)).block_ns - estimate.estimate(study).block_ns
    assert more == study.duration_ns


@pytest.fixture(scope="module")
def seen(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> list[events.Event]:
    """All that one trial of a paced load tells."""
    study = priming.primed(tiny(PACED, trials=1, duration_ns=SECOND_NS))
    folder = tmp_path_factory.mktemp("primed")
    results = ResultsFolder.create(folder, "tiny", study.model_dump_json(by_alias=True))
    return list(runner.run(study, results, engine))


def test_it_is_as_fast_as_the_server_answers(seen: list[events.Event]) -> None:
    intervals = [event.snapshot for event in seen if isinstance(event, events.Seen)]
    before = [
        interval.counters.ok
        for interval in intervals
        if interval.kind == "interval" and interval.phase == "warm-up"
    ]
    # Without pause: more in a tenth of a second than the rate has in a whole one.
    assert max(before) > RATE


def test_nothing_of_it_is_recorded(seen: list[events.Event]) -> None:
    [record] = [event.trial for event in seen if isinstance(event, events.TrialDone)]
    assert record.subject is not None
    assert record.subject.primed_ns == SECOND_NS
    assert isinstance(record.plan.load.executor, OpenLoop)
    whole_s = (record.summary.end_ns - record.summary.first_send_ns) / 1e9
    assert record.summary.counters.sent <= RATE * whole_s + 1
    assert {interval.index for interval in record.intervals} == set(range(len(record.intervals)))


def test_memory_is_not_told_of_a_server_that_has_grown_already(seen: list[events.Event]) -> None:
    [record] = [event.trial for event in seen if isinstance(event, events.TrialDone)]
    assert record.observation is not None
    assert record.observation.plateaus
    assert record.observation.per_connection is None


def test_new_connections_have_ports_enough() -> None:
    study = tiny(NODE)
    kept = plans.plan_of(study, NODE, "ws://127.0.0.1:1/", Pinning((), (), None))
    fresh = kept.model_copy(
        update={"load": kept.load.model_copy(update={"requests_per_connection": 1})}
    )
    sources = ("127.0.1.1", "127.0.1.2")
    assert priming.without_pause(kept, SECOND_NS, sources).target.sources == ()
    assert priming.without_pause(fresh, SECOND_NS, sources).target.sources == sources


@pytest.mark.parametrize(("depth", "pack", "primed"), [(1, 1, 1), (2000, 1, 10), (100, 50, 50)])
def test_it_leaves_no_backlog(depth: int, pack: int, primed: int) -> None:
    plan = plans.plan_of(tiny(NODE), NODE, "ws://127.0.0.1:1/", Pinning((), (), None))
    deep = plan.model_copy(
        update={"load": plan.load.model_copy(update={"depth": depth, "pack": pack})}
    )
    assert priming.without_pause(deep, SECOND_NS, ()).load.depth == primed


@pytest.mark.parametrize(
    ("connections", "users", "few", "of_users"), [(32, None, 2, None), (32, 64, 2, 2), (1, 1, 1, 1)]
)
def test_few_connections_may_ask(
    connections: int, users: int | None, few: int, of_users: int | None
) -> None:
    plan = plans.plan_of(tiny(NODE), NODE, "ws://127.0.0.1:1/", Pinning((), (), None))
    load = plan.load.model_copy(update={"connections": connections, "users": users})
    primed = priming.on_few(plan.model_copy(update={"load": load}), 2).load
    assert (primed.connections, primed.users) == (few, of_users)


def test_a_study_without_few_is_the_study_that_it_was() -> None:
    study = tiny(NODE)
    assert priming.primed(study).digest() == priming.primed(study, connections=None).digest()
    assert priming.primed(study).digest() != priming.primed(study, connections=2).digest()
    [compiled] = priming.primed(tiny(REFERENCE), connections=2).cases
    assert compiled.priming_connections is None


@pytest.mark.parametrize(
    ("answered", "rate"),
    [
        pytest.param(1e6, 8 * RATE, id="far more than the trial's"),
        pytest.param(6 * RATE, 3 * RATE, id="half of it leaves pauses"),
        pytest.param(1.5 * RATE, RATE, id="the trial's own is closer to it than that"),
    ],
)
def test_what_may_wait_is_compiled_anew_before_the_trial(answered: float, rate: float) -> None:
    study = priming.primed(tiny(PACED), connections=2, at_rate_ns=SECOND_NS)
    [case] = study.cases
    plan = plans.plan_of(study, case, "ws://127.0.0.1:1/", Pinning((), (), None))
    paced = priming.at_rate(plan, case.priming_at_rate_ns, (), answered)
    assert paced
    assert paced.load.executor == OpenLoop(rate=rate)
    assert paced.load.connections == plan.load.connections
    assert paced.phases.warmup_ns == SECOND_NS
    assert case.primed_ns == case.priming_ns + SECOND_NS


def second(index: int, ok: int, done: int | None = None) -> Interval:
    """One of a load's seconds, in which `done` sessions were whole."""
    flows = (FlowFigures(done=done),) if done is not None else ()
    traffic = TrafficFigures(routes=(), flows=flows) if flows else None
    told = trials.interval(index, ok=ok, step_ns=SECOND_NS)
    return told.model_copy(update={"traffic": traffic})


@pytest.mark.parametrize(
    ("seen", "answered"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([second(0, 10), second(1, 70)], 70, id="where it is fastest"),
        pytest.param([second(0, 70, 7), second(1, 90, 9)], 9, id="whole sessions"),
    ],
)
def test_what_it_answers_is_learned_without_pause(seen: list[Interval], answered: float) -> None:
    assert priming.answered_in(seen) == answered


@pytest.mark.parametrize(
    "case", [pytest.param(NODE, id="no rate"), pytest.param(REFERENCE, id="compiled before")]
)
def test_without_a_rate_nothing_waits(case: Case) -> None:
    [primed] = priming.primed(tiny(case), at_rate_ns=SECOND_NS).cases
    assert primed.priming_at_rate_ns == 0


def test_a_study_without_a_rate_before_its_trials_is_the_study_that_it_was() -> None:
    study = tiny(PACED)
    assert priming.primed(study).digest() != priming.primed(study, at_rate_ns=SECOND_NS).digest()
    closed = tiny(NODE)
    assert priming.primed(closed).digest() == priming.primed(closed, at_rate_ns=1).digest()


def test_the_estimate_has_the_load_at_a_rate() -> None:
    once, twice = (
        estimate.estimate(priming.primed(tiny(PACED), at_rate_ns=at_rate_ns)).block_ns
        for at_rate_ns in (0, SECOND_NS)
    )
    assert twice - once >= SECOND_NS


@pytest.mark.parametrize(
    "case", [pytest.param(PACED, id="at a rate"), pytest.param(NODE, id="at full speed")]
)
def test_both_loads_come_before_the_trial(case: Case, engine: Engine, tmp_path: Path) -> None:
    """The first on few connections, the second on the trial's own."""
    half_ns = SECOND_NS // 2
    study = priming.primed(
        tiny(case, trials=1, duration_ns=half_ns),
        connections=2,
        at_rate_ns=half_ns,
        at_full_speed_ns=half_ns,
    )
    results = ResultsFolder.create(tmp_path, "tiny", study.model_dump_json(by_alias=True))
    told = list(runner.run(study, results, engine))
    [record] = [event.trial for event in told if isinstance(event, events.TrialDone)]
    assert record.subject is not None
    assert record.subject.primed_ns == SECOND_NS
    opened: list[int] = []
    for event in told:
        if isinstance(event, events.Seen) and event.snapshot.kind == "interval":
            if event.snapshot.index == 0:
                opened.append(0)
            opened[-1] += event.snapshot.connections.opened
    assert opened == [2, LOAD.connections, LOAD.connections]


@pytest.mark.parametrize(
    ("case", "length_ns"),
    [
        pytest.param(NODE, SECOND_NS, id="no rate"),
        pytest.param(PACED, 0, id="a rate"),
        pytest.param(REFERENCE, 0, id="compiled before"),
    ],
)
def test_full_speed_on_all_connections_comes_after_few(case: Case, length_ns: int) -> None:
    study = tiny(case)
    few = priming.primed(study, connections=2)
    then_all = priming.primed(study, connections=2, at_full_speed_ns=SECOND_NS)
    [primed] = then_all.cases
    assert primed.priming_at_full_speed_ns == length_ns
    assert primed.primed_ns == primed.priming_ns + length_ns
    assert (few.digest() == then_all.digest()) == (not length_ns)
    longer = estimate.estimate(then_all).block_ns - estimate.estimate(few).block_ns
    assert longer >= length_ns


def test_all_connections_from_the_beginning_are_enough() -> None:
    [primed] = priming.primed(tiny(NODE), at_full_speed_ns=SECOND_NS).cases
    assert primed.priming_at_full_speed_ns == 0
