"""A tutorial as its reader goes through it: files are saved and commands typed, in one shell.

Knows how a tutorial is written (`Save this as`, console blocks) and how it is run; must not know
what a command means. Figures are those of the machine on which a page was written, words are not.
"""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.docs.fences import CONTINUED, FENCE
from tools.docs.layout import ROOT
from wiretrial.engine import Engine

LAUNCHER = ROOT / "wiretrial.data" / "scripts" / "wiretrial"
PROMPT = "$ "
SAVED = re.compile(r"[Ss]ave (?:this|it) as `(?P<name>[\w./-]+)`[.:]\n\n\Z")
PORT = re.compile(r"\b80\d\d\b")
FIGURE = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?: ?(?:ns|us|ms|s|k/s|kB|MB)\b)?")
RULE = re.compile(r"─+")
GAP = re.compile(r"\.\.\.|…")
"""Of an excerpt: here stands something else on another machine."""


@dataclass(frozen=True)
class Command:
    """What is typed, and what the page shows of its output."""

    line: str
    shown: str


@dataclass(frozen=True)
class File:
    """What is saved, and under which name."""

    name: str
    content: str


@dataclass(frozen=True)
class Done:
    """What came of a command."""

    command: Command
    code: int
    said: str

    def program(self) -> str:
        """The command of wiretrial, or the program itself."""
        words = self.command.line.split()
        return words[1] if words[0] == "wiretrial" else words[0]

    def missing(self) -> str | None:
        """The first words that the page shows and the command did not say; None: it said all."""
        said, at = plain(self.said), 0
        for piece in map(plain, GAP.split(self.command.shown)):
            found = said.find(piece, at)
            if found < 0:
                return piece
            at = found + len(piece)
        return None


def plain(text: str) -> str:
    """Words alone: figures, the width of columns and where lines end are no matter."""
    return " ".join(RULE.sub("─", FIGURE.sub("#", text)).split())


def steps(page: Path) -> Iterator[Command | File]:
    """What the page has its reader do, in its order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for fence in FENCE.finditer(text):
        saved = SAVED.search(text, 0, fence.start())
        if saved:
            yield File(saved["name"], fence["body"])
        elif fence["language"] == "console":
            yield from _typed(CONTINUED.sub("", fence["body"]))


def commands(page: Path) -> list[str]:
    """The command lines alone."""
    return [step.line for step in steps(page) if isinstance(step, Command)]


def followed(page: Path, folder: Path) -> list[Done]:
    """Everything that the page says is done in `folder`; a command that ran is told."""
    here = folder / "here"
    (here / ".said").mkdir(parents=True)
    todo = [*steps(page)]
    asked = [step for step in todo if isinstance(step, Command)]
    done = subprocess.run(
        ["bash", "-c", _with_free_ports("\n".join(_script(todo)))],
        cwd=here,
        env={
            **os.environ,
            "PATH": _programs(folder / "bin"),
            "PYTHONPATH": str(ROOT / "python"),
            "NO_COLOR": "1",
            "COLUMNS": "80",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    codes = [int(code) for code in (here / ".said" / "codes").read_text().split()]
    assert len(codes) == len(asked), done.stderr
    return [
        Done(command, code, (here / ".said" / str(number)).read_text(encoding="utf-8"))
        for number, (command, code) in enumerate(zip(asked, codes, strict=True))
    ]


def _typed(block: str) -> Iterator[Command]:
    line, shown = "", list[str]()
    for text in block.splitlines():
        if text.startswith(PROMPT):
            if line:
                yield Command(line, "\n".join(shown))
            line, shown = text.removeprefix(PROMPT), []
        else:
            shown.append(text)
    if line:
        yield Command(line, "\n".join(shown))


def _script(todo: Sequence[Command | File]) -> Iterator[str]:
    """Each command writes to a file of its own, and its exit code to the file `codes`."""
    yield from ("set -m", "trap 'kill $(jobs -p) 2>/dev/null' EXIT")
    number = 0
    for step in todo:
        if isinstance(step, File):
            yield f"printf %s {shlex.quote(step.content)} > {step.name}"
            continue
        yield f"{{ {step.line}\n}} > .said/{number} 2>&1"
        yield "echo $? >> .said/codes"
        if step.line.endswith("&"):
            (port,) = PORT.findall(step.line)
            yield f"until (: < /dev/tcp/127.0.0.1/{port}) 2>/dev/null; do sleep 0.1; done"
        number += 1


def _programs(folder: Path) -> str:
    """A PATH on which the programs are those of this tree."""
    folder.mkdir()
    (folder / "wiretrial").write_text(f'#!/bin/sh\nexec {sys.executable} {LAUNCHER} "$@"\n')
    (folder / "wiretrial").chmod(0o755)
    (folder / "wiretrial-engine").symlink_to(Engine.find().binary)
    (folder / "python3").symlink_to(sys.executable)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def _with_free_ports(text: str) -> str:
    """The same text with a free port in place of each one in it."""
    named = sorted(set(PORT.findall(text)))
    held = [socket.create_server(("127.0.0.1", 0)) for _ in named]
    ports = {name: str(one.getsockname()[1]) for name, one in zip(named, held, strict=True)}
    for one in held:
        one.close()
    return PORT.sub(lambda found: ports[found[0]], text)
