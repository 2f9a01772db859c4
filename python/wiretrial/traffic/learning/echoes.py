"""Places of replies whose value is always one that the request was sent with.

Knows replies and the values of their requests; must not know where those are from. Such a place
shows a reply that belongs to somebody else, which no type of it would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import JsonValue

from wiretrial.plan_traffic import Check, Compared, Contains, JsonAt, TextOperand, Words
from wiretrial.traffic import jsonpath, telling
from wiretrial.traffic.learning.holes import Hole
from wiretrial.traffic.learning.shapes import SURE, Varied
from wiretrial.traffic.learning.values import Source

_Seen = TypeVar("_Seen")

_LEAST_DIFFERENT = 2
"""Values of requests, of which one could as well be a constant."""
_BESIDE = 24
"""Characters of a text before and after a value, by which its place is known."""


@dataclass(frozen=True)
class Echo:
    """A value of the request that comes back: at `path` of JSON, or in a text, between others."""

    source: Source
    path: str = ""
    before: str = ""
    after: str = ""

    @property
    def name(self) -> str:
        """The value's, as traffic files have it: `user`."""
        return telling.text((self.source,)).strip("{}")

    @property
    def words(self) -> str:
        """`{{user}}`."""
        return telling.text((self.source,))

    @property
    def check(self) -> Check:
        """What holds of each reply."""
        if self.path:
            operand = TextOperand(text=(self.source,))
            return Check(of=JsonAt(path=self.path), test=Compared(how="==", operand=operand))
        around = (Words(text=self.before), self.source, Words(text=self.after))
        text = tuple(part for part in around if part != Words(text=""))
        return Check(of="body", test=Contains(operand=TextOperand(text=text)))


def of_documents(
    documents: Sequence[JsonValue],
    values: Sequence[Mapping[Source, str]],
    varied: Sequence[Varied],
) -> Iterator[Echo]:
    """Those among the places that vary, but for those in lists."""
    leaves = [dict(_leaves("$", document)) for document in documents]
    for place in varied:
        seen = [one[place.path] for one in leaves if place.path in one]
        if len(seen) == len(documents) and (source := _source(seen, values, _is_same)):
            yield Echo(source, path=place.path)


def of_text(holes: Sequence[Hole], values: Sequence[Mapping[Source, str]]) -> Iterator[Echo | None]:
    """For each hole of a text what is in it; None: no value of the request."""
    for hole in holes:
        source = _source(hole.values, values, str.__eq__)
        around = hole.before[-_BESIDE:], hole.after[:_BESIDE]
        yield None if source is None else Echo(source, "", *around)


def _source(
    seen: Sequence[_Seen],
    values: Sequence[Mapping[Source, str]],
    same: Callable[[_Seen, str], bool],
) -> Source | None:
    """The value of each request that was seen in its reply."""
    if len(seen) < SURE or len(seen) != len(values):
        return None
    for source in values[0]:
        if len({one.get(source) for one in values}) < _LEAST_DIFFERENT:
            continue
        if all(
            source in of and same(one, of[source]) for one, of in zip(seen, values, strict=True)
        ):
            return source
    return None


def _leaves(path: str, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(f"{path}{jsonpath.member(name)}", inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield path, value


def _is_same(value: JsonValue, text: str) -> bool:
    """Whether the engine says so, too: of a number its digits count."""
    if isinstance(value, str):
        return value == text
    try:
        return isinstance(value, int | float) and value == (
            int(text) if isinstance(value, int) else float(text)
        )
    except ValueError:
        return False
