"""What a result consists of: its files, each by its digest, and the digest of the whole list.

Knows which files of a folder are a result's; must not know where they are stored. What can be made
again (reports, the index) and what only holds for now (`running.json`) is none of them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from wiretrial.errors import StoreError
from wiretrial.results import beacon
from wiretrial.results.files import STUDY_FILE
from wiretrial.results.store import SUFFIX, TRIALS, ResultsFolder, read_trial

Kind = Literal["study", "load"]
_FILE = re.compile(rf"(?:{TRIALS}/(?!\.)[^/\0\n]+{re.escape(SUFFIX)}|(?!\.)[^/\0\n]+\.json)")
_NAME = re.compile(r"(?!\.)[^/\0\n]+")
_SHORT = 12


@dataclass(frozen=True)
class Entry:
    """One file."""

    path: str
    """Within the result's folder; of a load, its name."""
    sha256: bytes
    size: int


@dataclass(frozen=True)
class Manifest:
    """A result's files, in the order of their paths."""

    name: str
    kind: Kind
    entries: tuple[Entry, ...]

    @cached_property
    def sha256(self) -> bytes:
        """Digest of the name and of every path and content."""
        lines = [f"wiretrial-result 1 {self.kind} {self.name}"]
        lines += [f"{entry.sha256.hex()} {entry.size} {entry.path}" for entry in self.entries]
        return hashlib.sha256("\n".join((*lines, "")).encode()).digest()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.entries)

    def is_trial(self, entry: Entry) -> bool:
        """Whether the file holds a trial."""
        return self.kind == "load" or entry.path.startswith(f"{TRIALS}/")

    def is_sound(self) -> bool:
        """Whether each name stays within one folder, as those do that we give."""
        named = bool(_NAME.fullmatch(self.name))
        whole = self.kind == "study" or [entry.path for entry in self.entries] == [self.name]
        return named and whole and all(_FILE.fullmatch(entry.path) for entry in self.entries)


@dataclass(frozen=True)
class Local:
    """A result on this machine."""

    path: Path
    """Its folder, or a load's file."""
    manifest: Manifest
    study: str | None
    """None: its figures were imported from another tool."""
    keeps_secrets: bool

    def file(self, entry: Entry) -> Path:
        """Where one of its files is."""
        return self.path if self.manifest.kind == "load" else self.path / entry.path


def short(digest: bytes) -> str:
    """A digest as it is shown; enough of it to be typed."""
    return digest.hex()[:_SHORT]


def read(path: Path) -> Local:
    """The result in a study's folder or in a load's file, as it is now. Raises `StoreError`."""
    found = _load(path) if path.is_file() else _study(path)
    if not found.manifest.is_sound():
        raise StoreError(f"{path} can't be stored under this name", "rename it")
    return found


def _study(folder: Path) -> Local:
    results = ResultsFolder.open(folder)
    document = _document(results)
    entries = tuple(sorted(_entries(folder, results), key=lambda entry: entry.path))
    name = document.get("name")
    return Local(
        path=folder,
        manifest=Manifest(folder.resolve().name, "study", entries),
        study=name if isinstance(name, str) else None,
        keeps_secrets=document.get("keeps_secrets") is True,
    )


def _load(path: Path) -> Local:
    trial = read_trial(path)
    if path.suffix != ".json":
        raise StoreError(f"{path} is one trial of a study", "name the study's folder")
    manifest = Manifest(path.name, "load", (entry(path, path.name),))
    return Local(path, manifest, trial.study, trial.keeps_secrets)


def _document(results: ResultsFolder) -> dict[str, Any]:
    try:
        found = json.loads(results.document())
    except ValueError as error:
        raise StoreError(
            f"{results.folder / STUDY_FILE} is not JSON", "name another result"
        ) from error
    return found if isinstance(found, dict) else {}


def _entries(folder: Path, results: ResultsFolder) -> Iterator[Entry]:
    beside = (path for path in folder.glob("*.json") if path.name != beacon.FILE)
    paths: Iterable[Path] = (*results.paths(), *beside)
    for path in paths:
        name = path.relative_to(folder).as_posix()
        if path.is_file() and _FILE.fullmatch(name):
            yield entry(path, name)


def entry(path: Path, name: str) -> Entry:
    """A file's name, size and digest; read in pieces."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").digest()
            return Entry(name, digest, file.tell())
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}", "try again") from error
