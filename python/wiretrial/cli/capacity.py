"""Shows this machine's facts, and what it has of what a load needs.

Knows how they are laid out; must not know where they come from.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from wiretrial import quantities
from wiretrial.cli import output
from wiretrial.cli.output import Format
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD
from wiretrial.machine import facts, pinning, preflight


def show(connections: str, format_: Format) -> int:
    """Shows both; the exit code tells whether it has enough."""
    found = facts.collect()
    cpus = pinning.choose()
    findings = preflight.check(
        preflight.Demand(connections=quantities.count(connections, "--connections"))
    )
    short = any(not finding.enough for finding in findings)
    if format_ is Format.JSON:
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
