"""`wiretrial subject`: what can be measured here, and whether it keeps its word."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from wiretrial.cli import interrupts, output
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, SubjectFailed, SubjectUnavailable, UsageProblem
from wiretrial.machine import pinning
from wiretrial.subjects import build, registry, verify
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import ConfigurationName, Subject

EXAMPLES = """\b
Examples:
  wiretrial subject list
  wiretrial subject install nginx node
  wiretrial subject verify ./mine
  wiretrial subject run node --configuration tuned
"""

app = typer.Typer(
    help="Servers to measure: list, show, install, verify, run.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
    no_args_is_help=True,
)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME|FOLDER]...", help="All of the catalogue if none is given."),
]
Name = Annotated[str, typer.Argument(metavar="NAME|FOLDER")]
Format = Annotated[output.Format, typer.Option("--format", help="How the result is written.")]


@app.command("list", short_help="List what can be measured.")
def list_(format_: Format = output.Format.TEXT) -> int:
    """List the catalogue: what each subject speaks, and whether it is installed."""
    engine = Engine.find()
    rows = [_summary(subject, engine) for subject in registry.catalogue()]
    if format_ is output.Format.JSON:
        output.emit(
            output.as_json({"schema": "wiretrial-subjects", "version": 1, "subjects": rows}), None
        )
        return EXIT_GOOD
    for row in rows:
        state = row["installed"] or "not installed"
        output.emit(
            f"{row['name']:<12} {state:<28} {' '.join(row['speaks']):<26} {row['summary']}", None
        )
    return EXIT_GOOD


@app.command("show", short_help="Show one subject.")
def show(name: Name, format_: Format = output.Format.TEXT) -> int:
    """Show one subject: recipe, contracts, configurations."""
    subject = registry.find(name)
    spec = subject.spec
    document = {
        "schema": "wiretrial-subject",
        "version": 1,
        "folder": str(subject.folder),
        "digest": subject.digest(),
        **spec.model_dump(mode="json", exclude={"version"}),
    }
    if format_ is output.Format.JSON:
        output.emit(output.as_json(document), None)
        return EXIT_GOOD
    lines = [
        f"{spec.name}: {spec.summary}",
        f"  language       {spec.language}",
        f"  licence        {spec.licence}",
        f"  homepage       {spec.homepage}",
        f"  speaks         {', '.join(spec.speaks)}",
        f"  contracts      {', '.join(spec.contracts)}",
        f"  threads        {spec.max_threads or 'as many as it is told'}",
        f"  folder         {subject.folder}",
        f"  digest         {subject.digest()[:16]}",
    ]
    for configuration, chosen in spec.configurations.items():
        lines.append(f"  {configuration:<14} {chosen.description}")
        lines.append(f"  {'':<14} {' '.join(chosen.command)}")
    output.emit("\n".join(lines), None)
    return EXIT_GOOD


@app.command("install", short_help="Install and build subjects.")
def install(names: Names = None) -> int:
    """Install and build subjects; what can't be had here is said, and stops nothing else."""
    engine = Engine.find()
    code = EXIT_GOOD
    for subject in _chosen(names):
        try:
            built = build.install(subject, engine.binary)
        except SubjectUnavailable as error:
            output.say(error.line())
            code = EXIT_FAILED
            continue
        output.emit(f"{subject.spec.name} {built.version}", None)
    return code


@app.command("verify", short_help="Check what subjects claim.")
def verify_(names: Names = None, format_: Format = output.Format.TEXT) -> int:
    """Check every contract that subjects claim, on every protocol, in each configuration."""
    engine = Engine.find()
    checks: list[dict[str, Any]] = []
    problems: list[str] = []
    for subject in _chosen(names):
        for configuration in subject.spec.configurations:
            try:
                found = _verify(subject, configuration, engine)
            except (SubjectUnavailable, SubjectFailed) as error:
                problems.append(error.line())
                continue
            broken = [outcome for outcome in found if outcome.problem]
            problems += [
                f"{subject.spec.name} ({configuration}) {outcome.contract} over"
                f" {outcome.protocol}, {outcome.check}: {outcome.problem}"
                for outcome in broken
            ]
            checks += [
                {
                    "subject": subject.spec.name,
                    "configuration": configuration,
                    **outcome.model_dump(),
                }
                for outcome in found
            ]
            if format_ is output.Format.TEXT:
                right = len(found) - len(broken)
                output.emit(
                    f"{subject.spec.name} ({configuration}): {right} of {len(found)} checks passed",
                    None,
                )
    if format_ is output.Format.JSON:
        output.emit(
            output.as_json(
                {
                    "schema": "wiretrial-verification",
                    "version": 1,
                    "checks": checks,
                    "problems": problems,
                }
            ),
            None,
        )
    for problem in problems:
        output.say(problem)
    return EXIT_FAILED if problems else EXIT_GOOD


@app.command("run", short_help="Start a subject by hand.")
def run(
    name: Name,
    configuration: Annotated[
        str, typer.Option("--configuration", metavar="default|tuned", help="How to run it.")
    ] = "default",
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads of the subject.")] = 1,
) -> int:
    """Start a subject, print its URLs, and keep it until Ctrl-C."""
    engine = Engine.find()
    subject = registry.find(name)
    if configuration not in ("default", "tuned"):
        raise UsageProblem(f"--configuration {configuration}: unknown", "use default or tuned")
    chosen: ConfigurationName = "tuned" if configuration == "tuned" else "default"
    built = build.install(subject, engine.binary)
    with Server(
        subject,
        built,
        chosen,
        engine=engine.binary,
        threads=threads,
        cpus=pinning.choose(server_threads=threads).server,
    ) as server:
        server.wait_ready()
        try:
            _show_urls(server)
            while (how := server.ended()) is None:
                time.sleep(0.2)
        except interrupts.Stopped:
            return EXIT_GOOD
    raise SubjectFailed(f"{name} ended: {how}")


def _show_urls(server: Server) -> None:
    for protocol in server.subject.spec.speaks:
        path = "" if protocol in ("tcp", "tls") else "/"
        output.emit(server.endpoint(protocol).url(path), None)
    output.say(f"authority for TLS: {server.certificate.authority}")
    output.say("Ctrl-C ends it")


def _chosen(names: list[str] | None) -> list[Subject]:
    return [registry.find(name) for name in names] if names else registry.catalogue()


def _summary(subject: Subject, engine: Engine) -> dict[str, Any]:
    try:
        built = build.installed(subject, engine.binary)
    except SubjectUnavailable:
        built = None
    return {
        "name": subject.spec.name,
        "summary": subject.spec.summary,
        "language": subject.spec.language,
        "speaks": list(subject.spec.speaks),
        "contracts": list(subject.spec.contracts),
        "configurations": list(subject.spec.configurations),
        "installed": built.version if built else None,
    }


def _verify(
    subject: Subject, configuration: ConfigurationName, engine: Engine
) -> list[verify.Outcome]:
    built = build.install(subject, engine.binary)
    cpus = pinning.choose().server
    with Server(subject, built, configuration, engine=engine.binary, cpus=cpus) as server:
        server.wait_ready()
        return list(verify.verify(subject.spec, server.endpoint))
