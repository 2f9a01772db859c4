"""Errors that a person can act on: one line that says what, a remedy, an exit code.

Knows exit codes and wording; must not know who raises or prints. Everything that is not one of
these is a defect of wiretrial, and shows as one.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Self

from wiretrial import redaction

EXIT_GOOD = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_GATE = 3
EXIT_INVALID = 4
EXIT_SIGNAL = 128
"""Plus the signal's number: 130 for SIGINT, 143 for SIGTERM."""


class WiretrialError(Exception):
    """What went wrong, and what to do about it."""

    exit_code = EXIT_FAILED

    def __init__(self, message: str, remedy: str = "") -> None:
        # Whatever names a URL may name its secrets.
        self.message = redaction.text(message)
        self.remedy = redaction.text(remedy)
        super().__init__(self.message)

    def line(self) -> str:
        """The error as one line."""
        text = f"{self.message}: {self.remedy}" if self.remedy else self.message
        return " ".join(text.split())

    def told(self) -> str:
        """The error as a terminal shows it: one line, unless it says otherwise."""
        return self.line()


class UsageProblem(WiretrialError):
    """The command line, a study or a subject asks for something that makes no sense."""

    exit_code = EXIT_USAGE


class EngineFailed(WiretrialError):
    """The engine could not begin or go on; it chose the exit code and the words."""

    def __init__(self, message: str, remedy: str = "", exit_code: int = EXIT_FAILED) -> None:
        super().__init__(message, remedy)
        self.exit_code = exit_code


class TargetNotReady(EngineFailed):
    """Before the load began, its target refused, did not answer in time, or answered wrongly."""


class TargetSilent(EngineFailed):
    """A target that answered before does not answer again within the time that it was given."""


class LimitsTooLow(EngineFailed):
    """This machine, or a server on it, has too little of something for so many connections.

    `limits` tells of each what is needed and there, `first` what has to be done before, and `use`
    the flags of `load` that satisfy the generator's own limits.
    """

    _FIRST, _USE, _RUN = "first: ", "use: ", "run: "

    def __init__(self, message: str) -> None:
        lines = message.splitlines()
        self.first = tuple(one for one in lines if one.startswith(self._FIRST))
        self.use = tuple(one for one in lines if one.startswith(self._USE))
        self.limits = tuple(one for one in lines if one not in self.first + self.use)
        self.run: str | None = None
        remedy = "; ".join(self.first + self.use)
        super().__init__("; ".join(self.limits), remedy, exit_code=EXIT_USAGE)

    def for_command(self, words: Sequence[str]) -> Self:
        """The same, with the command line that fits in place of its flags."""
        wanted = shlex.split(" ".join(one.removeprefix(self._USE) for one in self.use))
        flags = dict(zip(wanted[::2], wanted[1::2], strict=True))
        if flags:
            kept = list(_without(words, {*flags, "-t"} if "--threads" in flags else set(flags)))
            self.run = f"{self._RUN}{shlex.join((*redaction.command(kept), *wanted))}"
        return self

    def told(self) -> str:
        """One line per limit and step, of which the last is a command."""
        last = self.use if self.run is None else (self.run,)
        return "\n".join((*self.limits, *self.first, *last))


class SubjectUnavailable(WiretrialError):
    """A subject that can't be had here. Others go on without it."""


class SubjectFailed(WiretrialError):
    """A subject that didn't start, died, or broke its contract."""


class EveryMessageFailed(WiretrialError):
    """A trial in which no, or hardly a, message was answered rightly: another one is the same."""


class ObserverFailed(WiretrialError):
    """A server that somebody else runs can't be watched: it is not there, or may not be reached."""


class FleetFailed(WiretrialError):
    """A fleet that can't be reached, or an agent that can't do its part."""


class ServiceFailed(WiretrialError):
    """A service that keeps metrics can't be reached, or does not do what it is asked."""


class StoreError(WiretrialError):
    """A result that can't be written or read."""


class GoalsMissed(WiretrialError):
    """What was asked for is not kept, and no advice mends that."""

    exit_code = EXIT_GATE


class MeasurementInvalid(WiretrialError):
    """Something was measured, and can't be published as the subject's."""

    exit_code = EXIT_INVALID


@contextmanager
def reworded(word: Callable[[str], str]) -> Iterator[None]:
    """Has failures of the engine told in other words; what they are they stay.

    Not those for want of limits, which say nothing of a target.
    """
    try:
        yield
    except LimitsTooLow:
        raise
    except EngineFailed as error:
        raise type(error)(word(error.message), error.remedy, error.exit_code) from error


def _without(words: Sequence[str], flags: Set[str]) -> Iterator[str]:
    """A command line without these flags and their values."""
    left = iter(words)
    for word in left:
        if word in flags:
            next(left, None)
        elif word.partition("=")[0] not in flags:
            yield word
