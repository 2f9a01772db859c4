"""HTTP/3 in words: how many streams were open, and how QUIC carried what was on them.

Knows trials of one load; must not know where the lines are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from wiretrial.report import http2_words, units
from wiretrial.results import windows
from wiretrial.results.model import Trial
from wiretrial.snapshot import Http3Figures
from wiretrial.warnings.controls import OF_QUIC


def rows(trial: Trial) -> Iterator[tuple[str, str]]:
    """Label and text; nothing where HTTP/3 was not spoken."""
    figures = trial.summary.http3
    if figures is None:
        return
    yield "streams", http2_words.streams(trial, figures)
    if figures.early_accepted or figures.early_refused:
        refused = f", refused on {figures.early_refused:,}" if figures.early_refused else ""
        accepted = units.plural(figures.early_accepted, "connection")
        yield "early data", f"accepted before the handshake's end on {accepted}{refused}"
    if figures.sends_held_ns:
        held = units.duration(figures.sends_held_ns)
        yield "requests held", f"{held} in all for a window of the server's"
    sent = _each(figures.datagrams_sent, figures.sends)
    received = _each(figures.datagrams_received, figures.receives)
    lost = f"{figures.packets_lost:,} of {figures.packets_sent:,} packets lost"
    dropped = f", {figures.datagrams_dropped:,} dropped here" if figures.datagrams_dropped else ""
    yield "datagrams", f"{sent} sent and {received} received in a call; {lost}{dropped}"
    if figures.ended:
        yield "path", _path(trial.plan.target.http.congestion or OF_QUIC, figures)


def _path(congestion: str, figures: Http3Figures) -> str:
    """Means of connections at their ends."""
    window = round(figures.congestion_windows / figures.ended)
    trip = units.duration(figures.round_trips_ns / figures.ended)
    largest = round(figures.largest_datagrams / figures.ended)
    holes = f", {figures.black_holes:,} black holes" if figures.black_holes else ""
    return (
        f"{congestion}, congestion window {window:,} bytes and round trip {trip} at the end; "
        f"datagrams up to {largest:,} bytes{holes}"
    )


def cells(trials: Sequence[Trial]) -> tuple[str, ...]:
    """The same over trials of one scenario, all of which spoke HTTP/3, as `COLUMNS` name it."""
    figures = [found for trial in trials if (found := trial.summary.http3)]
    requests = sum(trial.summary.counters.sent for trial in trials)
    sent = sum(one.datagrams_sent for one in figures)
    received = sum(one.datagrams_received for one in figures)
    packets = sum(one.packets_sent for one in figures)
    lost = sum(one.packets_lost for one in figures)
    return (
        _streams(trials),
        _both(_each(sent, requests), _each(received, requests)),
        _both(
            _each(sent, sum(one.sends for one in figures)),
            _each(received, sum(one.receives for one in figures)),
        ),
        f"{lost:,} of {packets:,} ({100 * lost / max(packets, 1):.2g} %)",
        f"{sum(one.datagrams_dropped for one in figures):,}",
    )


COLUMNS = (
    "Streams open on each",
    "Datagrams per request",
    "Datagrams in a call",
    "Packets lost",
    "Dropped by the generator's machine",
)


def _streams(trials: Sequence[Trial]) -> str:
    """`7.9 of 10`."""
    most = max(trial.plan.load.depth for trial in trials)
    found = (windows.streams_in_flight(trial.summary, trial.plan) for trial in trials)
    known = [average for average in found if average is not None]
    return f"{fmean(known):.3g} of {most:,}" if known else f"at most {most:,}"


def _both(sent: str, received: str) -> str:
    return f"{sent} sent, {received} received"


def _each(datagrams: int, among: int) -> str:
    """How many there were of each, on average."""
    return f"{datagrams / max(among, 1):.1f}"
