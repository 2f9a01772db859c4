"""An application that runs with a fault or without, and loads of it.

Knows how an application says where it listens, and the command `wiretrial load`; must not know
what an application does.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.process import Process
from tests.apps.installed import EXAMPLES, ROOT
from tests.cli.nursery import ended
from wiretrial.errors import EXIT_GOOD
from wiretrial.traffic.hurl.reading import read_hurl
from wiretrial.traffic.hurl.syntax import Entry
from wiretrial.traffic.hurl.writing import write

LIMIT_S = 120.0


@dataclass(frozen=True)
class Told:
    """What came of a load."""

    status: int
    document: Mapping[str, Any]
    said: str

    def failures(self) -> dict[str, dict[str, int]]:
        """The routes with failures, each with its failures by class."""
        routes = self.document["traffic"]["routes"]
        return {route["name"]: route["errors"] for route in routes if route["errors"]}

    def routes(self) -> set[str]:
        """The routes of which a reply was right."""
        return {route["name"] for route in self.document["traffic"]["routes"] if route["ok"]}

    def example(self, route: str, kind: str) -> str:
        """What came in place of the right reply."""
        (found,) = (one for one in self.document["traffic"]["routes"] if one["name"] == route)
        return str(found["examples"][kind])


@dataclass(frozen=True)
class Application:
    """One that runs, with a folder of its own for what is loaded."""

    name: str
    base: str
    folder: Path

    def wiretrial(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the command in the folder."""
        python = {"PYTHONPATH": str(ROOT / "python"), "NO_COLOR": "1"}
        return ended(arguments, self.folder, {**os.environ, **python}, LIMIT_S)

    def imported(self, kind: str, source: str) -> str:
        """Makes traffic files in the folder `made`, checks them, and returns what was said."""
        made = self.wiretrial("traffic", "from", kind, source, "-o", "made")
        assert made.returncode == EXIT_GOOD, made.stderr
        at = ("--variable", f"base={self.base}")
        checked = self.wiretrial("traffic", "check", "made/traffic.toml", "--no-send", *at)
        assert checked.returncode == EXIT_GOOD, checked.stderr
        return made.stderr

    def without_pauses(self) -> str:
        """A file like its own, of users who think no time."""
        source = (self.folder / "traffic" / "traffic.toml").read_text(encoding="utf-8")
        made = self.folder / "traffic" / "busy.toml"
        made.write_text(source.replace("exponential 20ms", "0ms"), encoding="utf-8")
        return "traffic/busy.toml"

    def unsaid(self) -> None:
        """Its files say no more of replies than what they capture, and which errors are right."""
        for path in (self.folder / "traffic").glob("*.hurl"):
            entries = [_unsaid(entry) for entry in read_hurl(path).entries]
            path.write_text(write(entries, ""), encoding="utf-8")

    def load(self, *arguments: str, file: str = "traffic/traffic.toml") -> Told:
        """Loads it with the file, which is there."""
        at = ("--variable", f"base={self.base}", "--format", "json")
        done = self.wiretrial("load", file, *at, *arguments)
        assert done.stdout, done.stderr
        return Told(done.returncode, json.loads(done.stdout), done.stderr)


def _unsaid(entry: Entry) -> Entry:
    response = entry.response
    if response is None or not (response.captures or (response.status or 0) >= 400):
        return replace(entry, response=None)
    return replace(entry, response=replace(response, assertions=()))


Start = Callable[[str], AbstractContextManager[Application]]


@contextlib.contextmanager
def running(
    name: str,
    command: Sequence[str],
    address: str,
    folder: Path,
    **environment: str,
) -> Iterator[Application]:
    """The application, until it is left. `address` is the pattern of what it says when it is up."""
    shutil.copytree(EXAMPLES / name / "traffic", folder / "traffic")
    with Process(
        command, log=folder / f"{name}.log", environment={**os.environ, **environment}
    ) as process:
        yield Application(name, process.hear(address), folder)
