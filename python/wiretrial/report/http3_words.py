"""HTTP/3 in words: how many streams were open, and how QUIC carried what was on them.

Knows one trial; must not know where the lines are shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretrial.report import http2_words, units
from wiretrial.results.model import Trial


def rows(trial: Trial) -> Iterator[tuple[str, str]]:
    """Label and text; nothing where HTTP/3 was not spoken."""
    figures = trial.summary.http3
    if figures is None:
        return
    yield "streams", http2_words.streams(trial, figures)
    if figures.sends_held_ns:
        held = units.duration(figures.sends_held_ns)
        yield "requests held", f"{held} in all for a window of the server's"
    sent = _each(figures.datagrams_sent, figures.sends)
    received = _each(figures.datagrams_received, figures.receives)
    lost = f"{figures.packets_lost:,} of {figures.packets_sent:,} packets lost"
    dropped = f", {figures.datagrams_dropped:,} dropped here" if figures.datagrams_dropped else ""
    yield "datagrams", f"{sent} sent and {received} received in a call; {lost}{dropped}"


def _each(datagrams: int, calls: int) -> str:
    """How many of them went in a call to the kernel, on average."""
    return f"{datagrams / max(calls, 1):.1f}"
