"""Where the parts of a JSON document stand in its text, by their pointers (`#/a/0`).

Knows text that was read as JSON before; must not know what the document means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def offset_of(source: str, pointer: str) -> int:
    """Where a part begins, with its name if it has one. If it is not there: what it would be in."""
    first = _TOKEN.search(source)
    found = at = first.start() if first else 0
    for part in pointer.removeprefix("#").split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        # Of members that stand twice the last one counts.
        here = [places for known, *places in _parts(source, at) if known == name]
        if not here:
            break
        found, at = here[-1]
    return found


def offset_of_word(source: str, word: str) -> int:
    """Where a word first stands outside of texts."""
    places = (token.start() for token in _TOKEN.finditer(source) if token[0] == word)
    return next(places, 0)


def _parts(source: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Name or index of each part of the list or object here, where it begins, and its value."""
    is_object = source[at] == "{"
    depth, index = 0, 0
    name, begins, awaits_value = "", 0, not is_object
    for token in _TOKEN.finditer(source, at):
        text = token[0]
        if depth == 1 and text == ",":
            index, awaits_value = index + 1, not is_object
        elif depth == 1 and text == ":":
            awaits_value = True
        elif depth == 1 and text not in "}]":
            if not awaits_value:
                name, begins = json.loads(text), token.start()
            elif is_object:
                yield name, begins, token.start()
            else:
                yield str(index), token.start(), token.start()
        depth += (text in "{[") - (text in "}]")
        if depth == 0:
            return
