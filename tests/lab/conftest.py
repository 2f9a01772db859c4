"""What the laboratory's tests share: the real engine, and trials that it really measured."""

from __future__ import annotations

import pytest

from wiretrial.engine import Engine


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine that belongs to this laboratory. A test that needs it fails without it."""
    return Engine.find()
