"""Posts batches of metrics from a thread of its own, so that no endpoint can disturb a measurement.

Knows when a request is tried again, and what is given up; must not know what a metric means. What
waits is bounded: the oldest batches go first. Points that never arrived are counted.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from wiretrial.errors import ServiceFailed
from wiretrial.metrics.families import Batch, Labels
from wiretrial.services import Answer, Service

MOST_WAITING: Final = 300
"""Batches, one a second: five minutes of an endpoint that is down."""
MOST_AT_ONCE: Final = 30
"""Batches of a request."""
TIMEOUT_S: Final = 5.0
FIRST_REST_S: Final = 1.0
LONGEST_REST_S: Final = 30.0
"""After a failure; each further one doubles it."""
CLOSE_S: Final = 5.0
"""For what waits still, when the measurement is over."""

Encode = Callable[[Sequence[Batch], Labels], bytes]


@dataclass(frozen=True)
class Account:
    """What became of the points."""

    sent: int
    lost: int
    requests: int
    cpu_ns: int
    """Of the sending thread."""
    problem: str | None
    """What went wrong last; None: nothing."""


class Sender:
    """Sends what it is given, in order. A context manager; leave it to send what waits."""

    def __init__(
        self,
        service: Service,
        encode: Encode,
        headers: Mapping[str, str],
        source: Labels,
        variable: str,
    ) -> None:
        self._service, self._encode, self._headers = service, encode, headers
        self._source = source
        self._variable = variable
        self._changed = threading.Condition()
        self._waiting: deque[Batch] = deque()
        self._is_closing = False
        self._gives_up_at: float | None = None
        """When what still waits is lost."""
        self._sent = self._lost = self._requests = self._cpu_ns = 0
        self._problem: str | None = None
        self._thread = threading.Thread(target=self._work, name="wiretrial-metrics", daemon=True)
        self._thread.start()

    def put(self, batch: Batch) -> None:
        """Takes a batch to send; never waits."""
        with self._changed:
            if len(self._waiting) == MOST_WAITING:
                self._lost += len(self._waiting.popleft().points)
            self._waiting.append(batch)
            self._changed.notify()

    def close(self) -> Account:
        """Sends what waits, for `CLOSE_S` at most; what became of all points."""
        with self._changed:
            self._is_closing = True
            self._gives_up_at = time.monotonic() + CLOSE_S
            self._changed.notify()
        # A request that is under way may take its own time limit longer.
        self._thread.join(CLOSE_S + 1)
        with self._changed:
            lost = self._lost + sum(len(one.points) for one in self._waiting)
            return Account(self._sent, lost, self._requests, self._cpu_ns, self._problem)

    def _work(self) -> None:
        rest_s = 0.0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_closing)
                if rest_s:
                    self._changed.wait_for(lambda: self._is_closing, timeout=rest_s)
                if not self._waiting or self._is_over:
                    return
                batches = [*self._waiting][:MOST_AT_ONCE]
            refused = self._post(batches)
            with self._changed:
                self._cpu_ns = time.thread_time_ns()
                if refused is not None and self._is_closing:
                    return
            longer_s = min(max(FIRST_REST_S, 2 * rest_s), LONGEST_REST_S)
            rest_s = 0.0 if refused is None else longer_s

    @property
    def _is_over(self) -> bool:
        return self._gives_up_at is not None and time.monotonic() >= self._gives_up_at

    def _post(self, batches: Sequence[Batch]) -> str | None:
        """Sends them; why they have to be sent again, or None where they are done with."""
        points = sum(len(one.points) for one in batches)
        try:
            answer = self._service.ask(
                self._service.url,
                self._encode(batches, self._source),
                self._headers,
                self._timeout_s,
            )
        except ServiceFailed as error:
            self._note(error.message)
            return error.message
        if answer.is_good:
            self._done(batches, sent=points)
            return None
        problem = self._service.refused(answer, self._variable).line()
        self._note(problem)
        if _may_pass(answer):
            return problem
        # It will refuse them again.
        self._done(batches, lost=points)
        return None

    @property
    def _timeout_s(self) -> float:
        if self._gives_up_at is None:
            return TIMEOUT_S
        return min(TIMEOUT_S, max(0.1, self._gives_up_at - time.monotonic()))

    def _note(self, problem: str) -> None:
        with self._changed:
            self._problem = problem
            self._requests += 1

    def _done(self, batches: Sequence[Batch], *, sent: int = 0, lost: int = 0) -> None:
        """Takes them out of what waits. The oldest may have been given up meanwhile."""
        with self._changed:
            for batch in batches:
                if self._waiting and self._waiting[0] is batch:
                    self._waiting.popleft()
                elif sent:
                    self._lost -= len(batch.points)
            self._sent += sent
            self._lost += lost
            self._requests += not lost


def _may_pass(answer: Answer) -> bool:
    """Whether the same request may be taken later, as both protocols say."""
    return answer.status == 429 or answer.status >= 500
