"""Encodes metrics for Prometheus remote write, version 1: protobuf in a block of Snappy.

Knows the messages of the specification (https://prometheus.io/docs/specs/prw/remote_write_spec/)
and how a histogram is made of series; must not know how a request is sent. The four messages are
described here in place of code that `protoc` writes: protobuf's own library encodes them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final

import cramjam
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from wiretrial.metrics.families import BOUNDS_S, FAMILIES, Batch, Distribution, Kind, Labels, Value

HEADERS: Final = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
STALE: Final[float] = struct.unpack("<d", struct.pack("<Q", 0x7FF0_0000_0000_0002))[0]
"""The not-a-number by which Prometheus knows that a series ends."""
_PACKAGE: Final = "prometheus"
_TYPES: Final = {Kind.COUNTER: 1, Kind.GAUGE: 2, Kind.HISTOGRAM: 3}
"""Of `MetricMetadata.MetricType`."""

_Field = descriptor_pb2.FieldDescriptorProto
_MESSAGES: Final = {
    "WriteRequest": (("timeseries", 1, "TimeSeries"), ("metadata", 3, "MetricMetadata")),
    "TimeSeries": (("labels", 1, "Label"), ("samples", 2, "Sample")),
    "Label": (("name", 1, _Field.TYPE_STRING), ("value", 2, _Field.TYPE_STRING)),
    "Sample": (("value", 1, _Field.TYPE_DOUBLE), ("timestamp", 2, _Field.TYPE_INT64)),
    "MetricMetadata": (
        # An enumeration, which is a number on the wire.
        ("type", 1, _Field.TYPE_INT32),
        ("metric_family_name", 2, _Field.TYPE_STRING),
        ("help", 4, _Field.TYPE_STRING),
    ),
}
"""Name, number and type of each field; a name of a message for many of it."""


def encode(batches: Sequence[Batch], source: Labels) -> bytes:
    """The body of a request. `source`: labels `job` and `instance` of all series."""
    request = message("WriteRequest")
    series: dict[Labels, Any] = {}
    for batch in batches:
        for name, labels, value in _samples(batch):
            key = tuple(sorted((("__name__", name), *labels, *source)))
            if (told := series.get(key)) is None:
                told = series[key] = request.timeseries.add()
                for label, text in key:
                    told.labels.add(name=label, value=text)
            told.samples.add(value=value, timestamp=batch.at_ns // 1_000_000)
    for family in FAMILIES:
        request.metadata.add(
            type=_TYPES[family.kind], metric_family_name=family.prometheus, help=family.help
        )
    return bytes(cramjam.snappy.compress_raw(request.SerializeToString()))


def message(name: str) -> Any:
    """A new message of the specification."""
    return _classes()[name]()


def _samples(batch: Batch) -> Iterator[tuple[str, Labels, float]]:
    """Name, labels and value of each sample; of a histogram one for each bound, and two more."""
    for point in batch.points:
        name = point.family.prometheus
        if isinstance(point, Value):
            yield name, point.labels, STALE if point.value is None else point.value
            continue
        below = 0
        for bound, count in zip((*_bounds(), "+Inf"), point.counts, strict=True):
            below += count
            yield f"{name}_bucket", (*point.labels, ("le", bound)), _or_stale(point, below)
        yield f"{name}_count", point.labels, _or_stale(point, below)
        yield f"{name}_sum", point.labels, _or_stale(point, point.sum_s)


def _or_stale(point: Distribution, value: float) -> float:
    return STALE if point.ends else value


@cache
def _bounds() -> tuple[str, ...]:
    # As OpenTelemetry's translation to Prometheus writes them: 0.00001, not 1e-05.
    return tuple(f"{bound:f}".rstrip("0").rstrip(".") for bound in BOUNDS_S)


@cache
def _classes() -> dict[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file(_MESSAGES.items()))
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }


def _file(
    messages: Iterable[tuple[str, tuple[tuple[str, int, Any], ...]]],
) -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name="remote_write.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in messages:
        told = file.message_type.add(name=name)
        for field, number, kind in fields:
            if isinstance(kind, str):
                told.field.add(
                    name=field,
                    number=number,
                    label=_Field.LABEL_REPEATED,
                    type=_Field.TYPE_MESSAGE,
                    type_name=f".{_PACKAGE}.{kind}",
                )
            else:
                told.field.add(name=field, number=number, label=_Field.LABEL_OPTIONAL, type=kind)
    return file
