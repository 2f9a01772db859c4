"""What the tests of the browser share: a real one, or why there is none."""

from __future__ import annotations

import shutil

import pytest

from tests.interop.conftest import lacking
from wiretrial.engine import Engine


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine that belongs to this laboratory."""
    return Engine.find()


@pytest.fixture(scope="session")
def chromium_binary() -> str:
    """Chromium; a machine of a person's own may lack it, CI may not."""
    found = shutil.which("chromium")
    if found is None:
        lacking("there is no chromium: install Debian's chromium")
    return str(found)
