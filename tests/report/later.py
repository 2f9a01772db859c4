"""Made-up trials that cost a second: made when a test first reads them, not at collection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import overload

from wiretrial.results.model import Trial


class Later(Sequence[Trial]):
    """The trials that `make` gives, asked for once."""

    def __init__(self, make: Callable[[], Sequence[Trial]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Sequence[Trial]:
        return self._make()

    @overload
    def __getitem__(self, place: int) -> Trial: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Trial]: ...
    def __getitem__(self, place: int | slice) -> Trial | Sequence[Trial]:
        return self._made[place]

    def __len__(self) -> int:
        return len(self._made)
