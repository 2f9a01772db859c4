"""The pages of both command lines: the help of every command, as `--help` prints it.

Knows how commands are found and called; must not know what any of them does.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from typer.core import TyperGroup
from typer.main import get_command

from wiretrial.cli.app import Commands, app

# As a terminal of 80 columns without colours shows it.
os.environ.update(COLUMNS="80", TERM="dumb", NO_COLOR="1")


def laboratory() -> str:
    """The page of `wiretrial`."""
    sections = [_section(["wiretrial", *words], _help(words)) for words in _commands()]
    return _page("wiretrial", sections)


def engine(binary: Path) -> str:
    """The page of `wiretrial-engine`."""
    first = _engine_help(binary)
    listed = first.partition("Commands:\n")[2].partition("\n\n")[0]
    names = re.findall(r"^  (\w+)", listed, re.MULTILINE)
    sections = [_section(["wiretrial-engine"], first)]
    sections += [
        _section(["wiretrial-engine", name], _engine_help(binary, name))
        for name in names
        if name != "help"
    ]
    return _page("wiretrial-engine", sections)


def _commands() -> Iterator[list[str]]:
    """Every command's words: those of a group after the group's own."""
    yield []
    for name in Commands.table:
        yield [name]
        command = get_command(import_module(f"wiretrial.cli.{name}").app)
        if isinstance(command, TyperGroup):
            yield from ([name, inner] for inner in command.commands)


def _help(words: list[str]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        app([*words, "--help"], prog_name="wiretrial", standalone_mode=False)
    return shown.getvalue()


def _engine_help(binary: Path, *words: str) -> str:
    asked = [str(binary), *words, "--help"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout


def _page(program: str, sections: list[str]) -> str:
    return f"# Commands of {program}\n\nWhat `--help` prints.\n{''.join(sections)}"


def _section(words: list[str], shown: str) -> str:
    level = "##" if len(words) < 3 else "###"
    return f"\n{level} {' '.join(words)}\n\n```text\n{shown.rstrip()}\n```\n"
