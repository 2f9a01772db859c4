"""Tells a running study's beacon what the runner tells us."""

from __future__ import annotations

from wiretrial.results import hdr, quantiles
from wiretrial.results.beacon import Beacon
from wiretrial.snapshot import Interval
from wiretrial.studies import events
from wiretrial.studies.events import Event


def tell(lamp: Beacon, event: Event, *, left_s: float | None) -> None:
    """Shows one event; `left_s` is about how long the study still takes."""
    match event:
        case events.Preparing(subject, step):
            lamp.show(scenario=subject, step=step, at_once=True)
        case events.TrialBegun(slot, number, total, _):
            lamp.show(
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
        case events.Seen(snapshot) if isinstance(snapshot, Interval):
            _interval(lamp, snapshot)


def _interval(lamp: Beacon, interval: Interval) -> None:
    length = max(interval.end_ns - interval.start_ns, 1)
    text = interval.histograms.get("response_time") or interval.histograms.get("service_time")
    if text is None or not lamp.is_due:
        lamp.show(step=interval.phase, rate=interval.counters.ok * 1e9 / length)
        return
    times = hdr.decode(text)
    lamp.show(
        step=interval.phase,
        rate=interval.counters.ok * 1e9 / length,
        p50_ns=quantiles.told(times, 0.5),
        p99_ns=quantiles.told(times, 0.99),
    )
