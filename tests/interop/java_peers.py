"""Programs in Java, which are compiled for their tests."""

from __future__ import annotations

from pathlib import Path

from tests.interop.conftest import program
from tests.interop.test_our_server import good, run

SOURCES = Path(__file__).resolve().parent / "java"
OF_SUBJECTS = Path(__file__).resolve().parents[2] / "subjects" / "_shared" / "java-server" / "src"
"""How a key is read, which the subjects share."""


def compiled(source: str, classes: Path, libraries: str) -> list[str]:
    """What starts a program; `classes` is the folder of what it is compiled to."""
    path = f"{classes}:{libraries}"
    sources = ["-sourcepath", f"{SOURCES}:{OF_SUBJECTS}", str(SOURCES / f"{source}.java")]
    run([program("javac", "a JDK"), "-d", str(classes), "-cp", path, *sources])
    return [program("java", "a JDK"), "-cp", path, source]


def checked(source: str, classes: Path, libraries: str, *words: str) -> set[str]:
    """What a client found right."""
    return good(run([*compiled(source, classes, libraries), *words]))


def jetty_clients(folder: Path) -> str:
    """The class path of Jetty's clients, which are brought into the folder. Needs Maven."""
    return _brought("pom.xml", folder)


def http3_libraries(folder: Path) -> str:
    """That of Jetty and Netty over HTTP/3, servers and clients."""
    return _brought("http3.pom.xml", folder)


def _brought(pom: str, folder: Path) -> str:
    maven = [program("mvn", "Maven"), "-q", "-B", "-f", str(SOURCES / pom)]
    run([*maven, "dependency:copy-dependencies", f"-DoutputDirectory={folder}"])
    return f"{folder}/*"
