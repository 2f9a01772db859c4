"""Waiting for what something else brings about, with an end."""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT_S = 20.0


def until(
    holds: Callable[[], object], what: str = "", limit_s: float = LIMIT_S, pause_s: float = 0.05
) -> None:
    """Returns when something holds; fails when it does not within the limit."""
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline, f"not so in {limit_s:g} s: {what}"
        time.sleep(pause_s)
