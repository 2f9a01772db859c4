"""Studies: what they found, what they would measure, and their run.

Knows what was typed; must not know how it was spelled.
"""

from __future__ import annotations

import secrets
import shlex
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from wiretrial import quantities
from wiretrial.cli import fleet_wanted, labels, output, progress
from wiretrial.cli.exporting import Metrics
from wiretrial.cli.fleet_wanted import FleetWanted
from wiretrial.cli.learning import Learning
from wiretrial.cli.options import Fleet
from wiretrial.cli.output import Format
from wiretrial.cli.subject_install import use_prefix
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.machine import idle_states
from wiretrial.report import units
from wiretrial.results import answers
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import (
    again,
    environments,
    estimate,
    matrix,
    prepare,
    priming,
    registry,
    runner,
    targets,
)
from wiretrial.studies.spec import Study

SECOND_COLUMN, NARROWEST = 21, 60


@dataclass(frozen=True)
class Choice:
    """Which part of a study, and against whom."""

    quick: bool
    only: tuple[str, ...]
    provoke: str | None
    targets: tuple[str, ...]
    pacing: str | None

    def words(self) -> list[str]:
        """The same as flags."""
        return [
            *(["--quick"] if self.quick else []),
            *(["--provoke", self.provoke] if self.provoke else []),
            *(["--pacing", self.pacing] if self.pacing else []),
            *(word for target in self.targets for word in ("--target", target)),
            *(word for pattern in self.only for word in ("--only", pattern)),
        ]


@dataclass(frozen=True)
class Source:
    """What a study is made from; one of these."""

    name: str | None
    resume: Path | None
    again: Path | None
    """A report, or a folder of results."""
    added_to: Path | None = None
    """A folder of results that gets another occasion."""


@dataclass(frozen=True)
class Extent:
    """How much of it runs, in which order, and what it is called."""

    trials: str | None
    budget: str | None
    seed: int | None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """What is told of a study: at its end, and while it runs."""

    details: bool
    metrics: Metrics


def list_(results: Path, format_: Format) -> int:
    """Shows each study with its answer and its last result here."""
    known = answers.latest(results)
    rows: list[dict[str, Any]] = []
    for found in registry.catalogue():
        answer = known.get(found.name)
        rows.append(
            {
                "name": found.name,
                "title": found.document.title,
                "question": found.document.question,
                "subjects": registry.subjects_in(found.document),
                "answer": answer.sentence if answer else None,
                "at": answer.at if answer else None,
                "folder": str(answer.folder) if answer else None,
                "kept": _kept(found),
            }
        )
    if format_ is Format.JSON:
        document = {"schema": "wiretrial-studies", "version": 1, "studies": rows}
        output.emit(output.as_json(document), None)
        return EXIT_GOOD
    lines: list[str] = []
    for row in rows:
        lines += _entry(row["name"], row["title"])
        for told in _told(row):
            lines += _entry("", told)
    output.emit("\n".join(lines) if lines else "no study here", None)
    return EXIT_GOOD


def show(name: str, choice: Choice, format_: Format) -> int:
    """Shows a study's question, its scenarios, and how long it takes."""
    study = _expanded(name, choice, trials=None, seed=0)
    needed = estimate.estimate(study)
    if format_ is Format.JSON:
        document = {
            "schema": "wiretrial-study-plan",
            "version": 1,
            "study": study.redacted().model_dump(mode="json", by_alias=True),
            "estimate_ns": needed.total_ns,
        }
        output.emit(output.as_json(document), None)
        return EXIT_GOOD
    lines = [study.title, study.question, "", _plan(study), *_limits(study)]
    if not choice.provoke and (provoked := registry.find(name).document.provocation):
        lines += ["", "--provoke shows on purpose:"]
        lines += [f"  {one.name:<20} {one.title}" for one in provoked]
    group = None
    for case in study.cases:
        if case.scenario.group != group:
            group = case.scenario.group
            lines += ["", group]
        lines.append(f"  {case.scenario.label or case.scenario.name}")
    output.emit("\n".join(lines), None)
    return EXIT_GOOD


def run(
    source: Source,
    choice: Choice,
    extent: Extent,
    results: Path,
    prefix: list[str] | None,
    fleet: Fleet,
    *,
    keeps_secrets: bool,
    details: bool,
    metrics: str | None = None,
) -> int:
    """Runs a study, or goes on with one; each trial is stored at once."""
    given = (source.name, source.resume, source.again, source.added_to)
    ways = sum(one is not None for one in given)
    if ways > 1:
        raise UsageProblem(
            "a study's name, --resume, --add-occasion and --from exclude each other",
            "leave the name out: DIR and REPORT know theirs",
        )
    if ways == 0:
        raise UsageProblem(
            "no study is named",
            "name one of `wiretrial study list`, or use --resume DIR or --from REPORT",
        )
    continued = source.resume or source.added_to
    if continued and extent.labels:
        raise UsageProblem(f"{continued} has its labels already", "leave --label out")
    called = labels.wanted(extent.labels)
    many = FleetWanted.of(fleet)
    shown = Shown(details, Metrics(metrics))
    use_prefix(prefix)
    wanted = quantities.trials(extent.trials)
    if source.resume is not None:
        study, folder = progress.resume(source.resume, None, wanted)
        return _measure(study, lambda: folder, many, shown)
    if source.added_to is not None:
        if wanted:
            raise UsageProblem(
                "--add-occasion measures as many trials as the occasions before",
                "leave --trials out",
            )
        study, folder = progress.resume(source.added_to, None, None)
        occasion = runner.next_occasion(folder)
        output.say(f"occasion {occasion}: {_plan(study, occasion)}")
        return _measure(study, lambda: folder, many, shown, occasion)
    quick_study: Callable[[], Study] | None = None
    if source.again is not None:
        study = again.with_secrets(progress.study_of_report(source.again))
        if wanted:
            study = study.with_trials(wanted)
    else:
        chosen = secrets.randbits(32) if extent.seed is None else extent.seed
        study = _expanded(str(source.name), choice, trials=wanted, seed=chosen)
        if not choice.quick:
            smaller = replace(choice, quick=True)
            quick_study = partial(_expanded, str(source.name), smaller, trials=wanted, seed=chosen)
        if keeps_secrets:
            study = study.keeping_secrets()
    limit = _limit(extent.budget)
    if limit is not None:
        study = estimate.within(study, limit, quick_study)
    output.say(_plan(study))
    # Those of a report that is measured again were of another day.
    study = Learning().learnt_of_study(study).model_copy(update={"labels": called})
    return _measure(study, lambda: progress.begin(study, results), many, shown)


def _limit(budget: str | None) -> int | None:
    return None if budget is None else quantities.duration_ns(budget, "--budget")


def _measure(
    study: Study,
    folder: Callable[[], ResultsFolder],
    many: FleetWanted | None,
    shown: Shown,
    occasion: int | None = None,
) -> int:
    if many:
        _require_reachable(study)
    with fleet_wanted.engine(many) as engine:
        # A fleet that can't be reached leaves no empty folder behind.
        words = many.words if many else ()
        return progress.run(
            study,
            folder(),
            engine=engine,
            words=words,
            details=shown.details,
            occasion=occasion,
            metrics=shown.metrics,
        )


def _require_reachable(study: Study) -> None:
    """Raises where a scenario keeps its server, or its client, where no agent can be."""
    for case in study.cases:
        if case.sending:
            raise UsageProblem(
                f"{case.scenario.name}: a client library is measured on this machine",
                "leave --fleet out",
            )
        if case.scenario.together > 1:
            raise UsageProblem(
                f"{case.scenario.name}: its trials run side by side, a fleet runs one at a time",
                "leave --fleet out, or set together = 1",
            )
        if case.scenario.environment != environments.LOOPBACK:
            raise UsageProblem(
                f"{case.scenario.name}: a fleet can't reach namespaces and links of this machine",
                "choose other scenarios (--only)",
            )


def _kept(found: registry.Found) -> dict[str, Any] | None:
    """What came out where the study ran whole, as it is kept with the study."""
    kept = answers.kept(found.folder)
    if kept is None:
        return None
    return {
        "answer": answers.in_plain_words(found.folder) or kept.sentence,
        "at": kept.date,
        "machine": kept.machine,
        "occasions": kept.occasions,
    }


def _told(row: dict[str, Any]) -> Iterator[str]:
    """What is kept with a study, and what it found here."""
    kept, own = row["kept"], row["answer"]
    if kept:
        occasions = units.plural(kept["occasions"], "occasion")
        yield f"{kept['answer']} ({occasions}, {kept['at']})"
    if own:
        yield f"Here, {row['at'][:10]}: {answers.first_sentence(own)}"
    if not (kept or own):
        yield "not run here yet"


def _entry(name: str, text: str) -> list[str]:
    """A name and what is said of it, in two columns as wide as the terminal."""
    return textwrap.wrap(
        text,
        max(output.width(), NARROWEST),
        initial_indent=f"{name:<{SECOND_COLUMN - 1}} ",
        subsequent_indent=" " * SECOND_COLUMN,
        break_on_hyphens=False,
    )


def _expanded(name: str, choice: Choice, *, trials: int | None, seed: int) -> Study:
    found = registry.find(name)
    document = found.document
    if choice.provoke:
        document = document.provoking(choice.provoke)
    if choice.pacing:
        document = document.paced(choice.pacing)
    if document.is_rather_awake and (why := idle_states.refusal()):
        document = document.asleep(why.message)
    aims = targets.parse(choice.targets, document)
    if aims:
        document = targets.aimed(document, aims)
    words = ["wiretrial", "study", "run", name, *choice.words()]
    if trials:
        words += ["--trials", str(trials)]
    study = matrix.expand(
        found.name,
        document,
        command=shlex.join([*words, "--seed", str(seed)]),
        seed=seed,
        trials=trials,
        quick=choice.quick,
        only=choice.only,
    )
    if aims:
        study = targets.put(study, aims)
    # What `show` shows, `run` must be able to name.
    prepare.require_named(study)
    study = priming.as_told(study, document)
    whole = document.budget
    if whole is None or choice.quick:
        return study
    return estimate.within(study, whole, setting='budget = "{}" in its study.toml')


def _limits(study: Study) -> Iterator[str]:
    """What keeps this machine from running the study."""
    try:
        prepare.require(study, Path())
    except UsageProblem as short:
        yield f"this machine can't run it: {short.line()}"


def _plan(study: Study, occasion: int = 1) -> str:
    """What is about to be measured, and how long that takes."""
    needed = estimate.estimate(study, occasion)
    cases = [case for case in study.cases if case.is_of(occasion)]
    searches = sum(case.stage == 3 for case in cases)
    known = [case for case in cases if case.stage < 3]
    counts = {study.trials_of(case) for case in known}
    scenarios = units.plural(len(known), "scenario")
    trials = units.plural(sum(map(study.trials_of, known)), "trial")
    parts = [
        f"{scenarios} x {units.plural(study.trials, 'trial')}"
        if counts == {study.trials}
        else f"{scenarios}, {trials}"
    ]
    if searches:
        kind = "search" if searches == 1 else "searches"
        parts.append(f"{searches} {kind} for the highest sustained rate")
    if study.starts:
        servers = units.plural(len(study.starts.subjects), "server")
        parts.append(f"{units.plural(study.starts.count, 'start')} each of {servers}")
    return f"{', '.join(parts)}: about {estimate.words(needed.total_ns)}"
