"""Declared contrasts, what is exploratory beside them, and the marks of best and worst."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.report.synthetic import DEMO, demo_trials
from wiretrial.report import contest as contests
from wiretrial.report import leading, metrics
from wiretrial.report.contest import Contest, Pair
from wiretrial.report.scenarios import ScenarioResult, scenario_results
from wiretrial.results.model import Trial
from wiretrial.stats.compare import holm, verdict
from wiretrial.stats.ranks import Ranking
from wiretrial.stats.scatter import Scatter


def contest(order: str, *shown: str) -> Contest:
    """Names of one letter, best estimate first; `ab`: a is shown to be better than b."""
    pairs = [
        Pair(a, b, metrics.ELAPSED, None, "A faster" if a + b in shown else "no difference shown")
        for place, a in enumerate(order)
        for b in order[place + 1 :]
    ]
    ranking = Ranking(tuple(order), dict.fromkeys(order, 1), ())
    return Contest(metrics.ELAPSED, ranking, {"elapsed": tuple(pairs)}, ranking)


@pytest.mark.parametrize(
    ("order", "shown", "best", "worst"),
    [
        ("abc", ("ab", "ac"), "a", ""),
        ("abc", ("ac", "bc"), "", "c"),
        ("abc", ("ab", "ac", "bc"), "a", "c"),
        # One of three may be as good as the first and as bad as the last.
        ("abc", ("ac",), "", ""),
        ("abcd", ("ac", "ad", "bc", "bd"), "ab", "cd"),
        # A narrow interval loses to the first, a wide one behind it does not.
        ("abcd", ("ab",), "", ""),
        # All but one: a mark on most of them would tell nothing apart.
        ("abcd", ("ad", "bd", "cd"), "", "d"),
        ("ab", (), "", ""),
        ("a", (), "", ""),
    ],
)
def test_best_and_worst_are_shown_apart_from_all_others(
    order: str, shown: tuple[str, ...], best: str, worst: str
) -> None:
    found = contest(order, *shown).extremes
    assert found == (frozenset(best), frozenset(worst))


NAMES = "ABCDEFGH"


def group(trials: list[Trial]) -> tuple[ScenarioResult, ...]:
    return scenario_results(trials, NAMES, dict.fromkeys((t.scenario.name for t in trials), 0), ())


def measured(noise: float = 0.06) -> list[Trial]:
    shapes = tuple(
        replace(DEMO[2], name=name, group="main", rate=DEMO[2].rate * (1 + 0.02 * place))
        for place, name in enumerate(NAMES)
    )
    return demo_trials(shapes=shapes, noise=noise, seed=5, blocks=6)


@pytest.mark.parametrize("baselines", [(), ("C",)])
def test_declared_contrasts_and_all_other_pairs_are_families_of_their_own(
    baselines: tuple[str, ...],
) -> None:
    (found,) = contests.run([group(measured())], baselines)
    pairs = found.pairs[metrics.THROUGHPUT.key]
    declared = [pair for pair in pairs if pair.is_declared]
    others = [pair for pair in pairs if not pair.is_declared]
    assert (len(declared), len(others)) == ((7, 21) if baselines else (0, 28))
    assert all("C" in (pair.a, pair.b) for pair in declared)
    for family in filter(None, (declared, others)):
        known = [pair.comparison for pair in family if pair.comparison]
        for pair, one, p in zip(family, known, holm([one.p for one in known]), strict=True):
            assert pair.verdict == verdict(one, p, higher_is_better=True)
            assert pair.resolution == one.resolution(0.05 / len(family))


def test_two_scenarios_alone_are_a_contrast() -> None:
    two = [trial for trial in measured() if trial.scenario.name in "AB"]
    (found,) = contests.run([group(two)])
    assert [pair.is_declared for pair in found.pairs[metrics.THROUGHPUT.key]] == [True]


def test_each_scenario_may_have_a_baseline_of_its_own() -> None:
    of = {"B": "A", "D": "C"}
    trials = [
        trial.model_copy(
            update={
                "scenario": trial.scenario.model_copy(
                    update={"baseline": of.get(trial.scenario.name)}
                )
            }
        )
        for trial in measured()
    ]
    (found,) = contests.run([group(trials)], ("A", "C"))
    pairs = found.pairs[metrics.THROUGHPUT.key]
    assert [(pair.a, pair.b) for pair in pairs if pair.is_declared] == [("A", "B"), ("C", "D")]


def test_what_could_be_seen_of_several_pairs_is_what_could_be_seen_of_each() -> None:
    shown = Pair("a", "b", metrics.ELAPSED, None, "A faster", resolution=0.5)
    some, more, none, unknown = (
        replace(shown, verdict="no difference shown", resolution=smallest)
        for smallest in (0.1, 0.2, math.inf, None)
    )
    assert leading.resolution([shown, some, more]) == 0.2
    # Where one scatters so much that nothing could be shown, that goes for all of them.
    assert leading.resolution([some, none]) == math.inf
    assert leading.resolution([some, unknown]) is None
    assert leading.resolution([shown]) is None


def test_occasions_are_the_values_that_a_ratio_rests_on() -> None:
    """The same trials as one occasion, and as three of two blocks each."""
    one = measured()
    three = [trial.model_copy(update={"occasion": 1 + trial.block // 2}) for trial in one]
    (single,), (several,) = (contests.run([group(trials)]) for trials in (one, three))
    for before, after in zip(single.pairs["throughput"], several.pairs["throughput"], strict=True):
        assert before.comparison is not None
        assert after.comparison is not None
        assert after.comparison.ratio == pytest.approx(before.comparison.ratio)
        assert (before.comparison.degrees, after.comparison.degrees) == (5, 2)
    scenario = group(three)[0]
    assert (scenario.usable, scenario.occasions) == (6, 3)
    assert scenario.estimates["throughput"].rule == "t over occasions"


def test_a_workload_with_few_contrasts_uses_the_common_variance_of_the_study() -> None:
    (scenario, *_) = group(measured())
    of_study, own = Scatter(0.01, 4.0), Scatter(0.02, 3.0)
    one, other = (
        replace(scenario, levels={**scenario.levels, "workload": name}) for name in ("a", "b")
    )
    shared = contests.Shared(of_study, {"a": own, "c": None})
    assert (shared.at(one), shared.at(other)) == (own, of_study)
    assert shared.at(replace(scenario, levels={"workload": "c"})) is None
    assert contests.ALONE.at(one) is None
