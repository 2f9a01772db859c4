"""When a server gives its first right reply, under a clock that a test moves."""

from __future__ import annotations

import pytest

from wiretrial.errors import SubjectFailed
from wiretrial.subjects import first_reply
from wiretrial.subjects.first_reply import PAUSE_NS, Clock, FirstReply, Told

MS = 1_000_000
REFUSED = "ConnectionRefusedError: nobody listens"


class World:
    """A server that replies from an instant on, and a clock that only questions and pauses move."""

    def __init__(self, ready_ns: int, *, ends_ns: int | None = None, question_ns: int = MS // 5):
        self.now_ns = 0
        self.ready_ns = ready_ns
        self.ends_ns = ends_ns
        self.question_ns = question_ns
        self.asked: list[int] = []
        self.asked_again_ns = 0
        self.since_ns = 0
        self.clock = Clock(now_ns=lambda: self.now_ns, sleep=self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)

    def ask(self) -> Told:
        """A question meets the server as it is when it begins."""
        self.asked.append(self.now_ns)
        is_ready = self.now_ns >= self.ready_ns
        self.now_ns += self.question_ns
        return Told(None, self.asked_again_ns, self.since_ns) if is_ready else Told(REFUSED)

    def ended(self) -> str | None:
        """How it ended, once it has."""
        return "exit status 2" if self.ends_ns is not None and self.now_ns >= self.ends_ns else None

    def wait(self, begun_ns: int = 0, limit_s: float = 10.0) -> FirstReply:
        """What is measured of it."""
        return first_reply.wait(
            self.ask, self.ended, begun_ns=begun_ns, limit_s=limit_s, clock=self.clock
        )


def test_it_is_asked_again_after_a_pause_until_it_replies() -> None:
    world = World(ready_ns=round(10.5 * MS))
    world.now_ns = 3 * MS
    found = world.wait()
    # From 3 ms on a question each 1.2 ms: that of 10.2 ms is too early, that of 11.4 ms is not.
    assert PAUSE_NS == MS
    assert world.asked == [3 * MS + n * 6 * MS // 5 for n in range(8)]
    assert found == FirstReply(took_ns=round(11.6 * MS), resolution_ns=round(1.2 * MS))


@pytest.mark.parametrize("ready_us", range(3_000, 9_000, 170))
def test_the_instant_of_readiness_lies_within_the_resolution(ready_us: int) -> None:
    world = World(ready_ns=ready_us * 1000)
    world.now_ns = 3 * MS
    found = world.wait()
    answered_ns = found.took_ns - world.question_ns
    assert answered_ns - found.resolution_ns <= world.ready_ns <= answered_ns


def test_one_that_replies_at_once_may_have_been_ready_since_its_start() -> None:
    world = World(ready_ns=0)
    world.now_ns = 7 * MS
    found = world.wait(begun_ns=5 * MS)
    assert found == FirstReply(took_ns=round(2.2 * MS), resolution_ns=2 * MS)


def test_a_reply_that_takes_long_is_waited_for() -> None:
    world = World(ready_ns=0, question_ns=900 * MS)
    assert world.wait().took_ns == 900 * MS


def test_a_question_that_asked_several_times_tells_its_own_resolution() -> None:
    world = World(ready_ns=round(10.5 * MS))
    world.asked_again_ns = 4 * MS
    assert world.wait().resolution_ns == 4 * MS


def test_what_a_question_ends_after_its_reply_is_no_part_of_it() -> None:
    world = World(ready_ns=0)
    world.since_ns = MS // 10
    assert world.wait().took_ns == MS // 5 - MS // 10


def test_one_that_ends_is_told_at_once() -> None:
    world = World(ready_ns=10**12, ends_ns=20 * MS)
    with pytest.raises(SubjectFailed, match="it ended at its start: exit status 2"):
        world.wait()
    assert 20 * MS <= world.now_ns < 22 * MS


def test_one_that_never_replies_is_given_up() -> None:
    world = World(ready_ns=10**12)
    with pytest.raises(SubjectFailed) as told:
        world.wait(limit_s=0.5)
    assert f"it gives no right reply after 0.5 s: {REFUSED}" in told.value.line()
    assert 500 * MS <= world.now_ns < 502 * MS
