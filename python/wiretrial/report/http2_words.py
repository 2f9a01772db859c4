"""HTTP/2 in words: how many streams were open, and what held messages back.

Knows one trial; must not know where the lines are shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretrial import words
from wiretrial.report import units
from wiretrial.results import windows
from wiretrial.results.model import Trial
from wiretrial.snapshot import Http2Figures, Http3Figures


def rows(trial: Trial) -> Iterator[tuple[str, str]]:
    """Label and text; nothing where HTTP/2 was not spoken."""
    figures = trial.summary.http2
    if figures is None:
        return
    yield "streams", streams(trial, figures)
    if figures.sends_held:
        waits = (
            ("stream", figures.held_by_stream_ns),
            ("connection", figures.held_by_connection_ns),
        )
        told = (
            " and ".join(f"{units.duration(ns)} for the {of}'s" for of, ns in waits if ns)
            or "no time"
        )
        held = f"{figures.sends_held:,} waited for a window of the server's: {told}"
        yield "requests held", f"{held}, over all requests"
    for hold in windows.holds(trial.summary, trial.plan):
        over = "replies" if hold.of == "stream" else "connections"
        used = f"{hold.count:,} times our window of a {hold.of} was used up"
        share = f"{100 * hold.share:.2g} % of their time"
        yield "server held", f"{used}: {units.duration(hold.held_ns)} over all {over}, {share}"


def streams(trial: Trial, figures: Http2Figures | Http3Figures) -> str:
    """`7.9 open on each connection on average, at most 10; 3 refused, 2 GOAWAYs`.

    Those of WebSockets and of events are open throughout.
    """
    spoken = trial.start.http
    average = windows.streams_in_flight(trial.summary, trial.plan)
    most = trial.plan.load.depth
    if words.carrier(trial.plan.target.url) == "WebSocket":
        told = f"{units.plural(most, 'WebSocket')} on each connection"
        told += "" if average is None else f", {average:.3g} of them with a message on average"
    elif trial.plan.target.http.sse:
        told = f"{units.plural(most, 'stream')} of events on each connection"
    else:
        told = "" if average is None else f"{average:.3g} open on each connection on average, "
        told += f"at most {most:,}"
    if spoken and spoken.streams is not None:
        told += f" (the server allows {spoken.streams:,})"
    ends = []
    if figures.refused:
        ends.append(f"{figures.refused:,} refused, which went again")
    if figures.goaways:
        ends.append(units.plural(figures.goaways, "GOAWAY"))
    return "; ".join((told, *ends))
