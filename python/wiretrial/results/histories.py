"""Histories that other tools kept: k6's summaries, HdrHistogram's logs, github-action-benchmark.

Knows the forms of these files; must not know where figures are kept or how they are compared. What
a file says of its time is taken from it; else a file was measured when it was last written.
"""

from __future__ import annotations

import binascii
import json
import math
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hdrh.codec import (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
)
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from pydantic import ValidationError

from wiretrial.errors import StoreError
from wiretrial.results import hdr
from wiretrial.results.hdr import Hdr
from wiretrial.results.imported import (
    NANOSECONDS,
    History,
    Imported,
    Past,
    instant,
    read_google_benchmark,
)

DATA_JS = re.compile(r"^\s*window\.BENCHMARK_DATA\s*=\s*")
LOG = re.compile(r'^(#\[|"StartTimestamp"|Tag=)')
"""How HdrHistogram's logs begin."""
BIGGER_IS_BETTER = frozenset({"benchmarkjs", "pytest", "customBiggerIsBetter"})
"""The tools of github-action-benchmark whose values are rates; those of the others are costs."""
K6_FIGURES = {
    "med": "p50",
    "p(50)": "p50",
    "p(90)": "p90",
    "p(95)": "p95",
    "p(99)": "p99",
    "p(99.9)": "p999",
    "avg": "mean",
}
K6_TIMES = ("http_req_duration", "grpc_req_duration", "ws_msgs_duration", "iteration_duration")
"""The first of these that there is tells the times."""
K6_RATES = ("http_reqs", "iterations")
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
_EPOCH_S = 1e8
"""A time below is no wall clock's."""
_KNOWN = (
    "name Google Benchmark's JSON, a summary of k6 (--summary-export or handleSummary), a log of"
    " HdrHistogram (.hlog), or github-action-benchmark's data.js"
)


@dataclass(frozen=True)
class About:
    """What the user tells of a file. None: what the file itself tells, or its name and date."""

    name: str | None = None
    at: datetime | None = None
    labels: dict[str, str] = field(default_factory=dict)
    unit: str = "ns"
    """Of a log's values."""


def read(path: Path, about: About) -> Imported:
    """The figures in a file, whichever of these tools wrote it."""
    text = _text(path)
    if LOG.match(text):
        return _log(path, about)
    prefix = DATA_JS.match(text)
    if prefix:
        text = text[prefix.end() :].strip().removesuffix(";")
    try:
        document: Any = json.loads(text)
    except ValueError as error:
        raise StoreError(f"{path} is no JSON and no log of HdrHistogram", _KNOWN) from error
    if isinstance(document, dict) and isinstance(document.get("entries"), dict):
        return _action(path, document, about)
    if isinstance(document, dict) and isinstance(document.get("metrics"), dict):
        return _k6(path, document["metrics"], about)
    if isinstance(document, dict) and "benchmarks" in document:
        return _google(path, about)
    raise StoreError(f"{path} is of no tool whose results can be imported", _KNOWN)


def _google(path: Path, about: About) -> Imported:
    found = read_google_benchmark(path, about.labels)
    at = about.at or instant(found.measured_at) or _written(path)
    return found.model_copy(update={"measured_at": _iso(at)})


def _k6(path: Path, metrics: Mapping[str, Any], about: About) -> Imported:
    """The end-of-test summary, in either form; times are in milliseconds there."""
    at, revision = _iso(about.at or _written(path)), about.labels.get("commit")
    name = about.name or path.stem
    kind = next((one for one in K6_TIMES if one in metrics), None)
    rate = next((one for one in K6_RATES if one in metrics), None)
    found = []
    for key, values in metrics.items():
        metric, _, tag = key.partition("{")
        if tag.startswith("expected_response"):
            # Of all requests but the failed ones, which most scripts do not tell apart.
            continue
        scenario = f"{name} {tag.rstrip('}')}".strip()
        told = values.get("values", values) if isinstance(values, dict) else {}
        if metric == kind:
            found += [
                _one(scenario, figure, "ns", told[word] * NANOSECONDS["ms"], at, revision)
                for word, figure in K6_FIGURES.items()
                if _is_figure(told.get(word))
            ]
        if metric == rate and _is_figure(told.get("rate")):
            found.append(
                _one(scenario, "throughput", "/s", told["rate"], at, revision, is_rate=True)
            )
    if not found:
        raise StoreError(
            f"{path} has no request times of k6",
            "write it with `k6 run --summary-export FILE`, or in handleSummary(data)",
        )
    return Imported(
        source="k6", measured_at=at, context={}, labels=about.labels, histories=tuple(found)
    )


def _action(path: Path, document: Mapping[str, Any], about: About) -> Imported:
    """All commits that github-action-benchmark kept, each benchmark a history."""
    points: dict[tuple[str, str], list[Past]] = {}
    bigger: dict[tuple[str, str], bool] = {}
    try:
        for suite, entries in document["entries"].items():
            for entry in entries:
                at = _iso(datetime.fromtimestamp(float(entry["date"]) / 1e3, UTC))
                for bench in entry["benches"]:
                    value = float(bench["value"])
                    if not _is_figure(value):
                        continue
                    key = (f"{suite}: {bench['name']}", str(bench.get("unit") or ""))
                    bigger[key] = entry.get("tool") in BIGGER_IS_BETTER
                    past = Past(at=at, value=value, revision=str(entry["commit"]["id"]))
                    points.setdefault(key, []).append(past)
        latest = max(past.at for found in points.values() for past in found)
        return Imported(
            source="github-action-benchmark",
            measured_at=latest,
            context={"repository": document.get("repoUrl")},
            labels=about.labels,
            histories=tuple(
                History(
                    name=name,
                    figure="value",
                    unit=unit,
                    higher_is_better=bigger[name, unit],
                    points=tuple(sorted(found, key=lambda past: past.at)),
                )
                for (name, unit), found in points.items()
            ),
        )
    except (
        *(KeyError, TypeError, ValueError, AttributeError),
        *(OverflowError, OSError, ValidationError),
    ) as error:
        raise StoreError(
            f"{path} is not what github-action-benchmark keeps ({error.__class__.__name__})",
            "name its data.js, or the JSON file of external-data-json-path",
        ) from error


def _log(path: Path, about: About) -> Imported:
    """A log of HdrHistogram: its intervals together, each tag by itself."""
    size = NANOSECONDS[about.unit]
    totals, began = _intervals(path)
    at = _iso(about.at or began or _written(path))
    name = about.name or path.stem
    return Imported(
        source="hdrhistogram",
        measured_at=at,
        context={},
        labels=about.labels,
        histories=tuple(
            _one(
                *(f"{name} {tag}".strip(), figure, "ns"),
                *(total.quantile(q) * size, at, about.labels.get("commit")),
            )
            for tag, total in totals.items()
            for figure, q in QUANTILES.items()
            if total.count and total.quantile(q) > 0
        ),
    )


def _intervals(path: Path) -> tuple[dict[str, Hdr], datetime | None]:
    totals: dict[str, HdrHistogram] = {}
    reader = HistogramLogReader(
        str(path), HdrHistogram(hdr.LOWEST_NS, hdr.HIGHEST_NS, hdr.SIGNIFICANT_DIGITS)
    )
    try:
        while (one := reader.get_next_interval_histogram()) is not None:
            tag = one.get_tag() or ""
            if tag not in totals:
                totals[tag] = HdrHistogram(hdr.LOWEST_NS, hdr.HIGHEST_NS, hdr.SIGNIFICANT_DIGITS)
            totals[tag].add(one)
        began = reader.get_start_time_sec()
    except (
        *(binascii.Error, zlib.error, IndexError, TypeError, ValueError),
        *(HdrCookieException, HdrHistogramSettingsException, HdrLengthException),
    ) as error:
        raise StoreError(
            f"{path} is no whole log of HdrHistogram ({error})", "write it again, or cut it"
        ) from error
    finally:
        reader.close()
    if not any(total.get_total_count() for total in totals.values()):
        raise StoreError(f"{path} holds no recorded value", "name a log with intervals")
    start = datetime.fromtimestamp(began, UTC) if began > _EPOCH_S else None
    return {tag: Hdr(total) for tag, total in totals.items()}, start


def _one(
    name: str,
    figure: str,
    unit: str,
    value: float,
    at: str,
    revision: str | None,
    *,
    is_rate: bool = False,
) -> History:
    past = Past(at=at, value=value, revision=revision)
    return History(name=name, figure=figure, unit=unit, higher_is_better=is_rate, points=(past,))


def _is_figure(value: Any) -> bool:
    """Whether it has a logarithm: what took no time, or was not reached, has none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value > 0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}", "name a file") from error
    except UnicodeDecodeError as error:
        raise StoreError(f"{path} is no text", _KNOWN) from error


def _written(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="seconds")
