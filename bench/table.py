"""What was found: medians, and ratios to the floor within rounds, as text and as JSON.

Knows figures; must not know how they came about.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from wiretrial.stats.compare import Comparison, compare

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SCHEMA = "wiretrial-bench"
VERSION = 2


@dataclass(frozen=True)
class Sample:
    """One run of one generator in one round."""

    messages: int
    wall_s: float
    user_s: float
    system_s: float
    peak_bytes: int
    server_cpu_s: float

    @property
    def per_cpu_second(self) -> float:
        """Messages per second of the generator's CPU."""
        return self.messages / (self.user_s + self.system_s)

    @property
    def user_share(self) -> float:
        """Part of the generator's CPU that was spent outside the kernel."""
        return self.user_s / (self.user_s + self.system_s)

    @property
    def busy(self) -> float:
        """Part of the run in which the generator's CPU worked for it."""
        return (self.user_s + self.system_s) / self.wall_s

    @property
    def server_busy(self) -> float:
        """Part of the run in which the server's CPU worked for it."""
        return self.server_cpu_s / self.wall_s


@dataclass(frozen=True)
class Row:
    """One generator with one workload. `ratio` is to `against`, with its 95 % interval."""

    generator: str
    per_cpu_second: float
    throughput: float
    user_share: float
    busy: float
    server_busy: float
    peak_bytes: int
    against: str | None
    ratio: float | None
    low: float | None
    high: float | None
    rounds: int


Samples = Mapping[str, Sequence[Sample | None]]
"""By generator, one for each round; None where a run failed."""


def rows(samples: Samples, seconds: int) -> list[Row]:
    """One row for each generator that gave any figure, in the order of the generators."""
    stand = {name: [one for one in found if one] for name, found in samples.items()}
    measured = [name for name, found in stand.items() if found]
    against = next(iter(measured), None)
    return [_row(name, stand[name], samples[name], against, samples, seconds) for name in measured]


def per_cpu(ours: Sequence[Sample | None], others: Sequence[Sample | None]) -> Comparison | None:
    """Messages per CPU-second of one generator to another's, over the rounds that both have."""
    both = [
        (one.per_cpu_second, other.per_cpu_second)
        for one, other in zip(ours, others, strict=False)
        if one and other
    ]
    return compare([one for one, _ in both], [other for _, other in both]) if both else None


def _row(
    name: str,
    stand: Sequence[Sample],
    found: Sequence[Sample | None],
    against: str | None,
    samples: Samples,
    seconds: int,
) -> Row:
    ratio, low, high = None, None, None
    if against is not None and against != name and (told := per_cpu(found, samples[against])):
        ratio, low, high = told.ratio, told.low, told.high
    return Row(
        generator=name,
        per_cpu_second=median(one.per_cpu_second for one in stand),
        throughput=median(one.messages for one in stand) / seconds,
        user_share=median(one.user_share for one in stand),
        busy=median(one.busy for one in stand),
        server_busy=median(one.server_busy for one in stand),
        peak_bytes=round(median(one.peak_bytes for one in stand)),
        against=against if against != name else None,
        ratio=ratio,
        low=low,
        high=high,
        rounds=len(stand),
    )


def text(title: str, found: Sequence[Row]) -> str:
    """A table for people."""
    against = next((row.against for row in found if row.against), None)
    head = f"{'':14}{'msg/CPU-s':>12}{'msg/s':>12}{'user':>7}{'busy':>7}{'server':>8}{'peak MB':>9}"
    lines = [title, head + (f"   ratio to {against}" if against else "")]
    for row in found:
        ratio = "" if row.ratio is None else f"   {row.ratio:.3f}"
        if row.low is not None and row.high is not None:
            ratio += f" [{row.low:.3f}, {row.high:.3f}]"
        lines.append(
            f"  {row.generator:12}{_count(row.per_cpu_second)}{_count(row.throughput)}"
            f"{row.user_share:7.1%}{row.busy:7.0%}{row.server_busy:8.0%}"
            f"{row.peak_bytes / 1e6:9,.0f}{ratio}"
        )
    return "\n".join(lines)


def _count(per_second: float) -> str:
    """Large messages are few."""
    return f"{per_second:12,.0f}" if per_second >= 100 else f"{per_second:12.2f}"


def write(
    path: Path, machine: Mapping[str, str], seconds: int, found: Mapping[str, Sequence[Row]]
) -> None:
    """Keeps the rows, one workload a line, beside those of other workloads that the file has.

    What was measured on another machine, or in runs of another length, is not kept beside it.
    """
    head = {"schema": SCHEMA, "version": VERSION, "machine": dict(machine), "seconds": seconds}
    rows_of = {name: [rounded(row) for row in rows_] for name, rows_ in found.items()}
    lines = [
        json.dumps(name) + ": " + json.dumps(rows_)
        for name, rows_ in (_kept(path, head) | rows_of).items()
    ]
    body = ",\n  ".join(lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{json.dumps(head)[:-1]}, "workloads": {{\n  {body}\n}}}}\n', encoding="utf-8")


def _kept(path: Path, head: Mapping[str, object]) -> dict[str, list[dict[str, object]]]:
    """The rows of a file with this head."""
    if not path.is_file():
        return {}
    document = json.loads(path.read_text(encoding="utf-8"))
    workloads: dict[str, list[dict[str, object]]] = document.pop("workloads", {})
    return workloads if document == head else {}


def rounded(row: DataclassInstance) -> dict[str, object]:
    """A row's members, fractions to four digits."""
    return {
        name: float(f"{value:.4g}") if isinstance(value, float) else value
        for name, value in asdict(row).items()
    }
