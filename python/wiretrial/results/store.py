"""One folder per study, one immutable file per trial: written whole, or not at all.

Knows files; must not know how a trial was measured or what is asked of it. The trial files are the
truth; everything else about them can be made again.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from wiretrial.errors import StoreError
from wiretrial.results.files import STUDY_FILE, write_whole
from wiretrial.results.model import (
    LOAD_SCHEMA,
    LOAD_VERSION,
    TRIAL_SCHEMA,
    TRIAL_VERSION,
    Trial,
)

TRIALS = "trials"
SUFFIX = ".json.gz"

Row = TypeVar("Row")


class ResultsFolder:
    """The results of one study."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, base: Path, study_name: str, document: str) -> ResultsFolder:
        """A new folder below `base`, with the study's own document in it."""
        stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
        for number in range(100):
            folder = base / (f"{study_name}-{stamp}" + (f"-{number}" if number else ""))
            try:
                (folder / TRIALS).mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as error:
                raise StoreError(
                    f"can't write results to {base}: {error.strerror}",
                    "name another folder (--results)",
                ) from error
            results = cls(folder)
            results.write(STUDY_FILE, document.encode())
            return results
        raise StoreError(f"{base} has a hundred results from this second", "wait a second")

    @classmethod
    def open(cls, folder: Path) -> ResultsFolder:
        """An existing folder."""
        if not folder.exists():
            raise StoreError(f"{folder} holds no results: it does not exist", _OTHER)
        if not (folder / STUDY_FILE).is_file():
            if found := list(loads(folder)):
                count = f"{len(found)} loads" if len(found) > 1 else "a load"
                raise StoreError(f"{folder} holds no study, but {count}", f"name {_one(found)}")
            raise StoreError(
                f"{folder} holds no results (there is no {STUDY_FILE})",
                "name a folder that `wiretrial results list` shows",
            )
        return cls(folder)

    def document(self) -> str:
        """The study's own document, as it was given at the start."""
        try:
            return (self.folder / STUDY_FILE).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(f"{self.folder / STUDY_FILE} can't be read: {error}") from error

    def add(self, trial: Trial) -> Path:
        """Stores one trial; when this returns, it survives a crash."""
        text = trial.model_dump_json(by_alias=True)
        return self.write(
            f"{TRIALS}/{name_of(trial)}", gzip.compress(text.encode(), compresslevel=6, mtime=0)
        )

    def trials(self) -> list[Trial]:
        """Every stored trial, in the order in which they ran."""
        return [read_trial(path) for path in self.paths()]

    def paths(self) -> list[Path]:
        """The files of the stored trials, in the order in which they ran."""
        return sorted((self.folder / TRIALS).glob(f"*{SUFFIX}"))

    def read_list(self, name: str, kept: TypeAdapter[tuple[Row, ...]]) -> tuple[Row, ...]:
        """A list that is kept beside the trials; empty where none was."""
        path = self.folder / name
        try:
            return kept.validate_json(path.read_bytes())
        except FileNotFoundError:
            return ()
        except (OSError, ValidationError) as error:
            raise StoreError(
                f"{path} can't be read", "delete it, and `--resume` writes it again"
            ) from error

    def write(self, name: str, data: bytes) -> Path:
        """Writes one file whole: another name, fsync, rename, fsync of the folder."""
        path = self.folder / name
        try:
            write_whole(path, data)
        except OSError as error:
            raise StoreError(
                f"can't write {path}: {error.strerror}", "free some space, then --resume"
            ) from error
        return path


def name_of(trial: Trial) -> str:
    """Its file's name; sorted by it, trials stand in the order in which they ran."""
    slug = re.sub(r"[^a-z0-9]+", "-", trial.scenario.name.lower()).strip("-")
    return f"{trial.block:03}-{trial.position:03}-{slug}{SUFFIX}"


def read_trial(path: Path) -> Trial:
    """The trial in one file."""
    try:
        packed = path.read_bytes()
        document: Any = json.loads(gzip.decompress(packed) if path.suffix == ".gz" else packed)
    except OSError as error:
        # gzip.BadGzipFile is an OSError too, without an error number.
        if error.errno is None:
            raise _unreadable(path, "it is not whole") from error
        remedy = "name a file that can be read"
        raise StoreError(f"{path} can't be read: {error.strerror}", remedy) from error
    except (EOFError, zlib.error) as error:
        raise _unreadable(path, str(error)) from error
    except ValueError as error:
        raise _unreadable(path, "it is not JSON") from error
    if isinstance(document, dict) and document.get("schema") == LOAD_SCHEMA:
        document = _of_load(path, document)
    _check_version(path, document)
    try:
        return Trial.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _unreadable(path, f"{where}: {first['msg']}") from error


def read_all(path: Path) -> list[Trial]:
    """The trials of a study's folder, or the one in a file; there is at least one.

    The file is a study's trial, or what `load --format json` wrote.
    """
    if path.is_file():
        return [read_trial(path)]
    trials = ResultsFolder.open(path).trials()
    if not trials:
        raise StoreError(f"{path} holds no trial yet", "measure some first")
    return trials


def folders(base: Path) -> Iterator[ResultsFolder]:
    """Every folder of results below `base`, oldest name first."""
    for path in sorted(base.glob(f"*/{STUDY_FILE}")):
        yield ResultsFolder(path.parent)


def loads(base: Path) -> Iterator[Path]:
    """Every file in `base` that `load --format json -o` wrote, in the order of their names."""
    for path in sorted(base.glob("*.json")):
        try:
            with path.open("rb") as file:
                is_load = _LOAD.match(file.read(_HEAD)) is not None
        except OSError:
            continue
        if is_load:
            yield path


_LOAD = re.compile(rb'\s*\{\s*"schema":\s*"' + LOAD_SCHEMA.encode() + rb'"')
_HEAD = 256
_OTHER = (
    "name a folder that `wiretrial results list` shows, a file of its trials, or one that"
    " `wiretrial load --format json -o FILE` wrote"
)


def _one(found: list[Path]) -> str:
    return f"one of them, such as {found[0]}" if len(found) > 1 else f"{found[0]}"


def _of_load(path: Path, document: dict[str, Any]) -> Any:
    """The trial in a load's result."""
    _check(path, LOAD_SCHEMA, document.get("version"), LOAD_VERSION)
    if "trial" not in document:
        raise StoreError(
            f"{path} has a load's figures, but it holds no trial",
            "run the load again with --format json -o FILE",
        )
    return document["trial"]


def _unreadable(path: Path, reason: str) -> StoreError:
    """A damaged trial, where it lies with a study's; elsewhere, a file that is none."""
    if not _is_stored(path):
        return StoreError(f"{path} is not a result of wiretrial ({reason})", _OTHER)
    return StoreError(
        f"{path} is damaged ({reason})",
        f"delete the file, and `wiretrial study run --resume {path.parent.parent}` measures that"
        " trial again",
    )


def _is_stored(path: Path) -> bool:
    """Whether we wrote the file, or something that has its name since."""
    is_named = path.parent.name == TRIALS and path.name.endswith(SUFFIX)
    return is_named and (path.parent.parent / STUDY_FILE).is_file()


def _check_version(path: Path, document: Any) -> None:
    if not isinstance(document, dict) or document.get("schema") != TRIAL_SCHEMA:
        raise StoreError(
            f"{path} is not a trial of wiretrial (schema {TRIAL_SCHEMA})",
            "move it to another folder" if _is_stored(path) else _OTHER,
        )
    _check(path, TRIAL_SCHEMA, document.get("version"), TRIAL_VERSION)


def _check(path: Path, schema: str, version: Any, ours: int) -> None:
    if version == ours:
        return
    newer = isinstance(version, int) and version > ours
    raise StoreError(
        f"{path} is version {version} of {schema}, this wiretrial reads {ours}",
        "use a newer wiretrial" if newer else "use the wiretrial that wrote it",
    )
