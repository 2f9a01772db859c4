"""More connections than fit: all limits at once, and commands that keep them."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import LIMIT_S, ROOT, command
from wiretrial.engine import Engine
from wiretrial.errors import LimitsTooLow
from wiretrial.machine import listeners

SERVER_LIMIT, LOAD_LIMIT, CONNECTIONS = 200, 150, 250


@contextlib.contextmanager
def serving(words: list[str]) -> Iterator[str]:
    """A server with few descriptors; its port."""
    limited = f"ulimit -n {SERVER_LIMIT} && exec {shlex.join(words)}"
    with subprocess.Popen(("sh", "-c", limited), stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            yield server.stdout.readline().rpartition(":")[2].strip()
        finally:
            server.terminate()


def load(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    limited = f"ulimit -n {LOAD_LIMIT} && exec {shlex.join(words)}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "NO_COLOR": "1"}
    return subprocess.run(
        ("sh", "-c", limited),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def test_all_limits_are_told_at_once_with_commands_that_keep_them(tmp_path: Path) -> None:
    engine = str(Engine.find().binary)
    with serving([engine, "respond", "--http", "127.0.0.1:0"]) as port:
        url = f"ws://127.0.0.1:{port}/"
        wanted = ("-c", str(CONNECTIONS), "-n", str(CONNECTIONS), "--format", "json")
        refused = load(command("load", url, *wanted, "--threads", "1"), tmp_path)
    assert refused.returncode == 2, refused.stderr
    lines = refused.stderr.splitlines()
    assert "250 connections need 314 descriptors, the limit is 150" in lines[0]
    assert f"for 250 connections, its limit is {SERVER_LIMIT}" in lines[1]
    first, run = (line.partition(": ") for line in lines[2:])
    assert (first[0], run[0]) == ("first", "run")
    again = first[2].partition(": ")
    assert again[0] == "start the server again as"
    # It has the same port again, whichever that was.
    with serving(shlex.split(again[2].replace("127.0.0.1:0", f"127.0.0.1:{port}"))):
        words = shlex.split(run[2])
        assert words[:2] == ["wiretrial", "load"]
        seen = listeners.of_url(url)
        assert seen.pids, "also where threads have tables of their own"
        done = load(command(*words[1:]), tmp_path)
    assert done.returncode in (0, 4), done.stderr
    assert json.loads(done.stdout)["totals"]["ok"] == CONNECTIONS


@pytest.mark.parametrize(
    ("words", "run"),
    [
        (["w", "load", "u", "-c", "9"], "w load u -c 9 --threads 3 --sources 127.1.0.0/29"),
        (["w", "-t", "1", "u", "--sources=x"], "w u --threads 3 --sources 127.1.0.0/29"),
        (["w", "a b"], "w 'a b' --threads 3 --sources 127.1.0.0/29"),
    ],
)
def test_the_command_is_the_one_that_was_given_with_other_limits(
    words: list[str], run: str
) -> None:
    told = "one\ntwo\nfirst: this\nuse: --threads 3 --sources 127.1.0.0/29"
    short = LimitsTooLow(told)
    assert short.told() == told
    assert short.line() == "one; two: first: this; use: --threads 3 --sources 127.1.0.0/29"
    assert short.for_command(words).told() == f"one\ntwo\nfirst: this\nrun: {run}"
    assert LimitsTooLow("one").for_command(words).told() == "one"
