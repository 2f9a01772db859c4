"""Which colour a scenario gets."""

from __future__ import annotations

from tests.report.synthetic import demo_trials
from wiretrial.report import palette
from wiretrial.results.model import Trial

SIZES = ("10 bytes", "100 bytes")


def labelled(trial: Trial, label: str, group: str) -> Trial:
    """The trial as one of a scenario of that label in that group."""
    named = {"name": f"{label}: {group}", "label": label, "group": group}
    return trial.model_copy(update={"scenario": trial.scenario.model_copy(update=named)})


def again(trial: Trial) -> Trial:
    """The trial as one of the same scenario, measured again."""
    told = {"name": f"{trial.scenario.name} (again)", "twin_of": trial.scenario.name}
    return trial.model_copy(update={"scenario": trial.scenario.model_copy(update=told)})


def test_a_label_has_one_colour_at_all_levels_also_where_one_is_measured_again() -> None:
    (trial, *_) = demo_trials(blocks=1)
    plain = [labelled(trial, label, size) for size in SIZES for label in ("A", "B")]
    found = palette.places([*plain, again(plain[0])], [one.scenario.name for one in plain])
    assert [found[one.scenario.name] for one in plain] == [0, 1, 0, 1]
    assert found["A: 10 bytes (again)"] == 0


def test_scenarios_of_one_label_in_a_group_are_told_apart() -> None:
    (trial, *_) = demo_trials(blocks=1)
    twice = [labelled(trial, "A", SIZES[0]), labelled(trial, "A", SIZES[0])]
    other = twice[1].scenario.model_copy(update={"name": "A, tuned: 10 bytes"})
    found = palette.places([twice[0], twice[1].model_copy(update={"scenario": other})], [])
    assert sorted(found.values()) == [0, 1]
