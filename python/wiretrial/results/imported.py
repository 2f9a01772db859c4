"""Figures that another tool measured, kept so that they stand beside ours.

Knows Google Benchmark's JSON and the form in which all of them are kept; must not know how figures
are compared, or the files of other tools (`results.histories`).
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from wiretrial.errors import StoreError
from wiretrial.results.store import ResultsFolder

FILE: Final = "imported.json"
NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
Tool = Literal["google-benchmark", "k6", "hdrhistogram", "github-action-benchmark"]
TOOLS: dict[Tool, str] = {
    "google-benchmark": "Google Benchmark",
    "k6": "k6",
    "hdrhistogram": "HdrHistogram",
    "github-action-benchmark": "github-action-benchmark",
}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Series(_Part):
    """One benchmark: a value per repetition, nanoseconds."""

    name: str
    real_ns: tuple[float, ...] = Field(min_length=1)
    cpu_ns: tuple[float, ...] = Field(min_length=1)


class Past(_Part):
    """One value of a history, which has no interval."""

    at: str
    """When it was measured, ISO 8601."""
    value: float = Field(gt=0, allow_inf_nan=False)
    revision: str | None = None


class History(_Part):
    """One figure of one benchmark over time, oldest first."""

    name: str
    figure: str
    """`p50`, `p99`, `throughput`, or `value` where the tool does not say what it is."""
    unit: str
    """`ns` of times, `/s` of rates, else as the tool wrote it."""
    higher_is_better: bool = False
    points: tuple[Past, ...] = Field(min_length=1)


class Imported(_Part):
    """Everything that was taken from one file."""

    schema_name: Literal["wiretrial-imported"] = Field(default="wiretrial-imported", alias="schema")
    version: Literal[1] = 1
    source: Tool = "google-benchmark"
    measured_at: str
    context: dict[str, Any]
    labels: dict[str, str] = Field(default_factory=dict)
    series: tuple[Series, ...] = ()
    histories: tuple[History, ...] = ()

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        if not self.series and not self.histories:
            raise ValueError("there is no figure in it")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Of all benchmarks, each once."""
        names = (*(one.name for one in self.series), *(one.name for one in self.histories))
        return tuple(dict.fromkeys(names))


def read_google_benchmark(path: Path, labels: dict[str, str] | None = None) -> Imported:
    """What Google Benchmark wrote with `--benchmark_format=json`. Its aggregates are left out."""
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} can't be read: {error}", "name a JSON file") from error
    values: dict[str, list[tuple[float, float]]] = {}
    try:
        for entry in document["benchmarks"]:
            if entry.get("run_type", "iteration") != "iteration" or entry.get("error_occurred"):
                continue
            unit = NANOSECONDS[entry.get("time_unit", "ns")]
            name = entry.get("run_name", entry["name"])
            pair = (float(entry["real_time"]) * unit, float(entry["cpu_time"]) * unit)
            values.setdefault(name, []).append(pair)
        return Imported(
            measured_at=str(document["context"].get("date", "")),
            context=document["context"],
            labels=labels or {},
            series=tuple(
                Series(
                    name=name,
                    real_ns=tuple(real for real, _ in pairs),
                    cpu_ns=tuple(cpu for _, cpu in pairs),
                )
                for name, pairs in values.items()
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError, ValidationError) as error:
        raise StoreError(
            f"{path} is not what Google Benchmark writes ({error.__class__.__name__})",
            "write it with --benchmark_out=FILE --benchmark_out_format=json",
        ) from error


def keep(base: Path, name: str, imported: Imported) -> ResultsFolder:
    """A new folder of results with these figures."""
    results = ResultsFolder.create(base, name, imported.model_dump_json(by_alias=True, indent=1))
    results.write(FILE, imported.model_dump_json(by_alias=True).encode())
    return results


def load(folder: Path) -> Imported | None:
    """The figures that were imported into a folder; None where there are none."""
    try:
        text = (folder / FILE).read_text(encoding="utf-8")
    except OSError:
        return None
    try:
        return Imported.model_validate_json(text)
    except ValidationError as error:
        raise StoreError(f"{folder / FILE} can't be read", "import it again") from error


def instant(text: str) -> datetime | None:
    """A time that a tool wrote, in its own zone or in UTC; None: it is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
