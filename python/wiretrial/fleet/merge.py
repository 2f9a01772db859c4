"""Many agents' snapshots become one machine's, interval by interval, as they come.

Pure. All runs begin at one instant and have intervals of one length, so that interval k of each is
the same time, as exactly as the clocks are known. Counts are added, histograms added exactly, of
the busiest loop the figure is kept. What a lost agent told counts; what it had in flight stays so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from wiretrial.plan import Plan
from wiretrial.results import added, hdr
from wiretrial.snapshot import (
    Blocked,
    Bytes,
    Connected,
    Connections,
    Counters,
    Failure,
    Generator,
    Http2Figures,
    Http3Figures,
    Interval,
    Phase,
    Snapshot,
    Start,
    Summary,
    TrafficFigures,
)

PHASES: tuple[Phase, ...] = ("connect", "warm-up", "measure", "drain")
MOST_TEXTS = 128
"""So many histograms of one kind are kept of an agent, in case it is lost; then they are added."""


class Merge:
    """Takes in each agent's snapshots in their order; gives the fleet's."""

    def __init__(self, plan: Plan, agents: Iterable[str]) -> None:
        self._interval_ns = plan.phases.interval_ns
        self._warmup_ns = plan.phases.warmup_ns
        self._agents = {name: _Agent() for name in agents}
        self._told_start = False
        self._told = self._disturbed = 0
        """Intervals of the fleet, and those of them that were disturbed."""
        self._over = False

    @property
    def is_over(self) -> bool:
        """Whether the fleet's summary was given."""
        return self._over

    def see(self, agent: str, snapshot: Snapshot) -> list[Snapshot]:
        """What the fleet tells after one more snapshot of an agent."""
        own = self._agents[agent]
        match snapshot:
            case Start():
                own.start = snapshot
            case Interval():
                own.pending[snapshot.start_ns // self._interval_ns] = snapshot
                own.reached = snapshot.start_ns // self._interval_ns
                own.so_far.add(snapshot)
            case Summary():
                own.summary = snapshot
                own.so_far.histograms.clear()
            case Connected() | Failure():
                return []
        return self._ready()

    def lose(self, agent: str) -> list[Snapshot]:
        """What the fleet tells after an agent was lost: nobody waits for it any more."""
        own = self._agents[agent]
        own.lost = own.summary is None
        if own.lost and own.start:
            own.summary = own.so_far.summary(self._warmup_ns)
        return self._ready()

    def summary_of(self, agent: str) -> Summary | None:
        """An agent's own figures; of a lost one those until then; None: it told nothing."""
        return self._agents[agent].summary

    def end_of(self, agent: str) -> int:
        """Where an agent's last interval ended."""
        return self._agents[agent].so_far.end_ns

    def _ready(self) -> list[Snapshot]:
        if self._over:
            return []
        agents = list(self._agents.values())
        found: list[Snapshot] = []
        if not self._told_start:
            if not all(agent.start or agent.lost for agent in agents):
                return []
            starts = [agent.start for agent in agents if agent.start]
            if not starts:
                self._over = True
                return []
            self._told_start = True
            found.append(_start(starts))
        while (index := self._next_index(agents)) is not None:
            pieces = [agent.pending.pop(index) for agent in agents if index in agent.pending]
            merged = _interval(pieces, self._told)
            self._told += 1
            self._disturbed += merged.disturbed
            found.append(merged)
        if all(agent.is_over for agent in agents):
            self._over = True
            found.append(self._summary(agents))
        return found

    def _next_index(self, agents: Sequence[_Agent]) -> int | None:
        """The first interval that is complete; None: the next one is not."""
        pending = [index for agent in agents for index in agent.pending]
        if not pending:
            return None
        first = min(pending)
        told = all(agent.is_over or agent.reached >= first for agent in agents)
        return first if told else None

    def _summary(self, agents: Sequence[_Agent]) -> Summary:
        parts = [agent.summary for agent in agents if agent.summary]
        lost = any(agent.lost for agent in agents)
        merged = _summed(parts, self._disturbed)
        return merged.model_copy(update={"end": "interrupted"}) if lost else merged


@dataclass
class _SoFar:
    """What an agent's intervals add up to, for the summary that it can't give once it is lost."""

    counters: Counters = field(default_factory=Counters)
    connections: Connections = field(default_factory=Connections)
    bytes: Bytes = field(default_factory=Bytes)
    cost: Generator = field(default_factory=Generator)
    histograms: dict[str, list[str]] = field(default_factory=dict)
    http2: Http2Figures | None = None
    http3: Http3Figures | None = None
    traffic: list[TrafficFigures] = field(default_factory=list)
    intervals: int = 0
    disturbed: int = 0
    begin_ns: int = 0
    """The end of the connect phase."""
    end_ns: int = 0

    def add(self, told: Interval) -> None:
        """Takes in the next interval."""
        self.counters = added.in_turn([self.counters, told.counters])
        self.connections = added.in_turn([self.connections, told.connections])
        self.bytes = added.in_turn([self.bytes, told.bytes])
        self.cost = added.in_turn([self.cost, told.generator]).model_copy(
            update={"peak_rss_bytes": told.generator.peak_rss_bytes}
        )
        for name, text in told.histograms.items():
            texts = self.histograms.setdefault(name, [])
            texts.append(text)
            if len(texts) >= MOST_TEXTS:
                texts[:] = [hdr.merge(texts).text]
        self.http2 = added.known((self.http2, told.http2), added.in_turn)
        self.http3 = added.known((self.http3, told.http3), added.in_turn)
        if told.traffic is not None:
            self.traffic.append(told.traffic)
            if len(self.traffic) >= MOST_TEXTS:
                self.traffic = [added.in_turn(self.traffic)]
        self.intervals += 1
        self.disturbed += told.disturbed
        self.end_ns = told.end_ns
        if told.phase == "connect":
            self.begin_ns = told.end_ns

    def summary(self, warmup_ns: int) -> Summary:
        """The summary of an agent that was lost now."""
        counters, copies = self.counters, self.counters.deliveries
        told = copies.ok + copies.out_of_order + copies.mismatch + copies.missing
        busy = self.cost.loop_utilisation / max(1, self.intervals)
        return Summary(
            end="interrupted",
            signal=None,
            first_send_ns=self.begin_ns,
            measure_start_ns=min(self.begin_ns + warmup_ns, self.end_ns),
            measure_end_ns=self.end_ns,
            end_ns=self.end_ns,
            counters=counters.model_copy(
                update={
                    "in_flight": counters.sent - counters.ok - sum(counters.errors.values()),
                    "deliveries": copies.model_copy(update={"in_flight": copies.expected - told}),
                }
            ),
            connections=self.connections,
            bytes=self.bytes,
            generator=self.cost.model_copy(update={"loop_utilisation": busy}),
            blocked=Blocked(),
            disturbed_intervals=self.disturbed,
            histograms=hdr.merge_named(
                [{name: text} for name, texts in self.histograms.items() for text in texts]
            ),
            http2=self.http2,
            http3=self.http3,
            traffic=added.known(self.traffic, added.in_turn),
        )


@dataclass
class _Agent:
    """What one agent told so far."""

    start: Start | None = None
    pending: dict[int, Interval] = field(default_factory=dict)
    """Intervals that the others have not told yet, by number."""
    reached: int = -1
    so_far: _SoFar = field(default_factory=_SoFar)
    summary: Summary | None = None
    lost: bool = False

    @property
    def is_over(self) -> bool:
        return self.lost or self.summary is not None


def _start(parts: Sequence[Start]) -> Start:
    first = parts[0]
    return first.model_copy(
        update={
            "addresses": tuple(dict.fromkeys(a for part in parts for a in part.addresses)),
            "threads": sum(part.threads for part in parts),
            "poller": "+".join(dict.fromkeys(part.poller for part in parts)),
            "poller_shortfall": next(
                (p.poller_shortfall for p in parts if p.poller_shortfall), None
            ),
            "congestion": "+".join(dict.fromkeys(p.congestion for p in parts if p.congestion))
            or None,
        }
    )


def _interval(parts: Sequence[Interval], index: int) -> Interval:
    return Interval(
        index=index,
        start_ns=min(part.start_ns for part in parts),
        end_ns=max(part.end_ns for part in parts),
        phase=min((part.phase for part in parts), key=PHASES.index),
        counters=added.together([part.counters for part in parts]),
        connections=added.together([part.connections for part in parts]),
        bytes=added.together([part.bytes for part in parts]),
        generator=_cost([part.generator for part in parts]),
        disturbed=any(part.disturbed for part in parts),
        histograms=hdr.merge_named([part.histograms for part in parts]),
        http2=added.known((part.http2 for part in parts), added.together),
        http3=added.known((part.http3 for part in parts), added.together),
        traffic=added.known((part.traffic for part in parts), added.together),
    )


def _summed(parts: Sequence[Summary], disturbed: int) -> Summary:
    sending = [part for part in parts if part.counters.sent] or parts
    examples: dict[str, str] = {}
    for part in parts:
        examples = {**part.examples, **examples}
    return Summary(
        end="interrupted" if any(part.end == "interrupted" for part in parts) else "complete",
        signal=next((part.signal for part in parts if part.signal is not None), None),
        first_send_ns=min(part.first_send_ns for part in sending),
        measure_start_ns=min(part.measure_start_ns for part in sending),
        measure_end_ns=max(part.measure_end_ns for part in parts),
        end_ns=max(part.end_ns for part in parts),
        counters=added.together([part.counters for part in parts]),
        connections=added.together([part.connections for part in parts]),
        bytes=added.together([part.bytes for part in parts]),
        generator=_cost([part.generator for part in parts]),
        blocked=Blocked(
            exchanges=sum(part.blocked.exchanges for part in parts),
            slot_ns=sum(part.blocked.slot_ns for part in parts),
            threshold_ns=max(part.blocked.threshold_ns for part in parts),
        ),
        disturbed_intervals=disturbed,
        examples=examples,
        histograms=hdr.merge_named([part.histograms for part in parts]),
        http2=added.known((part.http2 for part in parts), added.together),
        http3=added.known((part.http3 for part in parts), added.together),
        traffic=added.known((part.traffic for part in parts), added.together),
    )


def _cost(parts: Sequence[Generator]) -> Generator:
    """Of several machines at one time; of the busiest loop the figure is kept."""
    busiest = max(part.loop_utilisation for part in parts)
    return added.together(parts).model_copy(update={"loop_utilisation": busiest})
