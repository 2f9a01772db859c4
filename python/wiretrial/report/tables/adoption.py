"""What each subject is like to adopt.

Knows figures and their units; must not know how a table is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wiretrial.report import units
from wiretrial.report.blocks import NOTHING, Block, Table, figures, key, plain, words
from wiretrial.results.adoption import Adopted

COLUMNS: tuple[tuple[str, Callable[[Adopted], str]], ...] = (
    ("Licence", lambda row: row.licence),
    ("Version", lambda row: row.version or "unavailable"),
    ("Published", lambda row: NOTHING if row.released is None else row.released.isoformat()),
    ("Packages", lambda row: NOTHING if row.dependencies is None else f"{row.dependencies:,}"),
    ("Installed, MB", lambda row: _figure(row.dependency_bytes, 1e6)),
    ("Program, kB", lambda row: _figure(row.program_bytes, 1e3)),
    ("Build, s", lambda row: _figure(row.build_wall_ns, 1e9)),
    ("Build, s of CPU", lambda row: _figure(row.build_cpu_ns, 1e9)),
    ("Lines", lambda row: NOTHING if row.service_lines is None else f"{row.service_lines:,}"),
)
"""Head and text of each column."""

KEY = (
    "Packages and their installed size: what comes on top of a compiler, CMake, OpenSSL and zlib. "
    "Program: our service with it, stripped. Build: a clean one of the service, downloads apart, "
    "on this machine. Lines: of the service, neither blank nor comment."
)


def blocks(adopted: Sequence[Adopted]) -> tuple[Block, ...]:
    """A row per subject, and what its figures are; nothing where there is no subject."""
    if not adopted:
        return ()
    licence, version, *rest = (title for title, _ in COLUMNS)
    columns = (*words("Subject", licence, version), *figures(*rest))
    rows = plain([[row.subject, *(text(row) for _, text in COLUMNS)] for row in adopted])
    return (Table(columns, rows), key(KEY))


def _figure(value: int | None, size: float) -> str:
    return NOTHING if value is None else units.significant(value / size)
