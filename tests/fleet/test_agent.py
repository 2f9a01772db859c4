"""One agent without any Dask: what it tells, and that it ends when nobody calls any more."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from tests.fleet.conftest import ENGINE, is_gone, serve, wait_until
from wiretrial.engine import Engine, parse
from wiretrial.errors import EngineFailed
from wiretrial.fleet import agent
from wiretrial.fleet.agent import Orders, Told
from wiretrial.plan import Load, Message, Plan, SequencePayload, Share, Stop, Target
from wiretrial.snapshot import Connected, Failure, Snapshot, Start, Summary

RUN = "run/0"
LONG_LEASE_S = 60.0


def plan_for(url: str, stop: Stop) -> Plan:
    return Plan(
        target=Target(url=url, message=Message(source=SequencePayload(bytes=20))),
        load=Load(connections=2),
        stop=stop,
        share=Share(
            first_worker=0,
            workers=1,
            first_connection=0,
            connections=2,
            start_monotonic_ns=time.monotonic_ns() + 200_000_000,
            awaits_begin=True,
        ),
    )


class Caller:
    """Serves in a thread, and beats."""

    def __init__(self, lease_s: float) -> None:
        self.error: Exception | None = None
        self.acknowledged = 0
        self.seen: list[Snapshot] = []
        self._thread = threading.Thread(target=self._serve, args=(lease_s,))
        self._thread.start()
        wait_until(lambda: agent.beat(RUN, 0, Orders()) is not None, "it serves")

    def _serve(self, lease_s: float) -> None:
        try:
            agent.serve(RUN, lease_s)
        except EngineFailed as error:
            self.error = error

    def beat(self, orders: Orders, *, keep: bool = True) -> Told | None:
        told = agent.beat(RUN, self.acknowledged, orders)
        if told and keep:
            news = told.lines[self.acknowledged - told.first :]
            self.seen += [parse(line) for line in news]
            self.acknowledged += len(news)
        return told

    def has(self, kind: type[object]) -> bool:
        return any(isinstance(one, kind) for one in self.seen)

    def join(self) -> None:
        self._thread.join(10)
        assert not self._thread.is_alive()

    def end(self) -> None:
        """Lets go of what still runs, so that a test that fails leaves the next one alone."""
        agent.beat(RUN, self.acknowledged, Orders(end=True))
        self._thread.join(10)


@pytest.fixture
def call() -> Iterator[Call]:
    """Begins to serve with this lease, and ends it after the test."""
    with ExitStack() as callers:

        def begin(lease_s: float) -> Caller:
            caller = Caller(lease_s)
            callers.callback(caller.end)
            return caller

        yield begin


Call = Callable[[float], Caller]


def engines() -> list[psutil.Process]:
    below = psutil.Process().children(recursive=True)
    return [child for child in below if child.name() == ENGINE and "run" in child.cmdline()]


def test_a_run_is_told_whole_and_then_let_go(engine: Engine, stack: ExitStack, call: Call) -> None:
    url = serve(stack, engine)
    caller = call(LONG_LEASE_S)
    plan = plan_for(url, Stop(requests=1000)).to_json()

    def until(kind: type[object], orders: Orders) -> None:
        def come() -> bool:
            caller.beat(orders)
            return caller.has(kind)

        wait_until(come, kind.__name__)

    def unacknowledged() -> Sequence[bytes]:
        told = caller.beat(Orders(plan=plan), keep=False)
        return told.lines if told else ()

    # What is not acknowledged comes again.
    for _ in range(2):
        wait_until(lambda: bool(unacknowledged()), "it tells something")
        assert isinstance(parse(unacknowledged()[0]), Start)
    until(Connected, Orders())
    assert not caller.has(Summary)
    until(Summary, Orders(begin_ns=2_000_000_000))
    summary = caller.seen[-1]
    assert isinstance(summary, Summary)
    assert (summary.counters.ok, summary.measure_start_ns) == (1000, 2_000_000_000)
    assert isinstance(caller.seen[0], Start)
    wait_until(lambda: caller.beat(Orders()) is None, "it lets go")
    caller.join()
    assert caller.error is None


def test_whoever_is_not_called_any_more_ends_its_load(
    engine: Engine, stack: ExitStack, call: Call
) -> None:
    url = serve(stack, engine)
    lease_s = 1.0
    caller = call(lease_s)
    orders = Orders(plan=plan_for(url, Stop(duration_ns=600 * 10**9)).to_json(), begin_ns=10**9)

    def sends() -> bool:
        caller.beat(orders)
        return caller.has(Connected)

    wait_until(sends, "it is connected")
    (running,) = engines()
    called = time.monotonic()
    caller.beat(orders)
    wait_until(lambda: is_gone(running), "the engine is gone")
    assert time.monotonic() - called >= lease_s
    caller.join()
    assert caller.error is not None
    assert "the coordinator has not called for 1 s" in str(caller.error)
    assert agent.beat(RUN, 0, Orders()) is None


def test_what_the_engine_fails_in_is_told(engine: Engine, call: Call) -> None:
    del engine
    caller = call(LONG_LEASE_S)
    plan = plan_for("ws://127.0.0.1:1/", Stop(requests=5))
    plan = plan.model_copy(update={"phases": plan.phases.model_copy(update={"connect_ns": 10**8})})

    def failed() -> bool:
        caller.beat(Orders(plan=plan.to_json()))
        return caller.has(Failure)

    wait_until(failed, "it says so")
    wait_until(lambda: caller.beat(Orders()) is None, "it lets go")
    caller.join()


def test_an_order_to_end_is_obeyed_at_once(engine: Engine, stack: ExitStack, call: Call) -> None:
    url = serve(stack, engine)
    caller = call(LONG_LEASE_S)
    orders = Orders(plan=plan_for(url, Stop(duration_ns=600 * 10**9)).to_json(), begin_ns=10**9)

    def connected() -> bool:
        caller.beat(orders)
        return caller.has(Connected)

    wait_until(connected, "it is connected")
    (running,) = engines()
    caller.beat(Orders(end=True))
    wait_until(lambda: is_gone(running), "the engine is gone")
    caller.join()


def test_another_run_waits_for_its_host(engine: Engine, call: Call) -> None:
    del engine
    caller = call(LONG_LEASE_S)
    with pytest.raises(EngineFailed, match="another run uses this host"):
        agent.serve("other/0", 0.2)
    caller.beat(Orders(end=True))
    caller.join()


def test_a_host_says_what_it_lacks(engine: Engine) -> None:
    assert agent.describe().engine is None
    plan = plan_for("ws://127.0.0.1:1/", Stop(requests=5))
    assert agent.examine(plan.to_json(), server_here=True) is None
    many = plan.model_copy(update={"load": plan.load.model_copy(update={"connections": 10**8})})
    assert "descriptors" in str(agent.examine(many.to_json(), server_here=False))
    pinned = plan.generator.model_copy(update={"cpus": (4095,)})
    nowhere = plan.model_copy(update={"generator": pinned})
    assert "there is no CPU 4095" in str(agent.examine(nowhere.to_json(), server_here=False))
    del engine


def test_an_engine_that_was_sent_is_used(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent, "ENGINES", tmp_path)
    monkeypatch.setenv("WIRETRIAL_ENGINE", "/no/such/engine")
    assert "can't be run" in str(agent.describe().engine)
    data = engine.binary.read_bytes()
    assert agent.keep_engine(data, "0" * 64) == "it was damaged on its way"
    assert agent.keep_engine(data, hashlib.sha256(data).hexdigest()) is None
    assert agent.describe().engine is None
