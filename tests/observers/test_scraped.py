"""From series of node_exporter and cAdvisor to readings: made-up series with known sums."""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.observers import scraped
from wiretrial.observers.scrapes import Point, Series
from wiretrial.observers.watch import Reading

BEGIN = 1_000.0
STEP = 15.0
COUNT = 6


def ours(at_s: float) -> int:
    """A clock of ours that began with theirs."""
    return round((at_s - BEGIN) * 1e9)


def growing(
    metric: str, rate: float, count: int = COUNT, *, begin: float = BEGIN, **labels: str
) -> Series:
    """A counter that grows by `rate` a second from 100 on."""
    points = tuple(
        Point(begin + STEP * number, 100 + rate * STEP * number) for number in range(count)
    )
    return Series({"__name__": metric, "instance": "web1", "job": "j", **labels}, points)


def constant(metric: str, value: float, **labels: str) -> Series:
    """A gauge."""
    return Series(
        {"__name__": metric, "instance": "web1", "job": "j", **labels},
        tuple(Point(BEGIN + STEP * number, value) for number in range(COUNT)),
    )


def host() -> list[Series]:
    """Two CPUs: 0.6 of user, 0.1 nice, 0.2 system, the rest idle or waiting."""
    rates = {"user": 0.3, "nice": 0.05, "system": 0.1, "idle": 0.45, "iowait": 0.1, "steal": 0.0}
    return [
        growing(scraped.HOST_CPU, rate, cpu=cpu, mode=mode)
        for cpu in ("0", "1")
        for mode, rate in rates.items()
    ]


def test_a_hosts_cpu_time_is_summed_by_what_it_was_for() -> None:
    readings = scraped.host_readings(host(), ours)
    assert [one.at_ns for one in readings] == [round(STEP * 1e9 * n) for n in range(COUNT)]
    first, last = readings[0].cpu, readings[-1].cpu
    seconds = STEP * (COUNT - 1)

    def grown(name: str) -> float:
        return float((getattr(last, name) - getattr(first, name)) / 1e9 / seconds)

    assert round(grown("user_ns"), 6) == 0.7
    assert round(grown("system_ns"), 6) == 0.2
    assert round(grown("idle_ns"), 6) == 1.1
    assert grown("steal_ns") == 0
    # No series of them: not known, which is not 0.
    assert first.irq_ns is None
    assert scraped.cpus(host()) == 2


def test_a_hosts_memory_is_what_is_not_available() -> None:
    told = [
        *host(),
        constant(scraped.HOST_MEMORY, 8e9),
        constant(scraped.HOST_AVAILABLE, 5e9),
    ]
    assert {one.used_bytes for one in scraped.host_readings(told, ours)} == {3_000_000_000}
    assert scraped.host_readings(host(), ours)[0].used_bytes is None


def test_hosts_are_told_apart() -> None:
    other = growing(scraped.HOST_CPU, 1, cpu="0", mode="user", instance="web2")
    found = scraped.sources([*host(), other], scraped.HOST_CPU)
    assert [str(one) for one in found] == [
        'job="j", instance="web1"',
        'job="j", instance="web2"',
    ]


def container(
    key: str, rate: float, count: int = COUNT, *, begin: float = BEGIN, **labels: str
) -> list[Series]:
    """A container of cAdvisor on cgroup v2."""
    own = {"id": key, "container": "api", **labels}
    return [
        growing(scraped.CPU, rate, count, begin=begin, cpu="total", **own),
        growing("container_cpu_user_seconds_total", 0.75 * rate, count, begin=begin, **own),
        growing("container_cpu_system_seconds_total", 0.25 * rate, count, begin=begin, **own),
        constant("container_memory_usage_bytes", 1e6, **own),
    ]


def test_a_container_is_a_part() -> None:
    part = scraped.part("api", "prometheus:x", container("/a", 0.4), ours)
    assert len(part.readings) == COUNT
    first, last = part.readings[0], part.readings[-1]
    assert first.total_ns is not None
    assert last.total_ns is not None
    assert last.total_ns - first.total_ns == round(0.4 * STEP * (COUNT - 1) * 1e9)
    assert last.user_ns is not None
    assert first.user_ns is not None
    assert last.user_ns - first.user_ns == round(0.3 * STEP * (COUNT - 1) * 1e9)
    assert last.group_bytes == 1_000_000
    assert last.limit_bytes is None
    assert last.quota_cpus is None
    assert first.life == last.life
    assert part.lacks == ()


def test_replicas_are_one_part_and_their_instants_need_not_agree() -> None:
    shifted = container("/b", 0.2, begin=BEGIN + 4)
    part = scraped.part("api", "x", [*container("/a", 0.4), *shifted], ours)
    first, last = part.readings[0], part.readings[-1]
    assert first.total_ns is not None
    assert last.total_ns is not None
    rate = (last.total_ns - first.total_ns) / (last.at_ns - first.at_ns)
    assert round(rate, 6) == 0.6
    # Only where both are known.
    assert first.at_ns == ours(BEGIN + 4)
    assert last.at_ns == ours(BEGIN + STEP * (COUNT - 1))
    assert last.group_bytes == 2_000_000


def test_limits_are_told() -> None:
    series = [
        *container("/a", 0.4),
        constant("container_spec_cpu_quota", 150_000, id="/a", container="api"),
        constant("container_spec_cpu_period", 100_000, id="/a", container="api"),
        constant("container_spec_memory_limit_bytes", 5e8, id="/a", container="api"),
        growing("container_cpu_cfs_periods_total", 10, id="/a", container="api"),
        growing("container_cpu_cfs_throttled_periods_total", 2, id="/a", container="api"),
    ]
    last = scraped.part("api", "x", series, ours).readings[-1]
    assert last.quota_cpus == 1.5
    assert last.limit_bytes == 500_000_000
    assert last.periods == 100 + 10 * 75
    assert last.throttled_periods == 100 + 2 * 75


def test_no_memory_limit_is_a_huge_one_or_none() -> None:
    for value in (0.0, 9_223_372_036_854_771_712.0):
        limit = constant("container_spec_memory_limit_bytes", value, id="/a", container="api")
        last = scraped.part("api", "x", [*container("/a", 0.4), limit], ours).readings[-1]
        assert last.limit_bytes is None


def lives(readings: Sequence[Reading]) -> list[str | None]:
    return list(dict.fromkeys(one.life for one in readings))


def test_a_container_in_place_of_another_is_another_life() -> None:
    later = container("/b", 0.4, count=3, begin=BEGIN + 8 * STEP)
    part = scraped.part("api", "x", [*container("/a", 0.4), *later], ours)
    assert len(lives(part.readings)) > 1


def test_a_counter_that_began_anew_is_another_life_and_is_told() -> None:
    (cpu, *rest) = container("/a", 0.4)
    again = Series(
        cpu.labels,
        tuple(
            Point(point.at_s, point.value if number < 3 else 1.0 * number)
            for number, point in enumerate(cpu.points)
        ),
    )
    part = scraped.part("api", "x", [again, *rest], ours)
    assert len(lives(part.readings)) == 2
    assert part.lacks == (
        "CPU time around a restart: what was used between the last scrape and it is not known",
    )
    known = [one.total_ns for one in part.readings if one.total_ns is not None]
    assert known == sorted(known)


def test_cpu_time_of_single_cpus_is_added() -> None:
    series = [growing(scraped.CPU, 0.25, cpu=f"cpu0{n}", id="/a") for n in range(2)]
    readings = scraped.part("api", "x", series, ours).readings
    assert readings[0].total_ns is not None
    assert readings[-1].total_ns is not None
    grown = readings[-1].total_ns - readings[0].total_ns
    assert grown == round(0.5 * STEP * (COUNT - 1) * 1e9)


def test_what_is_scraped_twice_is_found() -> None:
    twice = [*container("/a", 1), *container("/a", 1, job="kubelet")]
    ((_, sources),) = scraped.containers(twice).items()
    assert [str(one) for one in sources] == [
        'job="j", instance="web1"',
        'job="kubelet", instance="web1"',
    ]
