"""The catalogue as a page of Markdown: what each subject is, keeps and weighs.

Pure: knows what was found; must not know how it was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from wiretrial.errors import UsageProblem
from wiretrial.subjects.build import Build
from wiretrial.subjects.footprint import BASE, Weight
from wiretrial.subjects.spec import ConfigurationName, Spec
from wiretrial.subjects.verification import Verification

NOTHING = "–"
Kind = Literal["server", "client"]
INTRODUCTION = """\
# Subjects

What can be measured: servers, and client libraries behind a driver. Each is a folder of
`subjects/` that says how it is installed, built and started; how to add one, or an own server, is
in [subjects-howto.md](subjects-howto.md), and what each contract demands in
[the contracts](../subjects/_contract/README.md). No subject is measured for what it was not
verified to do.

This page is written by `make catalogue` from what was installed and verified on {system}.
"""
_SAID = (
    "A part that fails is written down in the subject and proved anew by every verification;"
    " where a workload needs it, the subject is not measured.\n"
)


Row = tuple[str, ...]

TITLES: Mapping[Kind, str] = {"server": "Servers", "client": "Client libraries"}
WEIGHT = "### What they weigh"
LIMITS = "## What does not hold"
MISSING = "## What could not be had here"
_WEIGHED = ("subject", "dependencies", "MB", "program, kB", "build, s", "CPU, s", "lines")
_LIMITED = ("subject", "part", "where", "why")
_MISSED = ("subject", "why, and what to do")
_NAME = re.compile(r"\[([^]]+)\]")
_CELLS = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Entry:
    """One subject as it was found. `build` is None where it can't be had, `reason` says why."""

    spec: Spec
    build: Build | None
    reason: str | None
    verified: Mapping[ConfigurationName, Verification]


@dataclass
class _Rows:
    """What the page's tables hold."""

    what: dict[Kind, list[Row]] = field(default_factory=lambda: {kind: [] for kind in TITLES})
    weight: dict[Kind, list[Row]] = field(default_factory=lambda: {kind: [] for kind in TITLES})
    limits: list[Row] = field(default_factory=list)
    missing: list[Row] = field(default_factory=list)

    def tables(self) -> Iterator[list[Row]]:
        """All of them."""
        yield from (*self.what.values(), *self.weight.values(), self.limits, self.missing)


def page(entries: Sequence[Entry], system: str) -> str:
    """The whole page."""
    return _text(_rows(entries), system)


def renewed(old: str, entries: Sequence[Entry], system: str) -> str:
    """The page `old` with what it says of these subjects said anew; of all others it stays.

    Raises `UsageProblem` where it is no such page, or tells of another system.
    """
    if not old.startswith(INTRODUCTION.format(system=system)):
        raise UsageProblem(
            f"the page is not one of subjects that were verified on {system}",
            "name another file, or write it anew with --all",
        )
    rows, new = _read(old), _rows(entries)
    names = {entry.spec.name for entry in entries}
    for kept, added in zip(rows.tables(), new.tables(), strict=True):
        kept[:] = [row for row in kept if _subject(row) not in names] + added
        kept.sort(key=_subject)
    return _text(rows, system)


def _rows(entries: Sequence[Entry]) -> _Rows:
    rows = _Rows()
    for entry in entries:
        rows.what[entry.spec.kind].append(_row(entry))
        if entry.build is None:
            rows.missing.append((entry.spec.name, entry.reason or "it was not installed"))
        else:
            rows.weight[entry.spec.kind].append(_weight(entry.spec.name, entry.build.weight))
        rows.limits += _limits(entry)
    for table in rows.tables():
        table[:] = [tuple(map(_cell, row)) for row in table]
    return rows


def _text(rows: _Rows, system: str) -> str:
    parts = [INTRODUCTION.format(system=system)]
    for kind, title in TITLES.items():
        if rows.what[kind]:
            keeps = "contracts" if kind == "server" else "connections"
            head = ("subject", "version", "language", "licence", "speaks", keeps, "verified")
            parts += [f"## {title}\n", _table(head, rows.what[kind])]
            parts += [f"{WEIGHT}\n\n{_base()}\n", _table(_WEIGHED, rows.weight[kind])]
    held = f"{_SAID}\n{_table(_LIMITED, rows.limits)}" if rows.limits else "Everything holds.\n"
    parts += [f"{LIMITS}\n", held]
    if rows.missing:
        parts += [f"{MISSING}\n", _table(_MISSED, rows.missing)]
    return "\n".join(parts)


def _read(text: str) -> _Rows:
    """The rows of a page."""
    rows, kind, into = _Rows(), None, None
    kinds = {f"## {title}": kind for kind, title in TITLES.items()}
    for line in text.splitlines():
        if line in kinds:
            kind = kinds[line]
            into = rows.what[kind]
        elif line == WEIGHT and kind:
            into = rows.weight[kind]
        elif line in (LIMITS, MISSING):
            into = rows.limits if line == LIMITS else rows.missing
        elif line.startswith("| ") and not line.startswith("| subject |") and into is not None:
            into.append(tuple(cell.strip() for cell in _CELLS.split(line)[1:-1]))
    return rows


def _subject(row: Row) -> str:
    """Whose row it is: the first cell names it, as a link in the first table."""
    named = _NAME.match(row[0])
    return named[1] if named else row[0]


def _row(entry: Entry) -> tuple[str, ...]:
    spec = entry.spec
    released = f" ({spec.version.released})" if spec.version.released else ""
    version = f"{entry.build.version}{released}" if entry.build else "unavailable"
    return (
        f"[{spec.name}]({spec.homepage})",
        version,
        spec.language,
        spec.licence,
        ", ".join(spec.speaks),
        ", ".join(spec.contracts or spec.modes or ("traffic",)),
        "; ".join(_verified(name, found) for name, found in entry.verified.items()) or NOTHING,
    )


def _verified(name: ConfigurationName, found: Verification) -> str:
    failed = found.failed()
    return f"{name} {len(found.outcomes) - len(failed)}/{len(found.outcomes)}"


def _base() -> str:
    return (
        f"Dependencies and their installed size are what comes on top of {', '.join(BASE[:-1])} and"
        f" {BASE[-1]}. The program is our service or driver with the library, stripped; the build"
        " is a clean one of it, downloads apart; lines are neither blank nor comments."
    )


def _weight(name: str, weight: Weight) -> Row:
    return (
        name,
        _figure(weight.dependencies, lambda n: f"{n:,.0f}"),
        _figure(weight.dependency_bytes, lambda n: f"{n / 1e6:,.1f}"),
        _figure(weight.stripped_bytes or weight.artefact_bytes, lambda n: f"{n / 1e3:,.0f}"),
        _figure(weight.build_wall_ns, lambda n: f"{n / 1e9:.1f}"),
        _figure(weight.build_cpu_ns, lambda n: f"{n / 1e9:.1f}"),
        _figure(weight.service_lines, lambda n: f"{n:,.0f}"),
    )


def _figure(value: int | None, form: Callable[[float], str]) -> str:
    return NOTHING if value is None else form(value)


def _limits(entry: Entry) -> list[Row]:
    return [
        (
            entry.spec.name,
            limit.part,
            ", ".join((*limit.contracts, *limit.protocols, *limit.configurations)) or "all",
            limit.why,
        )
        for limit in entry.spec.limits
    ]


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _table(head: Row, rows: Sequence[Row]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"
