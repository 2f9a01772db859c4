"""`wiretrial subject`: what can be measured here, and whether it keeps its word."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from typing import Annotated

import typer

from wiretrial.cli import (
    interrupts,
    output,
    subject_install,
    subject_list,
    subject_new,
    subject_verify,
)
from wiretrial.cli.output import Format
from wiretrial.cli.subject_install import Prefix
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GOOD, SubjectFailed, UsageProblem
from wiretrial.machine import pinning
from wiretrial.subjects import build, registry
from wiretrial.subjects.footprint import Weight
from wiretrial.subjects.process import Server

EXAMPLES = """\b
Examples:
  wiretrial subject list
  wiretrial subject install nginx ws
  wiretrial subject new ./mine
  wiretrial subject verify ./mine
  wiretrial subject run ws --configuration tuned
"""

app = typer.Typer(
    help="Servers and client libraries: list, show, new, install, verify, run.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
    no_args_is_help=True,
)

Name = Annotated[
    str, typer.Argument(metavar="NAME|FOLDER", help="A name from `subject list`, or a folder.")
]
FormatOption = Annotated[Format, typer.Option("--format", help="How the result is written.")]


app.command("list", epilog=subject_list.EXAMPLES, short_help="List what can be measured.")(
    subject_list.list_
)


@app.command("show", short_help="Show one subject.")
def show(name: Name, format_: FormatOption = Format.TEXT) -> int:
    """Show one subject: recipe, contracts, configurations."""
    subject = registry.find(name)
    spec = subject.spec
    built = build.installed(subject, Engine.find().binary)
    document = {
        "schema": "wiretrial-subject",
        "version": 2,
        "folder": str(subject.folder),
        "digest": subject.digest(),
        "subject": spec.model_dump(mode="json"),
        "build": built.model_dump(mode="json") if built else None,
        "reason": None if built else build.refused(subject),
    }
    if format_ is Format.JSON:
        output.emit(output.as_json(document), None)
        return EXIT_GOOD
    state = built.version if built else build.refused(subject) or "not installed"
    lines = [
        ("version", state),
        ("language", spec.language),
        ("licence", spec.licence),
        ("homepage", spec.homepage),
        ("speaks", ", ".join(spec.speaks)),
        ("contracts", ", ".join(spec.contracts))
        if spec.contracts
        else ("modes", ", ".join(spec.modes)),
        ("threads", str(spec.max_threads or "as many as it is told")),
        ("folder", str(subject.folder)),
        ("digest", subject.digest()[:16]),
    ]
    if built:
        lines += [("built in", str(built.folder)), *_weight(built.weight)]
    for configuration, chosen in spec.configurations.items():
        lines += [(configuration, chosen.description), ("", shlex.join(chosen.command))]
    for limit in spec.limits:
        lines.append((f"not {limit.part}", limit.why))
    shown = [f"{spec.name}: {spec.summary}", *(f"  {key:<14} {text}" for key, text in lines)]
    output.emit("\n".join(shown), None)
    return EXIT_GOOD


def _weight(weight: Weight) -> Iterator[tuple[str, str]]:
    """What is known of a footprint, in words."""
    if weight.dependencies is not None and weight.dependency_bytes is not None:
        size_mb = weight.dependency_bytes / 1e6
        yield "dependencies", f"{weight.dependencies} over a C++ compiler's, {size_mb:.1f} MB"
    if weight.artefact_bytes is not None:
        octets = weight.stripped_bytes or weight.artefact_bytes
        stripped = " stripped" if weight.stripped_bytes else ""
        yield "program", f"{octets / 1e3:,.0f} kB{stripped}"
    if weight.build_wall_ns is not None and weight.build_cpu_ns is not None:
        wall, cpu = weight.build_wall_ns / 1e9, weight.build_cpu_ns / 1e9
        yield "build", f"{wall:.1f} s, {cpu:.1f} s of CPU"
    if weight.service_lines is not None:
        yield "service", f"{weight.service_lines} lines"


app.command("new", epilog=subject_new.EXAMPLES, short_help="Write the files of a new subject.")(
    subject_new.new
)
app.command("install", epilog=subject_install.EXAMPLES, short_help="Install and build subjects.")(
    subject_install.install
)
app.command(
    "verify", epilog=subject_verify.EXAMPLES, short_help="Check that subjects keep their contracts."
)(subject_verify.verify)


@app.command("run", short_help="Start a server of the catalogue by hand.")
def run(
    name: Name,
    configuration: Annotated[
        str,
        typer.Option(
            "--configuration",
            metavar="NAME",
            help="Configuration: default, tuned, or one of its own.",
        ),
    ] = "default",
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads of the subject.")] = 1,
    prefix: Prefix = None,
) -> int:
    """Start a server, print its URLs, and keep it until Ctrl-C."""
    subject_install.use_prefix(prefix)
    engine = Engine.find()
    subject = registry.find(name)
    if subject.spec.kind != "server":
        raise UsageProblem(f"{name} is a client library, not a server", "name a server")
    subject.configuration(configuration)
    built = build.install(subject, engine.binary)
    with Server(
        subject,
        built,
        configuration,
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
