"""From a finished run to a judgement: which part of it counts, and may it be published.

Pure: knows snapshots, samples and the rules of evidence; must not know how they came about.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

from wiretrial import words
from wiretrial.plan import AfterResponse, Hold, OpenLoop, Plan
from wiretrial.plan_grpc import STATUSES
from wiretrial.results import hdr, windows
from wiretrial.results.learned import LearnedRule
from wiretrial.results.model import (
    BY_COST,
    Judgement,
    ProcessSample,
    Use,
    Verdict,
    Window,
)
from wiretrial.results.offered import within
from wiretrial.snapshot import Connections, Deliveries, Interval, Lobby, Summary
from wiretrial.stats.steady import find_window
from wiretrial.studies import bottleneck, misfits, overload
from wiretrial.studies.bottleneck import Around, Evidence
from wiretrial.words import Noun

KEPT_FROM_RUNNING = 0.5
"""A generator that was paused in more than this share of the intervals has measured itself."""
ORDERLY = frozenset({"plan", "server"})
"""Reasons for a connection's end that are nobody's fault."""
MOST_STATUSES = 3
"""Wrong statuses of calls that are named, the most frequent."""
WHOLE_RUN = "whole run: its length was given in requests"
OPENING = "from the first connection asked for to the last one that stood"


@dataclass(frozen=True, kw_only=True)
class Known(Around):
    """What is known of a trial beside what its generator told."""

    over_link: bool = False
    """A link is known to lie between them."""
    server_died: str | None = None
    """How it ended, where it did so in the middle."""
    agents_lost: str | None = None
    """Which agents of a fleet were lost, and when."""
    stalled: str | None = None
    """How long nothing came back, where the run was given up for that."""
    futile: str | None = None
    """How long most messages failed, where the run was ended for that."""
    allowed_errors: float = 0
    """The share of messages that may fail."""
    learned: tuple[LearnedRule, ...] = ()
    """What was learned from replies before."""


def window_of(
    intervals: Sequence[Interval],
    summary: Summary,
    *,
    warmup_allowance_ns: int,
    duration_ns: int | None,
    times_setup: bool = False,
    is_opening: bool = False,
    samples: Sequence[ProcessSample] = (),
) -> Window:
    """The part of the run that counts. `times_setup`: the first connections belong to it.

    `samples` of the server are given where the rate is: throughput tells no warm-up then, and
    server CPU per message does.
    """
    asked, stood = summary.connect_start_ns, summary.connected_ns
    if is_opening and asked is not None and stood is not None:
        return Window(start_ns=asked, end_ns=max(stood, asked + 1), steady=False, rule=OPENING)
    if duration_ns is None:
        begin = summary.measure_start_ns if times_setup else summary.first_send_ns
        return Window(
            start_ns=begin,
            end_ns=max(summary.measure_end_ns, begin + 1),
            steady=False,
            rule=WHOLE_RUN,
        )
    points = [
        (interval.start_ns, interval.end_ns, interval.counters.ok)
        for interval in intervals
        if interval.end_ns > summary.first_send_ns and interval.start_ns < summary.measure_end_ns
    ]
    if not points:
        return Window(
            start_ns=summary.measure_start_ns,
            end_ns=max(summary.measure_end_ns, summary.measure_start_ns + 1),
            steady=False,
            rule="no interval was measured",
        )
    costs = tuple(_costs(points, samples))
    found = find_window(points, warmup_allowance_ns, duration_ns, costs)
    rule = f"{BY_COST}: {found.rule}" if found.by_cost else found.rule
    return Window(start_ns=found.start_ns, end_ns=found.end_ns, steady=found.steady, rule=rule)


def is_rate_given(plan: Plan) -> bool:
    """Whether it is not the server who sets the pace, as long as it keeps up."""
    executor = plan.load.executor
    return (
        plan.publish is not None
        or isinstance(executor, OpenLoop)
        or (isinstance(executor, AfterResponse) and executor.pause_ns > 0)
    )


def is_opening(plan: Plan) -> bool:
    """Whether connections are held until each was asked once: their opening is what is timed."""
    return isinstance(plan.load.executor, Hold) and plan.stop.is_counted


def _holds_streams(plan: Plan) -> bool:
    """Whether streams of events are held that may be silent."""
    silent = plan.target.http.sse and plan.publish is None
    return silent and isinstance(plan.load.executor, Hold)


def judge(
    intervals: Sequence[Interval], summary: Summary, window: Window, plan: Plan, known: Known
) -> Judgement:
    """The judgement of one trial."""
    inside = within(intervals, window)
    begin_ns = summary.measure_start_ns - plan.phases.warmup_ns
    offered = overload.find(inside, plan.load, begin_ns)
    shown = _evidence(inside, summary, plan, known, offered)
    who, evidence = bottleneck.find(shown)
    verdict: Verdict = "valid"
    problem = _problem(
        *(summary, inside, known, plan),
        is_counted=plan.stop.is_counted,
        may_be_silent=_holds_streams(plan),
    )
    problem = problem or windows.problem(summary, plan)
    if problem and (misfit := misfits.words(known.learned, plan, summary)):
        problem = f"{problem}; {misfit}"
    if is_opening(plan):
        problem = _unheld(summary, plan, known)
    if known.stalled and not known.server_died:
        # It is the subject's own result, and no fault of the run's.
        verdict, who, evidence = "stalled", "server", known.stalled
    elif problem:
        verdict, evidence = "invalid", f"{problem}; {evidence}"
    elif known.agents_lost:
        verdict, evidence = "partial", f"{known.agents_lost}; {evidence}"
    elif summary.end == "interrupted":
        verdict, evidence = "partial", f"stopped before its end; {evidence}"
    elif who == "generator":
        verdict = "client-bound"
    elif offered and offered.is_missed:
        verdict, evidence = "overloaded", f"the offered rate was not reached; {evidence}"
    if not problem and (failures := _Failures.of(summary, plan)).count:
        evidence = f"{failures.words}, of which {_percent(known.allowed_errors)} may; {evidence}"
    return Judgement(
        verdict=verdict,
        bottleneck=who,
        evidence=evidence,
        allowed_errors=known.allowed_errors,
        server=shown.server,
        generator=shown.generator,
    )


def _costs(
    points: Sequence[tuple[int, int, int]], samples: Sequence[ProcessSample]
) -> Iterator[tuple[int, int, int, int]]:
    """From one reading of the server to the next: begin, end, CPU time and replies."""
    inside = [one for one in samples if points[0][0] <= one.offset_ns <= points[-1][1]]
    for first, last in pairwise(inside):
        spent = last.cpu_user_ns + last.cpu_system_ns - first.cpu_user_ns - first.cpu_system_ns
        replies = _replies(points, first.offset_ns, last.offset_ns)
        yield first.offset_ns, last.offset_ns, spent, round(replies)


def _replies(points: Sequence[tuple[int, int, int]], start_ns: int, end_ns: int) -> float:
    """Those of a stretch, intervals that it cuts in part."""
    return math.fsum(
        ok * (min(end, end_ns) - max(start, start_ns)) / (end - start)
        for start, end, ok in points
        if end > start_ns and start < end_ns and end > start
    )


def loop_utilisation(intervals: Sequence[Interval]) -> float:
    """The busiest worker's share of the time, weighted by the intervals' lengths."""
    total = sum(interval.end_ns - interval.start_ns for interval in intervals)
    if not total:
        return 0.0
    return (
        sum(
            interval.generator.loop_utilisation * (interval.end_ns - interval.start_ns)
            for interval in intervals
        )
        / total
    )


def _problem(
    summary: Summary,
    inside: Sequence[Interval],
    known: Known,
    plan: Plan,
    *,
    is_counted: bool,
    may_be_silent: bool = False,
) -> str | None:
    if known.server_died:
        return f"the server died in the middle: {known.server_died}"
    failures, what = _Failures.of(summary, plan), words.of_target(plan.target)
    if known.futile:
        return f"{known.futile}, so the run was ended: {failures.words}"
    if failures.share > known.allowed_errors:
        return failures.words
    counters = summary.counters
    lost = _of_copies(counters.deliveries) or _of_lobby(counters.lobby)
    lost = lost or _of_events(summary, known.allowed_errors)
    if lost:
        return lost
    if summary.end == "interrupted":
        return None
    if may_be_silent and summary.counters.in_flight:
        return None
    if not summary.counters.ok:
        return f"no {what.one} {'came' if what == words.EVENT else 'was answered'}"
    disturbed = sum(interval.disturbed for interval in inside)
    if disturbed > KEPT_FROM_RUNNING * len(inside):
        return f"the generator was kept from running in {disturbed} of {len(inside)} intervals"
    # Where all messages count, those of disturbed intervals do too.
    if not is_counted and inside and not any(i.counters.ok for i in inside if not i.disturbed):
        return f"no {what.one} was answered in the measured time"
    return None


@dataclass(frozen=True)
class _Failures:
    """Messages that failed, and connections that broke with none on its way."""

    errors: Counter[str]
    broken: Counter[str]
    summary: Summary
    what: Noun
    statuses: Counter[str]
    """Of calls, those that are not the right one."""

    @classmethod
    def of(cls, summary: Summary, plan: Plan) -> _Failures:
        errors = Counter({name: n for name, n in summary.counters.errors.items() if n})
        # The connection of a message that failed has broken for the same reason.
        broken, what = _broken(summary.connections) - errors, words.of_target(plan.target)
        return cls(errors, broken, summary, what, _wrong_statuses(summary, plan))

    @property
    def count(self) -> int:
        return self.errors.total() + self.broken.total()

    @property
    def share(self) -> float:
        """Of the messages that were sent, or would have been if their connection had stood."""
        return self.count / max(self.summary.counters.sent + self.broken.total(), 1)

    @property
    def words(self) -> str:
        told = []
        if self.errors:
            sent = self.summary.counters.sent
            share = _percent(self.errors.total() / max(sent, 1))
            errors = _listed(self.errors, self.statuses)
            told.append(f"{errors} of {sent:,} {self.what.many} failed ({share})")
        if self.broken:
            attempted = self.summary.connections.attempted
            told.append(f"{_listed(self.broken)} of {attempted:,} connections broke")
        return "; ".join(told)


def _wrong_statuses(summary: Summary, plan: Plan) -> Counter[str]:
    """Statuses of calls by name, but for the right one; each step of sessions has its own."""
    if plan.traffic:
        return Counter()
    right = STATUSES[plan.target.grpc.status]
    told = summary.counters.statuses.items()
    return Counter({name: n for name, n in told if n and name != right})


def _listed(counts: Counter[str], statuses: Counter[str] | None = None) -> str:
    """`3 reset, 12 status (10 UNAVAILABLE, 2 INTERNAL)`."""
    frequent = statuses.most_common(MOST_STATUSES) if statuses else ()
    names = ", ".join(f"{count:,} {name}" for name, count in frequent)
    told = {"status": f"status ({names})" if names else "status"}
    return ", ".join(f"{count:,} {told.get(name, name)}" for name, count in sorted(counts.items()))


def _percent(share: float) -> str:
    """`0.12 %`, and of less than a hundredth of that as many digits as it takes."""
    return f"{100 * share:.2g} %" if 0 < share < 0.995 else f"{100 * share:.0f} %"


def _of_copies(copies: Deliveries) -> str | None:
    lost = _lost(copies, "with other content")
    if copies.duplicate:
        lost.append(f"{copies.duplicate:,} too many")
    return f"{', '.join(lost)} of {copies.expected:,} copies" if lost else None


def _of_lobby(told: Lobby) -> str | None:
    listed = ", ".join(_lost(told, "that contradict themselves"))
    return f"snapshots of the lobby: {listed}, beside {told.ok:,} right ones" if listed else None


def _of_events(summary: Summary, allowed: float) -> str | None:
    """Events that could not be published, where they are more than may fail."""
    if summary.published is None:
        return None
    counters = summary.published.counters
    errors = Counter({name: n for name, n in counters.errors.items() if n})
    share = errors.total() / max(counters.sent, 1)
    if share <= allowed:
        return None
    return f"{_listed(errors)} of {counters.sent:,} published events failed ({_percent(share)})"


def _lost(told: Deliveries | Lobby, wrong: str) -> list[str]:
    counts = {"missing": told.missing, wrong: told.mismatch, "out of order": told.out_of_order}
    return [f"{count:,} {name}" for name, count in counts.items() if count]


def _unheld(summary: Summary, plan: Plan, known: Known) -> str | None:
    """Why connections were not all opened and held; None: each answered its message."""
    # How long a message took, and whether the generator was kept from asking, is no matter.
    if problem := _problem(summary, (), known, plan, is_counted=True):
        return problem
    left = summary.connections.closed.get("server", 0)
    if left:
        return f"the server closed {left:,} of {plan.load.connections:,} held connections"
    alive = summary.counters.ok
    if alive < plan.load.connections and summary.end != "interrupted":
        return f"{alive:,} of {plan.load.connections:,} connections were shown to be alive"
    return None


def _broken(connections: Connections) -> Counter[str]:
    """Connections that failed or ended as neither the plan nor the server meant them to."""
    ended = Counter(connections.failed) + Counter(connections.closed)
    return Counter({name: count for name, count in ended.items() if name not in ORDERLY})


def _evidence(
    inside: Sequence[Interval],
    summary: Summary,
    plan: Plan,
    known: Known,
    offered: overload.Offered | None,
) -> Evidence:
    elapsed = sum(interval.end_ns - interval.start_ns for interval in inside)
    # Of no time, no share can be told.
    threads_ns = max(elapsed, 1) * plan.generator.threads
    on_cpu = sum(i.generator.cpu_user_ns + i.generator.cpu_system_ns for i in inside)
    queued = sum(interval.generator.run_queue_ns for interval in inside)
    return Evidence(
        what=words.of_target(plan.target),
        load=plan.load,
        offered=offered,
        is_opening=is_opening(plan),
        sent=sum(interval.counters.sent for interval in inside) * 1e9 / max(elapsed, 1),
        begun=_begun(inside, elapsed),
        published=_published(plan),
        answered=sum(interval.counters.ok for interval in inside) * 1e9 / max(elapsed, 1),
        generator=Use(busy=loop_utilisation(inside), queued=min(1.0, queued / threads_ns)),
        generator_on_cpu=on_cpu / threads_ns,
        round_trip_ns=_median(summary, "connect_time") if known.over_link else None,
        service_ns=_median(summary, "service_time") or 0.0,
        **{field.name: getattr(known, field.name) for field in fields(Around)},
    )


def _published(plan: Plan) -> float | None:
    """Copies of events per second, over all receivers; None: nothing is published."""
    if plan.publish is None:
        return None
    return plan.publish.rate * plan.load.slots


def _begun(inside: Sequence[Interval], elapsed_ns: int) -> float | None:
    """Sessions per second; None: nothing is sent in sessions."""
    told = [one.traffic for one in inside if one.traffic is not None]
    begun = sum(flow.begun for traffic in told for flow in traffic.flows)
    return begun * 1e9 / max(elapsed_ns, 1) if told else None


def _median(summary: Summary, metric: str) -> float | None:
    text = summary.histograms.get(metric)
    return hdr.decode(text).quantile(0.5) if text else None
