"""What scenarios are called where each group knows one configuration: by their subject alone.

Knows names; must not know figures. `uwebsockets:tuned` beside `gorilla:tuned` would say the same
word in every row, legend and sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.report import units
from wiretrial.results.model import Scenario, Trial


def shortened(trials: Sequence[Trial]) -> Sequence[Trial]:
    """The trials, without `:configuration` in their labels where no group holds two of them."""
    found: dict[str, set[str]] = {}
    for trial in trials:
        scenario = trial.scenario
        if scenario.label != f"{scenario.subject}:{scenario.configuration}":
            return trials
        found.setdefault(scenario.group, set()).add(scenario.configuration)
    if any(len(configurations) > 1 for configurations in found.values()):
        return trials
    return [trial.model_copy(update={"scenario": _short(trial.scenario)}) for trial in trials]


def sentence(trials: Sequence[Trial]) -> str | None:
    """Which configuration the names leave out; None where they leave out none."""
    if any(trial.scenario.label != trial.scenario.subject for trial in trials):
        return None
    told = sorted({trial.scenario.configuration for trial in trials} - {"default"})
    if not told:
        return None
    names = units.listed(f"“{name}”" for name in told)
    if len(told) == 1:
        return f"Everybody ran in the configuration {names}."
    return f"Everybody ran in the configurations {names}, one of them in each group."


def _short(scenario: Scenario) -> Scenario:
    return scenario.model_copy(update={"label": scenario.subject})
