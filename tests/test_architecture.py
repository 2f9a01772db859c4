"""The direction of dependency, as CONTRIBUTING.md draws it: imports point downwards only.

Reads sources as text and syntax; runs nothing of what it judges.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.rust_modules import Names, Uses, circles, code

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "wiretrial"
CRATES = ROOT / "crates"

# What everybody may use: documents, errors, quantities, redaction, how programs start and end. They
# know nobody.
LEAVES = {
    *("catalogues", "closing", "documents", "errors", "launch", "plan", "quantities", "redaction"),
    *("exchange", "goals", "observation", "plan_grpc", "plan_publish", "plan_shape"),
    *("plan_traffic", "redaction_traffic"),
    *("services", "snapshot", "suggest", "words"),
}
LEAF_NEEDS = {
    "catalogues": set[str](),
    "redaction": set[str](),
    "errors": {"redaction"},
    "documents": {"errors", "suggest"},
    "quantities": {"errors", "suggest"},
    "goals": set(),
    "observation": set(),
    "redaction_traffic": {"plan_traffic", "redaction"},
    "plan_grpc": set(),
    "plan_publish": set(),
    "plan_shape": set(),
    "plan_traffic": {"plan_grpc", "plan_shape"},
    "plan": {"plan_grpc", "plan_publish", "plan_shape", "plan_traffic"},
    "snapshot": {"plan", "errors"},
    "words": {"plan"},
    "services": {"errors", "redaction"},
}

# room -> the rooms it may import beside the leaves and itself.
ROOMS: dict[str, set[str]] = {
    "stats": set(),
    "engine": set(),
    "machine": set(),
    "results": set(),
    "subjects": {"machine", "engine", "traffic"},
    "browser": {"engine", "subjects", "machine"},
    "warnings": {"results", "stats"},
    "report": {"stats", "results", "warnings"},
    "team": {"report", "results"},
    "advise": {"results", "stats"},
    "traffic": {"calls"},
    "fleet": {"engine", "subjects", "machine", "results", "stats", "warnings"},
    "calls": set(),
    "studies": {
        "browser",
        "engine",
        "observers",
        "subjects",
        "machine",
        "results",
        "stats",
        "warnings",
        "traffic",
    },
    "observers": {"engine", "results"},
    "live": {"studies", "report", "results"},
    "metrics": {"results"},
    "site": {"report", "results", "subjects"},
    "cli": {
        *("advise", "calls", "studies", "report", "fleet", "live", "site", "metrics", "team"),
        *("browser", "engine", "observers", "subjects", "machine", "results", "stats", "traffic"),
        "warnings",
    },
}

# Rooms that compute and draw. They start nothing, so they can be trusted with any file.
STARTS_NO_PROCESS = ("advise", "report", "stats", "traffic")
PROCESS_MODULES = {
    *("subprocess", "multiprocessing", "pty"),
    *("wiretrial.closing", "wiretrial.engine", "wiretrial.launch"),
}

# All that a face of the command line imports beside the standard library and what is as light.
LIGHT_PACKAGES = {"typer"}

# Where a distribution's name is not the name of its module.
IMPORT_NAMES = {
    "grpcio": "grpc",
    "grpcio-reflection": "grpc_reflection",
    "grpcio-tools": "grpc_tools",
    "hdrhistogram": "hdrh",
    "opentelemetry-proto": "opentelemetry",
    "protobuf": "google",
    "pyyaml": "yaml",
    "vl-convert-python": "vl_convert",
}

# crate -> the crates of this workspace it may depend on.
CRATE_RULES: dict[str, set[str]] = {
    "proto": set(),
    "net": set(),
    "link": set(),
    "observe": set(),
    "load": {"net", "proto"},
    "respond": {"net", "proto"},
    "engine": {"load", "respond", "link", "observe", "net", "proto"},
}
UNSAFE_CRATES = {"net", "link"}

# The codecs see bytes: no sockets, no clock, no threads, no files.
PROTO_MUST_NOT_USE = re.compile(r"\bstd::(net|time|thread|fs|process|env|os)\b")

# room of crates/load -> the rooms it may use beside itself, `plan` and `clock`.
LOAD_LEAVES = {"plan", "clock"}
LOAD_ROOMS: dict[str, set[str]] = {
    "plan": set(),
    "clock": set(),
    "machine": set(),
    "mutation": set(),
    "pacing": set(),
    "reach": set(),
    "source": {"reach"},
    "measure": set(),
    "deliveries": {"measure"},
    "executor": {"pacing", "source", "mutation"},
    "protocol": {"source"},
    "outgoing": {"protocol", "source"},
    "connection": {"outgoing", "protocol", "source", "measure", "deliveries", "reach", "mutation"},
    "exchange": {"measure", "source"},
    "judging": {"measure", "source"},
    "users": {"connection", "exchange", "executor", "judging", "source", "measure", "mutation"},
    "control": {"measure"},
    "preflight": {
        *("connection", "deliveries", "protocol", "source", "measure", "reach", "control"),
    },
    "worker": {
        *("executor", "pacing", "source", "connection", "protocol", "measure", "users", "exchange"),
        *("control", "preflight", "deliveries", "machine", "mutation", "judging"),
    },
    "emit": {"measure"},
    "schema": {"exchange", "measure"},
    "run": {
        *("worker", "executor", "source", "measure", "control", "preflight", "emit", "machine"),
        "judging",
    },
    "ask": {
        *("run", "worker", "executor", "exchange", "source", "protocol", "measure", "control"),
        "preflight",
    },
    # The world under all of it, in tests alone.
    "simulation": {
        *("run", "worker", "executor", "source", "connection", "protocol", "measure", "emit"),
        *("control", "preflight", "deliveries", "machine", "mutation", "judging"),
    },
}
# The rest may take the time and the class of a failure from `net`, nothing else.
LOAD_ROOMS_WITH_SOCKETS = {
    *("ask", "connection", "control", "preflight", "worker", "run", "machine", "simulation"),
}
SOCKETS = re.compile(
    r"\bwiretrial_net::(?!(clock|NetErrorClass)\b)|\b(TcpStream|TcpListener|UdpSocket)\b"
)


def python_rooms() -> list[str]:
    """The modules and packages right under `wiretrial`."""
    names = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.name for path in PACKAGE.iterdir() if any(path.glob("*.py"))
    }
    return sorted(names - {"__init__", "__main__"})


def python_sources(room: str) -> list[Path]:
    module = PACKAGE / f"{room}.py"
    return [module] if module.is_file() else sorted((PACKAGE / room).rglob("*.py"))


def imported_modules(source: Path) -> Iterator[str]:
    """Every module that the file imports, wherever in the file; `from a import b` gives a.b."""
    return imported_names(source.read_text(encoding="utf-8"))


def imported_names(source: str) -> Iterator[str]:
    """The same of a file's text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_rooms(source: Path) -> set[str]:
    """The rooms of `wiretrial` that the file imports."""
    own = (name.split(".") for name in imported_modules(source))
    return {parts[1] for parts in own if parts[0] == "wiretrial" and len(parts) > 1} - {
        "__version__"
    }


def imported_at_once(source: Path) -> Iterator[str]:
    """Every module that is imported when this one is; not those inside functions."""

    def outside(node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                yield child
                yield from outside(child)

    for node in outside(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_file(name: str) -> Path | None:
    """The file of `wiretrial.a.b`, or of `wiretrial.a` where b is something in it."""
    while name != "wiretrial":
        path = PACKAGE.parent / name.replace(".", "/")
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
        name = name.rpartition(".")[0]
    return None


def faces() -> list[Path]:
    """The modules that help and a shell import: those with an `app`."""
    return [
        path
        for path in sorted((PACKAGE / "cli").glob("*.py"))
        if re.search(r"^app = ", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]


def rust_sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.rs"))


def rust_code(source: Path) -> str:
    """The file without its comments and string literals, newlines kept."""
    return code(source.read_text(encoding="utf-8"))


def crates() -> list[str]:
    return sorted(path.parent.name for path in CRATES.glob("*/Cargo.toml"))


@pytest.mark.parametrize("room", python_rooms())
def test_python_imports_point_downwards(room: str) -> None:
    assert room in ROOMS or room in LEAVES, (
        f"wiretrial.{room} has no place in the map: give it one here and in CONTRIBUTING.md"
    )
    allowed = LEAF_NEEDS.get(room, LEAVES) if room in LEAVES else ROOMS[room] | LEAVES
    for source in python_sources(room):
        upward = imported_rooms(source) - allowed - {room}
        assert not upward, f"{source.relative_to(ROOT)} must not import {sorted(upward)}"


def module_of(path: Path) -> Names:
    """The names of the module in a file; a package is its `__init__`."""
    names = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return names[:-1] if names[-1] == "__init__" else names


def python_uses(files: Mapping[Path, str]) -> Uses:
    """Which modules each imports, wherever in its file: for types alone counts, too."""
    modules = {module_of(path) for path in files}
    uses: Uses = {}
    for path, source in files.items():
        own = module_of(path)
        for name in imported_names(source):
            names = tuple(name.split("."))
            # The last name of an import may be a module, or something in one.
            found = next((m for end in (None, -1) if (m := names[:end]) in modules), own)
            if found != own:
                uses.setdefault(own, set()).add(found)
    return uses


def python_circles(files: Mapping[Path, str]) -> list[str]:
    """Each circle of imports, as `A -> B -> A`."""
    return [" -> ".join(map(".".join, circle)) for circle in circles(python_uses(files))]


def test_python_modules_import_each_other_in_no_circle() -> None:
    files = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert len(python_uses(files)) > 100, "imports are found at all"
    found = python_circles(files)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param({"a": "from wiretrial.b import B", "b": "import json"}, [], id="one-way"),
        pytest.param(
            {"a": "from wiretrial.b import B", "b": "from wiretrial import a"},
            ["wiretrial.a -> wiretrial.b -> wiretrial.a"],
            id="two",
        ),
        pytest.param(
            {
                "a": "import wiretrial.b",
                "b": "def f():\n    from wiretrial.c import C",
                "c": "if TYPE_CHECKING:\n    from wiretrial.a import A",
            },
            ["wiretrial.a -> wiretrial.b -> wiretrial.c -> wiretrial.a"],
            id="three-one-late-one-for-types",
        ),
        pytest.param(
            {"r/__init__": "from wiretrial.r.x import X", "r/x": "from wiretrial.r import Y"},
            ["wiretrial.r -> wiretrial.r.x -> wiretrial.r"],
            id="through-a-room-s-face",
        ),
        pytest.param(
            {"r/__init__": "from wiretrial.r.x import X", "r/x": "from wiretrial.r import y"}
            | {"r/y": ""},
            [],
            id="beside-each-other",
        ),
    ],
)
def test_circles_are_told_by_their_way(files: dict[str, str], found: list[str]) -> None:
    sources = {PACKAGE / f"{name}.py": source for name, source in files.items()}
    assert python_circles(sources) == found


@pytest.mark.parametrize("room", STARTS_NO_PROCESS)
def test_report_and_statistics_start_no_process(room: str) -> None:
    for source in python_sources(room):
        used = {
            starter
            for name in imported_modules(source)
            for starter in PROCESS_MODULES
            if name == starter or name.startswith(f"{starter}.")
        }
        assert not used, f"{source.relative_to(ROOT)} must not import {sorted(used)}"


@pytest.mark.parametrize("face", faces(), ids=lambda face: face.stem)
def test_a_face_imports_at_once_what_is_light(face: Path) -> None:
    """So does all that it imports, down to the last."""
    assert len(faces()) > 10
    seen, waiting = {face}, [(face, face.stem)]
    while waiting:
        source, way = waiting.pop()
        for name in imported_at_once(source):
            top = name.partition(".")[0]
            if top != "wiretrial":
                assert top in sys.stdlib_module_names | LIGHT_PACKAGES, f"{way} imports {top}"
            elif (file := module_file(name)) and file not in seen:
                seen.add(file)
                waiting.append((file, f"{way} -> {file.stem}"))


def test_third_party_imports_are_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = (entry for extra in project["optional-dependencies"].values() for entry in extra)
    declared = {re.split(r"[<>=\[;]", entry)[0] for entry in (*project["dependencies"], *extras)}
    known = {IMPORT_NAMES.get(name, name.replace("-", "_")) for name in declared}
    for source in sorted(PACKAGE.rglob("*.py")):
        tops = {name.split(".")[0] for name in imported_modules(source)}
        unknown = tops - known - sys.stdlib_module_names - {"wiretrial"}
        assert not unknown, f"{source.relative_to(ROOT)} imports {sorted(unknown)}, not declared"


@pytest.mark.parametrize("crate", crates())
def test_crates_depend_downwards(crate: str) -> None:
    manifest = tomllib.loads((CRATES / crate / "Cargo.toml").read_text(encoding="utf-8"))
    named = {
        name.removeprefix("wiretrial-")
        for table in ("dependencies", "build-dependencies")
        for name in manifest.get(table, {})
        if name.startswith("wiretrial-")
    }
    assert crate in CRATE_RULES, f"crates/{crate} has no place in the map: give it one here"
    assert named <= CRATE_RULES[crate]


@pytest.mark.parametrize("crate", sorted(set(crates()) - UNSAFE_CRATES))
def test_unsafe_stands_only_where_the_kernel_is_spoken_to(crate: str) -> None:
    for source in rust_sources(CRATES / crate):
        assert not re.search(r"\bunsafe\b", rust_code(source)), source.relative_to(ROOT)


def test_codecs_see_neither_sockets_nor_time() -> None:
    sources = rust_sources(CRATES / "proto" / "src")
    assert sources
    for source in sources:
        used = PROTO_MUST_NOT_USE.findall(rust_code(source))
        assert not used, f"{source.relative_to(ROOT)} uses std::{used[0]}"


def test_rooms_of_the_load_generator_point_downwards() -> None:
    folder = CRATES / "load" / "src"
    wrong = []
    for source in rust_sources(folder):
        room = source.relative_to(folder).parts[0].removesuffix(".rs")
        if room == "lib":
            continue
        where = source.relative_to(ROOT)
        assert room in LOAD_ROOMS, f"{where} has no place in the map: give it one here"
        code = rust_code(source)
        used = set(re.findall(r"\bcrate::(\w+)", code)) & LOAD_ROOMS.keys()
        upward = used - LOAD_ROOMS[room] - LOAD_LEAVES - {room}
        wrong += [f"{where} must not use crate::{other}" for other in sorted(upward)]
        if room not in LOAD_ROOMS_WITH_SOCKETS and SOCKETS.search(code):
            wrong.append(f"{where} must not know sockets")
    assert wrong == []
