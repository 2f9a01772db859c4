"""The site, built once as `make docs` builds it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.interop.conftest import lacking
from tools.docs.layout import ROOT

MKDOCS = ROOT / "build" / "docs-venv" / "bin" / "mkdocs"
LIMIT_S = 170.0


@dataclass(frozen=True)
class Site:
    """Where the site is, and what its build said."""

    folder: Path
    said: str

    def pages(self) -> list[Path]:
        """Its pages."""
        return sorted(self.folder.rglob("*.html"))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The whole site."""
    if not MKDOCS.exists():
        lacking("there is no mkdocs: `make docs` installs it")
    out = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "tools.docs", str(MKDOCS), str(out)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return Site(out, done.stdout)
