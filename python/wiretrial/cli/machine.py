"""`wiretrial machine`: facts that stand with every result, and what this machine can carry."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from wiretrial import quantities
from wiretrial.cli import output
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD
from wiretrial.machine import facts, pinning, preflight

EXAMPLES = """\b
Examples:
  wiretrial machine
  wiretrial machine -c 10k
  wiretrial machine --format json
"""


def machine(
    connections: Annotated[
        str,
        typer.Option(
            "-c",
            "--connections",
            metavar="N",
            help="Check whether this machine can hold N connections.",
        ),
    ] = "100",
    format_: Annotated[
        output.Format, typer.Option("--format", help="How the result is written.")
    ] = output.Format.TEXT,
) -> int:
    """Show this machine's facts and check what a load needs of it."""
    found = facts.collect()
    cpus = pinning.choose()
    findings = preflight.check(
        preflight.Demand(connections=quantities.count(connections, "--connections"))
    )
    short = any(not finding.enough for finding in findings)
    if format_ is output.Format.JSON:
        document = {
            "schema": "wiretrial-machine",
            "version": 1,
            "facts": found,
            "pinning": asdict(cpus),
            "preflight": [{**asdict(finding), "enough": finding.enough} for finding in findings],
        }
        output.emit(output.as_json(document), None)
        return EXIT_FAILED if short else EXIT_GOOD
    output.emit("\n".join(_lines(found)), None)
    output.emit(
        f"\nserver on CPU {_list(cpus.server)}, generator on CPU {_list(cpus.generator)}", None
    )
    if cpus.problem:
        output.emit(f"  {cpus.problem}", None)
    output.emit("", None)
    for finding in findings:
        mark = "ok   " if finding.enough else "SHORT"
        advice = "" if finding.enough else f": {finding.remedy}"
        output.emit(f"{mark} {finding.name:<12} {finding.line()}{advice}", None)
    return EXIT_FAILED if short else EXIT_GOOD


def _lines(found: dict[str, Any], indent: str = "") -> list[str]:
    lines: list[str] = []
    for name, value in found.items():
        if isinstance(value, dict):
            lines.append(f"{indent}{name}")
            lines += _lines(value, indent + "  ")
        else:
            shown = "unknown" if value is None else value
            lines.append(f"{indent}{name:<{32 - len(indent)}} {shown}")
    return lines


def _list(cpus: tuple[int, ...]) -> str:
    return ", ".join(str(cpu) for cpu in cpus)
