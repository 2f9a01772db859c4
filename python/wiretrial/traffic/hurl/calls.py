"""Lines of `[Asserts]` and `[Captures]`: a query, filters, and a predicate.

Knows the arguments that the table of words gives each; must not know what they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lark import Token

from wiretrial.traffic.hurl import words
from wiretrial.traffic.hurl.literals import Literals
from wiretrial.traffic.hurl.syntax import Assertion, Call, Capture, Text, Value
from wiretrial.traffic.hurl.words import Family, Takes
from wiretrial.traffic.places import Place, TrafficProblem

_NOT = "not"


def capture(name: str, place: Place, items: Sequence[Token], literals: Literals) -> Capture:
    """A line of `[Captures]`, without its name."""
    line = _Line(items, literals)
    query, filters = line.call(Family.QUERY), line.filters()
    line.require_end("a capture is a query with filters")
    return Capture(name, query, filters, place)


def assertion(items: Sequence[Token], literals: Literals) -> Assertion:
    """A line of `[Asserts]`."""
    line = _Line(items, literals)
    query, filters = line.call(Family.QUERY), line.filters()
    negated = line.takes_not()
    predicate = line.call(Family.PREDICATE)
    line.require_end("a line has one predicate")
    return Assertion(query, filters, predicate, negated)


@dataclass
class _Line:
    items: Sequence[Token]
    literals: Literals
    at: int = 0

    def __post_init__(self) -> None:
        for before, item in zip(self.items, self.items[1:], strict=False):
            if before.end_pos == item.start_pos:
                raise TrafficProblem(
                    self._place(item), f"no space before {item}", "write a space there"
                )

    @property
    def _next(self) -> Token | None:
        return self.items[self.at] if self.at < len(self.items) else None

    def call(self, family: Family) -> Call:
        """The word that stands next, with its arguments."""
        token = self._next
        if token is None:
            raise TrafficProblem(
                self._end(), f"a {family} is missing", 'write one, such as exists or == "x"'
            )
        if token.type not in ("WORD", "OPERATOR"):
            raise TrafficProblem(
                self._place(token), f"{token} is no {family}", f"write a {family} before it"
            )
        if family is Family.PREDICATE and not words.is_known(family, token):
            raise TrafficProblem(
                self._place(token),
                f"there is no filter or predicate {token}",
                words.instead(token, Family.FILTER, Family.PREDICATE),
            )
        row = words.find(family, str(token), self._place(token))
        self.at += 1
        arguments = tuple(self._argument(row.word, takes) for takes in row.takes)
        return Call(row.word, self._place(token), arguments)

    def filters(self) -> tuple[Call, ...]:
        found = []
        while (token := self._next) is not None and words.is_known(Family.FILTER, token):
            found.append(self.call(Family.FILTER))
        return tuple(found)

    def takes_not(self) -> bool:
        is_there = self._next is not None and self._next == _NOT
        self.at += is_there
        return is_there

    def require_end(self, remedy: str) -> None:
        if (token := self._next) is not None:
            raise TrafficProblem(self._place(token), f"{token} is too much", remedy)

    def _argument(self, word: str, takes: Takes) -> Value:
        token = self._next
        if token is None or token.type in ("WORD", "OPERATOR"):
            place = self._end() if token is None else self._place(token)
            raise TrafficProblem(place, f"{word} without a {takes}", _EXAMPLES[takes])
        value = self.literals.value(token)
        if not _fits(value, takes):
            raise TrafficProblem(value.place, f"{token} is no {takes}", _EXAMPLES[takes])
        self.at += 1
        return value

    def _place(self, token: Token) -> Place:
        return self.literals.place(token)

    def _end(self) -> Place:
        last = self.items[-1]
        return self._place(last).along(last)


def _fits(value: Value, takes: Takes) -> bool:
    match takes:
        case Takes.TEXT:
            return isinstance(value.value, Text) and not value.is_pattern
        case Takes.PATTERN:
            return isinstance(value.value, Text)
        case Takes.NUMBER:
            return type(value.value) is int and value.value >= 0
        case Takes.VALUE:
            return not value.is_pattern


_EXAMPLES = {
    Takes.TEXT: 'write a text in quotation marks behind it, such as "x"',
    Takes.PATTERN: r"write a pattern behind it, such as /id=(\d+)/",
    Takes.NUMBER: "write a whole number behind it, such as 0",
    Takes.VALUE: 'write a value behind it, such as 20, true, null or "x"',
}
