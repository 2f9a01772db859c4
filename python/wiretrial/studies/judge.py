"""From a finished run to a judgement: which part counts, who limited it, may it be published.

Pure: knows snapshots, samples and the rules of evidence; must not know how they came about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.plan import Load, OpenLoop
from wiretrial.results.model import Bottleneck, Judgement, Verdict, Window
from wiretrial.snapshot import Connections, Interval, Summary
from wiretrial.stats.steady import find_window

CLIENT_BOUND = 0.95
"""A loop that is busy for this share of the time has no room left to prove anything."""
SERVER_BOUND = 0.90
"""A server that is on a CPU, or waits for one, for this share of the time is at its limit."""
RATE_KEPT = 0.98
"""An open loop that sent this share of what was due has kept its rate."""
WORTH_SAYING = 0.05
"""Waiting for a CPU below this share is no evidence of anything."""
KEPT_FROM_RUNNING = 0.5
"""A generator that was paused in more than this share of the intervals has measured itself."""
ORDERLY = frozenset({"plan", "server"})
"""Reasons for a connection's end that are nobody's fault."""
WHOLE_RUN = "whole run: its length was given in requests"


@dataclass(frozen=True)
class ServerUse:
    """What a server did in the window, as shares of what its threads could have had."""

    busy: float
    """On a CPU."""
    queued: float
    """Ready to run, while somebody else had the CPU."""

    def text(self) -> str:
        """The evidence, for people."""
        told = f"its CPU {percent(self.busy)} busy"
        if self.queued >= WORTH_SAYING:
            told += f", {percent(self.queued)} waiting for a CPU that others had"
        return told


def window_of(
    intervals: Sequence[Interval],
    summary: Summary,
    *,
    warmup_allowance_ns: int,
    duration_ns: int | None,
) -> Window:
    """The part of the run that counts."""
    if duration_ns is None:
        return Window(
            start_ns=summary.first_send_ns,
            end_ns=max(summary.measure_end_ns, summary.first_send_ns + 1),
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
    found = find_window(points, warmup_allowance_ns, duration_ns)
    return Window(
        start_ns=found.start_ns, end_ns=found.end_ns, steady=found.steady, rule=found.rule
    )


def judge(
    intervals: Sequence[Interval],
    summary: Summary,
    window: Window,
    load: Load,
    *,
    server: ServerUse | None,
    server_died: str | None,
) -> Judgement:
    """The judgement of one trial. `server` is None where nothing is known of it."""
    inside = within(intervals, window)
    busy = loop_utilisation(inside)
    bottleneck, evidence = _bottleneck(inside, load, busy, server)
    verdict: Verdict = "valid"
    problem = _problem(summary, inside, server_died)
    if problem:
        verdict, evidence = "invalid", f"{problem}; {evidence}"
    elif summary.end == "interrupted":
        verdict, evidence = "partial", f"stopped before its end; {evidence}"
    elif bottleneck == "generator":
        verdict = "client-bound"
    return Judgement(verdict=verdict, bottleneck=bottleneck, evidence=evidence)


def percent(share: float) -> str:
    """`52 %`."""
    return f"{100 * share:.0f} %"


def within(intervals: Sequence[Interval], window: Window) -> list[Interval]:
    """The intervals that lie in the window."""
    return [
        interval
        for interval in intervals
        if interval.start_ns >= window.start_ns and interval.end_ns <= window.end_ns
    ]


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


def _problem(summary: Summary, inside: Sequence[Interval], server_died: str | None) -> str | None:
    if server_died:
        return f"the server died in the middle: {server_died}"
    errors = {name: count for name, count in summary.counters.errors.items() if count}
    if errors:
        listed = ", ".join(f"{count:,} {name}" for name, count in sorted(errors.items()))
        return f"{listed} of {summary.counters.sent:,} messages failed"
    broken = _broken(summary.connections)
    if broken:
        listed = ", ".join(f"{count:,} {name}" for name, count in sorted(broken.items()))
        return f"{listed} of {summary.connections.attempted:,} connections broke"
    if summary.end == "interrupted":
        return None
    if not summary.counters.ok:
        return "no message came back"
    disturbed = sum(interval.disturbed for interval in inside)
    if disturbed > KEPT_FROM_RUNNING * len(inside):
        return f"the generator was kept from running in {disturbed} of {len(inside)} intervals"
    if inside and not any(i.counters.ok for i in inside if not i.disturbed):
        return "no message came back in the measured time"
    return None


def _broken(connections: Connections) -> Counter[str]:
    """Connections that failed or ended as neither the plan nor the server meant them to."""
    ended = Counter(connections.failed) + Counter(connections.closed)
    return Counter({name: count for name, count in ended.items() if name not in ORDERLY})


def _bottleneck(
    inside: Sequence[Interval], load: Load, busy: float, server: ServerUse | None
) -> tuple[Bottleneck, str]:
    ours = f"our loop {percent(1 - busy)} idle"
    theirs = f"server: {server.text() if server else 'its CPU unknown'}"
    if isinstance(load.executor, OpenLoop):
        elapsed = sum(interval.end_ns - interval.start_ns for interval in inside) / 1e9
        sent = sum(interval.counters.sent for interval in inside)
        achieved = sent / elapsed if elapsed else 0.0
        rate = f"{achieved:,.0f} of {load.executor.rate:,.0f} messages/s sent"
        if achieved >= RATE_KEPT * load.executor.rate and busy < CLIENT_BOUND:
            return "rate", f"the rate was kept ({rate}, {ours}, {theirs})"
        ours = f"{rate}, {ours}"
    if busy >= CLIENT_BOUND and (server is None or server.busy < CLIENT_BOUND):
        return "generator", f"the generator was the bottleneck ({ours}, {theirs})"
    if server is not None and server.busy + server.queued >= SERVER_BOUND:
        return "server", f"the server was the bottleneck ({server.text()}, {ours})"
    return "unknown", f"neither side was at its limit ({ours}, {theirs})"
