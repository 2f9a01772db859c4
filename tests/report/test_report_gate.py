"""The gate: thresholds as people write them, and what they come to on made-up trials."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import partial

import pytest

from tests.report.later import Later
from tests.report.synthetic import DEMO, demo_trials
from wiretrial.errors import UsageProblem
from wiretrial.report import gate, metrics
from wiretrial.report.measures import Measured
from wiretrial.results.absent import Missing
from wiretrial.results.model import Judgement, Trial
from wiretrial.stats.compare import compare

TRIALS = Later(partial(demo_trials, blocks=6, seed=1))
OTHERS = Later(partial(demo_trials, blocks=6, seed=2))


def outcomes(*texts: str) -> dict[str, str]:
    """The outcome of each scenario under the last threshold."""
    rows = gate.decide(TRIALS, OTHERS, [gate.parse(text) for text in texts])
    return {row.scenario: row.outcome for row in rows}


@pytest.mark.parametrize(
    ("text", "metric", "at_least", "bound", "relative"),
    [
        ("throughput >= 0.95x", metrics.THROUGHPUT, True, 0.95, True),
        ("throughput >= 20k/s", metrics.THROUGHPUT, True, 20_000, False),
        ("response.p99<=2ms", metrics.P99, False, 2e6, False),
        ("server.cpu <= 12us", metrics.SERVER, False, 12e3, False),
        ("bytes.tcp <= 1KiB", metrics.TRANSPORT_BYTES, False, 1024, False),
    ],
)
def test_a_threshold_is_read(
    text: str, metric: metrics.Metric, at_least: bool, bound: float, relative: bool
) -> None:
    found = gate.parse(text)
    assert (found.metric, found.at_least, found.relative) == (metric, at_least, relative)
    assert math.isclose(found.bound, bound)
    assert found.only is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("throughput", "is not a bound"),
        ("throughput > 5", "is not a bound"),
        ("speed >= 5", "there is no metric 'speed'"),
        ("throughput >= fastx", "is not a factor"),
        ("throughput >= 0x", "is not a factor"),
        ("response.p99 <= 2 parsecs", "no such unit of time"),
    ],
)
def test_what_is_no_threshold_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageProblem) as told:
        gate.parse(text)
    assert words in told.value.line()


def test_scenarios_are_held_against_the_bounds_that_fit_them() -> None:
    found = outcomes("throughput >= 100k @ *keep-alive")
    assert found == {"HTTP keep-alive": "kept"}
    found = outcomes("throughput >= 100k")
    assert set(found) == {shape.name for shape in DEMO}
    assert found["Raw TCP"] == "kept"
    assert found["WebSocket on Node"] == "broken"


def test_a_relative_bound_needs_and_uses_the_baseline() -> None:
    found = outcomes("throughput >= 0.5x")
    assert set(found.values()) == {"kept"}
    assert set(outcomes("throughput >= 1.5x").values()) == {"broken"}
    with pytest.raises(UsageProblem, match="needs something to compare with"):
        gate.decide(TRIALS, [], [gate.parse("throughput >= 0.95x")])


def test_a_scenario_that_the_baseline_lacks_cannot_be_told() -> None:
    baseline = [trial for trial in OTHERS if trial.scenario.name != "Raw TCP"]
    rows = gate.decide(TRIALS, baseline, [gate.parse("throughput >= 0.5x @ Raw*")])
    assert [(row.outcome, row.text) for row in rows] == [
        ("cannot tell", "the baseline has no usable trial of it")
    ]


def test_a_bound_at_the_value_itself_says_how_many_trials_would_tell() -> None:
    two = [trial for trial in TRIALS if trial.block < 2]
    (row,) = gate.decide(two, [], [gate.parse("throughput >= 170k @ WebSocket")])
    assert row.outcome == "cannot tell"
    assert "trials would" in row.text


def test_a_bound_about_nothing_is_refused() -> None:
    with pytest.raises(UsageProblem, match="matches no scenario"):
        gate.decide(TRIALS, [], [gate.parse("throughput >= 1 @ Firefox")])


def test_a_bound_on_the_times_of_the_other_kind_of_load_says_which_there_are() -> None:
    with pytest.raises(UsageProblem) as told:
        gate.decide(TRIALS, [], [gate.parse("response.p99 <= 1s @ Raw*")])
    assert told.value.line() == (
        "--threshold 'response.p99 <= 1s @ Raw*': there are no response times of Raw TCP, a closed"
        " loop: write service.p99"
    )
    with pytest.raises(UsageProblem, match="of Raw TCP and WebSocket, closed loops"):
        gate.decide(
            [trial for trial in TRIALS if trial.scenario.name in ("Raw TCP", "WebSocket")],
            [],
            [gate.parse("response.p50 <= 1s")],
        )
    open_loop = dataclasses.replace(GONE, is_open_loop=True)
    with pytest.raises(UsageProblem) as told:
        gate.decide([], [], [gate.parse("service.p99 <= 1s")], [open_loop])
    assert "no service times of bad, an open loop: write response.p99" in told.value.line()


GONE = Missing("bad", "./bad", is_open_loop=False, why="it ended at its start")


def test_a_scenario_that_was_asked_for_and_has_no_trial_fails_each_bound_about_it() -> None:
    bounds = [
        gate.parse(text)
        for text in ("throughput >= 1", "service.p99 <= 1s", "throughput >= 1 @ Raw*")
    ]
    rows = gate.decide(TRIALS, [], bounds, [GONE])
    assert [(row.outcome, row.threshold.text, row.text) for row in rows if row.is_missing] == [
        ("missing", text, "it was asked for and has no figure: it ended at its start")
        for text in ("throughput >= 1", "service.p99 <= 1s")
    ]
    # Also where nothing else is left that a bound could be about.
    (row,) = gate.decide([], [], [gate.parse("throughput >= 9 @ bad")], [GONE])
    assert row.outcome == "missing"
    with pytest.raises(UsageProblem, match="no response times of bad, a closed loop"):
        gate.decide([], [], [gate.parse("response.p99 <= 1s")], [GONE])


@pytest.mark.parametrize(("errors", "outcome"), [({"reset": 9}, "missing"), ({}, "cannot tell")])
def test_without_a_usable_trial_the_server_is_blamed_where_it_failed(
    errors: dict[str, int], outcome: str
) -> None:
    judgement = Judgement(verdict="invalid", bottleneck="unknown", evidence="why so")
    trials = [
        trial.model_copy(
            update={
                "judgement": judgement,
                "summary": trial.summary.model_copy(
                    update={
                        "counters": trial.summary.counters.model_copy(update={"errors": errors})
                    }
                ),
            }
        )
        for trial in TRIALS
        if trial.scenario.name == "Raw TCP"
    ]
    (row,) = gate.decide(trials, [], [gate.parse("throughput >= 1")])
    assert row.outcome == outcome
    assert row.text.endswith("no trial of it is usable: why so")


def test_a_throughput_that_the_generator_limited_breaks_no_bound() -> None:
    limited = demo_trials(blocks=6, seed=1, client_bound=frozenset({("Raw TCP", 2)}))
    thresholds = [gate.parse(f"throughput >= {rate} @ Raw TCP") for rate in ("1k", "900k")]
    kept, unclear = gate.decide(limited, [], thresholds)
    assert (kept.outcome, unclear.outcome) == ("kept", "cannot tell")
    assert unclear.text.startswith("at least 17")
    assert unclear.text.endswith("; the load generator was the limit, use more of its threads")


def against(name: str, *texts: str, missing: tuple[Missing, ...] = ()) -> dict[str, str]:
    """The outcome of each scenario beside `name` of the same result."""
    bounds = [gate.parse(text) for text in texts]
    return {row.scenario: row.outcome for row in gate.decide(TRIALS, [], bounds, missing, name)}


def test_two_scenarios_of_one_result_are_held_against_each_other_in_pairs() -> None:
    assert against("WebSocket", "throughput >= 0.95x @ Raw TCP") == {"Raw TCP": "kept"}
    assert against("Raw TCP", "throughput >= 1.2x @ WebSocket") == {"WebSocket": "broken"}
    # All others where no pattern chooses, and never the scenario itself.
    found = against("WebSocket", "throughput >= 0.01x")
    assert set(found) == {shape.name for shape in DEMO} - {"WebSocket"}
    # Blocks drift; within a block both do, so that pairs tell what two sides apart cannot.
    bounds = [gate.parse("throughput >= 1.005x @ Raw TCP")]
    (paired,) = gate.decide(TRIALS, [], bounds, against="WebSocket")
    assert paired.decision is not None
    assert "times WebSocket" in paired.text
    sides = [
        {
            trial.block: metrics.THROUGHPUT.of(Measured(trial)) or 0.0
            for trial in TRIALS
            if trial.scenario.name == name
        }
        for name in ("Raw TCP", "WebSocket")
    ]
    expected = compare([*sides[0].values()], [*sides[1].values()])
    assert (paired.decision.value, paired.decision.low) == (expected.ratio, expected.low)


def of_three_days(trials: Sequence[Trial]) -> list[Trial]:
    """The same as if two blocks each were of another occasion."""
    return [trial.model_copy(update={"occasion": 1 + trial.block // 2}) for trial in trials]


@pytest.mark.parametrize(
    ("text", "name", "baseline"),
    [
        ("throughput >= 1k @ Raw TCP", None, []),
        ("throughput >= 0.5x @ Raw TCP", "WebSocket", []),
        ("throughput >= 0.5x @ Raw TCP", None, OTHERS),
        ("throughput >= 0.5x @ Raw TCP", None, Later(lambda: of_three_days(OTHERS))),
    ],
)
def test_each_occasion_is_one_value(text: str, name: str | None, baseline: Sequence[Trial]) -> None:
    bounds = [gate.parse(text)]
    (one,) = gate.decide(TRIALS, [*baseline], bounds, against=name)
    (three,) = gate.decide(of_three_days(TRIALS), [*baseline], bounds, against=name)
    assert one.decision is not None
    assert three.decision is not None
    assert three.decision.value == pytest.approx(one.decision.value)
    assert three.decision.unit == "occasions"
    # Known answers are in tests/stats/test_gate.py; here, that occasions reach it.
    assert three.decision.high != one.decision.high


def test_what_cannot_be_told_of_several_occasions_says_how_many_would_tell() -> None:
    (row,) = gate.decide(of_three_days(TRIALS), [], [gate.parse("throughput >= 170k @ WebSocket")])
    assert row.outcome == "cannot tell"
    assert row.text.endswith(("occasions would tell", "more occasions would hardly tell"))


def test_what_is_compared_with_must_be_there_and_have_a_figure() -> None:
    with pytest.raises(UsageProblem, match="there is no such scenario"):
        against("Firefox", "throughput >= 0.5x")
    rows = gate.decide(TRIALS, [], [gate.parse("throughput >= 0.5x @ Raw*")], [GONE], "bad")
    assert [(row.outcome, row.text) for row in rows] == [
        (
            "missing",
            "bad, which it is held against, has no figure: it ended at its start",
        )
    ]


def test_a_figure_that_is_only_a_bound_supports_one_side_only() -> None:
    bound = frozenset(("WebSocket", block) for block in range(6))
    trials = demo_trials(blocks=6, client_bound=bound)

    def outcome(text: str, name: str | None = None) -> str:
        (row,) = gate.decide(trials, [], [gate.parse(text)], against=name)
        return row.outcome

    assert outcome("throughput >= 100k @ WebSocket") == "kept"
    assert outcome("throughput >= 900k @ WebSocket") == "cannot tell"
    assert outcome("throughput >= 0.5x @ Raw TCP", "WebSocket") == "cannot tell"
    assert outcome("throughput >= 5x @ Raw TCP", "WebSocket") == "broken"


@pytest.mark.parametrize("text", ["errors <= 0.5x", "errors >= 1%", "errors <= 100%"])
def test_errors_have_an_upper_bound_that_is_a_share(text: str) -> None:
    with pytest.raises(UsageProblem, match="share"):
        gate.parse(text)


def test_errors_are_held_over_all_trials_with_the_counts() -> None:
    """Also over those that they made invalid: nothing else has a figure there."""
    for failed, outcome in ((0, "kept"), (1, "broken")):
        trials = []
        for trial in TRIALS:
            counters = trial.summary.counters.model_copy(
                update={"sent": 10_000, "errors": {"status": 100 * failed} if failed else {}}
            )
            summary = trial.summary.model_copy(update={"counters": counters})
            verdict = Judgement(verdict="invalid", bottleneck="unknown", evidence="e")
            trials.append(trial.model_copy(update={"summary": summary, "judgement": verdict}))
        rows = gate.decide(trials, [], [gate.parse("errors <= 0.5%")])
        assert {row.outcome for row in rows} == {outcome}
        words = "600 of 60,000 messages failed, 1.00 % (0.922 to 1.08)" if failed else "0 of 60,000"
        assert rows[0].text.startswith(words), rows[0].text
