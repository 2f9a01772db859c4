"""The whole report of a folder of results or of a load's file: only here its parts come together.

Knows which files a report is made from, and which studies have a verdict of their own;
must not know who asked for the report or how it is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from wiretrial.cli import browser_words, demo_words, framework_words
from wiretrial.errors import StoreError
from wiretrial.report import capacities, model, run
from wiretrial.report.knees import Objective
from wiretrial.report.model import ReportModel
from wiretrial.results import kept
from wiretrial.results.kept import Head, Kept
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder, name_of, read_trial
from wiretrial.studies import demo, rates, spec, ways
from wiretrial.studies.fields import Knee
from wiretrial.studies.spec import Case, Study

Verdict = Callable[[ReportModel], Sequence[str]]
"""Further sentences for a study's verdict, put before the automatic ones."""

CAPACITY: Final = "capacity"
"""The study whose question is how well lower loads predict."""


def _sized(made: ReportModel) -> Sequence[str]:
    """What predictions of capacities are worth."""
    return capacities.sentences(made.capacities)


OWN_VERDICTS: Mapping[str, Verdict] = {
    demo.NAME: demo_words.verdict,
    ways.NAME: browser_words.verdict,
    CAPACITY: _sized,
    framework_words.NAME: framework_words.verdict,
}
"""By the name of the study. The others have the automatic sentences only."""

OWN_ANSWERS: Mapping[str, Verdict] = {
    demo.NAME: demo_words.answer,
    CAPACITY: _sized,
    framework_words.NAME: framework_words.answer,
}
"""The same in short sentences for the first screen."""


def whole(results: ResultsFolder) -> ReportModel:
    """The report of all that the folder holds: trials, and what is kept beside them."""
    trials = results.trials()
    if not trials:
        raise StoreError(f"{results.folder} holds no trial yet", "measure some first")
    return _whole(kept.head_of(results, len(trials)), trials)


def of_kept(found: Kept) -> ReportModel:
    """The report of kept trials: that of the folder to which they would be unpacked."""
    return _whole(found.head, sorted(found.trials, key=name_of))


def _whole(head: Head, trials: Sequence[Trial]) -> ReportModel:
    study = spec.parse(json.dumps(head.study)).redacted()
    made = model.build(
        trials,
        question=study.question,
        title=study.title,
        command=study.command,
        order=[case.scenario.name for case in study.cases],
        baselines=study.baselines,
        taken_together=study.together,
        document=study.document(),
        claims=study.claims,
        chart=study.chart,
        common_rate=[case.scenario.name for case in study.cases if case.rate_from],
        objectives=_objectives(study),
        absent=head.absent,
        adopted=head.adopted,
        starts=head.starts,
        searched=head.searches,
    )
    own, answer = (tuple(words(made)) for words in _own_words(study.name))
    beside = () if own else (*_sized(made), *browser_words.beside_others(made))
    return replace(made, own=own, answer=answer, beside=beside)


def _own_words(name: str) -> tuple[Verdict, Verdict]:
    """What a study says of itself: its verdict, and its short answer."""

    def nothing(_: ReportModel) -> Sequence[str]:
        return ()

    return OWN_VERDICTS.get(name, nothing), OWN_ANSWERS.get(name, nothing)


def of(path: Path) -> ReportModel:
    """The report of a study's folder, or of the run in a file."""
    if path.is_file():
        return run.build(read_trial(path))
    return whole(ResultsFolder.open(path))


def page(made: ReportModel) -> str:
    """The report as one page of HTML."""
    # Not at the top: the drawing library takes longer to load than most commands take to run.
    from wiretrial.report import html

    return html.render(made)


def objectives(results: ResultsFolder) -> Mapping[str, Objective]:
    """What the searches of a folder's study were asked for, by scenario."""
    return _objectives(spec.parse(results.document()))


def _objectives(study: Study) -> Mapping[str, Objective]:
    return {
        case.scenario.name: _objective(study, case, case.knee) for case in study.cases if case.knee
    }


def _objective(study: Study, case: Case, knee: Knee) -> Objective:
    begin = rates.search(knee, study.duration_of(case), (), rates.replies_each(case))
    return Objective(
        quantile=knee.quantile,
        response_ns=knee.objective,
        first=begin.first,
        ceiling=begin.ceiling,
        tolerance=begin.tolerance,
        floor=begin.floor,
    )
