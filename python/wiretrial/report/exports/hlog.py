"""Histogram logs, version 1.2, as HdrHistogram's own tools read them.

One line per interval, tagged by scenario and block: start and length in seconds, the greatest value
in milliseconds, the histogram as it was recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from wiretrial.results import hdr
from wiretrial.results.model import Trial

LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'


def as_hlog(trials: Sequence[Trial], metric: str) -> str:
    """All intervals of all trials in which `metric` was recorded."""
    begun = min(datetime.fromisoformat(trial.started_at) for trial in trials)
    lines = [
        "#[Histogram log format version 1.2]",
        f"#[{metric}, nanoseconds; the greatest value is given in milliseconds]",
        f"#[StartTime: {begun.timestamp():.3f} (seconds since epoch), {begun.isoformat()}]",
        LEGEND,
    ]
    for trial in trials:
        offset = (datetime.fromisoformat(trial.started_at) - begun).total_seconds()
        lines += _intervals(trial, metric, offset)
    return "\n".join(lines) + "\n"


def _intervals(trial: Trial, metric: str, offset: float) -> Iterator[str]:
    # A tag ends at a comma, and a reader may split a line at a space.
    name = re.sub(r"[^\w.+-]+", "_", trial.scenario.name).strip("_")
    for interval in trial.intervals:
        text = interval.histograms.get(metric)
        if text is None:
            continue
        start = offset + interval.start_ns / 1e9
        length = (interval.end_ns - interval.start_ns) / 1e9
        greatest = hdr.decode(text).max / 1e6
        yield f"Tag={name}.{trial.block + 1},{start:.3f},{length:.3f},{greatest:.3f},{text}"
