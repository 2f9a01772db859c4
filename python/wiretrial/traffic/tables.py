"""Where each key of a TOML file stands: `tomllib` reads values, and forgets their lines.

Knows TOML's shapes; must not judge them: `tomllib` has read the same text before.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lark import Lark, Token, Tree

from wiretrial.traffic.places import Place

_GRAMMAR = r"""
start: (table | tables | pair)*
table: "[" key "]"
tables: "[[" key "]" "]"
pair: key "=" value
key: (NAME | STRING) ("." (NAME | STRING))*
value: STRING | PLAIN | list | inline
list: "[" (value ("," value)* ","?)? "]"
inline: "{" (pair ("," pair)* ","?)? "}"
NAME: /[A-Za-z0-9_-]+/
STRING: /\"\"\"(?:[^\\]|\\[\s\S])*?\"\"\"|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/
PLAIN: /[^\s,\]}#"'\[{]+(?: \d[^\s,\]}#]*)?/
SKIPPED: /[ \t\r\n]+|#[^\n]*/
%ignore SKIPPED
"""

Location = tuple[str | int, ...]


@dataclass(frozen=True)
class Locations:
    """The places of a file's keys, and of the elements of its lists."""

    file: Path
    places: dict[Location, Place]

    def of(self, location: Sequence[str | int]) -> Place:
        """Where this stands, or what it is in."""
        for end in range(len(location), 0, -1):
            if found := self.places.get(tuple(location[:end])):
                return found
        return Place(self.file)


def locate(source: str, file: Path) -> Locations:
    """The places in a text that `tomllib` can read."""
    places: dict[Location, Place] = {}
    counts: dict[Location, int] = {}
    here: Location = ()
    for statement in _parser().parse(source).children:
        assert isinstance(statement, Tree)
        if statement.data == "pair":
            places.update(_pair(statement, here, file))
            continue
        here = _resolved(_names(statement), counts)
        if statement.data == "tables":
            counts[here] = counts.get(here, -1) + 1
            here = (*here, counts[here])
        places.setdefault(here, _place(statement, file))
    return Locations(file, places)


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", propagate_positions=True)


def _resolved(names: Sequence[str], counts: dict[Location, int]) -> Location:
    """The location that the header of a table means: of lists of tables, the last one."""
    found: Location = ()
    for name in names[:-1]:
        found = (*found, name)
        if found in counts:
            found = (*found, counts[found])
    return (*found, names[-1])


def _pair(node: Tree[Token], here: Location, file: Path) -> Iterator[tuple[Location, Place]]:
    for part in _names_along(_names(node)):
        yield (*here, *part), _place(node, file)
    yield from _inside(node.children[-1], (*here, *_names(node)), file)


def _inside(
    node: Tree[Token] | Token, here: Location, file: Path
) -> Iterator[tuple[Location, Place]]:
    for child in node.children if isinstance(node, Tree) else ():
        if not isinstance(child, Tree):
            continue
        if child.data == "list":
            for index, element in enumerate(child.children):
                assert isinstance(element, Tree)
                yield (*here, index), _place(element, file)
                yield from _inside(element, (*here, index), file)
        elif child.data == "inline":
            for pair in child.children:
                assert isinstance(pair, Tree)
                yield from _pair(pair, here, file)


def _names_along(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """a, a.b, a.b.c"""
    return (names[:end] for end in range(1, len(names) + 1))


def _names(node: Tree[Token]) -> list[str]:
    key = node.children[0]
    assert isinstance(key, Tree)
    return [_name(token) for token in key.children if isinstance(token, Token)]


def _name(token: Token) -> str:
    if token.type == "NAME":
        return str(token)
    return str(tomllib.loads(f"x = {token}")["x"])


def _place(node: Tree[Token], file: Path) -> Place:
    return Place(file, node.meta.line, node.meta.column)
