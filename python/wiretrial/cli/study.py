"""`wiretrial study`: questions with their experiments: list, show, run."""

from __future__ import annotations

import secrets
import shlex
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from wiretrial import quantities
from wiretrial.cli import fleet_options, output, progress, workload
from wiretrial.cli.demo import Results
from wiretrial.cli.fleet_options import FleetWanted
from wiretrial.cli.output import Format
from wiretrial.cli.subject_install import Prefix, use_prefix
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.report import units
from wiretrial.results import answers
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import environments, estimate, matrix, prepare, priming, registry, targets
from wiretrial.studies.spec import Study

SECOND_COLUMN, NARROWEST = 21, 60
EXAMPLES = """\b
Examples:
  wiretrial study list
  wiretrial study show http-vs-websocket --quick
  wiretrial study run websocket-servers --quick
  wiretrial study run ./mine --only 'ws*' --budget 30m
  wiretrial study run client-libraries --provoke nagle
  wiretrial study run game-bots --target 192.0.2.7:4123
  wiretrial study run --resume results/mine-20260101-120000
  wiretrial study run ./mine --fleet tls://10.0.0.1 --fleet-certificates certs

A study is a name of `wiretrial study list`, or a folder with a study.toml.
"""

app = typer.Typer(
    help="Prepared studies of one question each: list, show, run.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
    no_args_is_help=True,
)

NAMED = "A name from `wiretrial study list`, or a folder with a study.toml."
Name = Annotated[str, typer.Argument(metavar="NAME|FOLDER", help=NAMED)]
FormatOption = Annotated[Format, typer.Option("--format", help="How the result is written.")]
Quick = Annotated[
    bool, typer.Option("--quick", help="Fewer levels, shorter and fewer trials: a few minutes.")
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="PATTERN",
        help="Only scenarios or subjects whose name matches. Repeatable.",
        show_default=False,
    ),
]
Provoke = Annotated[
    str | None,
    typer.Option(
        "--provoke",
        metavar="NAME",
        help="Run only the small study that shows this artefact on purpose.",
        show_default=False,
    ),
]
Target = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="[SCHEME://]HOST:PORT",
        help="Measure this running server instead of the subjects. Repeatable.",
        show_default=False,
    ),
]
PacingOption = Annotated[
    str | None,
    typer.Option(
        "--pacing",
        metavar="NAME",
        help="Pacing where each connection has a rate: constant, poisson, phased, after-response.",
        show_default=False,
    ),
]
Trials = Annotated[
    str | None,
    typer.Option(
        "--trials",
        metavar="N",
        help="Trials per scenario; some studies limit them for single scenarios.",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget", metavar="TIME", help="Run as many trials as fit into this time: 30m, 2h."
    ),
]


@app.command("list", short_help="List the studies and what they found.")
def list_(results: Results = Path("results"), format_: FormatOption = Format.TEXT) -> int:
    """List the studies, each with its question and its last result here."""
    known = answers.latest(results)
    rows: list[dict[str, Any]] = []
    for found in registry.catalogue():
        answer = known.get(found.name)
        rows.append(
            {
                "name": found.name,
                "title": found.document.title,
                "question": found.document.question,
                "subjects": registry.subjects_of(found.name),
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
        lines += _entry("", _last_result(row))
    output.emit("\n".join(lines) if lines else "no study here", None)
    return EXIT_GOOD


@app.command("show", short_help="Show a study's scenarios and how long they take.")
def show(
    name: Name,
    quick: Quick = False,
    only: Only = None,
    provoke: Provoke = None,
    target: Target = None,
    pacing: PacingOption = None,
    format_: FormatOption = Format.TEXT,
) -> int:
    """Show a study's question, its scenarios, and how long it takes."""
    choice = _Choice(quick, tuple(only or ()), provoke, tuple(target or ()), pacing)
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
    if not provoke and (provoked := registry.find(name).document.provocation):
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


@app.command("run", short_help="Run a study, or continue one.")
def run(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME|FOLDER", help=NAMED, show_default=False)
    ] = None,
    quick: Quick = False,
    only: Only = None,
    provoke: Provoke = None,
    target: Target = None,
    pacing: PacingOption = None,
    trials: Trials = None,
    budget: Budget = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Seed of the order of trials. [random, recorded]"),
    ] = None,
    results: Results = Path("results"),
    prefix: Prefix = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume", metavar="DIR", help="Continue the study in DIR with its missing trials."
        ),
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option("--from", metavar="REPORT|DIR", help="Run the study of a report again."),
    ] = None,
    keep_secrets: workload.KeepSecrets = False,
    fleet: fleet_options.Fleet = None,
    fleet_certificates: fleet_options.FleetCertificates = None,
    fleet_agents: fleet_options.FleetAgents = None,
    on_agent_loss: fleet_options.AgentLoss = None,
) -> int:
    """Run a study, trial by trial. Each is stored at once, so that --resume can continue."""
    ways = sum(given is not None for given in (name, resume, again))
    if ways > 1:
        raise UsageProblem(
            "a study's name, --resume and --from exclude each other",
            "leave the name out: DIR and REPORT know theirs",
        )
    if ways == 0:
        raise UsageProblem(
            "no study is named",
            "name one of `wiretrial study list`, or use --resume DIR or --from REPORT",
        )
    many = FleetWanted.of(fleet, fleet_certificates, fleet_agents, on_agent_loss)
    use_prefix(prefix)
    wanted = None if trials is None else quantities.count(trials, "--trials", most=1000)
    if resume is not None:
        study, folder = progress.resume(resume, None, wanted)
        return _measure(study, lambda: folder, many)
    quick_study: Callable[[], Study] | None = None
    if again is not None:
        study = progress.study_of_report(again)
        if wanted:
            study = study.with_trials(wanted)
    else:
        chosen = secrets.randbits(32) if seed is None else seed
        choice = _Choice(quick, tuple(only or ()), provoke, tuple(target or ()), pacing)
        study = _expanded(str(name), choice, trials=wanted, seed=chosen)
        if not quick:
            smaller = replace(choice, quick=True)
            quick_study = partial(_expanded, str(name), smaller, trials=wanted, seed=chosen)
        if keep_secrets:
            study = study.keeping_secrets()
    limit = None if budget is None else quantities.duration_ns(budget, "--budget")
    if limit is not None:
        study = estimate.within(study, limit, quick_study)
    output.say(_plan(study))
    return _measure(study, lambda: progress.begin(study, results), many)


def _measure(study: Study, folder: Callable[[], ResultsFolder], many: FleetWanted | None) -> int:
    if many:
        _require_reachable(study)
    with fleet_options.engine(many) as engine:
        # A fleet that can't be reached leaves no empty folder behind.
        return progress.run(study, folder(), engine=engine, words=many.words if many else ())


def _require_reachable(study: Study) -> None:
    """Raises where a scenario keeps its server, or its client, where no agent can be."""
    for case in study.cases:
        if case.driving is not None:
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


def _kept(found: registry.Found) -> dict[str, str] | None:
    """What came out where the study ran whole, as it is kept with the study."""
    kept = answers.kept(found.folder)
    if kept is None:
        return None
    return {"answer": kept.sentence, "at": kept.date, "machine": kept.machine}


def _last_result(row: dict[str, Any]) -> str:
    """What a study found here, else what is kept with it."""
    if row["answer"]:
        return f"{row['at'][:10]}: {answers.first_sentence(row['answer'])}"
    if kept := row["kept"]:
        return f"{kept['at']}, on {kept['machine']}: {kept['answer']}"
    return "not run here yet"


def _entry(name: str, text: str) -> list[str]:
    """A name and what is said of it, in two columns as wide as the terminal."""
    return textwrap.wrap(
        text,
        max(output.width(), NARROWEST),
        initial_indent=f"{name:<{SECOND_COLUMN - 1}} ",
        subsequent_indent=" " * SECOND_COLUMN,
        break_on_hyphens=False,
    )


@dataclass(frozen=True)
class _Choice:
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


def _expanded(name: str, choice: _Choice, *, trials: int | None, seed: int) -> Study:
    found = registry.find(name)
    document = found.document
    if choice.provoke:
        document = document.provoking(choice.provoke)
    if choice.pacing:
        document = document.paced(choice.pacing)
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
    study = priming.primed(study)
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


def _plan(study: Study) -> str:
    """What is about to be measured, and how long that takes."""
    needed = estimate.estimate(study)
    searches = len(study.stage(3))
    known = [case for case in study.cases if case.stage < 3]
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
    return f"{', '.join(parts)}: about {estimate.words(needed.total_ns)}"
