"""Header fields like those of a browser, in words: their profile, and how many bytes went for them.

Knows trials of one load; must not know where the lines are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from wiretrial.results.model import Trial


def rows(trial: Trial) -> Iterator[tuple[str, str]]:
    """Label and text; nothing where requests had no profile."""
    profiled = trial.start.header_profile
    if profiled is None:
        return
    told = f"{profiled.profile}: {profiled.field_bytes:,} bytes of names and values in a request"
    bytes_sent = sent_beside_payload(trial)
    yield "header fields", told if bytes_sent is None else f"{told}, sent as {bytes_sent:,.0f}"


def cells(trials: Sequence[Trial]) -> tuple[str, str, str]:
    """Profile, bytes of a request's names and values, and bytes sent for them on average.

    Of trials of one scenario; raises StopIteration where none has a profile.
    """
    profiled = next(trial.start.header_profile for trial in trials if trial.start.header_profile)
    known = [found for trial in trials if (found := sent_beside_payload(trial)) is not None]
    bytes_sent = f"{fmean(known):,.0f} bytes" if known else "not known"
    return profiled.profile, f"{profiled.field_bytes:,} bytes", bytes_sent


def document(trial: Trial) -> dict[str, Any] | None:
    """The same for programs."""
    profiled = trial.start.header_profile
    if profiled is None:
        return None
    return {**profiled.model_dump(), "sent_bytes": sent_beside_payload(trial)}


def sent_beside_payload(trial: Trial) -> float | None:
    """Bytes of a request beside its payload, on average, as they went before any TLS.

    Its fields with their frames, or its head. None where nothing was sent, or where content waited
    for a window: what went of it later is not among the bytes of requests.
    """
    summary = trial.summary
    if not summary.counters.sent or (summary.http2 and summary.http2.sends_held):
        return None
    beside = summary.bytes.application_sent - summary.bytes.payload_sent
    return beside / summary.counters.sent
