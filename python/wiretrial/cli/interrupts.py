"""SIGINT and SIGTERM: the first asks for a graceful end, the second ends at once.

Knows signals; must not know what is being stopped.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

HANDLED = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """A signal that ends the work where it stands. Cleaning up still happens."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class Interrupt:
    """Which signal came, if one did."""

    def __init__(self) -> None:
        self.number: int | None = None


@contextmanager
def graceful(stop: Callable[[], None]) -> Iterator[Interrupt]:
    """Within it, the first signal calls `stop` and is remembered; a second raises `Stopped`."""
    seen = Interrupt()

    def handle(number: int, _frame: FrameType | None) -> None:
        if seen.number is not None:
            raise Stopped(number)
        seen.number = number
        stop()

    before = {number: signal.signal(number, handle) for number in HANDLED}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_RAISED = Interrupt()


def raise_on_signal() -> None:
    """From now on each signal raises `Stopped`."""

    def handle(number: int, _frame: FrameType | None) -> None:
        _RAISED.number = number
        raise Stopped(number)

    for number in HANDLED:
        signal.signal(number, handle)


def raise_lost() -> None:
    """Raises `Stopped` once more if a signal came: Python drops what is raised in a finalizer."""
    if _RAISED.number is not None:
        raise Stopped(_RAISED.number)
