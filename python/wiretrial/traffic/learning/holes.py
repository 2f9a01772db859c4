"""What texts have in common, byte for byte, with holes where they vary: an anchored pattern.

Knows texts; must not know replies. A pattern has to read the same in the engine and in `hurl`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wiretrial.traffic.learning import strings

LONGEST = 65_536
"""Characters of a text, and of a pattern: more is not taken for a page with a few holes."""
LEAST_COMMON = 8
"""Characters that texts have to have in common, or nothing is said by a pattern."""
_MOST_COUNTED, _COUNTED_IN_ALL = 200, 4000
"""How far a pattern counts in a hole, and in all of them: it has a state for each number."""
_TIMES = (strings.TIME, strings.LOCAL_TIME, strings.HTTP_DATE, strings.DAY)
_TOKEN = re.compile(
    rf"{strings.UUID}|{'|'.join(_TIMES)}|[0-9]+(?![0-9A-Za-z_])|[0-9A-Za-z_]+|\s+|.", re.DOTALL
)
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")
_MOST_ANCHORS = 200
"""Anchors of which an order is looked for."""

_Rows = list[list[str]]
_Part = str | tuple[str, ...]
"""What all have, or what each has there."""


@dataclass(frozen=True)
class Hole:
    """A place that varies: in words, what each text has there, and what all have beside it."""

    words: str
    values: tuple[str, ...]
    before: str
    after: str


@dataclass(frozen=True)
class Template:
    """A pattern of whole texts, and its holes in their order."""

    pattern: str
    holes: tuple[Hole, ...]


def template(texts: Sequence[str], at: float | None = None) -> Template | None:
    """What these texts have in common; None where that is too little, or they are too long.

    `at`: when the last of them came, so that a time that goes on is known.
    """
    if max(map(len, texts)) > LONGEST:
        return None
    rows = [_TOKEN.findall(text) for text in texts]
    parts = list(_joined(_parts(rows, at), len(texts)))
    values = [part for part in parts if not isinstance(part, str)]
    known = (part if isinstance(part, str) else part[0] for part in parts if _is_known(part))
    if sum(len(re.sub(r"\s", "", part)) for part in known) < LEAST_COMMON:
        return None
    counts = min(_MOST_COUNTED, _COUNTED_IN_ALL // max(len(values), 1))
    told = [_hole(one, counts) for one in values]
    patterns = iter([pattern for pattern, _ in told])
    written = "".join(escaped(p) if isinstance(p, str) else next(patterns) for p in parts)
    if len(written) > 2 * LONGEST:
        return None
    words = iter([words for _, words in told])
    holes = [
        Hole(next(words), part, _constant(before), _constant(after))
        for before, part, after in zip(["", *parts], parts, [*parts[1:], ""], strict=False)
        if not isinstance(part, str)
    ]
    return Template(f"^{written}$", tuple(holes))


def escaped(text: str) -> str:
    """The pattern of this text alone, on one line."""
    written = _SPECIAL.sub(r"\\\g<0>", text)
    for sign, name in (("\n", r"\n"), ("\r", r"\r"), ("\t", r"\t")):
        written = written.replace(sign, name)
    return written


def _constant(part: _Part) -> str:
    return part if isinstance(part, str) else ""


def _is_known(part: _Part) -> bool:
    """Whether all have this, or an identifier or a time there."""
    if isinstance(part, str):
        return True
    kind = strings.kind_of(part)
    return kind is not None and kind.name != "digits"


def _parts(rows: _Rows, at: float | None) -> Iterator[_Part]:
    """The parts in their order; neighbours may be of one kind."""
    before = _alike(rows)
    yield from (_token(token, rows, at) for token in rows[0][:before])
    rows = [row[before:] for row in rows]
    behind = _alike([row[::-1] for row in rows])
    tail = rows[0][len(rows[0]) - behind :]
    yield from _middle([row[: len(row) - behind] for row in rows], at)
    yield from (_token(token, rows, at) for token in tail)


def _token(token: str, rows: _Rows, at: float | None) -> _Part:
    """One that all have; a time about now stands still for as long as few replies take."""
    return (token,) * len(rows) if strings.is_of_now(token, at) else token


def _alike(rows: _Rows) -> int:
    """How many tokens all begin with."""
    count = 0
    for tokens in zip(*rows, strict=False):
        if any(token != tokens[0] for token in tokens):
            break
        count += 1
    return count


def _middle(rows: _Rows, at: float | None) -> Iterator[_Part]:
    """The parts of rows that neither begin nor end alike."""
    if not any(rows):
        return
    if len({len(row) for row in rows}) == 1 and (found := _side_by_side(rows, at)):
        yield from found
        return
    anchors = _anchors(rows)
    if not anchors:
        yield tuple("".join(row) for row in rows)
        return
    begins = [0] * len(rows)
    for token, places in anchors:
        between = [row[a:b] for row, a, b in zip(rows, begins, places, strict=True)]
        yield from _parts(between, at)
        yield _token(token, rows, at)
        begins = [place + 1 for place in places]
    yield from _parts([row[a:] for row, a in zip(rows, begins, strict=True)], at)


def _side_by_side(rows: _Rows, at: float | None) -> list[_Part] | None:
    """Token by token; None where that leaves little in common."""
    found: list[_Part] = []
    for tokens in zip(*rows, strict=True):
        same = all(token == tokens[0] for token in tokens)
        found.append(_token(tokens[0], rows, at) if same else tokens)
    constant = sum(isinstance(part, str) for part in found)
    return found if len(found) <= 4 or constant * 2 >= len(found) else None


def _anchors(rows: _Rows) -> list[tuple[str, list[int]]]:
    """Tokens that each row has once, in one order, with their places in each row."""
    counts = [Counter(row) for row in rows]
    own = [
        token
        for token in rows[0]
        if len(token) > 1 and not token.isspace() and all(count[token] == 1 for count in counts)
    ]
    places = {token: [row.index(token) for row in rows] for token in own[:_MOST_ANCHORS]}
    return _longest_chain([(token, places[token]) for token in own[:_MOST_ANCHORS]])


def _longest_chain(found: list[tuple[str, list[int]]]) -> list[tuple[str, list[int]]]:
    """The most of these that stand behind each other in every row; they do in the first."""
    best: list[tuple[int, int]] = []
    for index, (_, places) in enumerate(found):
        length, before = 1, -1
        for other in range(index):
            is_before = all(a < b for a, b in zip(found[other][1], places, strict=True))
            if is_before and best[other][0] >= length:
                length, before = best[other][0] + 1, other
        best.append((length, before))
    chain = []
    at = max(range(len(best)), key=lambda index: best[index][0], default=-1)
    while at >= 0:
        chain.append(found[at])
        at = best[at][1]
    return chain[::-1]


def _joined(parts: Iterator[_Part], rows: int) -> Iterator[_Part]:
    """The same with neighbours of one kind as one."""
    text, hole = "", ("",) * rows
    for part in parts:
        if isinstance(part, str):
            if any(hole):
                yield hole
                hole = ("",) * rows
            text += part
        else:
            if text:
                yield text
                text = ""
            hole = tuple(a + b for a, b in zip(hole, part, strict=True))
    if text:
        yield text
    if any(hole):
        yield hole


def _hole(values: Sequence[str], counts: int) -> tuple[str, str]:
    """The pattern of a hole, and what it is in words."""
    kind = strings.kind_of(values)
    if kind is not None and kind.name != "digits":
        return f"(?:{kind.pattern})", kind.name
    least, most = strings.with_room([len(value) for value in values])
    times = f"{{{least},{most}}}" if most <= counts else "+" if least else "*"
    if kind is not None:
        return f"[0-9]{times}", "digits"
    for signs, words in (("[0-9A-Za-z_-]", "token"), (r"[^<>\r\n]", "text")):
        if all(re.fullmatch(f"{signs}*", value) for value in values):
            return f"{signs}{times}", f"{words} of {least:,} to {most:,}"
    return rf"[\s\S]{times}", f"text of {least:,} to {most:,}"
