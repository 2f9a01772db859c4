"""Shows a study while it runs, and its report when it ends or is stopped.

Knows the runner's events and the report's doors; must not know how trials are made.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.live import Live as RichLive
from rich.text import Text

from wiretrial.cli import interrupts, output
from wiretrial.engine import Engine
from wiretrial.errors import (
    EXIT_FAILED,
    EXIT_GOOD,
    EXIT_INVALID,
    EXIT_SIGNAL,
    StoreError,
    UsageProblem,
)
from wiretrial.report import model
from wiretrial.report import text as text_report
from wiretrial.report.model import ReportModel
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.snapshot import Interval
from wiretrial.studies import runner, spec
from wiretrial.studies.spec import Study

REPORT_FILE = "report.html"
PERIOD_S = 0.5


Verdict = Callable[[ReportModel], Sequence[str]]
"""Further sentences for a study's verdict, put before the automatic ones."""


def no_more_to_say(_made: ReportModel) -> Sequence[str]:
    """The automatic sentences are the verdict."""
    return ()


def begin(study: Study, base: Path) -> ResultsFolder:
    """A new folder for the study's results."""
    return ResultsFolder.create(base, study.name, study.model_dump_json(by_alias=True, indent=1))


def resume(folder: Path, name: str, trials: int | None) -> tuple[Study, ResultsFolder]:
    """The study in `folder`, to go on with; `trials` may raise its number of blocks."""
    results = ResultsFolder.open(folder)
    study = spec.parse(results.document())
    if study.name != name:
        raise UsageProblem(
            f"{folder} holds the study {study.name!r}", f"resume it with `wiretrial {study.name}`"
        )
    return (study.model_copy(update={"trials": trials}) if trials else study), results


def run(study: Study, results: ResultsFolder, verdict: Verdict = no_more_to_say) -> int:
    """Runs what is missing, then shows the report. The exit code."""
    engine = Engine.find()
    output.say(f"results go to {results.folder}")
    board = Board(study)
    try:
        with board:
            for event in runner.run(study, results, engine):
                board.see(event)
    except StoreError:
        # A disk that is full is no reason to say nothing about what was measured before it was.
        with contextlib.suppress(StoreError):
            if results.paths():
                _conclude(study, results, verdict)
        raise
    except interrupts.Stopped as stopped:
        output.say("")
        if results.paths():
            _conclude(study, results, verdict)
        output.say(
            f"stopped; {len(results.paths())} of {study.trials * len(study.cases)} trials are kept."
            f" Go on with: wiretrial {study.name} --resume {results.folder}"
        )
        return EXIT_SIGNAL + stopped.number
    if not results.paths():
        output.say("wiretrial: no trial could be measured, for the reasons above")
        return EXIT_FAILED
    trials = _conclude(study, results, verdict)
    for line in board.problems:
        output.say(line)
    if board.problems:
        output.say(f"try those again with: wiretrial {study.name} --resume {results.folder}")
        return EXIT_FAILED
    invalid = any(trial.judgement.verdict == "invalid" for trial in trials)
    return EXIT_INVALID if invalid else EXIT_GOOD


def report_of(study: Study, trials: Sequence[Trial], verdict: Verdict) -> ReportModel:
    """The report's data. A study's own verdict, where it has one, comes first."""

    def build(sentences: Sequence[str] | None) -> ReportModel:
        return model.build(
            trials,
            question=study.question,
            title=study.title,
            command=study.command,
            verdict_sentences=sentences,
            order=[case.scenario.name for case in study.cases],
            baselines=study.baselines,
        )

    made = build(None)
    own = verdict(made)
    return build(own) if own else made


def page(made: ReportModel) -> str:
    """The report as one page of HTML."""
    # Not at the top: the drawing library takes longer to load than most commands take to run.
    from wiretrial.report import html

    return html.render(made)


def _conclude(study: Study, results: ResultsFolder, verdict: Verdict) -> list[Trial]:
    trials = results.trials()
    made = report_of(study, trials, verdict)
    output.emit(
        text_report.render(made, width=output.width(), colour=output.colour(sys.stdout)), None
    )
    path = results.write(REPORT_FILE, page(made).encode())
    output.emit(f"\nreport: {path}", None)
    return trials


@dataclass
class Board:
    """A line per finished trial, and one that says what runs now and how long it still takes."""

    study: Study
    problems: list[str] = field(default_factory=list)
    _live: RichLive | None = None
    _measured: int = 0
    _began: float = 0.0
    _drawn: float = 0.0
    _now: str = ""

    def __enter__(self) -> Board:
        if sys.stderr.isatty():
            console = Console(stderr=True, highlight=False)
            self._live = RichLive(console=console, transient=True, auto_refresh=False)
            self._live.start()
        return self

    def __exit__(self, *ignored: object) -> None:
        if self._live:
            self._live.stop()

    def see(self, event: runner.Event) -> None:
        """Shows one event."""
        match event:
            case runner.Preparing(subject, step):
                self._show(f"{step} {subject}")
            case runner.Unavailable(_, reason):
                self.problems.append(reason)
                self._line(f"left out: {reason}")
            case runner.TrialBegun(slot, number, total):
                self._began = self._began or time.monotonic()
                place = f"{number:>{len(str(total))}}/{total}"
                self._now = f"{place}  {slot.scenario:<34}{self._left(number, total)}"
                self._show(self._now)
            case runner.Seen(snapshot) if isinstance(snapshot, Interval):
                if time.monotonic() - self._drawn >= PERIOD_S:
                    length = max(snapshot.end_ns - snapshot.start_ns, 1)
                    rate = snapshot.counters.ok * 1e9 / length
                    self._show(f"{self._now}   {snapshot.phase}, {rate:,.0f} messages/s")
            case runner.TrialDone(trial, number, total):
                self._measured += 1
                self._line(_done(trial, number, total))
            case runner.TrialFailed(slot, reason):
                text = f"block {slot.block + 1}, {slot.scenario}: {reason}"
                self.problems.append(text)
                self._line(f"failed: {text}")

    def _left(self, number: int, total: int) -> str:
        if not self._measured:
            return ""
        each = (time.monotonic() - self._began) / self._measured
        return f" about {each * (total - number + 1):.0f} s left"

    def _line(self, text: str) -> None:
        if self._live:
            self._live.console.print(Text(text))
        else:
            output.say(text)

    def _show(self, text: str) -> None:
        if self._live:
            self._live.update(Text(text), refresh=True)
            self._drawn = time.monotonic()


def _done(trial: Trial, number: int, total: int) -> str:
    window = trial.window
    inside = [i for i in trial.intervals if window.start_ns <= i.start_ns < window.end_ns]
    elapsed = sum(i.end_ns - i.start_ns for i in inside) / 1e9
    rate = sum(i.counters.ok for i in inside) / elapsed if elapsed else 0.0
    place = f"{number:>{len(str(total))}}/{total}"
    return (
        f"{place}  {trial.scenario.name:<34} {rate:>11,.0f} messages/s   {trial.judgement.verdict}"
    )
