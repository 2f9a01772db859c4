"""Who was asked for and has no figure: a study's scenarios against what is stored of it.

Pure. Knows studies, trials and the list of what could not be measured; must not know who wants to
know. A twin measures no scenario of its own, and the steps of a search count as the search.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.plan import OpenLoop
from wiretrial.results.absent import Absent, Missing
from wiretrial.results.model import Scenario, Trial
from wiretrial.studies import matrix
from wiretrial.studies.spec import Study

UNTOLD = "no trial of it is stored: the study was stopped before, go on with --resume"
NOT_HERE = "the baseline has it, this result does not"


def missing(study: Study, trials: Sequence[Trial], absent: Sequence[Absent]) -> tuple[Missing, ...]:
    """The scenarios that the study asks for, and of which no trial is stored, each with why."""
    stored = {_asked_as(trial.scenario) for trial in trials}
    return tuple(
        Missing(
            scenario=case.scenario.name,
            subject=case.scenario.subject,
            is_open_loop=isinstance(case.load.executor, OpenLoop),
            why=_why(case.scenario, absent),
        )
        for case in study.cases
        if case.scenario.twin_of is None and case.scenario.name not in stored
    )


def only_before(
    study: Study, trials: Sequence[Trial], baseline: Sequence[Trial]
) -> tuple[Missing, ...]:
    """The scenarios of an earlier result that this one neither has nor asks for.

    Those that `--only` left out are not among them.
    """
    known = {case.scenario.name for case in study.cases}
    known |= {_asked_as(trial.scenario) for trial in trials}
    found: dict[str, Missing] = {}
    for trial in baseline:
        scenario, name = trial.scenario, _asked_as(trial.scenario)
        if scenario.twin_of or name in known or not matrix.is_wanted(scenario, study.only):
            continue
        is_open = isinstance(trial.plan.load.executor, OpenLoop)
        found[name] = Missing(name, scenario.subject, is_open_loop=is_open, why=NOT_HERE)
    return tuple(found.values())


def _asked_as(scenario: Scenario) -> str:
    """The study's own name for it."""
    return scenario.search or scenario.name


def _why(scenario: Scenario, absent: Sequence[Absent]) -> str:
    for row in absent:
        if scenario.name in row.scenarios:
            return row.reason
    # Lists that were kept before they named scenarios are about whole subjects.
    whole = (row.reason for row in absent if not row.scenarios and row.subject == scenario.subject)
    return next(whole, UNTOLD)
