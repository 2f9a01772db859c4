"""All trials of a study in one small file, to be kept with it: `results/trials.jsonl.xz`.

Knows the form of the file; must not know how trials are made smaller. It is JSON lines in xz: first
the study with what could not be measured, what its subjects weigh, how long they took to start and
what its searches asked, then a line per trial with its figures and its record. Readers need no
wiretrial for it: any JSON reader reads it. A histogram in it is said in plain steps (`Hdr.steps`).
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wiretrial.errors import StoreError
from wiretrial.results import absent, adoption, hdr, searches, starts
from wiretrial.results.absent import Absent
from wiretrial.results.adoption import Adopted
from wiretrial.results.model import Trial
from wiretrial.results.searches import Searched
from wiretrial.results.starts import Start
from wiretrial.results.store import ResultsFolder

FILE = "results/trials.jsonl.xz"
"""Below a study's folder."""
SUFFIX = ".jsonl.xz"
SCHEMA: Final = "wiretrial-kept"
HISTOGRAMS: Final = "histograms"
MOST_UNPACKED = 1 << 30
"""No more bytes are unpacked: a small file may say that it holds any number of them."""
_OTHER = "name a file that `wiretrial results export --format kept` wrote"


class Head(BaseModel):
    """The first line."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_name: Literal["wiretrial-kept"] = Field(default=SCHEMA, alias="schema")
    version: Literal[1, 2] = 2
    """1: histograms are packed texts, as in the records of a folder."""
    study: dict[str, Any]
    """The study's own document."""
    trials: int
    absent: tuple[Absent, ...] = ()
    adopted: tuple[Adopted, ...] = ()
    starts: tuple[Start, ...] = ()
    searches: tuple[Searched, ...] = ()
    """Those of which not all trials have to follow. Of both, none is left out of the line."""


@dataclass(frozen=True)
class Kept:
    """What the file holds."""

    head: Head
    trials: tuple[Trial, ...]


def head_of(results: ResultsFolder, trials: int) -> Head:
    """What a folder holds beside its trials, of which there are so many."""
    return Head(
        study=json.loads(results.document()),
        trials=trials,
        absent=absent.read(results),
        adopted=adoption.read(results),
        starts=starts.read(results),
        searches=searches.read(results),
    )


def pack(head: Head, rows: Sequence[dict[str, Any]], trials: Sequence[Trial]) -> bytes:
    """The file. `rows`: the figures of each trial, by name."""
    nothing = {name for name in ("starts", "searches") if not getattr(head, name)}
    lines = [head.model_dump_json(by_alias=True, exclude=nothing)]
    for row, trial in zip(rows, trials, strict=True):
        figures = {name: value for name, value in row.items() if value is not None}
        record = trial.model_dump(mode="json", by_alias=True)
        told = {"figures": figures, "trial": _with(record, lambda text: hdr.decode(text).steps)}
        lines.append(json.dumps(told, separators=(",", ":"), ensure_ascii=False))
    return lzma.compress("\n".join((*lines, "")).encode(), filters=_FILTERS)


_FILTERS = ({"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0},)
"""For text: bytes predict each other whatever their alignment. It saves 5 %."""


def read(path: Path) -> Kept:
    """The file at `path`; raises `StoreError` where it is none or is not whole."""
    try:
        lines = unpacked(path.read_bytes()).decode().splitlines()
        head = Head.model_validate_json(lines[0])
        records = (json.loads(line)["trial"] for line in lines[1:])
        if head.version > 1:
            records = (_with(one, lambda steps: hdr.of_steps(steps).text) for one in records)
        trials = tuple(map(Trial.model_validate, records))
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}", _OTHER) from error
    except (EOFError, lzma.LZMAError, IndexError, KeyError, TypeError, ValueError) as error:
        why = "a line of it says something else" if isinstance(error, ValidationError) else error
        raise StoreError(f"{path} holds no kept trials ({why})", _OTHER) from error
    if len(trials) != head.trials:
        raise StoreError(
            f"{path} holds {len(trials)} of {head.trials} trials: it is not whole", _OTHER
        )
    return Kept(head, trials)


def _with(record: Any, said: Callable[[str], str]) -> Any:
    """The record, each histogram in it said like that."""
    if isinstance(record, list):
        return [_with(one, said) for one in record]
    if not isinstance(record, dict):
        return record
    return {
        name: {metric: said(text) for metric, text in one.items()}
        if name == HISTOGRAMS and isinstance(one, dict)
        else _with(one, said)
        for name, one in record.items()
    }


def unpack(path: Path, base: Path) -> ResultsFolder:
    """A new folder of results below `base` with all that the file holds."""
    kept = read(path)
    document = json.dumps(kept.head.study, indent=1, ensure_ascii=False)
    results = ResultsFolder.create(base, str(kept.head.study.get("name", "kept")), document)
    absent.keep(results, kept.head.absent)
    adoption.keep(results, kept.head.adopted)
    starts.keep(results, kept.head.starts)
    searches.keep(results, kept.head.searches)
    for trial in kept.trials:
        results.add(trial)
    return results


def unpacked(data: bytes) -> bytes:
    """The lines of the file; raises where it is not whole, or far too long."""
    unpacker = lzma.LZMADecompressor()
    found = unpacker.decompress(data, MOST_UNPACKED)
    if not unpacker.eof:
        raise EOFError("it is not whole")
    return found
