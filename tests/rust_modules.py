"""Which modules of a Rust crate use which, as its sources say.

Knows the syntax of modules and paths, and follows re-exports to the module that defines a name.
Must not know which crates there are, nor which dependencies are allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath

# A module or a path, as its names; a module begins below the root of its crate, which is ().
Names = tuple[str, ...]
Uses = dict[Names, set[Names]]

_NOT_CODE = re.compile(
    r"""//[^\n]*
    | /\*.*?\*/
    | \bb?r(?P<fence>\#*)".*?"(?P=fence)
    | b?"(?:\\.|[^"\\])*"
    | b?'(?:\\[^\n]+?|[^'\\\n])'(?!\w)""",
    re.DOTALL | re.VERBOSE,
)
_VISIBLE = r"(?:pub(?:\([^)]*\))?\s+)?"
_FOR_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*")
_MODULE_FILE = re.compile(rf"{_VISIBLE}mod\s+\w+\s*;")
_USE = re.compile(rf"{_VISIBLE}use\b[^;]*;")
_DEFINED = re.compile(
    r"\b(?:struct|enum|union|trait|type|fn|const|static|mod|macro_rules!)\s+(\w+)"
)
_BRACKET = re.compile(r"[{}()\[\];]")
_TOKEN = re.compile(
    r"\bmod\s+(?P<module>\w+)\s*\{"
    r"|\buse\s+(?P<use>[^;]*);"
    r"|\(in\s[^)]*\)"
    r"|(?<![\w:])(?P<path>(?:crate|self|super)(?:::\w+)+)"
    r"|(?P<brace>[{}])"
)


def code(text: str) -> str:
    """The text without comments, and with empty strings; lines stay lines."""
    return _NOT_CODE.sub(lambda found: '""' + "\n" * found[0].count("\n"), text)


def without_tests(text: str) -> str:
    """Code without what is compiled for tests alone, but for modules with a file of their own."""
    kept, start = [], 0
    while found := _FOR_TESTS.search(text, start):
        kept.append(text[start : found.start()])
        is_file = _MODULE_FILE.match(text, found.end())
        start = found.end() if is_file else _end_of_item(text, found.end())
    return "".join([*kept, text[start:]])


def expand(tree: str) -> Iterator[tuple[Names, str]]:
    """Each path of a use, and the name that it gets; a glob is called `*`."""
    before, brace, rest = tree.partition("{")
    if brace:
        for part in _parts(rest[: rest.rindex("}")]):
            yield from expand(f"{before}{part}")
        return
    path, *alias = re.split(r"\s+as\s+", tree.strip())
    names = tuple(re.findall(r"\w+|\*", path))
    if len(names) > 1 and names[-1] in ("self", "*"):
        own = "*" if names[-1] == "*" else names[-2]
        names = names[:-1]
    else:
        own = names[-1]
    yield names, alias[0] if alias else own


def circles(uses: Mapping[Names, set[Names]]) -> list[list[Names]]:
    """Of each group in which all reach each other one circle, its first member again at the end."""
    found: list[list[Names]] = []
    done: set[Names] = set()
    for start in sorted(uses):
        circle = _way(uses, start, start)
        if circle is None or start in done:
            continue
        done |= {other for other in uses if _way(uses, start, other) and _way(uses, other, start)}
        found.append(circle)
    return found


@dataclass
class _Source:
    """What the text of one file says. A path comes with the module that it stands in."""

    paths: list[tuple[Names, Names]] = field(default_factory=list)
    # What its own uses call by a name, and what they take whole.
    named: dict[str, tuple[Names, Names]] = field(default_factory=dict)
    globs: list[tuple[Names, Names]] = field(default_factory=list)
    defined: set[str] = field(default_factory=set)


class Crate:
    """The modules of one crate, from its files, named as below `src`; `tests.rs` does not count."""

    def __init__(self, files: Mapping[str, str]) -> None:
        sources = {_module(PurePosixPath(name)): text for name, text in files.items()}
        self._sources = {
            module: _parsed(module, without_tests(code(text)))
            for module, text in sources.items()
            if module[-1:] != ("tests",)
        }

    @classmethod
    def read(cls, folder: Path) -> Crate:
        """The crate whose sources are in this folder."""
        return cls(
            {
                path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
                for path in folder.rglob("*.rs")
            }
        )

    def uses(self) -> Uses:
        """Each module with the others that define what it uses."""
        return {
            module: {
                used
                for base, path in source.paths
                if (used := self._resolve(base, path)) not in (None, module)
            }
            for module, source in self._sources.items()
        }

    def circles(self) -> list[str]:
        """Modules that use each other, as `a -> b -> a (a::x uses b; b uses a)`.

        A module and all below it are one room: they may use each other, as long as no two of the
        modules right below one do so.
        """
        uses = self.uses()
        found = []
        for parent in sorted({module[:-1] for module in uses if module}):
            rooms, witnesses = _rooms(parent, uses)
            for circle in circles(rooms):
                steps = pairwise(circle)
                proof = "; ".join(" uses ".join(map(_text, witnesses[step])) for step in steps)
                found.append(f"{' -> '.join(map(_text, circle))} ({proof})")
        return found

    def _resolve(
        self, base: Names, path: Names, seen: frozenset[object] = frozenset()
    ) -> Names | None:
        """The module that defines what a path names; none: it is another crate's."""
        if (base, path) in seen:
            return None
        seen |= {(base, path)}
        at, names = base, path
        if path[0] == "crate":
            at, names = (), path[1:]
        elif path[0] in ("self", "super"):
            while names and names[0] in ("self", "super"):
                at, names = at[:-1] if names[0] == "super" else at, names[1:]
        elif not self._has(self._file(base), path[0]):
            return None
        at = self._file(at)
        for number, name in enumerate(names):
            if (*at, name) in self._sources:
                at = (*at, name)
                continue
            source, rest = self._sources[at], names[number + 1 :]
            if name in source.defined:
                return at
            if name in source.named:
                inner, bound = source.named[name]
                return self._resolve(inner, (*bound, *rest), seen)
            for inner, glob in source.globs:
                target = self._resolve(inner, glob, seen)
                if target is not None and self._has(target, name):
                    return self._resolve(target, ("self", name, *rest), seen)
            return at
        return at

    def _file(self, module: Names) -> Names:
        """The module whose file holds this one, which may be written out within it."""
        while module not in self._sources:
            module = module[:-1]
        return module

    def _has(self, module: Names, name: str) -> bool:
        source = self._sources[module]
        is_module = (*module, name) in self._sources
        return is_module or name in source.defined or name in source.named


def _parsed(module: Names, text: str) -> _Source:
    source = _Source(defined=set(_DEFINED.findall(text)))
    # For each open brace, the module that it stands in.
    within = [module]
    for token in _TOKEN.finditer(text):
        base = within[-1]
        if token["module"]:
            within.append((*base, token["module"]))
        elif token["brace"] == "{":
            within.append(base)
        elif token["brace"] == "}":
            within.pop()
        elif token["path"]:
            source.paths.append((base, tuple(token["path"].split("::"))))
        elif token["use"]:
            for path, name in expand(token["use"]):
                source.paths.append((base, path))
                if base == module and name == "*":
                    source.globs.append((base, path))
                elif base == module:
                    source.named.setdefault(name, (base, path))
    return source


def _module(path: PurePosixPath) -> Names:
    names = path.with_suffix("").parts
    if names[-1] == "mod" or names in (("lib",), ("main",)):
        return names[:-1]
    return names


def _rooms(
    parent: Names, uses: Uses
) -> tuple[Uses, dict[tuple[Names, Names], tuple[Names, Names]]]:
    """Which of the modules right below one use which, and for each pair a use that shows it."""
    depth = len(parent) + 1
    witnesses: dict[tuple[Names, Names], tuple[Names, Names]] = {}
    for module, used in sorted(uses.items()):
        for other in sorted(used):
            room, others = module[:depth], other[:depth]
            is_below = min(len(room), len(others)) == depth and room[:-1] == others[:-1] == parent
            if is_below and room != others:
                witnesses.setdefault((room, others), (module, other))
    rooms: Uses = {}
    for room, others in witnesses:
        rooms.setdefault(room, set()).add(others)
    return rooms, witnesses


def _way(uses: Mapping[Names, set[Names]], start: Names, goal: Names) -> list[Names] | None:
    """A shortest way of at least one step."""
    came: dict[Names, Names] = {}
    queue = [start]
    for module in queue:
        for used in sorted(uses.get(module, set()) - came.keys()):
            came[used] = module
            queue.append(used)
            if used == goal:
                way = [goal, module]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return way[::-1]
    return None


def _end_of_item(text: str, start: int) -> int:
    """Behind what ends with a semicolon or with its braces; before the end of what it stands in."""
    if use := _USE.match(text, start):
        return use.end()
    depth = 0
    for found in _BRACKET.finditer(text, start):
        depth += {"{": 1, "(": 1, "[": 1, ";": 0}.get(found[0], -1)
        if depth < 0:
            return found.start()
        if depth == 0 and found[0] in "};":
            return found.end()
    return len(text)


def _parts(inner: str) -> Iterator[str]:
    """The parts of a list in braces."""
    depth, part = 0, ""
    for character in f"{inner},":
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            if part.strip():
                yield part.strip()
            part = ""
        else:
            part += character


def _text(module: Names) -> str:
    return "::".join(module) or "crate"
