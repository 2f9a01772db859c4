"""Figures of routes and flows: added over agents, and over the intervals of one."""

from __future__ import annotations

from hdrh.histogram import HdrHistogram

from wiretrial.results import added, hdr
from wiretrial.snapshot import FlowFigures, RouteFigures, TrafficFigures


def histogram(*values: int) -> dict[str, str]:
    made = HdrHistogram(hdr.LOWEST_NS, hdr.HIGHEST_NS, hdr.SIGNIFICANT_DIGITS)
    for value in values:
        made.record_value(value)
    return {"service_time": made.encode().decode("ascii")}


def told(ok: int, *values: int) -> TrafficFigures:
    route = RouteFigures(
        sent=ok + 3,
        ok=ok,
        errors={"status": 2},
        in_flight=1,
        checked=4,
        wrong=1,
        left_out=2,
        followed=7,
        blocked=3,
        bytes_sent=10,
        bytes_received=20,
        examples={"status": f"after {ok}"},
        histograms=histogram(*values),
    )
    flow = FlowFigures(begun=5, done=2, failed={"status": 2}, open=1, unasked={"news": ok})
    return TrafficFigures(routes=(RouteFigures(), route), flows=(flow,), waiting=4, dropped=6)


def test_agents_are_added() -> None:
    one = added.together([told(1, 1000), told(2, 2000, 3000)])
    unused, route = one.routes
    assert unused == RouteFigures()
    assert (route.sent, route.ok, route.errors, route.in_flight) == (9, 3, {"status": 4}, 2)
    assert (route.bytes_sent, route.bytes_received) == (20, 40)
    assert (route.checked, route.wrong, route.left_out) == (8, 2, 4)
    assert (route.followed, route.blocked) == (14, 6)
    assert route.examples == {"status": "after 1"}
    assert hdr.merge(route.histograms.values()).count == 3
    (flow,) = one.flows
    assert (flow.begun, flow.done, flow.failed, flow.open) == (10, 4, {"status": 4}, 2)
    assert flow.unasked == {"news": 3}
    assert (one.waiting, one.dropped) == (8, 12)


def test_of_intervals_what_stands_is_that_of_the_last() -> None:
    one = added.in_turn([told(1, 1000), told(2, 2000)])
    assert (one.routes[1].sent, one.routes[1].in_flight, one.flows[0].open) == (9, 1, 1)
    assert (one.routes[1].followed, one.routes[1].blocked) == (14, 3)
    assert one.flows[0].unasked == {"news": 3}
    assert (one.waiting, one.dropped) == (4, 12)


def test_one_message_has_no_figures_of_traffic() -> None:
    nothing: list[TrafficFigures | None] = [None, None]
    assert added.known(nothing, added.together) is None
    assert added.known([], added.in_turn) is None
    assert added.known([None, told(1, 1000)], added.together) == told(1, 1000)
