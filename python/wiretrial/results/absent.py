"""What a study could not measure, and why, kept beside its trials.

Knows where the list lies; must not know why a subject is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, TypeAdapter

from wiretrial.results.store import ResultsFolder

FILE = "absent.json"


class Absent(BaseModel):
    """A subject that was left out, with the reason."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: str
    reason: str
    scenarios: tuple[str, ...] = ()
    """Those that are missing for it; none: the list is older than this field."""


@dataclass(frozen=True)
class Missing:
    """A scenario that was asked for and has no figure."""

    scenario: str
    subject: str
    is_open_loop: bool
    why: str


_LIST = TypeAdapter(tuple[Absent, ...])


def keep(results: ResultsFolder, absent: Sequence[Absent]) -> None:
    """Replaces the list: what is missing now is what the last run missed."""
    results.write(FILE, _LIST.dump_json(tuple(absent), indent=1))


def read(results: ResultsFolder) -> tuple[Absent, ...]:
    """The list; empty where none was kept."""
    return results.read_list(FILE, _LIST)


def merged(absent: Sequence[Absent]) -> tuple[Absent, ...]:
    """A subject's levels that are missing for one reason are one row."""
    found: dict[tuple[str, str], list[Absent]] = {}
    for row in absent:
        _, _, reason = row.reason.rpartition(" is not measured: ")
        found.setdefault((row.subject, reason), []).append(row)
    return tuple(
        rows[0]
        if len(rows) == 1
        else Absent(subject=subject, reason=f"{len(rows)} scenarios are not measured: {reason}")
        for (subject, reason), rows in found.items()
    )
