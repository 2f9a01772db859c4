"""Paths into JSON: `$.items[*]["a name"]`, checked and written in one way.

Knows members, indices and `[*]`; must not know documents. Filters, slices and `..` are refused.
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


class PathFault(ValueError):
    """What is wrong with a path; `at` is where, counted in characters from 0."""

    def __init__(self, at: int, message: str, remedy: str) -> None:
        super().__init__(message)
        self.at, self.message, self.remedy = at, message, remedy


def canonical(path: str) -> str:
    """The path as the engine reads it; raises `PathFault`."""
    return "$" + "".join(_steps(path))


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
