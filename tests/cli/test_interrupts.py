"""Signals that come where Python would lose them."""

from __future__ import annotations

import os
import signal

import pytest

from wiretrial.cli import interrupts
from wiretrial.cli.interrupts import Interrupt, Stopped


class Dying:
    """Is sent a signal while it is finalised."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        # The handler runs between two steps of this.
        for _ in range(1000):
            pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_in_a_finalizer_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "_RAISED", Interrupt())
    before = {number: signal.getsignal(number) for number in interrupts.HANDLED}
    interrupts.raise_on_signal()
    try:
        interrupts.raise_lost()
        dying = Dying()
        del dying
        with pytest.raises(Stopped) as stopped:
            interrupts.raise_lost()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert stopped.value.number == signal.SIGINT
