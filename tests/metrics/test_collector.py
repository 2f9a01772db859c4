"""From snapshots to metrics, each value known."""

from __future__ import annotations

import pytest

from tests.metrics import made
from tests.metrics.made import BEGAN_NS, TRIAL
from wiretrial.metrics import families
from wiretrial.metrics.collector import Collector, Trial
from wiretrial.metrics.families import BOUNDS_S, Batch, Distribution, Family, Kind, Value
from wiretrial.snapshot import Snapshot

SECOND_NS = 1_000_000_000


def value(batch: Batch, family: Family, **labels: str) -> float | None:
    (found,) = [
        one.value
        for one in batch.points
        if isinstance(one, Value)
        and one.family is family
        and set(labels.items()) <= set(one.labels)
    ]
    return found


def distribution(batch: Batch, family: Family) -> Distribution:
    (found,) = [
        one for one in batch.points if isinstance(one, Distribution) and one.family is family
    ]
    return found


def whole(batches: list[Batch]) -> list[Batch]:
    """Those with all metrics; without the zeros of what appears later, and the end."""
    return [one for one in batches if len(one.points) > 10 and value(one, families.OK) is not None]


def test_counters_grow_from_zero_once_a_second() -> None:
    told = whole(made.batches(made.run(3)))
    assert [one.at_ns - BEGAN_NS for one in told] == [n * SECOND_NS for n in range(4)]
    assert [value(one, families.OK) for one in told] == [0, 100, 200, 300]
    assert [value(one, families.SENT) for one in told] == [0, 100, 200, 300]
    assert [value(one, families.BYTES_RECEIVED) for one in told] == [0, 2000, 4000, 6000]
    cpu = [value(one, families.GENERATOR_CPU, mode="user") for one in told]
    assert cpu == pytest.approx([0, 0.03, 0.06, 0.09])
    assert all(one.began_ns == BEGAN_NS for one in told)


def test_what_stands_is_told_as_it_stands() -> None:
    last = whole(made.batches(made.run()))[-1]
    assert value(last, families.IN_FLIGHT) == 4
    assert value(last, families.WAITING) == 2
    assert value(last, families.OPEN) == 1
    assert value(last, families.GENERATOR_BUSY) == 0.25
    assert value(last, families.MEASURING) == 1


def test_warm_up_is_no_measuring() -> None:
    warm: list[Snapshot] = [made.start(), *(made.interval(n, phase="warm-up") for n in range(10))]
    assert value(whole(made.batches(warm))[-1], families.MEASURING) == 0


def test_a_histogram_has_each_value_in_the_bucket_whose_bound_it_does_not_exceed() -> None:
    told = distribution(whole(made.batches(made.run(2)))[-1], families.SERVICE_TIME)
    assert sum(told.counts) == 200
    by_bound = dict(zip(BOUNDS_S, told.counts, strict=False))
    assert by_bound[2e-3] == 180
    assert by_bound[5e-3] == 20
    assert told.sum_s == pytest.approx(180 * 1e-3 + 20 * 3e-3, rel=1e-3)


def test_bounds_are_one_two_five_from_ten_microseconds_on() -> None:
    assert BOUNDS_S[:4] == (1e-5, 2e-5, 5e-5, 1e-4)
    assert BOUNDS_S[-1] == 50
    assert list(BOUNDS_S) == sorted(BOUNDS_S)


def test_quantiles_are_those_of_the_last_second_where_enough_came() -> None:
    told = whole(made.batches(made.run(2)))[-1]
    assert value(told, families.SERVICE_QUANTILE, quantile="0.5") == pytest.approx(1e-3, rel=1e-3)
    found = [one for one in told.points if one.family is families.SERVICE_QUANTILE]
    # 100 values: ten lie beyond p90, and one beyond p99.
    assert [dict(one.labels)["quantile"] for one in found] == ["0.5", "0.9"]


def test_an_error_that_comes_later_begins_at_zero_where_it_was_not_yet() -> None:
    late: list[Snapshot] = [
        made.start(),
        *(made.interval(n) for n in range(10)),
        *(made.interval(n, errors={"timeout": 1}) for n in range(10, 20)),
    ]
    told = [
        (batch.at_ns - BEGAN_NS, one.value)
        for batch in made.batches(late)
        for one in batch.points
        if isinstance(one, Value) and one.family is families.FAILED
    ]
    assert told == [(SECOND_NS, 0), (2 * SECOND_NS, 10)]


def test_every_series_ends_with_the_run() -> None:
    told = made.batches(made.run())
    begun = {(one.family, one.labels) for batch in told for one in batch.points}
    ended = {
        (one.family, one.labels)
        for one in told[-1].points
        if (one.value is None if isinstance(one, Value) else one.ends)
    }
    assert ended == begun
    assert told[-1].at_ns > told[-2].at_ns


def test_the_rest_of_a_run_that_was_cut_is_told() -> None:
    collector = Collector(TRIAL)
    cut: list[Snapshot] = [made.start(), *(made.interval(n) for n in range(13))]
    told = [batch for one in cut for batch in collector.see(one)]
    told += collector.end()
    assert value(whole(told)[-1], families.OK) == 130
    assert list(collector.end()) == []


def test_what_primed_a_server_counts_for_nothing() -> None:
    again = made.start(BEGAN_NS + 60 * SECOND_NS)
    told = made.batches([*made.run(2), again, *(made.interval(n) for n in range(10))])
    last = whole(told)[-1]
    assert value(last, families.OK) == 100
    assert last.began_ns == BEGAN_NS + 60 * SECOND_NS
    instants = [one.at_ns for one in told]
    assert instants == sorted(instants)


def test_a_servers_cpu_time_counts_from_the_begin() -> None:
    collector = Collector(TRIAL)
    told = list(collector.see(made.start(), 70 * SECOND_NS))
    for index in range(20):
        told += collector.see(made.interval(index), (71 + index) * SECOND_NS)
    assert value(told[-1], families.SERVER_CPU) == 19


def test_agents_have_values_of_their_own() -> None:
    collector = Collector(TRIAL)
    agents = {"a1": made.interval(0, ok=5), "a2": made.interval(0, ok=20)}
    told = list(collector.see(made.start()))
    for index in range(10):
        told += collector.see(made.interval(index), None, agents)
    assert value(told[-1], families.AGENT_RATE, agent="a2") == 200
    assert value(told[-1], families.AGENT_OPEN, agent="a1") == 1


def test_labels_name_the_trial_and_hold_no_secret() -> None:
    labels = Trial("load", "http://ann:sesame@h/?token=abc", "1", "http://h/?token=abc").labels()
    assert dict(labels)["study"] == "load"
    assert "sesame" not in str(labels)
    assert "abc" not in str(labels)
    assert list(labels) == sorted(labels)


def test_names_are_those_that_prometheus_makes_of_opentelemetrys() -> None:
    assert families.OK.prometheus == "wiretrial_messages_ok_total"
    assert families.GENERATOR_CPU.prometheus == "wiretrial_generator_cpu_seconds_total"
    assert families.BYTES_SENT.prometheus == "wiretrial_network_sent_bytes_total"
    assert families.GENERATOR_BUSY.prometheus == "wiretrial_generator_busy_ratio"
    assert families.SERVICE_QUANTILE.prometheus == "wiretrial_service_time_quantile_seconds"
    assert families.AGENT_RATE.prometheus == "wiretrial_agent_messages_per_second"
    assert families.MEASURING.prometheus == "wiretrial_measuring"
    names = [one.prometheus for one in families.FAMILIES]
    assert len(set(names)) == len(names)
    assert all(one.help.endswith(".") for one in families.FAMILIES)
    assert {one.kind for one in families.FAMILIES} == set(Kind)
