"""The cost of a server from made-up counters, whose answers are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.observers.made import SECOND, even, host, load, part, watched
from wiretrial.observation import Descriptors
from wiretrial.observers import cost
from wiretrial.observers.cost import Curve, Load
from wiretrial.observers.watch import HostReading, Mark, Reading
from wiretrial.results.watched import WatchedPart, WatchedPlace
from wiretrial.snapshot import Bytes, Connections, Counters, Generator, Interval

MARKS = (
    Mark("before", 0, 0),
    Mark("connected", SECOND, 0),
    Mark("end", round(9.5 * SECOND), 0),
)


def of(*readings: Reading, given: Load | None = None) -> WatchedPart:
    """What is found of one part."""
    one = part(*readings)
    return cost.part(one, watched(one, marks=MARKS), given or load())


def test_cost_is_cpu_over_replies_between_the_same_readings() -> None:
    # A quarter of a CPU at 1,000 replies/s: 250 us each, of which a quarter in the kernel.
    found = of(*even(0.25))
    assert found.span is not None
    assert (found.span.start_ns, found.span.end_ns) == (1 * SECOND, 9 * SECOND)
    assert found.span.replies == 8000
    assert not found.span.is_around
    assert found.cpu_ns == 2 * SECOND
    assert found.per_reply_ns == 250_000
    assert found.user_per_reply_ns == 187_500
    assert found.system_per_reply_ns == 62_500
    assert found.cpus == 0.25


def test_readings_between_edges_of_the_window_take_the_replies_of_their_own_instants() -> None:
    # The window is cut off the grid of readings: both differences are of 1.5 to 8.5 s.
    found = of(*even(0.25), given=load(1.2, 8.7))
    assert found.span is not None
    assert (found.span.start_ns, found.span.end_ns) == (round(1.5 * SECOND), round(8.5 * SECOND))
    assert found.per_reply_ns == 250_000


def test_a_clock_that_does_not_begin_at_zero() -> None:
    begun = 10**15
    readings = tuple(replace(one, at_ns=one.at_ns + begun) for one in even(0.25))
    found = of(*readings, given=load(begun_ns=begun))
    assert found.span is not None
    assert found.span.start_ns == SECOND
    assert found.per_reply_ns == 250_000


def test_a_server_that_is_read_rarely_has_the_readings_around() -> None:
    # One reading in 6 s: 0, 6 and 12 s around a load of 10 s, all of whose replies came between.
    found = of(*even(0.25, every_s=6.0))
    assert found.span is not None
    assert found.span.is_around
    assert (found.span.start_ns, found.span.end_ns) == (0, 12 * SECOND)
    assert found.span.replies == 10_000
    assert found.per_reply_ns == 300_000


@pytest.mark.parametrize("count", [0, 1])
def test_without_two_readings_there_is_no_figure(count: int) -> None:
    found = of(*even(0.25)[5 : 5 + count])
    assert found.span is None
    assert (found.cpu_ns, found.per_reply_ns, found.cpus) == (None, None, None)


def test_the_whole_is_taken_where_it_is_finer_than_its_parts() -> None:
    readings = [replace(one, total_ns=round(one.at_ns * 0.251) + 10**12) for one in even(0.25)]
    assert of(*readings).per_reply_ns == pytest.approx(251_000)
    # A thread ended: the finer sum is not whole any more.
    readings[-9:] = [replace(one, total_ns=None) for one in readings[-9:]]
    assert of(*readings).per_reply_ns == 250_000


def test_bytes_to_disks_are_those_of_the_window_and_descriptors_the_most() -> None:
    readings = [replace(one, written_bytes=one.at_ns // 1000) for one in even(0.25)]
    for number, opened in ((0, 5), (2, 105), (19, 104)):
        many = Descriptors(open=opened, fullest=opened, limit=1024)
        readings[number] = replace(readings[number], descriptors=many)
    found = of(*readings)
    assert found.written_bytes == 8_000_000
    assert found.written_per_second == 1_000_000
    assert found.descriptors == Descriptors(open=105, fullest=105, limit=1024)
    without = of(*even(0.25))
    assert (without.written_per_second, without.descriptors) == (None, None)


def test_what_could_not_be_read_is_not_zero() -> None:
    readings = [replace(one, user_ns=None, system_ns=None) for one in even(0.25)]
    found = of(*readings)
    assert (found.cpu_ns, found.user_per_reply_ns, found.memory) == (None, None, None)
    assert found.throttled_share is None


def restarted(at_s: float, *, gone_s: float = 0.0) -> list[Reading]:
    """Counters that begin anew, with another process."""
    readings = []
    for one in even(0.25):
        since = one.at_ns - round(at_s * SECOND)
        if since < 0:
            readings.append(one)
        elif since < gone_s * SECOND:
            readings.append(Reading(one.at_ns, processes=0))
        else:
            again = replace(one, user_ns=since // 4, system_ns=0, life="9 started at 500")
            readings.append(again)
    return readings


@pytest.mark.parametrize("gone_s", [0.0, 1.0])
def test_a_restart_voids_the_cost(gone_s: float) -> None:
    found = of(*restarted(5.0, gone_s=gone_s))
    assert found.restarts == 1
    assert not found.has_ended
    assert found.is_void
    assert (found.per_reply_ns, found.user_per_reply_ns) == (None, None)


@pytest.mark.parametrize(("at_s", "restarts"), [(0.5, 0), (1.5, 1), (9.5, 1), (10.5, 0)])
def test_only_a_restart_while_it_is_measured_counts(at_s: float, restarts: int) -> None:
    # The mark at the end of the load stands at 9.5 s.
    assert of(*restarted(at_s)).restarts == restarts


def test_counters_that_fall_are_another_server_s() -> None:
    readings = [replace(one, life=None, total_ns=one.at_ns // 4) for one in even(0.25)]
    readings[10:] = [replace(one, total_ns=one.at_ns // 40) for one in readings[10:]]
    assert of(*readings).restarts == 1


def test_a_server_that_ended_has_no_cost() -> None:
    readings = list(even(0.25))
    readings[10:] = [Reading(one.at_ns, processes=0) for one in readings[10:]]
    found = of(*readings)
    assert (found.has_ended, found.restarts) == (True, 0)
    assert found.per_reply_ns is None
    # It took the load with it, so that only the mark at its end has seen it gone.
    late = [one if one.at_ns <= 9 * SECOND else replace(one, processes=0) for one in even(0.25)]
    assert of(*late).has_ended


def test_a_limit_that_stops_it() -> None:
    readings = [
        replace(
            one,
            quota_cpus=0.5,
            periods=one.at_ns // 100_000_000,
            throttled_periods=one.at_ns // 400_000_000,
            throttled_ns=one.at_ns // 10,
        )
        for one in even(0.25, every_s=2.0)
    ]
    found = of(*readings, given=load(2.0, 10.0))
    assert (found.periods, found.throttled_periods) == (80, 20)
    assert found.throttled_share == 0.25
    assert found.quota_cpus == 0.5
    assert found.throttled_ns == round(0.8 * SECOND)


def test_memory_is_the_group_s_or_proportional_or_resident() -> None:
    def grows(one: Reading, **more: Any) -> Reading:
        return replace(one, **more)

    resident = [grows(one, rss_bytes=one.at_ns // 1000) for one in even(0.25)]
    found = of(*resident)
    assert found.memory == "resident"
    assert (found.memory_end_bytes, found.memory_growth_bytes) == (9_000_000, 8_000_000)
    marks = {mark.at_ns for mark in MARKS}
    exact = [
        grows(one, pss_bytes=one.at_ns // 2000) if one.at_ns in marks else one for one in resident
    ]
    found = of(*exact)
    assert found.memory == "proportional"
    assert (found.memory_end_bytes, found.memory_growth_bytes) == (4_750_000, 4_250_000)
    grouped = [grows(one, group_bytes=77) for one in exact]
    found = of(*grouped)
    assert found.memory == "control group"
    assert (found.memory_end_bytes, found.memory_growth_bytes) == (77, 0)


def test_many_readings_leave_a_picture() -> None:
    found = of(*even(0.25, every_s=0.005))
    assert 400 < len(found.samples) <= cost.MOST_SAMPLES
    first, last = found.samples[0], found.samples[-1]
    assert (first.offset_ns, first.cpu_ns) == (0, 0)
    assert last.cpu_ns == pytest.approx(last.offset_ns / 4, abs=10)


def place(*readings: HostReading, cpus: float = 0.25, **more: object) -> WatchedPlace:
    """A host with one part on it."""
    one = part(*even(cpus))
    given = watched(one, host=readings, marks=MARKS, cpus=4, has_generator=True)
    return cost.place(replace(given, **more), load())  # type: ignore[arg-type]


def test_a_host_beside_its_parts_its_rest_and_the_generator() -> None:
    # 0.1 CPUs before the load, 1.25 under it: 0.25 are the server's, 0.5 the generator's.
    found = place(*host(0.1, 1.25, softirq=0.3))
    assert found.busy_cpus == pytest.approx(1.25)
    assert found.baseline_cpus == pytest.approx(0.1)
    assert found.parts_cpus == pytest.approx(0.25)
    assert found.rate(found.generator_ns) == pytest.approx(0.5)
    assert found.gap_cpus == pytest.approx(0.4)
    assert found.interrupt_cpus == pytest.approx(0.3)
    assert found.others_cpus == pytest.approx(0.1)
    assert found.steal_share == 0


def test_a_generator_elsewhere_takes_nothing_from_the_host() -> None:
    found = place(*host(0.1, 0.4), has_generator=False)
    assert found.generator_ns is None
    assert found.gap_cpus == pytest.approx(0.05)
    fleet = replace(load(), is_local=False)
    one = part(*even(0.25))
    here = watched(one, host=host(0.1, 0.4), marks=MARKS, has_generator=True)
    assert cost.place(here, fleet).generator_ns is None


def test_a_host_that_tells_nothing() -> None:
    found = place()
    assert found.span is None
    assert (found.busy_cpus, found.gap_cpus, found.others_cpus) == (None, None, None)
    assert found.baseline_cpus is None
    assert found.parts[0].per_reply_ns == 250_000


def test_steal_and_frequency_are_kept() -> None:
    readings = [
        replace(
            one,
            cpu=replace(one.cpu, steal_ns=round((one.at_ns + SECOND) * 0.4)),
            frequency_khz=3e6 if one.at_ns < 5 * SECOND else 2e6,
        )
        for one in host(0.0, 1.0)
    ]
    found = place(*readings)
    # 0.4 of 4 CPUs and what was stolen of them.
    assert found.steal_share == pytest.approx(0.4 / 4.4)
    assert (found.lowest_khz, found.highest_khz) == (2e6, 3e6)


def test_an_unsure_clock_is_told_as_a_share_of_the_span() -> None:
    found = place(*host(0.0, 1.0), clock_error_ns=4_000_000)
    assert found.edge_error == pytest.approx(0.001)


def interval(index: int, ok: int, cpu: int = 0) -> Interval:
    return Interval(
        index=index,
        start_ns=index * SECOND // 10,
        end_ns=(index + 1) * SECOND // 10,
        phase="measure",
        counters=Counters(ok=ok),
        connections=Connections(),
        bytes=Bytes(),
        generator=Generator(cpu_user_ns=cpu, cpu_system_ns=cpu),
        disturbed=False,
    )


def test_replies_are_counted_interval_by_interval() -> None:
    made = Load.of([interval(0, 10), interval(1, 30, cpu=5)], 1000, (0, SECOND // 5))
    at = SECOND // 10 + 1000
    assert made.replies.at(0) == 0
    assert made.replies.at(at) == 10
    assert made.replies.at(at + SECOND // 20) == 25
    assert made.replies.at(at + SECOND) == 40
    assert made.generator_ns.growth(at, at + SECOND) == 10
    assert Load.of([], 0, (0, 1)).replies.at(5) == 0


def test_a_curve_grows_between_its_points_alone() -> None:
    curve = Curve((10, 20, 40), (0.0, 5.0, 5.0))
    assert [curve.at(x) for x in (0, 10, 12, 20, 30, 40, 99)] == [0, 0, 1, 5, 5, 5, 5]
