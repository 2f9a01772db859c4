"""What sessions cost, as text and as JSON: CPU, memory, faults that were seen.

Knows figures; must not know how they came about.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.table import Row, rounded

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SCHEMA = "wiretrial-bench-traffic"
VERSION = 1


@dataclass(frozen=True)
class Crowd:
    """What one run with users who think took of memory."""

    peak_bytes: int
    right: int


@dataclass(frozen=True)
class Memory:
    """A generator's memory with few users and with many: the most at once, medians."""

    generator: str
    few: int
    many: int
    few_bytes: int
    many_bytes: int
    few_right: int
    many_right: int
    rounds: int

    @property
    def per_1000_bytes(self) -> float:
        """What 1,000 more users take."""
        return (self.many_bytes - self.few_bytes) * 1000 / (self.many - self.few)


@dataclass(frozen=True)
class Seen:
    """Of the faults put into the replies to one generator: how many it named.

    `slow_p99_ms`: what it gives as p99 of the route that was late in one of 50.
    """

    generator: str
    planted: Mapping[str, int]
    named: Mapping[str, int]
    slow_p99_ms: float


def memory(generator: str, crowds: Mapping[int, Sequence[Crowd | None]]) -> Memory | None:
    """The row of one generator, where both sizes gave figures."""
    (few, fewer), (many, more) = sorted(crowds.items())
    both = [(one, other) for one, other in zip(fewer, more, strict=True) if one and other]
    if not both:
        return None
    return Memory(
        generator,
        few,
        many,
        round(median(one.peak_bytes for one, _ in both)),
        round(median(other.peak_bytes for _, other in both)),
        round(median(one.right for one, _ in both)),
        round(median(other.right for _, other in both)),
        len(both),
    )


def cost_text(title: str, found: Sequence[Row]) -> str:
    """Requests per second of CPU, and how many times as many the first generator has."""
    head = f"{'':16}{'req/CPU-s':>11}{'us/req':>9}{'req/s':>10}{'busy':>7}{'server':>8}"
    lines = [title, head + (f"   {found[0].generator} to it" if found else "")]
    for row in found:
        ratio = ""
        if row.ratio and row.low and row.high:
            ratio = f"   {1 / row.ratio:.2f} [{1 / row.high:.2f}, {1 / row.low:.2f}]"
        lines.append(
            f"  {row.generator:14}{row.per_cpu_second:11,.0f}{1e6 / row.per_cpu_second:9.2f}"
            f"{row.throughput:10,.0f}{row.busy:7.0%}{row.server_busy:8.0%}{ratio}"
        )
    return "\n".join(lines)


def memory_text(found: Sequence[Memory]) -> str:
    """The most memory at once, MB, and what 1,000 more users take."""
    if not found:
        return "memory: nothing was measured"
    head = f"{'':16}{f'{found[0].few:,} users':>14}{f'{found[0].many:,} users':>14}"
    lines = ["memory, MB", head + f"{'1,000 more':>12}{'right replies':>16}"]
    for row in found:
        lines.append(
            f"  {row.generator:14}{row.few_bytes / 1e6:14,.1f}{row.many_bytes / 1e6:14,.1f}"
            f"{row.per_1000_bytes / 1e6:12,.2f}{row.many_right:16,}"
        )
    return "\n".join(lines)


def faults_text(found: Sequence[Seen]) -> str:
    """Named of planted, by fault."""
    kinds = [kind for kind in (found[0].planted if found else {}) if kind != "slow"]
    head = f"{'':16}" + "".join(f"{kind:>16}" for kind in kinds)
    lines = ["faults, named of planted", head + f"{'p99 of list':>14}"]
    for row in found:
        told = (f"{row.named.get(kind, 0):,} of {row.planted[kind]:,}" for kind in kinds)
        lines.append(
            f"  {row.generator:14}"
            + "".join(f"{one:>16}" for one in told)
            + f"{row.slow_p99_ms:11,.0f} ms"
        )
    return "\n".join(lines)


def write(
    path: Path, head: Mapping[str, object], part: str, rows: Sequence[DataclassInstance]
) -> None:
    """Keeps a part's rows, one a line, beside the other parts that the file has of this machine."""
    whole: dict[str, object] = {"schema": SCHEMA, "version": VERSION, "machine": head["machine"]}
    parts: dict[str, object] = {}
    if path.is_file():
        document = json.loads(path.read_text(encoding="utf-8"))
        kept = document.pop("parts", {})
        parts = kept if document == whole else {}
    settings = {name: value for name, value in head.items() if name != "machine"}
    parts[part] = {**settings, "rows": [rounded(row) for row in rows]}
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in parts.items())
    begin = json.dumps(whole)[:-1]
    path.write_text(f'{begin}, "parts": {{\n  {lines}\n}}}}\n', encoding="utf-8")
