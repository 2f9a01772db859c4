"""What HTTP/2 costs each generator, as text, as JSON, and as the tables of docs/performance.md.

Knows figures; must not know how they came about.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.streams import ALL, StreamLoad
from bench.table import Sample, per_cpu, rounded
from wiretrial.errors import WiretrialError

SCHEMA = "wiretrial-bench-http2"
VERSION = 1
PLACE = BEGIN, END = "<!-- generated: http2 speed -->", "<!-- end: http2 speed -->"
"""The two lines of docs/performance.md between which the tables stand."""
ABSENT = "not here"


@dataclass(frozen=True)
class Figure:
    """One generator with one load: medians. `ratio` is of ours to it, with its 95 % interval."""

    generator: str
    per_cpu_second: float
    throughput: float
    busy: float
    server_busy: float
    peak_bytes: int
    ratio: float | None
    low: float | None
    high: float | None
    rounds: int


@dataclass(frozen=True)
class Memory:
    """Bytes of the generator for one more idle connection, and one more idle stream."""

    connection: float
    stream: float


@dataclass(frozen=True)
class Found:
    """All that a run of the bench has found."""

    machine: Mapping[str, str]
    seconds: int
    loads: Mapping[str, Sequence[Figure]]
    memory: Memory | None
    absent: Sequence[str] = ()
    """Generators that are not on this machine."""


Samples = Mapping[str, Sequence[Sample | None]]
"""By generator, ours first, one for each round; None where a run failed."""


def figures(samples: Samples, seconds: int) -> list[Figure]:
    """One for each generator that gave any figure, in their order."""
    ours = next(iter(samples.values()), [])
    return [_figure(name, found, ours, seconds) for name, found in samples.items() if any(found)]


def _figure(
    name: str, found: Sequence[Sample | None], ours: Sequence[Sample | None], seconds: int
) -> Figure:
    stand = [one for one in found if one]
    compared = None if found is ours else per_cpu(ours, found)
    return Figure(
        generator=name,
        per_cpu_second=median(one.per_cpu_second for one in stand),
        throughput=median(one.messages for one in stand) / seconds,
        busy=median(one.busy for one in stand),
        server_busy=median(one.server_busy for one in stand),
        peak_bytes=round(median(one.peak_bytes for one in stand)),
        ratio=compared.ratio if compared else None,
        low=compared.low if compared else None,
        high=compared.high if compared else None,
        rounds=len(stand),
    )


def text(title: str, found: Sequence[Figure]) -> str:
    """A table for people who watch."""
    head = f"{'':12}{'msg/CPU-s':>12}{'msg/s':>12}{'busy':>7}{'server':>8}{'peak MB':>9}"
    lines = [title, head + "   ours to it"]
    lines += [
        f"  {one.generator:10}{one.per_cpu_second:12,.0f}{one.throughput:12,.0f}{one.busy:7.0%}"
        f"{one.server_busy:8.0%}{one.peak_bytes / 1e6:9,.0f}   {_ratio(one)}"
        for one in found
    ]
    return "\n".join(lines)


def write(path: Path, found: Found, schema: str = SCHEMA) -> None:
    """Keeps what was found, one load a line."""
    head = {
        "schema": schema,
        "version": VERSION,
        "machine": dict(found.machine),
        "seconds": found.seconds,
        "absent": list(found.absent),
        "memory": rounded(found.memory) if found.memory else None,
    }
    lines = [
        json.dumps(name) + ": " + json.dumps([rounded(one) for one in rows])
        for name, rows in found.loads.items()
    ]
    body = ",\n  ".join(lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{json.dumps(head)[:-1]}, "loads": {{\n  {body}\n}}}}\n', encoding="utf-8")


def read(path: Path) -> Found:
    """What a file of `write` holds."""
    document = json.loads(path.read_text(encoding="utf-8"))
    memory = document["memory"]
    loads = {name: [Figure(**one) for one in rows] for name, rows in document["loads"].items()}
    return Found(
        document["machine"],
        document["seconds"],
        loads,
        Memory(**memory) if memory else None,
        document["absent"],
    )


def into_page(page: Path, place: tuple[str, str], tables: str) -> None:
    """Writes tables into a page, between its two lines that say so.

    Raises WiretrialError where the page has no such lines.
    """
    first, last = place
    before, begin, rest = page.read_text(encoding="utf-8").partition(first)
    _, end, behind = rest.partition(last)
    if not (begin and end):
        raise WiretrialError(f"{page} has no place for the tables", f"add {first} and {last}")
    page.write_text(f"{before}{first}\n{tables}\n{last}{behind}", encoding="utf-8")


def markdown(found: Found) -> str:
    """The tables of HTTP/2, of HTTP/2 over TLS and of gRPC, and what idle ones take."""
    parts = [conditions(found)]
    plain = [load for load in ALL if load.kind != "call" and not load.is_secure]
    parts.append(_table(found, plain, ("floor", "h2load", "oha")))
    secure = [load for load in ALL if load.is_secure]
    parts.append("Inside TLS:\n\n" + _table(found, secure, ("h2load", "oha", "k6")))
    calls = [load for load in ALL if load.kind == "call"]
    parts.append("gRPC, unary calls:\n\n" + _table(found, calls, ("floor", "ghz")))
    if found.memory:
        parts.append(
            f"Memory of the generator: {found.memory.connection:,.0f} bytes for an idle"
            f" connection, {found.memory.stream:,.0f} for an idle stream."
        )
    return "\n\n".join(parts)


def conditions(found: Found) -> str:
    """How it was measured, and on what."""
    rounds = max((one.rounds for rows in found.loads.values() for one in rows), default=0)
    cpus = f"{found.machine['cpus']} CPUs, {found.machine['cpu']}, Linux {found.machine['kernel']}"
    return f"Runs of {found.seconds} s, {rounds} rounds, medians; {cpus}."


def _table(found: Found, loads: Sequence[StreamLoad], others: Sequence[str]) -> str:
    named = [(load.name, load.server, load.connections, load.streams) for load in loads]
    return table(found, named, others)


def table(found: Found, loads: Sequence[tuple[str, str, int, int]], others: Sequence[str]) -> str:
    """Ours beside others. A load: its name, its server, its connections, streams on each."""
    heads = ["server", "connections x streams", "wiretrial"]
    for other in others:
        heads += [other, "wiretrial to the floor" if other == "floor" else f"times {other}"]
    lines = [heads, ["---"] * len(heads)]
    for name, server, connections, streams in loads:
        rows = {one.generator: one for one in found.loads.get(name, ())}
        ours = rows.get("wiretrial")
        cells = [server, f"{connections} x {streams}", _rate(ours)]
        for other in others:
            its = rows.get(other)
            absent = ABSENT if other in found.absent else ""
            cells += [_rate(its) if its else absent, _ratio(its) if its else ""]
        lines.append(cells)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _rate(figure: Figure | None) -> str:
    return f"{float(f'{figure.per_cpu_second:.3g}'):,.0f}" if figure else ""


def _ratio(figure: Figure) -> str:
    if figure.ratio is None:
        return ""
    interval = (
        f" [{figure.low:.2f}, {figure.high:.2f}]"
        if figure.low is not None and figure.high is not None
        else ""
    )
    return f"{figure.ratio:.2f}{interval}"
