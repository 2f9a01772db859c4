"""The codecs, behind a small program that reads hexadecimal lines and prints events."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ("--workspace", "--example", "codec_driver")
"""Of the whole workspace, so that crates have the features with which the Rust tests built them."""

# One list of events for each line.
Drive = Callable[[list[str]], list[list[dict[str, Any]]]]


@pytest.fixture(scope="session")
def drive() -> Drive:
    """Builds the driver, and runs many lines through it at once."""
    # The same build as `make test-rust` makes; here only the program's place is asked for.
    built = subprocess.run(
        ["cargo", "build", "--locked", *EXAMPLE, "--message-format=json"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    program = next(it["executable"] for it in messages if it.get("executable"))

    def run(lines: list[str]) -> list[list[dict[str, Any]]]:
        ran = subprocess.run(
            [program], input="\n".join(lines), capture_output=True, text=True, check=True
        )
        reports = [json.loads(line) for line in ran.stdout.splitlines()]
        assert len(reports) == len(lines)
        return reports

    return run
