"""Leads a fleet through one run: joins, clocks, plans, one beginning, beats, the end.

Knows the order of things, and when an agent counts as lost; must not know what snapshots mean. It
runs in the wire's thread and tells what happens as events. Everything that is wanted of an agent
goes with every beat, so that a beat that is lost loses nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wiretrial.errors import FleetFailed, WiretrialError
from wiretrial.fleet import agent, clocks
from wiretrial.fleet.agent import Orders, Told
from wiretrial.fleet.clocks import Sample
from wiretrial.fleet.hosts import Host
from wiretrial.fleet.wire import Held, Unreachable, Wire
from wiretrial.plan import Plan
from wiretrial.results.fleet import Clock, OnLoss

LEASE_S = 5.0
"""An agent that hears nothing for so long ends its load."""
LOSS_S = 4.0
"""An agent that says nothing for so long is lost. Less than the lease: no agent is given up that
goes on for long."""
BEAT_S = 0.5
AGENTS_PER_BEAT = 100
"""With more agents than these, beats are as much rarer."""
SLOWEST_BEAT_S = 1.0
JOIN_S = 20.0
JOIN_EACH_S = 0.25
"""What each agent adds: they load their code, many at once where many are on one machine."""
EXAMINE_S = 10.0
CLOCK_SAMPLES = 16
AFTER_SAMPLES = 4
CLOCK_S = 4.0
AT_ONCE = 16
"""Agents that are asked for their clocks at one time: more would wait for each other."""
START_AHEAD_NS = 1_000_000_000
BEGIN_AHEAD_NS = 200_000_000
PER_AGENT_NS = 3_000_000
"""What each agent adds to both: a message to it takes the scheduler about a third of that."""
RETRY_S = 0.25
CLOSE_S = 3.0


@dataclass(frozen=True)
class Began:
    """Offset 0 of the run, on our monotonic clock; and what is known of the agents'."""

    start_ns: int


@dataclass(frozen=True)
class Line:
    """A snapshot of one agent, as its engine wrote it."""

    agent: str
    line: bytes


@dataclass(frozen=True)
class Lost:
    """An agent that is given up."""

    agent: str
    reason: str


@dataclass(frozen=True)
class Failed:
    """The run can't go on."""

    error: WiretrialError


@dataclass(frozen=True)
class Over:
    """Nothing comes any more."""


Event = Began | Line | Lost | Failed | Over


@dataclass
class Followed:
    """What is known of one agent."""

    host: Host
    run: str
    part: Plan
    held: Held | None = None
    joined: bool = False
    plan: str | None = None
    """The plan that it gets, JSON; None: not yet."""
    has_plan: bool = False
    acknowledged: int = 0
    connected: bool = False
    over: bool = False
    loss: str | None = None
    heard_s: float = 0.0
    before: list[Sample] = field(default_factory=list)
    after: list[Sample] = field(default_factory=list)
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def name(self) -> str:
        return self.host.name

    @property
    def goes_on(self) -> bool:
        return not self.over and self.loss is None

    def clock(self) -> Clock | None:
        """How its clock stands; None: it was never asked."""
        return clocks.clock(self.before, self.after) if self.before else None


class Conductor:
    """One run. `conduct` in the wire's thread; `stop` and `end` from any."""

    def __init__(
        self,
        wire: Wire,
        run: str,
        agents: Sequence[tuple[Host, Plan]],
        *,
        authority: bytes | None,
        server_here: bool,
        on_loss: OnLoss,
        tell: Callable[[Event], None],
    ) -> None:
        self.agents = [
            Followed(host, f"{run}/{number}", part) for number, (host, part) in enumerate(agents)
        ]
        self._wire = wire
        self._authority = authority
        self._server_here = server_here
        self._on_loss = on_loss
        self._tell = tell
        self._beat_s = min(SLOWEST_BEAT_S, max(BEAT_S, len(agents) / AGENTS_PER_BEAT * BEAT_S))
        self._changed = asyncio.Event()
        self._begin_ns: int | None = None
        self._stop = self._end = False
        self._failure: WiretrialError | None = None

    async def conduct(self) -> None:
        """Leads the run to its end, whatever that is. Tells `Over` last."""
        followers = [asyncio.create_task(self._follow(one)) for one in self.agents]
        try:
            await self._lead()
        except WiretrialError as error:
            self._tell(Failed(error))
        except Unreachable as error:
            self._tell(Failed(FleetFailed(f"an agent does not answer ({error})", "run it again")))
        finally:
            await self._leave(followers)
            self._tell(Over())

    def stop(self) -> None:
        """Asks all agents for a graceful end."""
        self._stop = True
        self._wake_all()

    def end(self) -> None:
        """Ends all agents' load at once."""
        self._end = True
        self._wake_all()

    async def _lead(self) -> None:
        await self._prepare()
        if self._end:
            return
        start_ns = self._send_plans()
        await self._until(lambda: all(one.connected or not one.goes_on for one in self.agents))
        self._begin(start_ns)
        await self._until(lambda: not any(one.goes_on for one in self.agents))
        if not self._end:
            await self._ask_clocks(AFTER_SAMPLES, lambda one: one.after)

    async def _prepare(self) -> None:
        """All have joined, have what they need, and their clocks are known."""
        limit_s = JOIN_S + JOIN_EACH_S * len(self.agents)
        deadline = time.monotonic() + limit_s
        for one in self.agents:
            arguments = (one.run, LEASE_S)
            key = f"wiretrial-{one.run}"
            one.held = self._wire.hold(one.host.address, key, agent.serve, *arguments)
        try:
            await self._until(lambda: all(one.joined for one in self.agents), deadline)
        except TimeoutError as error:
            late = next(one for one in self.agents if not one.joined)
            raise FleetFailed(
                f"{late.name} did not begin its work in {limit_s:g} s",
                "its worker is busy or gone: free it, or start another",
            ) from error
        if self._end:
            return
        await asyncio.gather(*(self._examine(one) for one in self.agents))
        await self._ask_clocks(CLOCK_SAMPLES, lambda one: one.before)

    async def _examine(self, one: Followed) -> None:
        problem = await self._wire.ask(
            one.host.address, EXAMINE_S, agent.examine, one.part.to_json(), self._server_here
        )
        if problem:
            raise FleetFailed(f"{one.name}: {problem}")

    async def _ask_clocks(self, samples: int, kept: Callable[[Followed], list[Sample]]) -> None:
        turn = asyncio.Semaphore(AT_ONCE)

        async def ask(one: Followed) -> None:
            async with turn:
                for _ in range(samples):
                    asked = time.monotonic_ns()
                    told = await self._wire.ask(one.host.address, CLOCK_S, agent.clock)
                    kept(one).append(Sample(asked, told, time.monotonic_ns()))

        wanted = [one for one in self.agents if one.loss is None]
        # After the run a clock that can't be asked any more is no failure.
        found = await asyncio.gather(*(ask(one) for one in wanted), return_exceptions=True)
        problems = [one for one in found if isinstance(one, BaseException)]
        if problems and self._begin_ns is None:
            raise problems[0]

    def _send_plans(self) -> int:
        """Says at which instant all runs start, each on its own clock. That instant, on ours."""
        start_ns = time.monotonic_ns() + START_AHEAD_NS + PER_AGENT_NS * len(self.agents)
        for one in self.agents:
            share, offset = one.part.share, clocks.best(one.before).offset_ns
            assert share is not None
            share = share.model_copy(update={"start_monotonic_ns": start_ns + offset})
            one.plan = one.part.model_copy(update={"share": share}).to_json()
        self._tell(Began(start_ns))
        self._wake_all()
        return start_ns

    def _begin(self, start_ns: int) -> None:
        """Says at which offset the load begins: soon enough, and where an interval does."""
        interval = self.agents[0].part.phases.interval_ns
        farthest = max(clocks.best(one.before).round_trip_ns for one in self.agents)
        ahead = BEGIN_AHEAD_NS + PER_AGENT_NS * len(self.agents) + 4 * farthest
        offset = time.monotonic_ns() + ahead - start_ns
        self._begin_ns = -(-offset // interval) * interval
        self._wake_all()

    async def _follow(self, one: Followed) -> None:
        """Beats for one agent, until it is over or lost."""
        one.heard_s = time.monotonic()
        while one.goes_on:
            orders = self._orders(one)
            try:
                told = await self._beat(one, orders)
            except Unreachable as error:
                await self._missed(one, str(error))
                continue
            one.heard_s = time.monotonic()
            if told is None:
                await self._not_held(one)
            else:
                self._hear(one, told)
            if orders.end and one.goes_on:
                one.over = True
            self._changed.set()
            if one.goes_on:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(one.wake.wait(), self._beat_s)
                one.wake.clear()
        if one.loss is None:
            # The agent lets go when it knows that its last lines have arrived.
            with contextlib.suppress(Unreachable):
                await self._beat(one, Orders())

    async def _beat(self, one: Followed, orders: Orders) -> Told | None:
        """One beat. Raises `Unreachable`, at once where its worker is known to be gone."""
        question = self._wire.ask(
            one.host.address, LOSS_S, agent.beat, one.run, one.acknowledged, orders
        )
        asking = asyncio.create_task(question)
        if one.held is not None:
            gone = asyncio.create_task(one.held.gone.wait())
            await asyncio.wait({asking, gone}, return_when=asyncio.FIRST_COMPLETED)
            gone.cancel()
            if not asking.done() and one.held.failed():
                asking.cancel()
                raise Unreachable(await one.held.reason())
        return await asking

    def _orders(self, one: Followed) -> Orders:
        sends = one.plan is not None and not one.has_plan
        return Orders(
            plan=one.plan if sends else None,
            authority=self._authority if sends else None,
            begin_ns=self._begin_ns,
            stop=self._stop,
            end=self._end,
        )

    def _hear(self, one: Followed, told: Told) -> None:
        one.joined = True
        one.has_plan = told.has_plan
        news = told.lines[one.acknowledged - told.first :]
        for line in news:
            # The kind is an object's first member.
            one.connected |= b'"connected"' in line[:32]
            self._tell(Line(one.name, line))
            if b'"failure"' in line[:32]:
                # What it says is in the line; the others must not begin.
                self._fail(FleetFailed(f"the engine at {one.name} failed"))
        one.acknowledged += len(news)
        if told.problem:
            self._lose(one, told.problem)
        elif told.is_over:
            one.over = True

    async def _not_held(self, one: Followed) -> None:
        """Its worker knows nothing of the run: not yet, or it is another one by now."""
        if one.held is None:
            return
        if one.joined:
            self._lose(one, "its worker was started again, or gave the run up")
        elif one.held.failed():
            self._fail(FleetFailed(f"{one.name}: {await one.held.reason()}"))

    async def _missed(self, one: Followed, reason: str) -> None:
        failed = one.held is not None and one.held.failed()
        if one.joined and (failed or time.monotonic() - one.heard_s >= LOSS_S):
            silent_s = time.monotonic() - one.heard_s
            self._lose(one, f"no answer for {silent_s:.1f} s ({reason})")
            return
        await asyncio.sleep(RETRY_S)

    def _lose(self, one: Followed, reason: str) -> None:
        one.loss = reason
        if self._begin_ns is None:
            self._fail(FleetFailed(f"{one.name} was lost before the load began: {reason}"))
        self._tell(Lost(one.name, reason))
        if self._on_loss == "stop":
            self.stop()
        self._changed.set()

    def _fail(self, error: WiretrialError) -> None:
        self._failure = self._failure or error
        self._changed.set()

    async def _until(self, holds: Callable[[], bool], deadline: float | None = None) -> None:
        """Returns when something holds. Raises what has failed, `TimeoutError` at the deadline."""
        while True:
            self._changed.clear()
            if self._failure:
                raise self._failure
            if self._end:
                return
            if holds():
                return
            if self._stop and all(one.plan is None for one in self.agents):
                raise FleetFailed("stopped before the load began")
            left = None if deadline is None else deadline - time.monotonic()
            await asyncio.wait_for(self._changed.wait(), left)

    def _wake_all(self) -> None:
        self._changed.set()
        for one in self.agents:
            one.wake.set()

    async def _leave(self, followers: Sequence[asyncio.Task[None]]) -> None:
        """Ends what still goes on; whom this does not reach, its lease does."""
        self.end()
        done, pending = await asyncio.wait(followers, timeout=CLOSE_S)
        for task in pending:
            task.cancel()
        for task in done:
            with contextlib.suppress(Exception):
                task.result()
        await asyncio.gather(*(self._wire.release(one.held) for one in self.agents if one.held))
