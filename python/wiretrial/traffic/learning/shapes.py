"""The shape that JSON documents have in common: constants where all agree, types where they vary.

Knows documents and the members of a plan's shape; must not know replies. Nothing that was seen is
learned as "anything": the loosest shape has a type.
"""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from pydantic import JsonValue, ValidationError

from wiretrial import redaction
from wiretrial.plan_shape import Shape
from wiretrial.traffic import jsonpath
from wiretrial.traffic.learning import strings
from wiretrial.traffic.learning.samples import DEEPEST

SURE = 20
"""Values that make one known of others, where they agree; all of the replies, where they are fewer.

With 20, those that differ are fewer than 14 % (95 % confidence)."""
LONGEST_CONSTANT = 4096
"""Characters of a list, as JSON, that is kept as a whole; a longer one is kept by its elements."""
_LEAST_SECRET = 8
_LARGEST_NUMBER = 2**63
_MANY_NAMES, _SELDOM = 4, 0.25
"""Names that come and go are those of a map where they are so many, and each is there so seldom."""
_MOST_MEMBERS = 1024
"""Of an object, that a plan may name."""


@dataclass(frozen=True)
class Varied:
    """A place that varies, and what is right there, in words."""

    path: str
    what: str
    is_secret: bool = False
    """It may well be constant, and is not kept."""

    def __str__(self) -> str:
        return f"{self.path} {self.what}".strip()


@dataclass(frozen=True)
class Learned:
    """A shape, what varies in it, and of how many fields."""

    shape: Shape
    varied: tuple[Varied, ...]
    fields: int


def of_documents(
    documents: Sequence[JsonValue],
    *,
    at: Sequence[float | None] = (),
    constants: bool = True,
) -> Learned:
    """The shape of these documents, in the order in which they came.

    `at`: when each came, so that a time that goes on is known although it stood still meanwhile.
    Without `constants`, only types, lengths and members are learned, and members that were never
    seen are right, too.
    """
    times = [one for one in at if one is not None]
    learner = _Learner(min(SURE, len(documents)), max(times, default=None), constants)
    shape = learner.of(_Place("$", is_ordered=True), documents)
    return Learned(Shape.model_validate(shape), tuple(learner.varied), learner.fields)


@dataclass(frozen=True)
class _Place:
    """Where values stand."""

    path: str
    depth: int = 0
    is_ordered: bool = False
    """Whether there is at most one in each reply, in the order of the replies."""
    is_optional: bool = False
    is_secret: bool = False
    """Its name says so: what is there is not kept in a rule."""

    def inner(self, step: str, *, secret: bool = False) -> _Place:
        """A place of many in a reply."""
        return _Place(f"{self.path}{step}", self.depth + 1, is_secret=self.is_secret or secret)

    def member(self, name: str, *, optional: bool) -> _Place:
        """The place of a member."""
        inner = self.inner(jsonpath.member(name), secret=redaction.is_secret(name))
        return replace(inner, is_ordered=self.is_ordered, is_optional=optional)


@dataclass
class _Learner:
    sure: int
    now: float | None
    constants: bool
    varied: list[Varied] = field(default_factory=list)
    fields: int = 0

    def of(self, place: _Place, values: Sequence[JsonValue]) -> dict[str, Any]:
        """The shape of these values; there is at least one."""
        some = [one for one in values if one is not None]
        is_hidden = place.is_secret and any(map(_is_long, some))
        if not is_hidden and (constant := self._constant(some)) is not None:
            self.fields += 1
            nothing = [None] if len(some) < len(values) else []
            if nothing or place.is_optional:
                self._vary(place, _listed(_shown(one) for one in (*constant, *nothing)), known=True)
            return {"values": [*constant, *nothing]}
        if not some and self.constants and len(values) >= self.sure:
            self.fields += 1
            return {"values": [None]}
        return self._of_types(place, values)

    def _constant(self, values: Sequence[JsonValue]) -> list[JsonValue] | None:
        """The value that all of these are, where there are enough of them."""
        if not self.constants or len(values) < self.sure or not values:
            return None
        first, *others = values
        if isinstance(first, dict) and first:
            return None
        written = _written(first)
        if len(written) > LONGEST_CONSTANT and isinstance(first, list):
            return None
        if self._goes_on(first) or any(_written(one) != written for one in others):
            return None
        return [first]

    def _goes_on(self, value: JsonValue) -> bool:
        """Whether it is another one later: a time about now, or a number that can't be compared."""
        match value:
            case str():
                return strings.is_of_now(value, self.now)
            case bool() | None:
                return False
            case int() | float():
                is_plain = math.isfinite(value) and abs(value) < _LARGEST_NUMBER
                return not is_plain or strings.is_number_of_now(value, self.now)
            case list():
                return any(map(self._goes_on, value))
            case dict():
                return any(map(self._goes_on, value.values()))

    def _of_types(self, place: _Place, values: Sequence[JsonValue]) -> dict[str, Any]:
        texts = [one for one in values if isinstance(one, str)]
        numbers = [
            one for one in values if isinstance(one, int | float) and not isinstance(one, bool)
        ]
        lists = [one for one in values if isinstance(one, list)]
        objects = [one for one in values if isinstance(one, dict)]
        shape: dict[str, Any] = {"types": []}
        said: list[str] = []
        if texts:
            said.append(self._texts(texts, shape))
            if lists:
                # A shape has one range of lengths, for both.
                shape["length"] = strings.with_room([len(one) for one in texts])
        if numbers:
            is_whole = all(isinstance(one, int) for one in numbers) and len(numbers) >= self.sure
            said.append("integer" if is_whole else "number")
            shape["types"].append(said[-1])
        if any(isinstance(one, bool) for one in values):
            said.append("boolean")
            shape["types"].append("boolean")
        if lists:
            shape["types"].append("list")
            if words := self._lengths(place, lists, shape):
                said.append(words)
        if objects:
            shape["types"].append("object")
            if len(objects) < len(values):
                said.append("object")
        if any(one is None for one in values):
            said.append("null")
            shape["types"].append("null")
        if said or place.is_optional:
            self._vary(place, _listed(said))
        if place.depth < DEEPEST:
            if elements := [one for row in lists for one in row]:
                shape["items"] = self.of(place.inner("[*]"), elements)
            if objects:
                self._members(place, objects, shape)
        return shape

    def _texts(self, texts: Sequence[str], shape: dict[str, Any]) -> str:
        kind = strings.kind_of(texts, is_sure=len(texts) >= self.sure)
        if kind is not None and kind.type_name is not None:
            shape["types"].append(kind.type_name)
            return kind.name
        shape["types"].append("string")
        if kind is not None:
            shape["pattern"] = f"^{kind.pattern}$"
            return kind.name
        least, most = strings.with_room([len(one) for one in texts])
        shape["length"] = (least, most)
        return f"text of {least:,} to {most:,}"

    def _lengths(
        self, place: _Place, lists: Sequence[list[JsonValue]], shape: dict[str, Any]
    ) -> str | None:
        """How many elements; None in place of words where there are always as many."""
        lengths = [len(one) for one in lists]
        if self.constants and len(set(lengths)) == 1 and len(lengths) >= self.sure:
            self._widen(shape, lengths[0], lengths[0])
            return None
        least, most = strings.with_room(lengths)
        if place.is_ordered and _grew(lengths):
            # A list that grew with each request grows on under load.
            self._widen(shape, least, None)
            return f"list of {least:,} or more"
        self._widen(shape, least, most)
        return f"list of {least:,} to {most:,}"

    @staticmethod
    def _widen(shape: dict[str, Any], least: int, most: int | None) -> None:
        low, high = shape.get("length", (least, most))
        is_endless = high is None or most is None
        shape["length"] = (min(low, least), None if is_endless else max(high, most))

    def _members(
        self, place: _Place, objects: Sequence[dict[str, JsonValue]], shape: dict[str, Any]
    ) -> None:
        names = Counter(name for one in objects for name in one)
        seldom = _of_a_map(names, len(objects))
        shape["members"] = []
        for name, count in names.items():
            if name in seldom:
                continue
            is_optional = count < len(objects)
            inner = place.member(name, optional=is_optional)
            found = self.of(inner, [one[name] for one in objects if name in one])
            member = {"name": name, "shape": found}
            shape["members"].append(member | {"required": False} if is_optional else member)
        shape["others"] = not self.constants
        if seldom:
            self.fields += 1
            self.varied.append(Varied(place.path, "names of members"))
            pooled = [one[name] for one in objects for name in one if name in seldom]
            of_one = self.of(place.inner(".*"), pooled)
            shape["others"] = of_one if _others_have_shapes() else True

    def _vary(self, place: _Place, words: str, *, known: bool = False) -> None:
        """`known`: it is counted already."""
        self.fields += not known
        missing = "sometimes missing" if place.is_optional else ""
        words = ", ".join(filter(None, (words, missing)))
        self.varied.append(Varied(place.path, words, place.is_secret))


def _grew(lengths: Sequence[int]) -> bool:
    """Whether they grow from each beginning on; there is one for each `SURE` replies at most.

    A server that is started anew, and the next of several servers, begins anew.
    """
    begins = [0, *(at for at, (one, two) in enumerate(pairwise(lengths), 1) if two < one)]
    ends = [*begins[1:], len(lengths)]
    return len(begins) <= max(len(lengths) // SURE, 1) and all(
        lengths[end - 1] > lengths[begin] for begin, end in zip(begins, ends, strict=True)
    )


def _is_long(value: JsonValue) -> bool:
    """Whether a secret could be in it; a code of an error is none."""
    match value:
        case str():
            return len(value) >= _LEAST_SECRET
        case list():
            return any(map(_is_long, value))
        case _:
            return False


def _of_a_map(names: Mapping[str, int], objects: int) -> frozenset[str]:
    """Names that are keys of a map, such as identifiers, and not those of members."""
    seldom = {name for name, count in names.items() if count <= objects * _SELDOM}
    seldom = seldom if len(seldom) >= _MANY_NAMES else set()
    return frozenset(names if len(names) - len(seldom) > _MOST_MEMBERS else seldom)


def _written(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _shown(value: JsonValue) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= 40 else f"{written[:37]}..."


def _listed(words: Iterable[str]) -> str:
    return " or ".join(words)


@functools.cache
def _others_have_shapes() -> bool:
    """Whether a plan can say what members are like that have no name in it."""
    try:
        Shape.model_validate({"others": {"types": ["object"]}})
    except ValidationError:
        return False
    return True
