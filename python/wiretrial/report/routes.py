"""What each route and each flow of sessions took in one trial.

Knows the figures of a trial by route; must not know which of its intervals count, or where figures
are shown. They are of the window that counts, errors of the whole run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from wiretrial.results import hdr
from wiretrial.results.hdr import Hdr
from wiretrial.results.model import Trial
from wiretrial.snapshot import RouteFigures, TrafficFigures


@dataclass(frozen=True)
class Route:
    """One route. `times`: response times where those are told, else service times, nanoseconds."""

    name: str
    sent: int
    ok: int
    share: float
    """Of the verified replies of all routes."""
    rate: float
    """Verified replies per second."""
    times: Hdr
    blocked: Hdr
    """From the instant a step was due to that at which it had a connection of the pool."""
    never_sent: int
    """Steps that still waited for a connection when the load ended."""
    bytes_received: int
    errors: Mapping[str, int]
    failed_share: float | None
    """Of all that was sent in the whole run; None: nothing was."""
    failed_inside: int
    """Requests that failed within what counts."""
    sent_in_all: int
    """Requests of the whole run."""
    checked: int
    """Replies of the whole run that checks with filters were made of."""
    checkable: int
    """Those that such checks could have been made of; 0: the route has none."""
    wrong: int
    """Those of the checked ones that were wrong; they are failures, too."""
    left_out: int
    """Replies of the sample that were not checked, because too many waited."""
    followed: int
    """Redirects that were followed, in the whole run."""
    examples: Mapping[str, str]

    @property
    def failed(self) -> int:
        """Requests of the whole run that failed."""
        return sum(self.errors.values())


@dataclass(frozen=True)
class Flow:
    """One flow of sessions. `iterations`: from the instant a session was due to its last reply."""

    name: str
    begun: int
    done: int
    failed: Mapping[str, int]
    unasked: Mapping[str, int]
    """Of conversations: messages that nothing awaited, by kind."""
    iterations: Hdr
    waits: Hdr
    """From the instant a session was due to its begin."""


@dataclass(frozen=True)
class Routed:
    """The figures of one trial by route and by flow, each merged once."""

    trial: Trial
    parts: Sequence[TrafficFigures]
    """Those that count, of intervals or of the whole run."""
    late: Sequence[TrafficFigures]
    """Those of replies that came after what counts to requests of it: they count in the times."""
    counted_ns: int
    """Length of what counts."""
    from_due: bool

    @cached_property
    def routes(self) -> tuple[Route, ...]:
        """The routes in the order of the plan; none where the run had one message."""
        whole, names = self.trial.summary.traffic, self.trial.start.traffic
        if whole is None or names is None:
            return ()
        kind = "response_time" if self.from_due else "service_time"
        seconds = self.counted_ns / 1e9
        replies = sum(route.ok for part in self.parts for route in part.routes)
        found = []
        for index, name in enumerate(names.routes):
            in_all = whole.routes[index]
            failed = sum(in_all.errors.values())
            own = [part.routes[index] for part in self.parts]
            ok = sum(one.ok for one in own)
            found.append(
                Route(
                    name=name,
                    sent=sum(one.sent for one in own),
                    ok=ok,
                    share=ok / replies if replies else 0.0,
                    rate=ok / seconds if seconds else 0.0,
                    times=_merged(
                        part.routes[index].histograms.get(kind)
                        for part in (*self.parts, *self.late)
                    ),
                    blocked=_merged(one.histograms.get("blocked_time") for one in own),
                    never_sent=in_all.blocked,
                    bytes_received=sum(one.bytes_received for one in own),
                    errors={k: n for k, n in in_all.errors.items() if n},
                    failed_share=failed / in_all.sent if in_all.sent else None,
                    failed_inside=sum(sum(one.errors.values()) for one in own),
                    sent_in_all=in_all.sent,
                    checked=in_all.checked,
                    checkable=_checkable(in_all),
                    wrong=in_all.wrong,
                    left_out=in_all.left_out,
                    followed=in_all.followed,
                    examples=in_all.examples,
                )
            )
        return tuple(found)

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The flows in the order of the plan."""
        names = self.trial.start.traffic
        if names is None:
            return ()
        found = []
        for index, name in enumerate(names.flows):
            own = [part.flows[index] for part in self.parts]
            timed = [part.flows[index].histograms for part in (*self.parts, *self.late)]
            failed, unasked = Counter[str](), Counter[str]()
            for one in own:
                failed.update(one.failed)
                unasked.update(one.unasked)
            found.append(
                Flow(
                    name=name,
                    begun=sum(one.begun for one in own),
                    done=sum(one.done for one in own),
                    failed=dict(+failed),
                    unasked=dict(+unasked),
                    iterations=_merged(one.get("iteration_time") for one in timed),
                    waits=_merged(one.get("session_wait") for one in timed),
                )
            )
        return tuple(found)


def _checkable(route: RouteFigures) -> int:
    """Replies that were right as far as each one is looked at, where the route has a sample."""
    return route.ok + route.wrong if route.checked or route.left_out else 0


def _merged(texts: Iterable[str | None]) -> Hdr:
    return hdr.merge(text for text in texts if text)
