"""Waits until a server answers again that may have had too much, and says so where that is long.

Knows how often a server is asked, and for how long; must not know what a level is, nor how its rate
was chosen.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from wiretrial.cli import interrupts, output
from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed, TargetNotReady, TargetSilent, WiretrialError
from wiretrial.plan import Plan
from wiretrial.redaction import Secrets
from wiretrial.results import redacted

LIMIT_S = 60.0
"""Of one wait: what connections left behind has timed out by then."""
TOLD_S = 2.0
"""A wait that is longer is told."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 8.0
"""Between a question and the next one; each is twice as long as the one before."""
LEAST_PATIENCE_S = 0.1
"""For a question, even where hardly any time is left."""
_Given = TypeVar("_Given")


class Broken(WiretrialError):
    """A signal ended the wait."""

    def __init__(self, number: int) -> None:
        super().__init__("stopped while the server was waited for")
        self.number = number


@dataclass
class Wait:
    """One wait for a server that answered before."""

    after: str
    """The load that it does not answer after."""
    limit_s: float
    patience_s: float
    """For the next question: a server that comes back is asked anew, and not over a connection that
    was made while it was away."""
    clock: Callable[[], float]
    sleep: Callable[[float], None]

    def __post_init__(self) -> None:
        self._begun_s = self.clock()
        self._pause_s = FIRST_PAUSE_S
        self._is_told = False

    @property
    def question_s(self) -> float:
        """So long the server may take for the next question."""
        left_s = self.limit_s - self._waited_s
        return max(min(self.patience_s, left_s), LEAST_PATIENCE_S)

    def pause(self, error: TargetNotReady) -> None:
        """Waits until the server is asked again. Raises `TargetSilent` when the time is over."""
        limit, next_s = f"{self.limit_s:.0f} s", self._waited_s + self._pause_s
        if next_s >= self.limit_s:
            raise TargetSilent(
                f"the server did not answer again within {limit} after {self.after}: {error.line()}"
            ) from error
        if next_s > TOLD_S and not self._is_told:
            self._is_told = True
            output.say(f"the server does not answer after {self.after}: waiting up to {limit}")
        self.sleep(self._pause_s)
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        self.patience_s *= 2

    @property
    def _waited_s(self) -> float:
        return self.clock() - self._begun_s


@dataclass
class Recovery:
    """Has each load begin when the server answers, whatever the one before left of it."""

    engine: Engine
    is_asked: bool
    """Whether the server is asked from here; else the load itself asks it, where that is sent."""
    keeps_secrets: bool
    until_s: float | None = None
    """When the time is over, on our monotonic clock; None: nothing bounds a wait but its limit."""
    after: str | None = None
    """The last load; None: there was none."""
    is_strained: bool = False
    """It was too much for the server, or may have been."""
    reply_s: float = 0.0
    """How long replies took where the server was not strained."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def saw(self, load: str, *, strained: bool, reply_s: float = 0.0) -> None:
        """A load has ended."""
        self.after, self.is_strained = load, strained
        if not strained:
            self.reply_s = max(self.reply_s, reply_s)

    def begun(self, plan: Plan, load: Callable[[], _Given], *, again: bool = True) -> _Given:
        """What `load` gives, once the server answers; the first load of all is tried once.

        `again`: else the load itself is tried once, too: a server may never take it. Raises
        `TargetSilent` where it does not answer in time, `Broken` where a signal comes before.
        """
        if self.after is None or not again:
            return load()
        patience_s = max(TOLD_S, 2 * self.reply_s)
        wait = Wait(self.after, self._limit_s(), patience_s, self.clock, self.sleep)
        asks = self.is_strained
        while True:
            try:
                if asks and self.is_asked:
                    self._ask(plan, wait.question_s)
                return load()
            except TargetNotReady as error:
                asks = True
                with _breaking():
                    wait.pause(error)

    def _limit_s(self) -> float:
        """At most what is left of the whole time; a server that is well can answer in any case."""
        if self.until_s is None:
            return LIMIT_S
        return min(LIMIT_S, max(TOLD_S, self.until_s - self.clock()))

    def _ask(self, plan: Plan, patience_s: float) -> None:
        """Has the preflight of a load, and nothing of it. Raises `TargetNotReady`."""
        most_ns = round(patience_s * 1e9)
        update = {"connect_ns": most_ns}
        if plan.traffic is not None:
            # Its sessions are rehearsed, and one request of them may be what it does not answer.
            update["timeout_ns"] = min(most_ns, plan.phases.timeout_ns)
        phases = plan.phases.model_copy(update=update)
        secrets = Secrets(()) if self.keeps_secrets else redacted.secrets_of(plan)
        with _breaking(), self.engine.run(plan.model_copy(update={"phases": phases})) as run:
            try:
                # Its first word is that the load begins, which is ended there.
                next(iter(run))
            except EngineFailed as error:
                error.message = secrets.text(error.message)
                raise


@contextlib.contextmanager
def _breaking() -> Iterator[None]:
    """Has a signal end the wait alone: what was measured before is shown yet."""
    try:
        yield
    except interrupts.Stopped as stopped:
        raise Broken(stopped.number) from None
