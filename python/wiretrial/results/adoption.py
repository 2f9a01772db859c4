"""What each subject of a study is like to adopt: licence, age, weight; kept beside its trials.

Knows where the list lies and what a row holds; must not know how a subject is installed or weighed.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from pydantic import BaseModel, ConfigDict, TypeAdapter

from wiretrial.results.store import ResultsFolder

FILE = "adoption.json"


class Adopted(BaseModel):
    """One subject. None: it has no such thing, or it could not be told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: str
    language: str
    licence: str
    """As SPDX writes it."""
    version: str | None = None
    """None: it could not be had."""
    released: date | None = None
    """When that version was published."""
    dependencies: int | None = None
    """Packages that it brings, over a compiler's and those that every project has."""
    dependency_bytes: int | None = None
    """Their installed size."""
    program_bytes: int | None = None
    """Our service with it, without symbols."""
    build_wall_ns: int | None = None
    """A clean build of our service with it, downloads apart."""
    build_cpu_ns: int | None = None
    service_lines: int | None = None
    """Lines of our service that are neither blank nor a comment."""


_LIST = TypeAdapter(tuple[Adopted, ...])


def keep(results: ResultsFolder, found: Iterable[Adopted]) -> None:
    """Adds to the list, or replaces what it holds of the same subjects."""
    rows = {row.subject: row for row in (*read(results), *found)}
    results.write(FILE, _LIST.dump_json(tuple(rows.values()), indent=1))


def read(results: ResultsFolder) -> tuple[Adopted, ...]:
    """The list; empty where none was kept."""
    return results.read_list(FILE, _LIST)
