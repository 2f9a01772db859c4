"""The wait for a server between two loads, on a clock that is made up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.lab.trials import interval
from wiretrial import engine
from wiretrial.cli.interrupts import Stopped
from wiretrial.cli.limit_waiting import Broken, Recovery
from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed, TargetNotReady, TargetSilent
from wiretrial.plan import Load, Plan, Stop, Target
from wiretrial.plan_traffic import Traffic
from wiretrial.snapshot import Failure, Phase, Snapshot

LEVEL = "the level at 9,000 requests/s"
AWAY = "http://127.0.0.1:1/: no whole reply"
PLAN = Plan(
    target=Target(url="http://127.0.0.1:1/"),
    load=Load(connections=100),
    stop=Stop(duration_ns=10**9),
)


class Clock:
    """Goes on only while somebody waits."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.now_s

    def sleep(self, length_s: float) -> None:
        self.slept.append(length_s)
        self.now_s += length_s


class Asked:
    """A run that begins, or takes all of its time and does not."""

    begun_ns: int | None = None

    def __init__(self, plan: Plan, clock: Clock, why: str) -> None:
        self.plan = plan
        self.is_closed = False
        self._clock, self._why = clock, why

    def __enter__(self) -> Asked:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Snapshot]:
        if self._why:
            self._clock.now_s += self.plan.phases.connect_ns / 1e9
            raise TargetNotReady(self._why)
        yield interval(0)

    def stop(self) -> None:
        raise AssertionError("it is not a load")

    def close(self) -> None:
        self.is_closed = True


class Asks(Engine):
    """Its runs begin or not, as was said; what is said last is true of all that follow."""

    def __init__(self, clock: Clock, *answers: bool, why: str = AWAY) -> None:
        super().__init__(Path("none"))
        self.runs: list[Asked] = []
        self._clock, self._answers, self._why = clock, answers, why

    def run(self, plan: Plan) -> Asked:
        answers = self._answers[min(len(self.runs), len(self._answers) - 1)]
        self.runs.append(Asked(plan, self._clock, "" if answers else self._why))
        return self.runs[-1]

    @property
    def patience_s(self) -> Sequence[float]:
        """Of each question."""
        return [run.plan.phases.connect_ns / 1e9 for run in self.runs]


class Loads:
    """Loads of which the first ones do not begin."""

    def __init__(self, not_begun: int = 0) -> None:
        self.tried = 0
        self._not_begun = not_begun

    def __call__(self) -> str:
        self.tried += 1
        if self.tried <= self._not_begun:
            raise TargetNotReady(AWAY)
        return "measured"


@pytest.fixture
def clock() -> Clock:
    return Clock()


def recovery(
    clock: Clock, asks: Engine, *, strained: bool = True, is_asked: bool = True
) -> Recovery:
    """After one load."""
    made = Recovery(
        asks, is_asked=is_asked, keeps_secrets=False, clock=clock.now, sleep=clock.sleep
    )
    made.saw(LEVEL, strained=strained)
    return made


def test_a_server_that_answers_costs_one_question_and_no_word(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    asks, loads = Asks(clock, True), Loads()
    assert recovery(clock, asks).begun(PLAN, loads) == "measured"
    assert (asks.patience_s, loads.tried, clock.slept) == ([2.0], 1, [])
    assert asks.runs[0].is_closed
    assert capsys.readouterr().err == ""


def test_after_a_load_that_was_kept_nobody_asks(clock: Clock) -> None:
    asks, loads = Asks(clock, False), Loads()
    assert recovery(clock, asks, strained=False).begun(PLAN, loads) == "measured"
    assert (asks.runs, loads.tried) == ([], 1)


def test_a_stalled_server_is_asked_with_more_patience_each_time(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    asks, loads = Asks(clock, False, False, False, True), Loads()
    assert recovery(clock, asks).begun(PLAN, loads) == "measured"
    assert asks.patience_s == [2.0, 4.0, 8.0, 16.0]
    assert clock.slept == [0.25, 0.5, 1.0]
    assert loads.tried == 1
    says = f"the server does not answer after {LEVEL}: waiting up to 60 s\n"
    assert capsys.readouterr().err == says


def test_a_server_that_stays_away_is_given_up_at_the_limit(clock: Clock) -> None:
    asks, loads = Asks(clock, False), Loads()
    with pytest.raises(TargetSilent) as ended:
        recovery(clock, asks).begun(PLAN, loads)
    # The last question gets what is left.
    assert asks.patience_s == [2.0, 4.0, 8.0, 16.0, 26.25]
    assert (clock.now_s, loads.tried) == (160.0, 0)
    told = f"the server did not answer again within 60 s after {LEVEL}: {AWAY}"
    assert ended.value.line() == told


@pytest.mark.parametrize(("not_begun", "is_told"), [(3, False), (4, True)])
def test_a_wait_is_told_where_it_takes_more_than_two_seconds(
    clock: Clock, capsys: pytest.CaptureFixture[str], not_begun: int, is_told: bool
) -> None:
    # Others send, so that each load is the question.
    asks, loads = Asks(clock, False), Loads(not_begun)
    assert recovery(clock, asks, is_asked=False).begun(PLAN, loads) == "measured"
    assert (asks.runs, loads.tried) == ([], not_begun + 1)
    assert clock.slept == [0.25, 0.5, 1.0, 2.0][:not_begun]
    assert bool(capsys.readouterr().err) == is_told


def test_pauses_grow_up_to_eight_seconds(clock: Clock) -> None:
    with pytest.raises(TargetSilent):
        recovery(clock, Asks(clock, False), is_asked=False).begun(PLAN, Loads(99))
    assert clock.slept == [0.25, 0.5, 1.0, 2.0, 4.0, *(6 * [8.0])]


def test_after_a_load_that_does_not_begin_the_server_is_asked_before_the_next_try(
    clock: Clock,
) -> None:
    asks, loads = Asks(clock, False, True), Loads(1)
    assert recovery(clock, asks, strained=False).begun(PLAN, loads) == "measured"
    assert (len(asks.runs), loads.tried) == (2, 2)


@pytest.mark.parametrize("is_first", [True, False])
def test_the_first_load_and_one_that_may_never_begin_are_tried_once(
    clock: Clock, is_first: bool
) -> None:
    made, loads = recovery(clock, Asks(clock, False)), Loads(1)
    if is_first:
        made.after = None
    with pytest.raises(TargetNotReady):
        made.begun(PLAN, loads, again=is_first)
    assert (loads.tried, clock.slept) == (1, [])


def test_slow_replies_are_waited_for_twice_as_long_as_they_took(clock: Clock) -> None:
    asks = Asks(clock, True)
    made = recovery(clock, asks)
    made.saw("a level", strained=False, reply_s=3.0)
    # Times of an overload say nothing.
    made.saw(LEVEL, strained=True, reply_s=9.0)
    made.begun(PLAN, Loads())
    assert asks.patience_s == [6.0]


@pytest.mark.parametrize(("traffic", "timeout_s"), [(None, 10), (Traffic(routes=(), flows=()), 2)])
def test_a_request_of_a_session_has_no_more_time_than_the_question(
    clock: Clock, traffic: Traffic | None, timeout_s: int
) -> None:
    asks = Asks(clock, True)
    recovery(clock, asks).begun(PLAN.model_copy(update={"traffic": traffic}), Loads())
    assert asks.runs[0].plan.phases.timeout_ns == timeout_s * 10**9


@pytest.mark.parametrize(("left_s", "limit_s"), [(500.0, 60), (7.0, 7), (0.5, 2)])
def test_what_is_left_of_the_whole_time_bounds_a_wait(
    clock: Clock, left_s: float, limit_s: int
) -> None:
    made = recovery(clock, Asks(clock, False))
    made.until_s = clock.now_s + left_s
    with pytest.raises(TargetSilent, match=f"not answer again within {limit_s} s after"):
        made.begun(PLAN, Loads())


def test_a_signal_ends_the_wait_alone(clock: Clock) -> None:
    def stop(_length_s: float) -> None:
        raise Stopped(15)

    made = recovery(clock, Asks(clock, False))
    made.sleep = stop
    with pytest.raises(Broken) as broken:
        made.begun(PLAN, Loads())
    assert broken.value.number == 15


def test_secrets_of_the_plan_are_not_told(clock: Clock) -> None:
    url = "http://127.0.0.1:1/?token=c0ffee12345"
    plan = PLAN.model_copy(update={"target": Target(url=url)})
    asks = Asks(clock, False, why="no whole reply: c0ffee12345 is not known")
    with pytest.raises(TargetSilent) as ended:
        recovery(clock, asks).begun(plan, Loads())
    assert "c0ffee12345" not in ended.value.line()


@pytest.mark.parametrize(
    ("class_name", "phase", "kind"),
    [
        ("timeout", None, TargetNotReady),
        ("status", None, TargetNotReady),
        ("connect_timeout", "connect", TargetNotReady),
        ("reset", "measure", EngineFailed),
        ("client", "connect", EngineFailed),
        ("plan", None, EngineFailed),
        ("interrupted", None, EngineFailed),
    ],
)
def test_a_failure_is_the_targets_where_the_load_had_not_begun(
    class_name: str, phase: Phase | None, kind: type[EngineFailed]
) -> None:
    told = Failure.model_validate({"class": class_name, "message": "why", "exit_code": 1})
    before = interval(0).model_copy(update={"phase": phase}) if phase else None
    error = engine.failed(told, before, of="agent: ")
    assert type(error) is kind
    assert (error.line(), error.exit_code) == ("agent: why", 1)
