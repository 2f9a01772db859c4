"""Tells a running study's beacon what the runner tells us, and draws its lines on.

Knows the runner's events and how often the beacon is read; must not know who reads it.
"""

from __future__ import annotations

from wiretrial.results import hdr, quantiles
from wiretrial.results.beacon import Beacon
from wiretrial.results.lines import Line, Point, with_line
from wiretrial.snapshot import Interval, Start
from wiretrial.studies import events
from wiretrial.studies.events import Event, Used
from wiretrial.studies.spec import Study
from wiretrial.words import HTTP


class Teller:
    """Shows each event of one study on its beacon."""

    def __init__(self, lamp: Beacon, study: Study) -> None:
        self._lamp = lamp
        self._protocols = {case.scenario.name: case.protocol for case in study.cases}
        self._colours: dict[str, int] = {}
        self._lines: tuple[Line, ...] = ()
        self._line: Line | None = None
        self._pending: list[Interval] = []
        self._used: Used | None = None
        """By the server, up to the last point."""

    def tell(self, event: Event, *, left_s: float | None) -> None:
        """Shows one event; `left_s` is about how long the study still takes."""
        match event:
            case events.Preparing(subject, step):
                self._lamp.show(scenario=subject, step=step, at_once=True)
            case events.TrialBegun(slot, number, total, _):
                self._begin(slot.scenario)
                self._lamp.show(
                    scenario=slot.scenario,
                    number=number,
                    total=total,
                    step="start",
                    rate=None,
                    p50_ns=None,
                    p99_ns=None,
                    left_s=left_s,
                    at_once=True,
                )
            case events.Seen(snapshot) if isinstance(snapshot, Start) and self._line:
                # What primed the server is no part of the trial, and its time began anew.
                self._begin(self._line.scenario)
            case events.Seen(snapshot, used) if isinstance(snapshot, Interval):
                self._interval(snapshot, used)

    def _begin(self, scenario: str) -> None:
        colour = self._colours.setdefault(scenario, len(self._colours))
        is_http = self._protocols.get(scenario) in HTTP
        self._line = Line(scenario=scenario, colour=colour, is_http=is_http)
        self._pending, self._used = [], None

    def _interval(self, interval: Interval, used: Used | None) -> None:
        self._pending.append(interval)
        if self._used is None:
            self._used = used
        if not self._lamp.is_due:
            return
        point = _point(self._pending, self._used, used)
        self._pending, self._used = [], used or self._used
        if self._line is not None and interval.phase != "connect":
            self._line = self._line.and_then(point)
            self._lines = with_line(self._lines, self._line)
        self._lamp.show(
            step=interval.phase,
            rate=point.rate,
            p50_ns=point.p50_ns,
            p99_ns=point.p99_ns,
            lines=self._lines,
        )


def _point(intervals: list[Interval], before: Used | None, now: Used | None) -> Point:
    """What these intervals show together."""
    elapsed_ns = max(sum(one.end_ns - one.start_ns for one in intervals), 1)
    counters = [one.counters for one in intervals]
    cpu = sum(one.generator.cpu_user_ns + one.generator.cpu_system_ns for one in intervals)
    texts = [
        text
        for one in intervals
        if (text := one.histograms.get("response_time") or one.histograms.get("service_time"))
    ]
    times = hdr.merge(texts) if texts else None
    return Point(
        at_s=round(intervals[-1].end_ns / 1e9, 2),
        rate=round(sum(one.ok for one in counters) * 1e9 / elapsed_ns, 1),
        errors=round(sum(sum(one.errors.values()) for one in counters) * 1e9 / elapsed_ns, 1),
        p50_ns=quantiles.told(times, 0.5) if times else None,
        p99_ns=quantiles.told(times, 0.99) if times else None,
        generator=round(cpu / elapsed_ns, 3),
        server=_cores(before, now),
    )


def _cores(before: Used | None, now: Used | None) -> float | None:
    """CPUs that the server used between two readings; None where there are no two."""
    if before is None or now is None or now.at_ns <= before.at_ns:
        return None
    return round((now.cpu_ns - before.cpu_ns) / (now.at_ns - before.at_ns), 3)
