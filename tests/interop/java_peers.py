"""Programs in Java, which are compiled for their tests."""

from __future__ import annotations

from pathlib import Path

from tests.interop.conftest import program
from tests.interop.test_our_server import good, run

SOURCES = Path(__file__).resolve().parent / "java"


def compiled(source: str, classes: Path, libraries: str) -> list[str]:
    """What starts a program; `classes` is the folder of what it is compiled to."""
    programs = [str(SOURCES / f"{name}.java") for name in ("Checks", "Trust", source)]
    path = f"{classes}:{libraries}"
    run([program("javac", "a JDK"), "-d", str(classes), "-cp", path, *programs])
    return [program("java", "a JDK"), "-cp", path, source]


def checked(source: str, classes: Path, libraries: str, *words: str) -> set[str]:
    """What a client found right."""
    return good(run([*compiled(source, classes, libraries), *words]))


def jetty_clients(folder: Path) -> str:
    """The class path of Jetty's clients, which are brought into the folder. Needs Maven."""
    maven = [program("mvn", "Maven"), "-q", "-B", "-f", str(SOURCES / "pom.xml")]
    run([*maven, "dependency:copy-dependencies", f"-DoutputDirectory={folder}"])
    return f"{folder}/*"
