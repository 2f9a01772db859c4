"""Brings a result from the store into a folder: whole, and with the content that was pushed.

Knows the tables and the disk; must not know which results are wanted. A result is put together in
`.pull` below the folder and appears there in one step.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wiretrial.errors import StoreError
from wiretrial.results.store import TRIALS
from wiretrial.team import manifest as manifests
from wiretrial.team import stored as store
from wiretrial.team.connection import Database
from wiretrial.team.manifest import Entry, Manifest
from wiretrial.team.stored import Stored

STAGING = ".pull"


@dataclass(frozen=True)
class Pulled:
    """What came of one result."""

    path: Path
    files: int
    """That were not there."""
    size: int


@contextmanager
def into(base: Path) -> Iterator[Path]:
    """The folder, made where it is not there, for one pull at a time; what a killed one left of a
    result is removed."""
    try:
        base.mkdir(parents=True, exist_ok=True)
        folder = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _unwritable(base, error) from error
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreError(
                f"another pull writes to {base}", "wait for its end, or name another folder (--to)"
            ) from error
        _remove(base)
        try:
            yield base
        finally:
            _remove(base)
    finally:
        os.close(folder)


def pull(database: Database, stored: Stored, base: Path) -> Pulled:
    """Writes the result below `base`, or the files of it that a folder there lacks.

    Raises `StoreError` where something else has the name, or the store's content is damaged.
    """
    manifest = store.manifest(database, stored)
    target = base / stored.name
    missing = _missing(manifest, base, target)
    if missing:
        try:
            _fetch(database, manifest, missing, base)
            _place(manifest, missing, base, target)
        except OSError as error:
            raise _unwritable(target, error) from error
    return Pulled(target, len(missing), sum(entry.size for entry in missing))


def _missing(manifest: Manifest, base: Path, target: Path) -> Sequence[Entry]:
    """The files that are not there yet; all others are the same."""
    root = _root(manifest, base)
    missing = []
    for entry in manifest.entries:
        path = root / entry.path
        if not path.exists():
            missing.append(entry)
        elif not path.is_file() or manifests.entry(path, entry.path) != entry:
            raise StoreError(
                f"{path} is not the one in the store",
                "pull to another folder (--to DIR), or move it away",
            )
    if target.exists() and not target.is_dir() and manifest.kind == "study":
        raise StoreError(f"{target} is in the way", "pull to another folder (--to DIR)")
    return missing


def _fetch(database: Database, manifest: Manifest, missing: Sequence[Entry], base: Path) -> None:
    staged = _root(manifest, base / STAGING)
    for entry in missing:
        path = staged / entry.path
        path.parent.mkdir(parents=True, exist_ok=True)
        found = hashlib.sha256()
        with path.open("wb") as file:
            for data in pieces(database, entry):
                found.update(data)
                file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if found.digest() != entry.sha256:
            raise StoreError(
                f"{entry.path} of {manifest.name} in the store is damaged",
                "its owner deletes the result, then push it again from where it was measured",
            )


def pieces(database: Database, entry: Entry) -> Iterator[bytes]:
    """The content; one piece at a time is in memory."""
    size, number = 0, 0
    while size < entry.size:
        row = database.execute(
            "SELECT data FROM wiretrial.piece WHERE sha256 = %s AND number = %s",
            (entry.sha256, number),
            binary=True,
        ).fetchone()
        if row is None:
            return
        yield row[0]
        size, number = size + len(row[0]), number + 1


def _place(manifest: Manifest, missing: Sequence[Entry], base: Path, target: Path) -> None:
    if manifest.kind == "study" and not target.exists():
        staged = base / STAGING / manifest.name
        (staged / TRIALS).mkdir(exist_ok=True)
        for folder in (staged / TRIALS, staged):
            _sync(folder)
        staged.rename(target)
        _sync(base)
        return
    for entry in missing:
        path = _root(manifest, base) / entry.path
        path.parent.mkdir(exist_ok=True)
        (_root(manifest, base / STAGING) / entry.path).rename(path)
        _sync(path.parent)


def _root(manifest: Manifest, base: Path) -> Path:
    """What the paths of its files begin at."""
    return base if manifest.kind == "load" else base / manifest.name


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(base: Path) -> None:
    shutil.rmtree(base / STAGING, ignore_errors=True)


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(f"can't write {path}: {error.strerror}", "name another folder (--to DIR)")
