"""Files in a folder, compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from wiretrial.traffic.compiler import Scenario, compile_file

Compile = Callable[..., Scenario]


@pytest.fixture
def compiled(tmp_path: Path) -> Compile:
    """Writes files, given by their names, and compiles the first."""

    def compile_(files: dict[str, str], learns: bool = True, **given: str) -> Scenario:
        for name, content in files.items():
            (tmp_path / name).write_text(content, encoding="utf-8")
        return compile_file(tmp_path / next(iter(files)), given, learns=learns)

    return compile_
