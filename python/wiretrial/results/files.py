"""The files of results: how a folder of them is told from others, and how a file is written.

Knows names and the disk; must not know what the files say, so that a shell can ask for names.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

STUDY_FILE = "study.json"
"""Each folder of a study's results holds it."""


def write_whole(path: Path, data: bytes) -> None:
    """Replaces `path` by `data` in one step, durably. Raises `OSError`."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
