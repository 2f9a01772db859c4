"""How long servers of a study took to start, each start by itself; kept beside its trials.

Knows where the list lies and what a row holds; must not know how a server is started or asked.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, TypeAdapter

from wiretrial.results.store import ResultsFolder

FILE = "starts.json"


class Start(BaseModel):
    """One start of one server. Times are nanoseconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: str
    configuration: str = "default"
    occasion: int = 1
    number: int
    """Which one of its occasion, from 1 on."""
    contract: str
    """What it was asked for: the contract's first exchange."""
    protocol: str
    threads: int = 1
    version: str | None = None
    first_reply_ns: int | None = None
    """From just before the fork of its process to its first right reply; None: there was none."""
    resolution_ns: int | None = None
    """By how much earlier the reply could have been had at most: it was asked again and again."""
    pss_bytes: int | None = None
    """Memory of all of its processes then; None: it could not be read."""
    problem: str | None = None
    """Why there was no right reply."""

    @property
    def called(self) -> str:
        """As a study names it: `ws:tuned`."""
        is_default = self.configuration == "default"
        return self.subject if is_default else f"{self.subject}:{self.configuration}"

    @property
    def place(self) -> tuple[str, str, int, int]:
        """Which start it is: a later row of the same place takes that of an earlier one."""
        return self.subject, self.configuration, self.occasion, self.number


_LIST = TypeAdapter(tuple[Start, ...])


def keep(results: ResultsFolder, found: Iterable[Start]) -> None:
    """Adds to the list, or replaces what it holds of the same starts; nothing makes no file."""
    rows = {row.place: row for row in (*read(results), *found)}
    if rows:
        results.write(FILE, _LIST.dump_json(tuple(rows.values()), indent=1))


def read(results: ResultsFolder) -> tuple[Start, ...]:
    """The list; empty where none was kept."""
    return results.read_list(FILE, _LIST)
