"""Kinds of text that vary: identifiers, times, digits, tokens; and how long others may be.

Knows texts that were seen in one place; must not know the document around them.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

UUID = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"
LOCAL_TIME = f"{DAY}[Tt ]{_CLOCK}"
TIME = rf"{LOCAL_TIME}(?:[Zz]|[+-][0-9]{{2}}:[0-9]{{2}})"
HTTP_DATE = rf"[A-Z][a-z]{{2}}, [0-9]{{2}} [A-Z][a-z]{{2}} [0-9]{{4}} {_CLOCK} GMT"

NEAR_S = 86_400.0
"""A time that is no farther from the reply's is taken for one that goes on."""
_LEAST_SPREAD = 0.5
_MOST_Z = statistics.NormalDist().inv_cdf(1 - 1e-6)
_ROOM = 8
_LEAST_TOKEN = 8


@dataclass(frozen=True)
class Kind:
    """A kind of text: its name, and the pattern of a whole text of it."""

    name: str
    pattern: str
    type_name: str | None = None
    """What a plan calls it, where it has a type for it."""

    def has(self, text: str) -> bool:
        """Whether this is one."""
        return re.fullmatch(self.pattern, text) is not None


UUID_KIND = Kind("UUID", UUID, "uuid")
TIME_KIND = Kind("time", TIME, "time")
_KINDS = (
    UUID_KIND,
    TIME_KIND,
    Kind("time without a zone", LOCAL_TIME),
    Kind("date", DAY),
    Kind("HTTP date", HTTP_DATE),
)
_DIGITS = Kind("digits", "[0-9]+")
_DECIMAL = Kind("decimal number", r"-?[0-9]+\.[0-9]+")
_HEX = (("hex digits", "[0-9a-f]"), ("hex digits", "[0-9A-F]"))


def kind_of(texts: Sequence[str], *, is_sure: bool = True) -> Kind | None:
    """What all of these are; None: texts. `is_sure`: there are enough to tell what others are."""
    for kind in _KINDS:
        if all(map(kind.has, texts)):
            return kind
    if not is_sure:
        return None
    for kind in (_DIGITS, _DECIMAL):
        if all(map(kind.has, texts)):
            return kind
    return _token(texts)


def _token(texts: Sequence[str]) -> Kind | None:
    """Hexadecimal digits, as many in each: a digest, or an identifier of a fixed width."""
    lengths = {len(text) for text in texts}
    length = min(lengths)
    if len(lengths) != 1 or length < _LEAST_TOKEN:
        return None
    for name, digit in _HEX:
        kind = Kind(f"{length} {name}", f"{digit}{{{length}}}")
        if all(map(kind.has, texts)):
            return kind
    return None


def with_room(lengths: Sequence[int]) -> tuple[int, int]:
    """The shortest and the longest that are taken as right, where these were seen.

    The next of n values lies beyond all of them with a chance of 1 in n + 1, so that the ends that
    were seen would fail healthy replies. Those that a million values reach stand in their place, of
    lengths that are spread log-normally: the seen ends, times exp(s (z(1 - 1e-6) - z(n/(n + 1)))),
    where s is the standard deviation of the logarithms, and at least 0.5. Of 30 that is a factor of
    4 or more. 8 more are for short ones, such as a counter's digits. An empty text, or list, is
    right only where one was seen.
    """
    count = len(lengths)
    logarithms = [math.log(max(length, 1)) for length in lengths]
    spread = max(statistics.pstdev(logarithms), _LEAST_SPREAD)
    beyond = _MOST_Z - statistics.NormalDist().inv_cdf(count / (count + 1))
    # No text of a reply is longer than e^40 characters.
    factor = math.exp(min(max(spread * beyond, 0.0), 40.0))
    least, most = min(lengths), max(lengths)
    return (max(1, int(least / factor)) if least else 0), math.ceil(most * factor) + _ROOM


def is_of_now(text: str, at: float | None) -> bool:
    """Whether this is a time about when its reply came, and so another one in a later reply."""
    if at is None:
        return False
    instant = _instant(text)
    return instant is not None and abs(instant - at) <= NEAR_S


def is_number_of_now(number: float, at: float | None) -> bool:
    """The same of seconds, milliseconds, microseconds or nanoseconds since 1970."""
    return at is not None and any(abs(number / unit - at) <= NEAR_S for unit in (1, 1e3, 1e6, 1e9))


def _instant(text: str) -> float | None:
    try:
        if re.fullmatch(HTTP_DATE, text):
            return parsedate_to_datetime(text).timestamp()
        if not re.fullmatch(f"{DAY}|{LOCAL_TIME}|{TIME}", text):
            return None
        # Python 3.11 reads up to six digits of a fraction.
        read = datetime.fromisoformat(re.sub(r"(?<=:[0-9]{2})[.,][0-9]+", "", text.upper()))
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
