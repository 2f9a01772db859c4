"""Paths into JSON: `$.items[*]["a name"]`, checked and written in one way.

Knows members, indices and `[*]`, of which each reply is asked, and where a path has more: filters,
slices, `..` (RFC 9535), which the engine reads itself. Must not know documents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_STEP = re.compile(
    r"""\.(?P<name>[^\s.\[\]*'"()?@,:]+)
    |\[\s*(?:(?P<index>\d+)|(?P<all>\*)|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<double>"(?:[^"\\]|\\.)*"))\s*\]
    """,
    re.VERBOSE,
)
_SIMPLE = re.compile(r"[A-Za-z_][\w-]*")


_WIDE = re.compile(r"\.\.|\.\*|\[\s*[?-]|\[\s*\d*\s*:|\[[^\]]*,")
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")


class PathFault(ValueError):
    """What is wrong with a path; `at` is where, counted in characters from 0."""

    def __init__(self, at: int, message: str, remedy: str) -> None:
        super().__init__(message)
        self.at, self.message, self.remedy = at, message, remedy


def canonical(path: str) -> str:
    """The path as the engine reads it of each reply; raises `PathFault`."""
    return "$" + "".join(_steps(path))


def is_plain(path: str) -> bool:
    """Whether each reply can be asked for it."""
    try:
        canonical(path)
    except PathFault:
        return False
    return True


def of_sample(path: str) -> str:
    """The path as replies of a sample are asked for it; raises `PathFault`."""
    try:
        return canonical(path)
    except PathFault as fault:
        if not _WIDE.match(path, fault.at):
            raise
        _require_closed(path)
        return path


def _require_closed(path: str) -> None:
    """Raises where a bracket or quotation mark is left open. What else is wrong the engine says."""
    closing = {"[": "]", "(": ")"}
    bare = _QUOTED.sub(lambda found: "_" * len(found[0]), path)
    opened: list[tuple[str, int]] = []
    for at, letter in enumerate(bare):
        if letter in closing:
            opened.append((closing[letter], at))
        elif letter in "'\"" or (letter in "])" and (not opened or opened.pop()[0] != letter)):
            raise PathFault(at, f"{letter} has no other half", "write it, or leave this one out")
    if opened:
        at = opened[-1][1]
        raise PathFault(at, f"{bare[at]} is not closed", f"write {opened[-1][0]} behind it")


def joined(path: str, inner: str) -> str:
    """The path that goes on with another one from its place."""
    return canonical(path) + canonical(inner)[1:]


def member(name: str) -> str:
    """The step to an object's member."""
    return f".{name}" if _SIMPLE.fullmatch(name) else f"[{json.dumps(name, ensure_ascii=False)}]"


def _steps(path: str) -> Iterator[str]:
    if not path.startswith("$"):
        raise PathFault(0, f"{path} is no path", "begin it with $, such as $.id")
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            raise PathFault(at, *_fault(path[at:]))
        yield _step(found)
        at = found.end()


def _step(found: re.Match[str]) -> str:
    if found["index"] is not None:
        return f"[{int(found['index'])}]"
    if found["all"]:
        return "[*]"
    if found["double"] is not None:
        return member(str(json.loads(found["double"])))
    if found["single"] is not None:
        return member(re.sub(r"\\(.)", r"\1", found["single"]))
    return member(found["name"])


def _fault(rest: str) -> tuple[str, str]:
    if rest.startswith(".."):
        return ".. (at any depth) is not supported", "write the whole path, such as $.a.b"
    if rest.startswith(".*"):
        return ".* is not supported", "write [*] for all elements of a list"
    if rest.startswith(("[?", "[(")):
        return "a filter in a path is not supported", "write [*], or the element's index"
    if re.match(r"\[\s*-?\d*\s*:", rest):
        return "a slice in a path is not supported", "write [*], or the element's index"
    if re.match(r"\[\s*-", rest):
        return "an index from the end is not supported", "count from 0"
    if "," in rest.partition("]")[0]:
        return "a list in a path is not supported", "write a line for each"
    return f"{rest} can't stand in a path", 'write $.name, $[0], $[*] or $["a name"]'
