"""Figures that another tool measured, kept so that they can be compared with ours.

Knows Google Benchmark's JSON; must not know how figures are compared.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wiretrial.errors import StoreError
from wiretrial.results.store import ResultsFolder

FILE: Final = "imported.json"
NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


class Series(BaseModel):
    """One benchmark: a value per repetition, nanoseconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    real_ns: tuple[float, ...] = Field(min_length=1)
    cpu_ns: tuple[float, ...] = Field(min_length=1)


class Imported(BaseModel):
    """Everything that was taken from one file."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_name: Literal["wiretrial-imported"] = Field(default="wiretrial-imported", alias="schema")
    version: Literal[1] = 1
    source: Literal["google-benchmark"] = "google-benchmark"
    measured_at: str
    context: dict[str, Any]
    series: tuple[Series, ...] = Field(min_length=1)


def read_google_benchmark(path: Path) -> Imported:
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
