"""The laboratory as `pip install` leaves it: this tree's, or a wheel's."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wheel import installed
from tests.wheel.installed import ROOT, WHEEL, Installed
from wiretrial.engine import BINARY


@pytest.fixture(scope="session")
def laboratory() -> Iterator[Installed]:
    """An installed laboratory, which is used without root's rights where they can be given up."""
    wheel = os.environ.get(WHEEL)
    if not wheel and not (ROOT / ".git").exists():
        pytest.skip(f"not a git checkout: {WHEEL} must name a wheel")
    # Not pytest's folders: nobody but their owner may enter them.
    with tempfile.TemporaryDirectory(prefix="wiretrial-wheel-") as folder:
        Path(folder).chmod(0o755)
        if wheel:
            yield installed.from_wheel((ROOT / wheel).resolve(), Path(folder))
        else:
            yield installed.laid_out(Path(folder))


@pytest.fixture(scope="session")
def served(laboratory: Installed) -> Iterator[str]:
    """The address of the installed engine's reference server."""
    home = laboratory.home()
    with subprocess.Popen(
        laboratory.command(BINARY, "respond", "--http", "127.0.0.1:0"),
        cwd=home,
        env=installed.environment(home),
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            ready = re.search(r"http=(\S+)", server.stdout.readline())
            assert ready
            yield f"http://{ready[1]}"
        finally:
            server.terminate()
