"""The folder of the site: written beside its place, then put there whole.

Knows files; must not know what they show. What the former site had and this one has not is gone;
files that no site of ours wrote (a `.git`, a `CNAME`) stay where they are.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from wiretrial.errors import StoreError, UsageProblem

MARK: Final = "wiretrial-site.json"
"""The list of the site's files, by which a folder is known as one."""
SCHEMA: Final = "wiretrial-site"


def require_ours(target: Path, *, force: bool) -> None:
    """Raises where a folder holds something else than a former site; before any work is done."""
    if target.exists() and not target.is_dir():
        raise UsageProblem(f"{target} is a file", "name a folder")
    parent = target.resolve().parent
    if not parent.is_dir():
        raise UsageProblem(f"there is no folder {parent}", "make it first, or name another")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UsageProblem(f"{parent} can't be written", "name another folder")
    if force or not target.is_dir() or not any(target.iterdir()) or (target / MARK).is_file():
        return
    raise UsageProblem(
        f"{target} is not empty and holds no site of wiretrial",
        "name another folder, or add --force: its other files stay",
    )


def write(target: Path, files: Mapping[str, bytes]) -> None:
    """Puts the site in the place of what is there, in one step."""
    target = target.resolve()
    marked = {**files, MARK: _mark(files)}
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            _fill(made, marked)
            _replace(target, made)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    except OSError as error:
        raise StoreError(
            f"the site can't be written to {target}: {error.strerror}",
            "free some space, or name another folder; what was there is as it was",
        ) from error


def _mark(files: Mapping[str, bytes]) -> bytes:
    document = {"schema": SCHEMA, "version": 1, "files": sorted(files)}
    return (json.dumps(document, indent=1) + "\n").encode()


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    # Only we may read a temporary folder; a web server may read a site.
    folder.chmod(0o755)


def _replace(target: Path, made: Path) -> None:
    if not target.exists():
        made.rename(target)
        return
    before = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    # Over an empty folder a folder may be renamed.
    target.rename(before)
    try:
        made.rename(target)
    except BaseException:
        before.rename(target)
        raise
    try:
        _carry(before, target, _ours(before))
        shutil.rmtree(before)
    except OSError as error:
        raise StoreError(
            f"the site is in {target}, but what it replaced is not wholly moved: {error.strerror}",
            f"see what is left in {before}, then delete it",
        ) from error


def _ours(folder: Path) -> Collection[str]:
    """The files that the former site wrote; none where there was none."""
    try:
        document = json.loads((folder / MARK).read_bytes())
        return {MARK, *document["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _carry(before: Path, after: Path, ours: Collection[str]) -> None:
    """Moves what no site wrote into the new one, where no page has its name."""
    for path in sorted(before.iterdir()):
        there, is_folder = after / path.name, path.is_dir() and not path.is_symlink()
        if is_folder and (there.is_dir() or any(name.startswith(f"{path.name}/") for name in ours)):
            inside = {name.partition("/")[2] for name in ours if name.startswith(f"{path.name}/")}
            _carry(path, there, inside)
        elif path.name not in ours and not os.path.lexists(there):
            there.parent.mkdir(parents=True, exist_ok=True)
            # Whole, with what is empty in it: a `.git` without its empty folders is none.
            path.rename(there)
