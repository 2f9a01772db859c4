"""The forms in which commands write what they found.

Knows their names; must not know how any is written.
"""

from __future__ import annotations

from enum import StrEnum


class ReportForm(StrEnum):
    """What a report can be."""

    TEXT = "text"
    HTML = "html"
    MARKDOWN = "markdown"
    SVG = "svg"
    PNG = "png"
    JSON = "json"
    CSV = "csv"
    COMPACT = "compact"
    GOOGLE_BENCHMARK = "google-benchmark"


class ExportForm(StrEnum):
    """What results can be written as."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    HLOG = "hlog"
    GOOGLE_BENCHMARK = "google-benchmark"
    KEPT = "kept"


class GateForm(StrEnum):
    """How the decision of a gate is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


class TrendForm(StrEnum):
    """How results over time are written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


class TimeUnit(StrEnum):
    """The unit of a log's values."""

    NS = "ns"
    US = "us"
    MS = "ms"
    S = "s"


class TrendMetric(StrEnum):
    """The figures that are followed over time."""

    P50 = "p50"
    P99 = "p99"
    CPU = "cpu"
    THROUGHPUT = "throughput"
    MEMORY = "memory"


class TrendStep(StrEnum):
    """What a point of a trend is."""

    RESULT = "result"
    COMMIT = "commit"
    DAY = "day"
