"""Encodes metrics for OTLP over HTTP: OpenTelemetry's own protobuf messages.

Knows the messages of `opentelemetry-proto`; must not know how a request is sent. The SDK's
instruments are not used: they would sum up single values, and the engine has summed them up
already.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AggregationTemporality,
    DataPointFlags,
    HistogramDataPoint,
    Metric,
    NumberDataPoint,
)

from wiretrial import __version__
from wiretrial.metrics.families import (
    BOUNDS_S,
    Batch,
    Distribution,
    Family,
    Kind,
    Labels,
    Value,
)

HEADERS: Final = {"Content-Type": "application/x-protobuf"}
_SOURCE: Final = {"job": "service.name", "instance": "service.instance.id"}
"""The attributes from which Prometheus makes these labels."""

_Told = tuple[Batch, Value | Distribution]


def encode(batches: Sequence[Batch], source: Labels) -> bytes:
    """The body of a request. `source`: labels `job` and `instance` of all series."""
    request = ExportMetricsServiceRequest()
    resource = request.resource_metrics.add()
    resource.resource.attributes.extend(
        [
            *(_attribute(_SOURCE.get(name, name), value) for name, value in source),
            _attribute("service.version", __version__),
        ]
    )
    scope = resource.scope_metrics.add()
    scope.scope.name = "wiretrial"
    scope.scope.version = __version__
    told = [(batch, point) for batch in batches for point in batch.points]
    told.sort(key=lambda pair: pair[1].family.name)
    for _, group in groupby(told, key=lambda pair: pair[1].family.name):
        pairs = list(group)
        _fill(scope.metrics.add(), pairs[0][1].family, pairs)
    return request.SerializeToString()


def _fill(metric: Metric, family: Family, told: Iterable[_Told]) -> None:
    metric.name, metric.unit, metric.description = family.name, family.unit, family.help
    cumulative = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
    if family.kind is Kind.COUNTER:
        metric.sum.is_monotonic = True
        metric.sum.aggregation_temporality = cumulative
    elif family.kind is Kind.HISTOGRAM:
        metric.histogram.aggregation_temporality = cumulative
    for batch, point in told:
        if isinstance(point, Distribution):
            metric.histogram.data_points.append(_distribution(batch, point))
        elif family.kind is Kind.COUNTER:
            metric.sum.data_points.append(_number(batch, point))
        else:
            metric.gauge.data_points.append(_number(batch, point))


def _number(batch: Batch, point: Value) -> NumberDataPoint:
    told = NumberDataPoint(attributes=_attributes(point.labels), time_unix_nano=batch.at_ns)
    if point.family.kind is Kind.COUNTER:
        told.start_time_unix_nano = batch.began_ns
    if point.value is None:
        told.flags = DataPointFlags.DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK
    else:
        told.as_double = point.value
    return told


def _distribution(batch: Batch, point: Distribution) -> HistogramDataPoint:
    told = HistogramDataPoint(
        attributes=_attributes(point.labels),
        start_time_unix_nano=batch.began_ns,
        time_unix_nano=batch.at_ns,
        explicit_bounds=BOUNDS_S,
    )
    if point.ends:
        told.flags = DataPointFlags.DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK
    else:
        told.count, told.sum = sum(point.counts), point.sum_s
        told.bucket_counts.extend(point.counts)
    return told


def _attributes(labels: Labels) -> list[KeyValue]:
    return [_attribute(name, value) for name, value in labels]


def _attribute(name: str, value: str) -> KeyValue:
    return KeyValue(key=name, value=AnyValue(string_value=value))
