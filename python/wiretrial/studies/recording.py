"""One run of the engine beside one watched server, and what is known of it then.

Knows how the two clocks are laid on each other; must not know in what order trials run or where
they are kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Protocol, runtime_checkable

from wiretrial import words
from wiretrial.engine import Engine, Run
from wiretrial.errors import EngineFailed
from wiretrial.machine import listeners, namespaces, shapers
from wiretrial.observers.cost import Load
from wiretrial.observers.watching import Watching
from wiretrial.plan import Plan
from wiretrial.redaction import Secrets
from wiretrial.results import redacted
from wiretrial.results.ceiling import Ceiling
from wiretrial.results.fleet import Fleet
from wiretrial.results.learned import LearnedRule
from wiretrial.results.model import ProcessSample, SubjectFacts, Use, Window
from wiretrial.results.observation import Observation
from wiretrial.results.watched import WatchedPlace
from wiretrial.snapshot import Interval, Snapshot, Start, Summary
from wiretrial.studies import judge, misfits, observed
from wiretrial.studies.events import Used
from wiretrial.studies.futile import Futility
from wiretrial.studies.sent import Sent, Troubles, now
from wiretrial.studies.stall import Watch
from wiretrial.subjects.observe import Observer, PlateauName
from wiretrial.words import Noun

WITHOUT_A_LINK = ("loopback", namespaces.ENVIRONMENT, namespaces.STEERED)
"""Environments in which nothing but the kernel lies between server and generator."""


class Recording:
    """Runs a plan and keeps everything that was seen. A context manager; iterate for snapshots."""

    def __init__(
        self,
        engine: Engine,
        plan: Plan,
        server_pids: Sequence[int] = (),
        watch: Watch | None = None,
        unseen: str | None = None,
        *,
        allowed_errors: float = 0,
        learned: tuple[LearnedRule, ...] = (),
        keeps_secrets: bool = False,
        watching: Watching | None = None,
    ) -> None:
        """`unseen`: why no process of the server's is known, where none is.

        `allowed_errors`: which share of messages may fail. `learned`: the rules of the plan that
        nobody stated. `watching`: the places of servers that somebody else runs, watched already.
        """
        self._learned = learned
        self._keeps_secrets = keeps_secrets
        self._secrets = Secrets(()) if keeps_secrets else redacted.secrets_of(plan)
        self._watch = watch
        self._watching = watching
        self._unseen = unseen
        self.begun_at = now()
        self.start: Start | None = None
        self.intervals: list[Interval] = []
        self.summary: Summary | None = None
        self._allowed_errors = allowed_errors
        self._futility = Futility(allowed_errors)
        self._troubles = Troubles()
        self._observer = _observer(plan, server_pids, self.stop) if server_pids else None
        self._rates = (
            shapers.rates(server_pids[0], self._observer.interfaces)
            if self._observer and self._observer.alone
            else shapers.UNLIMITED
        )
        usable = set[int]().union(*map(os.sched_getaffinity, server_pids))
        self._server_cpus = max(len(usable), 1)
        self._connected = False
        self._over = False
        self._run: Run = engine.run(plan)
        # A fleet is as one machine with the threads of all.
        self.plan = self._run.plan

    def __enter__(self) -> Recording:
        if self._observer:
            self._observer.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run.close()
        if self._observer:
            self._observer.__exit__(kind, error, trace)

    def __iter__(self) -> Iterator[Snapshot]:
        for snapshot in self._told():
            if isinstance(snapshot, Start):
                self.start = snapshot
            elif isinstance(snapshot, Interval):
                self.intervals.append(snapshot)
                if self._watch and self._watch.see(snapshot):
                    self.stop()
                if self._futility.see(snapshot):
                    self.stop()
            elif isinstance(snapshot, Summary):
                self.summary = snapshot
            if isinstance(snapshot, Interval | Summary):
                self._watch_plateaus(snapshot)
            yield snapshot

    def _told(self) -> Iterator[Snapshot]:
        """What the engine tells, without secrets: a server may send back what it was sent."""
        try:
            for snapshot in self._run:
                if self._keeps_secrets:
                    yield snapshot
                else:
                    yield redacted.snapshot(snapshot, self._secrets)
        except EngineFailed as error:
            error.message = self._secrets.text(error.message)
            raise

    def stop(self) -> None:
        """Asks for a graceful end; iteration goes on to the summary."""
        self._run.stop()

    def progress(self) -> Sequence[str]:
        """A line for each machine that sends, where there are several."""
        return self._run.progress() if isinstance(self._run, _OfMany) else ()

    def agents(self) -> Mapping[str, Interval]:
        """What each machine that sends told last, where there are several."""
        return self._run.agents() if isinstance(self._run, _OfMany) else {}

    @property
    def server_used(self) -> Used | None:
        """What the server used up to now, as it was read last; None where it is not watched."""
        last = self._observer.seen.readings[-1:] if self._observer else ()
        for one in last:
            return Used(one.at_ns, one.cpu_user_ns + one.cpu_system_ns)
        return None

    @property
    def environment(self) -> str:
        """Of a server that we did not start: `loopback` if it was reached over that, or `network`.

        The engine tells which of a name's addresses it used.
        """
        used = self.start.addresses if self.start else ()
        hosts = (one.rpartition(":")[0].strip("[]") for one in used)
        return "loopback" if all(map(listeners.is_here, hosts)) else "network"

    @property
    def _what(self) -> Noun:
        """What is sent."""
        return words.of_target(self.plan.target)

    @property
    def server_died(self) -> bool:
        """Whether the watched server ended during the run."""
        return self._observer is not None and self._observer.died

    @property
    def futile(self) -> str | None:
        """How most messages failed, with the first one; None: it was not ended for that."""
        if not (found := self._futility.words(self._what)) or self.summary is None:
            return None
        errors = self.summary.counters.errors
        class_ = max(errors, key=lambda name: errors[name])
        example = self.summary.examples.get(class_)
        told = f"{found} ({class_}{f': {example}' if example else ''})"
        if self._learned and class_ == misfits.RULE:
            return f"{told}; {misfits.remedy(self._learned)}"
        return told

    def sent(
        self,
        environment: str | None = None,
        *,
        subject: SubjectFacts | None = None,
        server_end: str | None = None,
        ceiling: Ceiling | None = None,
    ) -> Sent:
        """The run, judged. `environment`: None, where it was found that the server is.

        `server_end` says how a server that died ended.
        """
        environment = self.environment if environment is None else environment
        if self.start is None or self.summary is None:
            raise EngineFailed("the engine ended before its summary", "run it again")
        window = judge.window_of(
            self.intervals,
            self.summary,
            warmup_allowance_ns=self.plan.phases.warmup_ns,
            times_setup=self.plan.times_setup,
            duration_ns=None if self.plan.stop.is_counted else self.plan.stop.duration_ns,
            is_opening=judge.is_opening(self.plan),
            samples=self._samples() if judge.is_rate_given(self.plan) else (),
        )
        observation = self._observation(window, subject)
        places = self._places(window)
        fleet = self._run.account() if isinstance(self._run, _OfMany) else None
        if fleet and not self._keeps_secrets:
            fleet = redacted.fleet(fleet, self._secrets)
        apart = fleet is not None or environment not in WITHOUT_A_LINK
        known = judge.Known(
            server=self._server_use(window, subject),
            unseen=self._unseen,
            seen=observation,
            places=places,
            ceiling=ceiling,
            server_cpus=subject.cpus if subject else (),
            direct=observation is not None and not apart,
            over_link=apart,
            stalled=self._watch.stall.words if self._watch and self._watch.stall else None,
            futile=self._futility.words(self._what),
            allowed_errors=self._allowed_errors,
            learned=self._learned,
            agents_lost=_lost(fleet) if fleet else None,
            server_died=(server_end or "how is not known") if self.server_died else None,
        )
        return Sent(
            started_at=self.begun_at,
            environment=environment,
            plan=self.plan,
            start=self.start,
            intervals=tuple(self.intervals),
            summary=self.summary,
            window=window,
            judgement=judge.judge(self.intervals, self.summary, window, self.plan, known),
            subject=subject,
            subject_samples=self._samples(),
            observation=observation,
            places=places,
            troubles=self._troubles.since(),
            fleet=fleet,
            ceiling=ceiling,
            keeps_secrets=self._keeps_secrets,
        )

    def _watch_plateaus(self, snapshot: Interval | Summary) -> None:
        """Memory is read when all connections stand, and again as soon as the load is over."""
        connections = snapshot.connections.open
        over = isinstance(snapshot, Summary) or snapshot.phase == "drain"
        if over and not self._over:
            self._over = True
            self._plateau("end", connections)
        elif not over and not self._connected:
            begun = isinstance(snapshot, Interval) and snapshot.phase != "connect"
            self._connected = begun or connections >= self.plan.load.connections
            if self._connected:
                self._plateau("connected", connections)

    def _plateau(self, name: PlateauName, connections: int) -> None:
        if self._watching:
            self._watching.mark(name)
        if self._observer:
            self._observer.plateau(name, connections)

    def _samples(self) -> tuple[ProcessSample, ...]:
        begun = self._run.begun_ns
        if self._observer is None or begun is None:
            return ()
        return observed.samples(self._observer.seen.readings, begun)

    def _observation(self, window: Window, subject: SubjectFacts | None) -> Observation | None:
        begun, observer = self._run.begun_ns, self._observer
        if observer is None or begun is None:
            return None
        origin = observed.Origin(
            begun_ns=begun,
            alone=observer.alone,
            interfaces=observer.interfaces,
            rates=self._rates,
            # A server that was asked before has memory already for what it is asked now.
            tells_memory=self.plan.load.requests_per_connection is None
            and not (subject and subject.primed_ns),
        )
        return observed.observation(observer.seen, window, origin)

    def _places(self, window: Window) -> tuple[WatchedPlace, ...]:
        """What was seen of servers that somebody else runs; their watches end with it."""
        begun = self._run.begun_ns
        if self._watching is None or begun is None:
            return ()
        span = (window.start_ns, window.end_ns)
        is_local = not isinstance(self._run, _OfMany)
        return self._watching.places(Load.of(self.intervals, begun, span, is_local=is_local))

    def _server_use(self, window: Window, subject: SubjectFacts | None) -> Use | None:
        """What the server did with its CPUs in the window; None if that is unknown.

        Of a server that we didn't start, the number of threads is unknown: its busiest thread, or
        all of its CPUs, may be at the limit.
        """
        begun, observer = self._run.begun_ns, self._observer
        if observer is None or begun is None:
            return None
        seen = observer.seen
        inside = [r for r in seen.readings if window.start_ns <= r.at_ns - begun <= window.end_ns]
        if len(inside) < 2:
            inside = seen.readings
        if len(inside) < 2:
            return None
        first, last = inside[0], inside[-1]
        elapsed = last.at_ns - first.at_ns
        used = (last.cpu_user_ns + last.cpu_system_ns) - (first.cpu_user_ns + first.cpu_system_ns)
        if subject is not None and subject.threads:
            threads: float = subject.threads * subject.copies
            if subject.copies > 1:
                # They share the CPUs of one server.
                threads = min(threads, self._server_cpus)
            if subject.limit:
                threads = min(threads, subject.limit.cpus)
            busy = used / elapsed / threads
        else:
            threads = 1
            busy = max(
                used / elapsed / self._server_cpus, observed.busiest_thread(seen, window, begun)
            )
        queued = observed.queued(seen, window, begun) / threads
        queued = min(queued, max(1 - busy, 0.0))
        return Use(busy=busy, queued=queued, limit=subject.limit if subject else None)


@runtime_checkable
class _OfMany(Protocol):
    """A run on many machines, which tells of each."""

    def account(self) -> Fleet: ...

    def agents(self) -> Mapping[str, Interval]: ...

    def progress(self) -> Sequence[str]: ...


def _lost(fleet: Fleet) -> str | None:
    """Which agents were lost, in words; None: all came to their end."""
    told = [
        f"{agent.name} was lost after {agent.loss.at_ns / 1e9:.1f} s with"
        f" {agent.part.connections:,} connections: {agent.loss.reason}"
        for agent in fleet.agents
        if agent.loss
    ]
    return "; ".join(told) or None


def _observer(plan: Plan, pids: Sequence[int], on_death: Callable[[], None]) -> Observer:
    """Watches the server, both ends of some connections, and the CPUs of both sides."""
    cpus = set(plan.generator.cpus) or os.sched_getaffinity(0)
    for pid in pids:
        cpus |= os.sched_getaffinity(pid)
    return Observer(pids, on_death, port=listeners.place(plan.target.url)[1], cpus=sorted(cpus))
