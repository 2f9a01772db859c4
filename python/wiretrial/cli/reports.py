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
from wiretrial.results import absent, adoption, starts
from wiretrial.results.absent import Absent
from wiretrial.results.adoption import Adopted
from wiretrial.results.kept import Kept
from wiretrial.results.model import Trial
from wiretrial.results.starts import Start
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
    """The report of all that the folder holds: trials, subjects without any, weights, starts."""
    document, trials = results.document(), results.trials()
    if not trials:
        raise StoreError(f"{results.folder} holds no trial yet", "measure some first")
    started = starts.read(results)
    return _whole(document, trials, absent.read(results), adoption.read(results), started)


def of_kept(kept: Kept) -> ReportModel:
    """The report of kept trials: that of the folder to which they would be unpacked."""
    trials = sorted(kept.trials, key=name_of)
    head = kept.head
    return _whole(json.dumps(head.study), trials, head.absent, head.adopted, head.starts)


def _whole(
    document: str,
    trials: Sequence[Trial],
    missing: Sequence[Absent],
    adopted: Sequence[Adopted],
    started: Sequence[Start],
) -> ReportModel:
    study = spec.parse(document).redacted()
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
        objectives={
            case.scenario.name: _objective(study, case, case.knee)
            for case in study.cases
            if case.knee
        },
        absent=missing,
        adopted=adopted,
        starts=started,
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
