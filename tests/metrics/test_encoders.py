"""What is encoded is read back by protobuf's own library, and means the same."""

from __future__ import annotations

import math
import struct
from typing import Any

import cramjam
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

from tests.metrics import made
from tests.metrics.made import BEGAN_NS, SOURCE
from wiretrial.metrics import otlp, remote_write
from wiretrial.metrics.families import BOUNDS_S, FAMILIES

Series = dict[frozenset[tuple[str, str]], list[tuple[int, float]]]
STALE_BITS = 0x7FF0_0000_0000_0002


def written(seconds: int = 2) -> tuple[Series, Any]:
    """The series of a request, by their labels, and the request."""
    body = remote_write.encode(made.batches(made.run(seconds)), SOURCE)
    request = remote_write.message("WriteRequest")
    request.ParseFromString(bytes(cramjam.snappy.decompress_raw(body)))
    series: Series = {}
    for one in request.timeseries:
        names = [label.name for label in one.labels]
        assert names == sorted(names), "the specification wants them sorted"
        assert len(set(names)) == len(names)
        key = frozenset((label.name, label.value) for label in one.labels)
        assert key not in series, "each series once"
        series[key] = [(sample.timestamp, sample.value) for sample in one.samples]
    return series, request


def found(series: Series, name: str, **labels: str) -> list[tuple[int, float]]:
    wanted = {("__name__", name), *labels.items()}
    (points,) = [points for key, points in series.items() if wanted <= key]
    return points


def test_remote_write_has_each_counter_with_its_times() -> None:
    series, _ = written()
    points = found(series, "wiretrial_messages_ok_total")
    began_ms = BEGAN_NS // 1_000_000
    assert points[:3] == [(began_ms, 0), (began_ms + 1000, 100), (began_ms + 2000, 200)]
    at_ms, last = points[3]
    assert at_ms == began_ms + 2001
    assert math.isnan(last)


def test_a_series_ends_by_the_mark_that_prometheus_knows() -> None:
    series, _ = written()
    _, last = found(series, "wiretrial_messages_ok_total")[-1]
    assert struct.unpack("<Q", struct.pack("<d", last))[0] == STALE_BITS


def test_every_series_says_where_it_is_from_and_of_which_trial() -> None:
    series, _ = written()
    for key in series:
        labels = dict(key)
        assert labels["job"] == "wiretrial"
        assert labels["instance"] == "host:1"
        assert (labels["study"], labels["scenario"]) == ("tiny", "A/B: c")
        assert (labels["trial"], labels["subject"]) == ("3", "A")


def test_a_histogram_is_cumulative_over_its_bounds() -> None:
    series, _ = written()
    name = "wiretrial_service_time_seconds"
    bounds = [f"{bound:f}".rstrip("0").rstrip(".") for bound in BOUNDS_S]
    counts = [found(series, f"{name}_bucket", le=bound)[-2][1] for bound in (*bounds, "+Inf")]
    assert counts == sorted(counts)
    assert counts[-1] == 200
    assert found(series, f"{name}_count")[-2][1] == 200
    assert found(series, f"{name}_sum")[-2][1] == pytest.approx(0.24, rel=1e-3)
    assert found(series, f"{name}_bucket", le="0.00001")[-2][1] == 0


def test_metadata_names_every_metric() -> None:
    _, request = written()
    told = {one.metric_family_name: (one.type, one.help) for one in request.metadata}
    assert set(told) == {family.prometheus for family in FAMILIES}
    assert told["wiretrial_messages_ok_total"][0] == 1
    assert told["wiretrial_connections_open"][0] == 2
    assert told["wiretrial_service_time_seconds"][0] == 3


def exported() -> tuple[ExportMetricsServiceRequest, dict[str, Metric]]:
    request = ExportMetricsServiceRequest()
    request.ParseFromString(otlp.encode(made.batches(made.run(2)), SOURCE))
    (resource,) = request.resource_metrics
    (scope,) = resource.scope_metrics
    names = [metric.name for metric in scope.metrics]
    assert len(set(names)) == len(names)
    return request, {metric.name: metric for metric in scope.metrics}


def test_otlp_names_the_service() -> None:
    request, _ = exported()
    attributes = request.resource_metrics[0].resource.attributes
    told = {one.key: one.value.string_value for one in attributes}
    assert told["service.name"] == "wiretrial"
    assert told["service.instance.id"] == "host:1"


def test_otlp_has_cumulative_sums() -> None:
    _, metrics = exported()
    told = metrics["wiretrial.messages.ok"]
    assert told.unit == "{message}"
    assert told.sum.is_monotonic
    assert told.sum.aggregation_temporality == 2
    points = list(told.sum.data_points)
    assert [one.as_double for one in points[:3]] == [0, 100, 200]
    assert [one.time_unix_nano - BEGAN_NS for one in points[:3]] == [0, 10**9, 2 * 10**9]
    assert {one.start_time_unix_nano for one in points} == {BEGAN_NS}
    assert [one.flags for one in points] == [0, 0, 0, 1]
    labels = {one.key: one.value.string_value for one in points[0].attributes}
    assert labels == {"study": "tiny", "scenario": "A/B: c", "trial": "3", "subject": "A"}


def test_otlp_has_histograms_and_gauges() -> None:
    _, metrics = exported()
    last = metrics["wiretrial.service_time"].histogram.data_points[-2]
    assert list(last.explicit_bounds) == list(BOUNDS_S)
    assert sum(last.bucket_counts) == last.count == 200
    assert len(last.bucket_counts) == len(BOUNDS_S) + 1
    assert last.sum == pytest.approx(0.24, rel=1e-3)
    gauge = metrics["wiretrial.messages.in_flight"].gauge.data_points
    assert gauge[1].as_double == 4
    quantiles = metrics["wiretrial.service_time.quantile"].gauge.data_points
    assert {a.value.string_value for p in quantiles for a in p.attributes} >= {"0.5", "0.9"}
