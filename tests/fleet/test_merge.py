"""Many agents' snapshots become one machine's, exactly, in whatever order they come."""

from __future__ import annotations

import random
from collections.abc import Iterable

from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from wiretrial.fleet.merge import Merge
from wiretrial.plan import Load, Phases, Plan, Stop, Target
from wiretrial.results import hdr
from wiretrial.snapshot import (
    Blocked,
    Bytes,
    Connected,
    Connections,
    Counters,
    Deliveries,
    Generator,
    Interval,
    Phase,
    Snapshot,
    Start,
    Summary,
)

STEP_NS = 10**8
PLAN = Plan(
    target=Target(url="ws://h:1/"),
    load=Load(connections=9),
    stop=Stop(duration_ns=10**9),
    phases=Phases(interval_ns=STEP_NS, warmup_ns=STEP_NS),
)


def histogram(values: Iterable[int]) -> dict[str, str]:
    made = HdrHistogram(hdr.LOWEST_NS, hdr.HIGHEST_NS, hdr.SIGNIFICANT_DIGITS)
    for value in values:
        made.record_value(value)
    text = made.encode().decode("ascii")
    return {"service_time": text} if made.get_total_count() else {}


def start(agent: int) -> Start:
    return Start(
        engine="0",
        pid=agent,
        url="ws://h:1/",
        addresses=(f"10.0.0.{agent % 2}:1",),
        started_unix_ns=agent,
        threads=2,
        poller="epoll",
        request_payload_bytes=20,
        reply_payload_bytes=20,
        tls=None,
    )


def interval(
    index: int, values: list[int], *, busy: float = 0.5, phase: Phase = "measure"
) -> Interval:
    return Interval(
        index=index,
        start_ns=index * STEP_NS,
        end_ns=(index + 1) * STEP_NS,
        phase=phase,
        counters=Counters(sent=len(values) + 2, ok=len(values), errors={"timeout": 1}, in_flight=1),
        connections=Connections(attempted=3, opened=3, open=3),
        bytes=Bytes(sent=10, received=20),
        generator=Generator(cpu_user_ns=5, peak_rss_bytes=100, loop_utilisation=busy),
        disturbed=False,
        histograms=histogram(values),
    )


def summary(told: list[Interval], values: list[int]) -> Summary:
    count = len(told)
    return Summary(
        end="complete",
        signal=None,
        first_send_ns=STEP_NS,
        measure_start_ns=2 * STEP_NS,
        measure_end_ns=count * STEP_NS,
        end_ns=count * STEP_NS,
        counters=Counters(
            sent=len(values) + 2 * count, ok=len(values), errors={"timeout": count}, in_flight=count
        ),
        connections=Connections(attempted=3, opened=3, open=3),
        bytes=Bytes(sent=10 * count, received=20 * count),
        generator=Generator(cpu_user_ns=5 * count, peak_rss_bytes=100, loop_utilisation=0.5),
        blocked=Blocked(exchanges=1, slot_ns=2, threshold_ns=3),
        disturbed_intervals=0,
        examples={"timeout": "late"},
        histograms=histogram(values),
    )


def told_by(agent: int, values: list[list[int]]) -> list[Snapshot]:
    intervals = [interval(index, own) for index, own in enumerate(values)]
    everything = [value for own in values for value in own]
    return [start(agent), Connected(at_ns=1), *intervals, summary(intervals, everything)]


def merged(sequences: dict[str, list[Snapshot]], seed: int) -> list[Snapshot]:
    """What comes out where the agents' snapshots arrive interleaved at random."""
    merge, draw, found = Merge(PLAN, sequences), random.Random(seed), []
    left = {name: list(sequence) for name, sequence in sequences.items()}
    while any(left.values()):
        name = draw.choice([name for name, sequence in left.items() if sequence])
        found += merge.see(name, left[name].pop(0))
    assert merge.is_over
    return found


VALUES = st.lists(
    st.lists(st.lists(st.integers(1, 10**10), max_size=6), min_size=1, max_size=5),
    min_size=1,
    max_size=4,
)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.integers(0, 2**32))
def test_histograms_are_added_exactly(values: list[list[list[int]]], seed: int) -> None:
    sequences = {f"a{n}": told_by(n, own) for n, own in enumerate(values)}
    first, *intervals, last = merged(sequences, seed)
    assert isinstance(first, Start)
    assert isinstance(last, Summary)
    assert first.threads == 2 * len(values)
    everything = [value for agent in values for own in agent for value in own]
    expected = hdr.merge(histogram(everything).values())
    assert hdr.merge(filter(None, [last.histograms.get("service_time")])).values == expected.values
    assert last.counters.ok == len(everything)
    counters = last.counters
    assert counters.sent == counters.ok + sum(counters.errors.values()) + counters.in_flight
    longest = max(len(own) for own in values)
    assert [one.start_ns for one in intervals if isinstance(one, Interval)] == [
        n * STEP_NS for n in range(longest)
    ]
    for one in intervals:
        assert isinstance(one, Interval)
        own = [v for agent in values for v in (agent[one.index] if one.index < len(agent) else [])]
        assert (
            hdr.merge(one.histograms.values()).values == hdr.merge(histogram(own).values()).values
        )
        assert one.counters.ok == len(own)


def test_the_busiest_loop_and_the_earliest_phase_stand() -> None:
    sequences: dict[str, list[Snapshot]] = {
        "a": [start(1), interval(0, [1], busy=0.2, phase="drain"), summary([], [])],
        "b": [start(2), interval(0, [2], busy=0.9), summary([], [])],
    }
    _, one, _ = merged(sequences, 0)
    assert isinstance(one, Interval)
    assert (one.generator.loop_utilisation, one.phase) == (0.9, "measure")
    assert one.generator.cpu_user_ns == 10


def test_nobody_waits_for_a_lost_agent_and_what_it_told_counts() -> None:
    merge = Merge(PLAN, ["a", "b"])
    assert merge.see("a", start(1)) == []
    (first,) = merge.see("b", start(2))
    assert isinstance(first, Start)
    assert merge.see("a", interval(0, [5, 6])) == []
    (both,) = merge.see("b", interval(0, [7]))
    assert isinstance(both, Interval)
    assert both.counters.ok == 3
    assert merge.see("b", interval(1, [8])) == []
    (alone,) = merge.lose("a")
    assert isinstance(alone, Interval)
    assert alone.counters.ok == 1
    (end,) = merge.see("b", summary([interval(0, [7]), interval(1, [8])], [7, 8]))
    assert isinstance(end, Summary)
    assert end.end == "interrupted"
    assert (end.counters.ok, end.counters.in_flight) == (4, 2 + 1)
    assert end.counters.sent == 4 + sum(end.counters.errors.values()) + end.counters.in_flight
    assert hdr.merge(end.histograms.values()).count == 4
    assert merge.end_of("a") == STEP_NS
    own = merge.summary_of("a")
    assert own is not None
    assert own.counters.ok == 2


def test_copies_of_a_lost_agent_are_in_flight() -> None:
    copies = Deliveries(expected=9, ok=5, missing=1)
    counters = Counters(sent=3, ok=3, deliveries=copies)
    merge = Merge(PLAN, ["a", "b"])
    for name in ("a", "b"):
        merge.see(name, start(1))
    merge.see("a", interval(0, []).model_copy(update={"counters": counters}))
    merge.lose("a")
    own = merge.summary_of("a")
    assert own is not None
    assert own.counters.deliveries.in_flight == 3


def test_a_fleet_that_is_lost_whole_ends_with_what_it_told() -> None:
    merge = Merge(PLAN, ["a", "b"])
    for name in ("a", "b"):
        merge.see(name, start(1))
        merge.see(name, interval(0, [5]))
    assert merge.lose("a") == []
    (end,) = merge.lose("b")
    assert isinstance(end, Summary)
    assert end.counters.ok == 2
    assert merge.is_over


def test_agents_of_which_none_began_give_nothing() -> None:
    merge = Merge(PLAN, ["a"])
    assert merge.lose("a") == []
    assert merge.is_over
