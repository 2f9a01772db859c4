"""The catalogue as a page of Markdown: what each subject is, keeps and weighs.

Pure: knows what was found; must not know how it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wiretrial.subjects.build import Build
from wiretrial.subjects.footprint import BASE
from wiretrial.subjects.spec import ConfigurationName, Spec
from wiretrial.subjects.verification import Verification

NOTHING = "–"
INTRODUCTION = """\
# Subjects

What can be measured: servers, and client libraries behind a driver. Each is a folder of
`subjects/` that says how it is installed, built and started; how to add one, or an own server, is
in [subjects-howto.md](subjects-howto.md), and what each contract demands in
[the contracts](../subjects/_contract/README.md). No subject is measured for what it was not
verified to do.

This page is written by `make catalogue` from what was installed and verified on {system}.
"""


@dataclass(frozen=True)
class Entry:
    """One subject as it was found. `build` is None where it can't be had, `reason` says why."""

    spec: Spec
    build: Build | None
    reason: str | None
    verified: Mapping[ConfigurationName, Verification]


def page(entries: Sequence[Entry], system: str) -> str:
    """The whole page."""
    servers = [entry for entry in entries if entry.spec.kind == "server"]
    clients = [entry for entry in entries if entry.spec.kind == "client"]
    parts = [INTRODUCTION.format(system=system)]
    for title, found in (("Servers", servers), ("Client libraries", clients)):
        if found:
            parts += [f"## {title}\n", _what(found), f"### What they weigh\n\n{_base()}\n"]
            parts.append(_weight(found))
    parts += ["## What does not hold\n", _limits(entries)]
    missing = [entry for entry in entries if entry.build is None]
    if missing:
        parts += ["## What could not be had here\n", _missing(missing)]
    return "\n".join(parts)


def _what(entries: Sequence[Entry]) -> str:
    keeps = "contracts" if entries[0].spec.kind == "server" else "connections"
    head = ("subject", "version", "language", "licence", "speaks", keeps, "verified")
    return _table(head, [_row(entry) for entry in entries])


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


def _weight(entries: Sequence[Entry]) -> str:
    head = ("subject", "dependencies", "MB", "program, kB", "build, s", "CPU, s", "lines")
    rows = []
    for entry in entries:
        if entry.build is None:
            continue
        weight = entry.build.weight
        rows.append(
            (
                entry.spec.name,
                _figure(weight.dependencies, lambda n: f"{n:,.0f}"),
                _figure(weight.dependency_bytes, lambda n: f"{n / 1e6:,.1f}"),
                _figure(
                    weight.stripped_bytes or weight.artefact_bytes, lambda n: f"{n / 1e3:,.0f}"
                ),
                _figure(weight.build_wall_ns, lambda n: f"{n / 1e9:.1f}"),
                _figure(weight.build_cpu_ns, lambda n: f"{n / 1e9:.1f}"),
                _figure(weight.service_lines, lambda n: f"{n:,.0f}"),
            )
        )
    return _table(head, rows)


def _figure(value: int | None, form: Callable[[float], str]) -> str:
    return NOTHING if value is None else form(value)


def _limits(entries: Sequence[Entry]) -> str:
    rows = [
        (
            entry.spec.name,
            limit.part,
            ", ".join((*limit.contracts, *limit.protocols, *limit.configurations)) or "all",
            limit.why,
        )
        for entry in entries
        for limit in entry.spec.limits
    ]
    if not rows:
        return "Everything holds.\n"
    said = (
        "A part that fails is written down in the subject and proved anew by every verification;"
        " where a workload needs it, the subject is not measured.\n"
    )
    return f"{said}\n{_table(('subject', 'part', 'where', 'why'), rows)}"


def _missing(entries: Sequence[Entry]) -> str:
    return _table(
        ("subject", "why, and what to do"),
        [(entry.spec.name, entry.reason or "it was not installed") for entry in entries],
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cells = (" ".join(cell.replace("|", "\\|").split()) for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
