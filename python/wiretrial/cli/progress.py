"""Shows a study while it runs, and its report when it ends or is stopped.

Knows the runner's events and the report's doors; must not know how trials are made.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.live import Live as RichLive
from rich.text import Text

from wiretrial import redaction
from wiretrial.cli import beacons, interrupts, output, reports
from wiretrial.engine import Engine
from wiretrial.errors import (
    EXIT_FAILED,
    EXIT_GOOD,
    EXIT_INVALID,
    EXIT_SIGNAL,
    StoreError,
    UsageProblem,
)
from wiretrial.report import text as text_report
from wiretrial.report import units
from wiretrial.report.measures import Measured
from wiretrial.results import absent, adoption, answers, hdr
from wiretrial.results.absent import Absent, Missing
from wiretrial.results.adoption import Adopted
from wiretrial.results.answers import Answer
from wiretrial.results.beacon import Beacon
from wiretrial.results.model import Trial
from wiretrial.results.store import STUDY_FILE, ResultsFolder
from wiretrial.snapshot import Interval, Start
from wiretrial.studies import asked, estimate, events, prepare, runner, spec
from wiretrial.studies.order import Slot
from wiretrial.studies.spec import Study
from wiretrial.studies.trial import require_rules

REPORT_FILE = "report.html"
_STUDY_IN_PAGE = re.compile(r'<script type="application/json" id="study">(.*?)</script>', re.DOTALL)
PERIOD_S = 0.5
MOST_MISSING = 5
"""Lines about scenarios without a figure; the rest is counted."""
STUDY_COMMAND = ("wiretrial", "study", "run")
"""Any study can be gone on with by it; some have a command of their own."""
OWN_COMMANDS = ("demo", "compare", "browser")


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
    study = _given_again(study, headers)
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
    study: Study, results: ResultsFolder, engine: Engine | None = None, words: Sequence[str] = ()
) -> int:
    """Runs what is missing, then shows the report. The exit code.

    `engine`: None: our own. `words`: flags that must be repeated where it is gone on with.
    """
    engine = engine or Engine.find()
    output.say(f"results go to {results.folder}")
    board = Board(study)
    try:
        _measure(study, results, engine, board)
    except StoreError:
        # A disk that is full is no reason to say nothing about what was measured before it was.
        with contextlib.suppress(StoreError):
            if results.paths():
                _conclude(study, results)
        raise
    except interrupts.Stopped as stopped:
        output.say("")
        if results.paths():
            _conclude(study, results)
        output.say(
            f"stopped; {len(results.paths())} of {runner.trials_wanted(study)} trials are kept."
            f" Go on with: {resume_command(study, results, words)}"
        )
        return EXIT_SIGNAL + stopped.number
    if not results.paths():
        output.say("wiretrial: no trial could be measured")
        return _failed(study, results, board, (), words)
    trials = _conclude(study, results)
    if code := _failed(study, results, board, trials, words):
        return code
    return EXIT_INVALID if any(map(_is_bad, trials)) else EXIT_GOOD


def _is_bad(trial: Trial) -> bool:
    """Whether it measured no server as it should. A search goes beyond the limit on purpose."""
    verdict = trial.judgement.verdict
    return verdict == "invalid" or (verdict == "overloaded" and trial.scenario.search is None)


def _failed(
    study: Study,
    results: ResultsFolder,
    board: Board,
    trials: Sequence[Trial],
    words: Sequence[str],
) -> int:
    """Says which trials failed and which scenarios have none at all; the exit code of that."""
    missing = asked.missing(study, trials, absent.read(results))
    names = {row.scenario for row in missing}
    for reason, failed in board.problems.items():
        places = [_place(event.slot) for event in failed if event.scenario not in names]
        if places:
            several = f"{len(places)} trials failed, the first of them in "
            output.say(f"{several if len(places) > 1 else ''}{places[0]}: {reason}")
    for line in _missing_lines(missing):
        output.say(line)
    if not missing and not board.problems:
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


def _measure(study: Study, results: ResultsFolder, engine: Engine, board: Board) -> None:
    try:
        with board, Beacon(results.folder) as lamp:
            for event in runner.run(study, results, engine):
                board.see(event)
                beacons.tell(lamp, event, left_s=board.left_s)
                interrupts.raise_lost()
    finally:
        board.keep(results)


def resume_command(study: Study, results: ResultsFolder, words: Sequence[str] = ()) -> str:
    """What a person types to go on with it."""
    # By how it was begun: a folder of a user's own may be called as a command of ours is.
    began = shlex.split(study.command)[1:2]
    command = ("wiretrial", *began) if began and began[0] in OWN_COMMANDS else STUDY_COMMAND
    return shlex.join((*command, "--resume", str(results.folder), *words))


def _conclude(study: Study, results: ResultsFolder) -> tuple[Trial, ...]:
    made = reports.whole(results)
    output.emit(
        text_report.render(made, width=output.width(), colour=output.colour(sys.stdout)), None
    )
    path = results.write(REPORT_FILE, reports.page(made).encode())
    answers.keep(
        results,
        Answer(
            study=study.name,
            sentence=answers.first_sentence(made.all_sentences[0]),
            trials=len(made.trials),
            at=max(trial.started_at for trial in made.trials),
        ),
    )
    output.emit(f"\nreport: {path}", None)
    return made.trials


@dataclass
class Board:
    """A line per finished trial, and one that says what runs now and how long it still takes."""

    study: Study
    problems: dict[str, list[events.TrialFailed]] = field(default_factory=dict)
    """Why trials failed, and which did for that reason."""
    absent: list[Absent] = field(default_factory=list)
    adopted: dict[str, Adopted] = field(default_factory=dict)
    _has_begun: bool = False
    left_s: float | None = None
    """About how long the rest takes, as of the trial in progress."""
    _live: RichLive | None = None
    _left_at_first_ns: int = 0
    _began: float = 0.0
    _drawn: float = 0.0
    _now: str = ""
    _scenario: str = ""
    _told: set[str] = field(default_factory=set)
    """What was said of replies that were learned."""

    def __enter__(self) -> Board:
        if sys.stderr.isatty():
            console = Console(stderr=True, highlight=False)
            self._live = RichLive(console=console, transient=True, auto_refresh=False)
            self._live.start()
        return self

    def __exit__(self, *ignored: object) -> None:
        if self._live:
            self._live.stop()

    def see(self, event: events.Event) -> None:
        """Shows one event."""
        self._has_begun = True
        match event:
            case events.Preparing(subject, step):
                self._show(f"{step} {subject}")
            case events.Weighed(adopted):
                self.adopted[adopted.subject] = adopted
            case events.Unavailable(subject, reason, scenarios):
                row = Absent(subject=subject, reason=reason, scenarios=scenarios)
                self.absent.append(row)
                self._line(f"left out: {reason}")
            case events.TrialBegun(slot, number, total, left_ns):
                place = f"{number:>{len(str(total))}}/{total}"
                self._scenario = slot.scenario
                self._now = f"{place}  {slot.scenario:<34}{self._left(left_ns)}"
                self._show(self._now)
            case events.Seen(snapshot) if isinstance(snapshot, Start):
                self._learned(snapshot)
            case events.Seen(snapshot) if isinstance(snapshot, Interval):
                if time.monotonic() - self._drawn >= PERIOD_S:
                    length = max(snapshot.end_ns - snapshot.start_ns, 1)
                    rate = snapshot.counters.ok * 1e9 / length
                    self._show(f"{self._now}   {snapshot.phase}, {rate:,.0f} messages/s")
            case events.TrialDone(trial, number, total):
                self._line(_done(trial, number, total))
            case events.TrialFailed(slot, reason):
                self.problems.setdefault(reason, []).append(event)
                self._line(f"failed: {_place(slot)}: {reason}")

    def _learned(self, start: Start) -> None:
        """What is taken to be a right reply, once for each subject as long as it stays the same."""
        if start.learned is None:
            return
        subjects = {case.scenario.name: case.scenario.subject for case in self.study.cases}
        subject = subjects.get(self._scenario, self._scenario)
        told = f"reply of {subject}  {start.learned.words()}"
        if told not in self._told:
            self._told.add(told)
            self._line(told)

    def keep(self, results: ResultsFolder) -> None:
        """Stores what could not be measured, and what the subjects weigh.

        A run that had nothing to do leaves both as they were.
        """
        if not self._has_begun:
            return
        absent.keep(results, [*self.absent, *self._without_a_trial(results)])
        if self.study.adoption:
            adoption.keep(results, self.adopted.values())

    def _without_a_trial(self, results: ResultsFolder) -> Iterator[Absent]:
        """The scenarios of which every trial failed so far, a row for each subject and reason."""
        if not self.problems:
            return
        stored = {trial.scenario.search or trial.scenario.name for trial in results.trials()}
        for reason, failed in self.problems.items():
            subjects: dict[str, dict[str, None]] = {}
            for event in failed:
                if event.scenario not in stored:
                    subject = self.study.case(event.scenario).scenario.subject
                    subjects.setdefault(subject, {})[event.scenario] = None
            for subject, names in subjects.items():
                yield Absent(subject=subject, reason=reason, scenarios=tuple(names))

    def _left(self, left_ns: int) -> str:
        """As long as was estimated, times what the trials so far took of their estimate."""
        if not self._began:
            self._began, self._left_at_first_ns = time.monotonic(), left_ns
        done_s = (self._left_at_first_ns - left_ns) / 1e9
        if done_s <= 0:
            return ""
        self.left_s = left_ns / 1e9 * (time.monotonic() - self._began) / done_s
        return f" about {estimate.words(round(self.left_s * 1e9))} left"

    def _line(self, text: str) -> None:
        if self._live:
            self._live.console.print(Text(text))
        else:
            output.say(text)

    def _show(self, text: str) -> None:
        if self._live:
            self._live.update(Text(text), refresh=True)
            self._drawn = time.monotonic()


def _place(slot: Slot) -> str:
    return f"block {slot.block + 1}, {slot.scenario}"


def _done(trial: Trial, number: int, total: int) -> str:
    if trial.driven:
        return _driven(trial, number, total)
    place = f"{number:>{len(str(total))}}/{total}"
    # The name last: some are long, and what stands before it stays in its column.
    return f"{place} {_rate(trial)}  {trial.judgement.verdict:<12}  {trial.scenario.name}"


def _rate(trial: Trial) -> str:
    """As fast as it went, in the figures of the report."""
    measured = Measured(trial)
    if measured.is_opening:
        return f"{measured.connect_rate or 0:>11,.0f} connections/s"
    rate = measured.throughput
    if measured.elapsed_ns:
        rate = trial.summary.counters.ok / measured.elapsed_ns * 1e9
    return f"{rate or 0:>11,.0f} messages/s"


def _driven(trial: Trial, number: int, total: int) -> str:
    """A client library's line: the mean round trip, and its own CPU time in it."""
    used, ok = trial.summary.generator, max(trial.summary.counters.ok, 1)
    times = trial.summary.histograms.get("service_time")
    mean_us = hdr.decode(times).mean / 1e3 if times else 0.0
    cpu_us = (used.cpu_user_ns + used.cpu_system_ns) / ok / 1e3
    return (
        f"{number:>{len(str(total))}}/{total} {mean_us:>10,.1f} us, CPU {cpu_us:>8,.1f} us"
        f"  {trial.judgement.verdict:<12}  {trial.scenario.name}"
    )
