"""Hurl itself as the judge: each file that is accepted here is one that hurl reads, too."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.traffic.examples import FILES

HURLFMT = shutil.which("hurlfmt")
LIMIT_S = 30.0


@pytest.mark.skipif(HURLFMT is None, reason="hurlfmt is not installed (cargo install hurlfmt)")
@pytest.mark.parametrize("name", FILES)
def test_hurl_reads_what_is_accepted_here(name: str, tmp_path: Path) -> None:
    assert HURLFMT is not None
    path = tmp_path / "x.hurl"
    path.write_text(FILES[name], encoding="utf-8")
    done = subprocess.run(
        [HURLFMT, "--out", "json", str(path)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
