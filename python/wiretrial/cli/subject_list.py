"""The catalogue at a glance, and what of it is here.

Knows how it is laid out; must not know how a subject is installed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from wiretrial import suggest
from wiretrial.cli import output
from wiretrial.cli.output import Format
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.subjects import build, registry, verification
from wiretrial.subjects.build import Build
from wiretrial.subjects.spec import Subject

TITLES = {"server": "servers", "client": "client libraries"}
COLUMNS = ("name", "version", "language", "licence", "verified", "speaks")
WIDE = 100
LONGEST = 30
LONGEST_IN_NARROW = 24
LEAST_SPEAKS = 16
LEFT_OUT = ("licence", "language")
"""Columns that a narrow terminal does not show, in this order."""
"""No cell but the last is wider; a longer one is cut."""


def list_(kind: str | None, format_: Format) -> int:
    """Shows version, language, licence and protocols of each, and whether it is installed."""
    if kind is not None and kind not in TITLES:
        raise UsageProblem(
            f"--kind {kind}: unknown", suggest.remedy(kind, TITLES, f"use {' or '.join(TITLES)}")
        )
    engine = Engine.find()
    rows = [
        _row(subject, engine)
        for subject in registry.catalogue()
        if kind in (None, subject.spec.kind)
    ]
    if format_ is Format.JSON:
        document = {"schema": "wiretrial-subjects", "version": 2, "subjects": rows}
        output.emit(output.as_json(document), None)
        return EXIT_GOOD
    tables = [table(title, [r for r in rows if r["kind"] == of]) for of, title in TITLES.items()]
    paragraphs = [*filter(None, tables), *filter(None, ["\n".join(_reasons(rows))])]
    output.emit("\n\n".join(paragraphs), None)
    return EXIT_GOOD


def _row(subject: Subject, engine: Engine) -> dict[str, Any]:
    spec = subject.spec
    built = build.installed(subject, engine.binary)
    return {
        "name": spec.name,
        "kind": spec.kind,
        "summary": spec.summary,
        "language": spec.language,
        "licence": spec.licence,
        "homepage": spec.homepage,
        "speaks": list(spec.speaks),
        "contracts": list(spec.contracts),
        "modes": list(spec.modes),
        "configurations": list(spec.configurations),
        "released": spec.version.released.isoformat() if spec.version.released else None,
        "installed": built.version if built else None,
        "reason": None if built else build.refused(subject),
        "verified": _verified(subject, built, engine) if built else {},
    }


def _verified(subject: Subject, built: Build, engine: Engine) -> dict[str, bool | None]:
    """By configuration: whether all is as claimed and written down; None: it was never checked."""
    found = {
        configuration: verification.verified(subject, built, configuration, engine.binary)
        for configuration in subject.spec.configurations
    }
    return {name: not f.problems(subject) if f else None for name, f in found.items()}


def table(title: str, rows: list[dict[str, Any]]) -> str:
    """These subjects, a row each, within the columns of the terminal."""
    if not rows:
        return ""
    lines = [list(COLUMNS), *(list(_cells(row)) for row in rows)]
    for name in LEFT_OUT:
        at = lines[0].index(name)
        if _room(lines) < LEAST_SPEAKS:
            lines = [[*line[:at], *line[at + 1 :]] for line in lines]
    shown = []
    for *cells, last in lines:
        row = _begun(cells, lines)
        first, *rest = textwrap.wrap(last, max(LEAST_SPEAKS, _room(lines)), break_on_hyphens=False)
        shown += [row + first, *(" " * len(row) + line for line in rest)]
    return "\n".join([title, *shown])


def _room(lines: list[list[str]]) -> int:
    """Columns that are left for the last cell."""
    return output.width() - len(_begun(lines[0][:-1], lines))


def _begun(cells: list[str], lines: list[list[str]]) -> str:
    widths = [max(len(line[at]) for line in lines) for at in range(len(cells))]
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "  " + "".join(f"{cell}  " for cell in padded)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    state = row["installed"] or ("unavailable" if row["reason"] else "not installed")
    first = (row["name"], state, row["language"], row["licence"], _yes_or_no(row["verified"]))
    longest = LONGEST if output.width() >= WIDE else LONGEST_IN_NARROW
    cut = (cell if len(cell) <= longest else f"{cell[: longest - 1]}…" for cell in first)
    return (*cut, " ".join(row["speaks"]))


def _yes_or_no(verified: dict[str, bool | None]) -> str:
    outcomes = set(verified.values())
    if False in outcomes:
        return "no"
    return "yes" if outcomes == {True} else "-"


def _reasons(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        if row["reason"]:
            yield textwrap.fill(row["reason"], output.width(), subsequent_indent="  ")
    missing = [row for row in rows if not row["installed"] and not row["reason"]]
    if missing:
        yield f"{len(missing)} not installed: wiretrial subject install NAME, or --all"
