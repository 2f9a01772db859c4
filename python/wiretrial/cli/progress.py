"""Shows a study while it runs, and its report when it ends or is stopped.

Knows the runner and the report's doors; must not know how trials are made or events are shown.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from wiretrial import redaction
from wiretrial.cli import beacons, board, interrupts, output, reports
from wiretrial.cli.board import Board
from wiretrial.cli.exporting import Metrics
from wiretrial.cli.losses import Losses
from wiretrial.engine import Engine
from wiretrial.errors import (
    EXIT_FAILED,
    EXIT_GOOD,
    EXIT_INVALID,
    EXIT_SIGNAL,
    StoreError,
    UsageProblem,
)
from wiretrial.report import brief, text_brief, units
from wiretrial.report import text as text_report
from wiretrial.results import absent, answers
from wiretrial.results.absent import Missing
from wiretrial.results.answers import Answer
from wiretrial.results.beacon import Beacon
from wiretrial.results.files import STUDY_FILE
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import again, asked, prepare, runner, spec
from wiretrial.studies.plans import require_rules
from wiretrial.studies.spec import Study

REPORT_FILE = "report.html"
_STUDY_IN_PAGE = re.compile(r'<script type="application/json" id="study">(.*?)</script>', re.DOTALL)
MOST_MISSING = 5
"""Lines about scenarios without a figure; the rest is counted."""
OWN_COMMANDS = ("demo", "compare", "browser")
"""Any study can be gone on with by that of studies; these have their own."""


def begin(study: Study, base: Path) -> ResultsFolder:
    """A new folder for the study's results; none for a study that can't be run."""
    require_rules(study, Engine.find())
    prepare.require_named(study)
    prepare.require(study, base)
    return ResultsFolder.create(base, study.name, _document(study))


def _document(study: Study) -> str:
    """The study as it is kept with its results."""
    return study.document(indent=1)


def resume(
    folder: Path,
    name: str | None,
    trials: int | None,
    headers: Sequence[tuple[str, str]] = (),
) -> tuple[Study, ResultsFolder]:
    """The study in `folder`, to go on with; `trials` may raise its number of blocks for good.

    `name`: the only study that the command can go on with; None: any. `headers`: those whose values
    were taken out as secrets, given again.
    """
    results = ResultsFolder.open(folder)
    study = spec.parse(results.document())
    if name is not None and study.name != name:
        raise UsageProblem(
            f"{folder} holds the study {study.name!r}", f"resume it with `wiretrial {study.name}`"
        )
    study = again.with_secrets(_given_again(study, headers))
    if trials:
        study = study.with_trials(trials)
    runner.require_secrets(study, results)
    if trials:
        results.write(STUDY_FILE, _document(study).encode())
    return study, results


def _given_again(study: Study, headers: Sequence[tuple[str, str]]) -> Study:
    """The study with the headers that it lacks; it has the others."""
    lacking = {one.lower() for one in study.lacking()}
    for name, _ in headers:
        if f"{redaction.HEADER}{name}".lower() not in lacking:
            raise UsageProblem(
                f"--header {name}: the study has its headers", "leave it out with --resume"
            )
    given = {name.lower(): value for name, value in headers}
    cases = tuple(case.given_again(given) for case in study.cases)
    return study.model_copy(update={"cases": cases}) if given else study


def study_of_report(path: Path) -> Study:
    """The study that a report's page, or a folder of results, was made from."""
    if path.is_dir():
        return spec.parse(ResultsFolder.open(path).document())
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise UsageProblem(f"{path} can't be read: {reason}", "name a report's page") from error
    found = _STUDY_IN_PAGE.search(text)
    if not found:
        raise UsageProblem(
            f"{path} carries no study", "name a page that `study run` wrote, or its folder"
        )
    return spec.parse(found[1].replace("<\\/", "</"))


def run(
    study: Study,
    results: ResultsFolder,
    engine: Engine | None = None,
    words: Sequence[str] = (),
    *,
    details: bool = False,
    occasion: int | None = None,
    metrics: Metrics | None = None,
) -> int:
    """Runs what is missing, then shows the answer. The exit code.

    `engine`: None: our own. `words`: flags that must be repeated to continue. `details`: show every
    table and sentence of the report, too. `occasion`: None: the last that is there. `metrics`:
    where they go while it runs.
    """
    engine = engine or Engine.find()
    output.say(f"results go to {results.folder}")
    losses = Losses(study)
    try:
        with metrics or Metrics(None) as exported:
            _measure(study, results, engine, losses, exported, occasion)
    except StoreError:
        # A disk that is full is no reason to say nothing about what was measured before it was.
        with contextlib.suppress(StoreError):
            if results.paths():
                _conclude(study, results, details=details)
        raise
    except interrupts.Stopped as stopped:
        output.say("")
        if results.paths():
            _conclude(study, results, details=details)
        output.say(
            f"stopped; {len(results.paths())} of {runner.trials_wanted(study)} trials are kept."
            f" Go on with: {resume_command(study, results, words)}"
        )
        return EXIT_SIGNAL + stopped.number
    if not results.paths():
        output.say("wiretrial: no trial could be measured")
        return _failed(study, results, losses, (), words)
    trials = _conclude(study, results, details=details)
    if code := _failed(study, results, losses, trials, words):
        return code
    return EXIT_INVALID if any(map(_is_bad, trials)) else EXIT_GOOD


def _is_bad(trial: Trial) -> bool:
    """Whether it measured no server as it should."""
    return trial.judgement.verdict == "invalid" or trial.is_overloaded


def _failed(
    study: Study,
    results: ResultsFolder,
    losses: Losses,
    trials: Sequence[Trial],
    words: Sequence[str],
) -> int:
    """Says which trials failed and which scenarios have none at all; the exit code of that."""
    missing = asked.missing(study, trials, absent.read(results))
    names = {row.scenario for row in missing}
    for reason, failed in losses.problems.items():
        places = [board.place(event.slot) for event in failed if event.scenario not in names]
        if places:
            several = f"{len(places)} trials failed, the first of them in "
            output.say(f"{several if len(places) > 1 else ''}{places[0]}: {reason}")
    for line in _missing_lines(missing):
        output.say(line)
    if not missing and not losses.problems:
        return EXIT_GOOD
    output.say(f"try again with: {resume_command(study, results, words)}")
    return EXIT_FAILED


def _missing_lines(missing: Sequence[Missing]) -> Iterator[str]:
    """Who was asked for and has no figure, a line for each subject and reason."""
    rows: dict[tuple[str, str], list[str]] = {}
    for row in missing:
        rows.setdefault((row.subject, row.why), []).append(row.scenario)
    for (subject, why), names in list(rows.items())[:MOST_MISSING]:
        told = names[0] if len(names) == 1 else f"{len(names)} scenarios of {subject}"
        verb = "was" if len(names) == 1 else "were"
        has = "has" if len(names) == 1 else "have"
        yield f"missing: {told} {verb} asked for and {has} no figure: {why}"
    rest = sum(len(names) for names in list(rows.values())[MOST_MISSING:])
    if rest:
        yield f"missing: {units.plural(rest, 'scenario')} more; the report names the reasons"


def _measure(
    study: Study,
    results: ResultsFolder,
    engine: Engine,
    losses: Losses,
    metrics: Metrics,
    occasion: int | None,
) -> None:
    try:
        with Board(study) as shown, Beacon(results.folder) as lamp:
            teller = beacons.Teller(lamp, study)
            for event in runner.run(study, results, engine, occasion):
                losses.see(event)
                shown.see(event)
                teller.tell(event, left_s=shown.left_s)
                metrics.event(event, study)
                interrupts.raise_lost()
    finally:
        losses.keep(results)


def resume_command(study: Study, results: ResultsFolder, words: Sequence[str] = ()) -> str:
    """What a person types to go on with it."""
    # By how it was begun: a folder of a user's own may be called as a command of ours is.
    began = shlex.split(study.command)[1:2]
    command = ("wiretrial", *began) if began and began[0] in OWN_COMMANDS else again.STUDY_COMMAND
    return shlex.join((*command, "--resume", str(results.folder), *words))


def _conclude(study: Study, results: ResultsFolder, *, details: bool) -> tuple[Trial, ...]:
    made = reports.whole(results)
    render = text_report.render if details else text_brief.render
    output.emit(render(made, width=output.width(), colour=output.colour(sys.stdout)), None)
    path = results.write(REPORT_FILE, reports.page(made).encode())
    answers.keep(
        results,
        Answer(
            study=study.name,
            sentence=brief.answer(made, brief.WIDTH)[0],
            trials=len(made.trials),
            at=max(trial.started_at for trial in made.trials),
        ),
    )
    output.emit(f"\nreport: {path}", None)
    if not details:
        output.emit(f"all tables: {shlex.join(('wiretrial', 'report', str(results.folder)))}", None)
    return made.trials
