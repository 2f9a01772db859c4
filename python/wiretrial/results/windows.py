"""Whether HTTP/2's windows held a load back: ours the server, the server's our requests.

Pure: knows the figures of a run and its plan; must not know what is concluded from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wiretrial.plan import Plan
from wiretrial.results import hdr
from wiretrial.snapshot import Summary

BOUND = 0.03
"""From this share of the time on, a window of ours decides the result. It is the equivalence band:
what is less can't turn a verdict."""


@dataclass(frozen=True)
class Hold:
    """A window of ours that replies had used up."""

    of: Literal["stream", "connection"]
    count: int
    """How often."""
    held_ns: int
    """For how long, over all replies; of the connection's window over all connections."""
    share: float
    """Of the time of all messages; of the connection's window of the time of all connections."""
    is_factor: bool
    """Whether the window was given because it is what the load is about."""

    @property
    def is_bound(self) -> bool:
        """Whether it decides the result."""
        return self.share >= BOUND

    @property
    def words(self) -> str:
        """`the generator's own window of a stream held the server back in 34 % of the time`."""
        whose = "replies'" if self.of == "stream" else "connections'"
        return (
            f"the generator's own window of a {self.of} held the server back in "
            f"{100 * self.share:.2g} % of the {whose} time"
        )

    @property
    def option(self) -> str:
        """The option that sets it."""
        return "--window" if self.of == "stream" else "--connection-window"


def holds(summary: Summary, plan: Plan) -> tuple[Hold, ...]:
    """The windows of ours that were used up, if any were; none where HTTP/2 was not spoken."""
    figures = summary.http2
    if figures is None or not (figures.stream_exhausted_ns or figures.connection_exhausted_ns):
        return ()
    windows = plan.target.http.windows
    factor = windows if windows and windows.are_factor else None
    open_ns = plan.load.connections * (summary.measure_end_ns - summary.first_send_ns)
    found = (
        Hold(
            "stream",
            figures.streams_exhausted,
            figures.stream_exhausted_ns,
            figures.stream_exhausted_ns / max(message_ns(summary), 1),
            factor is not None and factor.stream is not None,
        ),
        Hold(
            "connection",
            figures.connections_exhausted,
            figures.connection_exhausted_ns,
            figures.connection_exhausted_ns / max(open_ns, 1),
            factor is not None and factor.connection is not None,
        ),
    )
    return tuple(one for one in found if one.held_ns)


def problem(summary: Summary, plan: Plan) -> str | None:
    """Why the result says nothing of the server: a window of ours decided it, not on purpose."""
    for hold in holds(summary, plan):
        if hold.is_bound and not hold.is_factor:
            return f"{hold.words}; widen it ({hold.option})"
    return None


def message_ns(summary: Summary) -> float:
    """From the send of each message to its end, over all of them."""
    texts = (summary.histograms.get(name) for name in ("service_time", "failed_time"))
    found = (hdr.decode(text) for text in texts if text)
    return sum(one.mean * one.count for one in found)


def streams_in_flight(summary: Summary, plan: Plan) -> float | None:
    """Streams open at once on a connection, on average (Little's law).

    None: HTTP/1.1, or streams of events, which are open throughout.
    """
    elapsed = summary.measure_end_ns - summary.first_send_ns
    is_one = summary.http2 is None and summary.http3 is None
    if is_one or plan.target.http.sse or elapsed <= 0:
        return None
    return message_ns(summary) / elapsed / plan.load.connections
