"""The tutorial, as its reader goes through it: each command in turn, in one shell."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.fences import prompted
from tools.docs.layout import ROOT
from wiretrial.engine import Engine

TUTORIAL = Path("docs/start.md")
LAUNCHER = ROOT / "wiretrial.data" / "scripts" / "wiretrial"

# What may come of a command on a machine that is slow or busy: a time is no test's pass or fail.
GOOD = {"load": {0, 4}, "compare": {0, 4}, "gate": {0, 3, 4}}


def programs(folder: Path) -> str:
    """A PATH on which both programs are those of this tree."""
    folder.mkdir()
    (folder / "wiretrial").write_text(f'#!/bin/sh\nexec {sys.executable} {LAUNCHER} "$@"\n')
    (folder / "wiretrial").chmod(0o755)
    (folder / "wiretrial-engine").symlink_to(Engine.find().binary)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def free_ports(text: str) -> str:
    """The same text with a free port in place of each one in it."""
    named = sorted(set(re.findall(r"(?<=:)80\d\d\b", text)))
    held = [socket.create_server(("127.0.0.1", 0)) for _ in named]
    for name, one in zip(named, held, strict=True):
        text = text.replace(f":{name}", f":{one.getsockname()[1]}")
        one.close()
    return text


def script(commands: list[str]) -> str:
    """The commands, each followed by its exit code in the file `codes`."""
    lines = ["set -m", "trap 'kill $(jobs -p) 2>/dev/null' EXIT"]
    for command in commands:
        lines += [command, "echo $? >> codes"]
        if command.endswith("&"):
            served = re.search(r"--http ([\d.]+):(\d+)", command)
            assert served, command
            address = f"/dev/tcp/{served[1]}/{served[2]}"
            lines.append(f"until (: < {address}) 2>/dev/null; do sleep 0.1; done")
    return "\n".join(lines)


@pytest.mark.timeout(600)
def test_each_command_of_the_tutorial_runs(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    commands = free_ports("\n".join(prompted(TUTORIAL))).splitlines()
    done = subprocess.run(
        ["bash", "-c", script(commands)],
        cwd=here,
        env={
            **os.environ,
            "PATH": programs(tmp_path / "bin"),
            "PYTHONPATH": str(ROOT / "python"),
            "NO_COLOR": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    codes = [int(code) for code in (here / "codes").read_text().split()]
    assert len(codes) == len(commands), done.stderr
    for command, code in zip(commands, codes, strict=True):
        assert code in GOOD.get(command.split()[1], {0}), f"{command}: {code}\n{done.stderr}"
    assert (here / "load.html").exists()
    assert list(here.glob("results/compare-*/report.html"))


def test_the_tutorial_shows_each_way() -> None:
    lines = map(str.split, prompted(TUTORIAL))
    ways = {words[1] for words in lines if words[0] == "wiretrial"}
    assert ways == {"machine", "load", "compare", "report", "gate"}
