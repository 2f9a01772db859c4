"""Reads a `.hurl` file: from its text to entries.

Knows the tree of `grammar`; must not know the engine. What a line of `[Asserts]` or `[Captures]`
says is read in `calls`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lark import Token, Tree

from wiretrial.traffic.hurl import calls, grammar, strings, words
from wiretrial.traffic.hurl.grammar import Node
from wiretrial.traffic.hurl.literals import Literals
from wiretrial.traffic.hurl.syntax import (
    Assertion,
    Body,
    Capture,
    Entry,
    HurlFile,
    Pair,
    Request,
    Response,
    Text,
)
from wiretrial.traffic.hurl.words import Family
from wiretrial.traffic.places import Place, TrafficProblem, read

_NAME = re.compile(r"#[ \t]*@name\b[ \t]*(?P<name>[^\r\n]*?)[ \t]*\r?$", re.MULTILINE)


def read_hurl(path: Path) -> HurlFile:
    """The file at `path`."""
    return parse(read(path, "name a .hurl file that is there"), path)


def parse(source: str, path: Path) -> HurlFile:
    """A file's text; `path` is where files that it names are looked for."""
    return _Reader(source, path).file(grammar.tree(source, path))


@dataclass(frozen=True)
class _Reader:
    source: str
    path: Path

    @property
    def _literals(self) -> Literals:
        return Literals(self.path)

    def file(self, tree: Node) -> HurlFile:
        names = self._names(tree)
        entries = tuple(
            self._entry(node, names.get(_line(node))) for node in tree.find_data("entry")
        )
        if not entries:
            raise TrafficProblem(
                Place(self.path), "there is no request", "write a line such as GET http://..."
            )
        # Of lark, the order of what is found is from the last to the first.
        return HurlFile(self.path, tuple(sorted(entries, key=lambda entry: entry.place.line)))

    def _names(self, tree: Node) -> dict[int, str]:
        """The names in comments, by the line of the request that follows."""
        names: dict[int, str] = {}
        last: Token | None = None
        for token in tree.scan_values(lambda value: isinstance(value, Token)):
            if last is not None and (found := list(_NAME.finditer(last))):
                place = self._place(last).along(last[: found[-1].start()])
                if token.type != "METHOD" or token.line == place.line:
                    raise TrafficProblem(
                        place, "@name names no request", "write it in a line before the request"
                    )
                names[token.line or 0] = _name(found[-1]["name"], place)
            last = token if token.type == "EOL" else None
        if last is not None and (unused := _NAME.search(last)):
            place = self._place(last).along(last[: unused.start()])
            raise TrafficProblem(place, "@name names no request", "write a request behind it")
        return names

    def _entry(self, node: Node, name: str | None) -> Entry:
        request = response = None
        for part in _trees(node):
            if part.data == "request":
                request = self._request(part)
            else:
                response = self._response(part)
        assert request is not None
        return Entry(request, response, name)

    def _request(self, node: Node) -> Request:
        method, url = _tokens(node, "METHOD", "VALUE")
        sections: dict[str, tuple[Pair, ...]] = {}
        for part in _trees(node, "pairs"):
            (mark,) = _tokens(part, "PAIRS")
            name = words.SAME_SECTION.get(mark[1:-1], mark[1:-1])
            words.find(Family.SECTION, name, self._place(mark))
            if name in sections:
                raise TrafficProblem(
                    self._place(mark), f"a second section {mark}", "write its lines into the first"
                )
            sections[name] = self._pairs(part)
        for option in sections.get("Options", ()):
            words.find(Family.OPTION, str(option.key), option.key.place)
        return Request(
            method=str(method),
            url=self._text(url),
            place=self._place(method),
            headers=self._pairs(node),
            sections=sections,
            body=self._body(node),
        )

    def _response(self, node: Node) -> Response:
        version, status = _tokens(node, "VERSION", "STATUS")
        if version not in ("HTTP", "HTTP/1.1"):
            raise TrafficProblem(
                self._place(version), f"{version} is not spoken", "write HTTP, for any version"
            )
        number = None if status == "*" else int(status)
        if number is not None and not 100 <= number <= 599:
            raise TrafficProblem(
                self._place(status), f"{status} is no status", "write a number from 100 to 599"
            )
        return Response(
            status=number,
            place=self._place(version),
            headers=self._pairs(node),
            captures=tuple(self._captures(node)),
            assertions=tuple(self._assertions(node)),
            body=self._body(node),
        )

    def _captures(self, node: Node) -> Iterator[Capture]:
        for line in (line for part in _trees(node, "captures") for line in _trees(part, "capture")):
            key = _tokens(line, "KEY")[0]
            name = self._key(key)
            if name.plain is None:
                raise TrafficProblem(
                    name.place, "a capture's name has a hole", "write a name without {{}}"
                )
            items = [token for token in _all_tokens(line) if token.type not in ("KEY", "EOL")]
            yield calls.capture(str(name), name.place, items, self._literals)

    def _assertions(self, node: Node) -> Iterator[Assertion]:
        for line in (line for part in _trees(node, "asserts") for line in _trees(part)):
            items = [token for token in _all_tokens(line) if token.type != "EOL"]
            yield calls.assertion(items, self._literals)

    def _pairs(self, node: Node) -> tuple[Pair, ...]:
        return tuple(self._pair(part) for part in _trees(node, "pair"))

    def _pair(self, node: Node) -> Pair:
        key = _tokens(node, "KEY")[0]
        values = [token for token in _all_tokens(node) if token.type == "VALUE"]
        place = self._place(key).along(key)
        return Pair(self._key(key), self._text(values[0]) if values else Text((), place))

    def _body(self, node: Node) -> Body | None:
        for part in _trees(node, "body"):
            for inside in part.children:
                if isinstance(inside, Tree):
                    return self._json(inside)
                return self._literals.body(inside)
        return None

    def _json(self, node: Node) -> Body:
        meta = node.meta
        for token in _all_tokens(node):
            if token.type == "EOL" and "#" in token:
                place = self._place(token).along(token[: token.index("#")])
                raise TrafficProblem(place, "a comment inside JSON", "leave it out")
            if token.type == "STRING":
                self._require_json(token)
        place = Place(self.path, meta.line, meta.column)
        inside = (self.source + "\n")[meta.start_pos : meta.end_pos]
        content = strings.text(inside, place, escapes=False)
        return Body(content, place, "application/json", is_json=True)

    def _require_json(self, token: Token) -> None:
        try:
            json.loads(token)
        except ValueError as error:
            raise TrafficProblem(
                self._place(token), f"{token} is no text of JSON: {error}", "correct the escape"
            ) from error

    def _key(self, token: Token) -> Text:
        return strings.text(str(token), self._place(token), marks=":")

    def _text(self, token: Token) -> Text:
        return strings.text(str(token).rstrip(), self._place(token))

    def _place(self, token: Token) -> Place:
        return Place(self.path, token.line or 1, token.column or 1)


def _name(name: str, place: Place) -> str:
    if not name:
        raise TrafficProblem(place, "@name without a name", "write # @name NAME")
    return name


def _trees(node: Node, kind: str | None = None) -> Iterator[Node]:
    """The parts of this kind right under `node`."""
    for child in node.children:
        if isinstance(child, Tree) and kind in (None, child.data):
            yield child


def _tokens(node: Node, *kinds: str) -> list[Token]:
    """The tokens right under `node`, one of each kind."""
    own = [child for child in node.children if isinstance(child, Token)]
    return [next(token for token in own if token.type == kind) for kind in kinds]


def _all_tokens(node: Node) -> list[Token]:
    return [*node.scan_values(lambda value: isinstance(value, Token))]


def _line(entry: Node) -> int:
    return entry.meta.line
