"""Rates that earlier trials decide, from made-up records."""

from __future__ import annotations

import pytest

from tests.lab import trials
from wiretrial.plan import Load, OpenLoop, SequencePayload
from wiretrial.results.model import Judgement, Trial
from wiretrial.results.searches import Step
from wiretrial.snapshot import FlowFigures, TrafficFigures, TrafficNames
from wiretrial.studies import rates
from wiretrial.studies.contracts import case
from wiretrial.studies.fields import Knee
from wiretrial.studies.spec import RateFrom


def closed(name: str, rate: int, block: int = 0) -> Trial:
    """A trial of `name` that reached `rate`."""
    made = trials.trial(block=block, name=name)
    intervals = tuple(trials.interval(index, ok=rate // 10) for index in range(10))
    return made.model_copy(update={"intervals": intervals})


def offered(rate: float, answered: float, waiting: int = 0) -> Trial:
    """A trial at `rate` with so many answers; the line grows by `waiting` each 100 ms."""
    made = trials.trial(name=f"knee at {rate:g}/s")
    intervals = tuple(
        interval.model_copy(
            update={
                "counters": interval.counters.model_copy(
                    update={"ok": round(answered / 10), "waiting": waiting * interval.index}
                )
            }
        )
        for interval in made.intervals
    )
    load = Load(connections=1, executor=OpenLoop(rate=rate))
    plan = made.plan.model_copy(update={"load": load})
    return made.model_copy(update={"intervals": intervals, "plan": plan})


def test_the_rate_of_sessions_counts_those_and_not_their_requests() -> None:
    requests = closed("a", 30_000)
    flows = TrafficFigures(routes=(), flows=(FlowFigures(begun=1000, done=1000),))
    intervals = tuple(one.model_copy(update={"traffic": flows}) for one in requests.intervals)
    names = TrafficNames(routes=("a", "b", "c"), flows=("visit",))
    start = requests.start.model_copy(update={"traffic": names})
    sessions = requests.model_copy(update={"intervals": intervals, "start": start})
    wanted = RateFrom(scenarios=("a",), share=0.5)
    assert rates.common(wanted, [requests]) == 15_000
    assert rates.common(wanted, [sessions]) == 5_000


KNEE = Knee(first=1000, ceiling=100_000)


def step(trial: Trial) -> Step:
    """What a search is told of it."""
    return rates.step(KNEE, trial)


def test_a_rate_of_sessions_is_kept_where_as_many_begin_as_are_due() -> None:
    """Of three requests each; that one fails, and that a session ends later, is no more of them."""
    names = TrafficNames(routes=("a", "b", "c"), flows=("visit",))

    def come(begun: int, failed: int = 0) -> Trial:
        made = offered(1000, 3000)
        told = FlowFigures(begun=begun, done=90, failed={"mismatch": failed})
        figures = TrafficFigures(routes=(), flows=(told,))
        intervals = tuple(one.model_copy(update={"traffic": figures}) for one in made.intervals)
        start = made.start.model_copy(update={"traffic": names})
        return made.model_copy(update={"intervals": intervals, "start": start})

    assert step(come(100)).achieved == 1000
    assert step(come(100, failed=2)).achieved == 980
    slow = rates.refused(KNEE, step(come(80)))
    assert slow is not None
    assert slow.text == "80.0 % of the offered rate was answered"


def test_the_common_rate_is_a_share_of_the_slowest_to_two_digits() -> None:
    wanted = RateFrom(scenarios=("a", "b"), share=0.6)
    measured = [closed("a", 90_000), closed("b", 20_000), closed("b", 21_130), closed("b", 30_000)]
    assert rates.common(wanted, [*measured, closed("c", 10)]) == 12_000
    assert rates.common(wanted, []) is None


def test_an_invalid_trial_decides_no_rate() -> None:
    bad = closed("a", 10).model_copy(
        update={"judgement": Judgement(verdict="invalid", bottleneck="unknown", evidence="e")}
    )
    wanted = RateFrom(scenarios=("a",), share=0.5)
    assert rates.common(wanted, [bad, closed("a", 1000)]) == 500


@pytest.mark.parametrize(
    ("trial", "reason"),
    [
        (offered(1000, 1000), "objective"),
        (offered(1000, 980), "achieved"),
        (offered(1000, 995, waiting=10), "backlog"),
    ],
)
def test_a_trial_tells_whether_its_rate_was_sustained(trial: Trial, reason: str) -> None:
    """No times were recorded, so the objective can't be told: that is no success either."""
    found = rates.refused(KNEE, step(trial))
    assert found is not None
    assert found.reason == reason


def test_a_search_goes_on_from_what_is_stored() -> None:
    knee = Knee(first=1000, ceiling=64_000)
    steps = [step(offered(rate, rate / 2)) for rate in (1000, 1000, 500, 500)]
    found = rates.search(knee, 5 * trials.SECOND_NS, steps)
    assert found.high == 500
    assert found.next_rate() == 250


def test_a_search_that_goes_on_or_has_sustained_nothing_has_found_none() -> None:
    assert rates.search(KNEE, trials.SECOND_NS, [step(offered(2000, 1000))]).confirmed is None
    ended = 2 * [step(offered(rate, rate / 2)) for rate in (1100, 1100)]
    assert rates.search(KNEE, trials.SECOND_NS, ended).phase == "done"
    assert rates.search(KNEE, trials.SECOND_NS, ended).confirmed is None


@pytest.mark.parametrize(
    ("top", "share", "rate"),
    [(20_000, 0.15, 3000), (23_629, 0.6, 14_000), (31, 0.5, 15), (0, 0.5, None)],
)
def test_a_level_is_a_share_of_what_was_found_to_two_digits(
    top: float, share: float, rate: float | None
) -> None:
    assert rates.below(top, share) == (rate if rate is None else pytest.approx(rate))


@pytest.mark.parametrize(("tolerance", "steps"), [(0.05, 16), (0.1, 14), (0.25, 12), (0.9, 10)])
def test_a_search_that_looks_less_closely_takes_fewer_steps(tolerance: float, steps: int) -> None:
    assert rates.steps_of(Knee(tolerance=tolerance)) == steps


def test_an_overloaded_step_is_what_a_search_looks_for() -> None:
    """Its rate was not sustained, and what it reached still tells what all sustain."""
    beyond = offered(2000, 1000, waiting=100).model_copy(
        update={"judgement": Judgement(verdict="overloaded", bottleneck="server", evidence="e")}
    )
    found = rates.refused(KNEE, step(beyond))
    assert found is not None
    assert found.reason == "achieved"
    search = rates.search(KNEE, 5 * trials.SECOND_NS, 2 * [step(beyond)])
    assert search.high == 2000


def test_a_search_goes_no_lower_than_where_the_quantile_can_be_told() -> None:
    knee = Knee(first=1000, quantile=0.99)
    length = 2 * trials.SECOND_NS
    refused = 2 * [step(offered(1000, 1))]
    lowest = rates.search(knee, length, refused).next_rate()
    assert lowest is not None
    assert lowest == pytest.approx(550)
    found = rates.search(knee, length, refused + 2 * [step(offered(lowest, 1))])
    assert found.next_rate() is None
    assert rates.search(Knee(first=10), length, []).next_rate() == lowest


def test_a_step_has_its_rate_in_its_name_and_its_levels() -> None:
    plain = case(
        name="mine: knee",
        subject="mine",
        configuration="default",
        protocol="ws",
        contract="ws-echo",
        payload=SequencePayload(bytes=20),
        load=Load(connections=1, executor=OpenLoop(rate=1)),
        workload="knee",
    ).model_copy(update={"knee": Knee()})
    step = rates.at_rate(plain, 12_500)
    assert step.scenario.name == "mine: knee at 12,500/s"
    assert step.scenario.search == "mine: knee"
    assert step.scenario.levels["rate"] == 12_500
    assert isinstance(step.load.executor, OpenLoop)
    assert step.load.executor.rate == 12_500
