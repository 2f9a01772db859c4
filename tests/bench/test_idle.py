"""What an idle connection takes: how the bench is asked."""

from __future__ import annotations

import subprocess
import sys


def test_no_rounds_are_refused_in_one_line() -> None:
    line = [sys.executable, "-m", "bench.idle", "--rounds", "0"]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "idle: --rounds must be above zero\n"
