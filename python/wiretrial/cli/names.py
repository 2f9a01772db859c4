"""Names for a shell to complete: studies, subjects, folders of results, revisions.

Knows where they lie; must not know what is done with them. It runs at each press of Tab.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from wiretrial.catalogues import STUDIES, SUBJECTS
from wiretrial.results.files import STUDY_FILE

RESULTS = Path("results")
_PACKED = re.compile(r"^[0-9a-f]+ refs/(?:heads|tags|remotes)/(.+)$", re.MULTILINE)


def studies() -> list[str]:
    """The studies that come with wiretrial; a folder is completed by the shell itself."""
    return [folder.name for folder in STUDIES.members()]


def subjects() -> list[str]:
    """The subjects of the catalogue; a folder is completed by the shell itself."""
    return [folder.name for folder in SUBJECTS.members()]


def results() -> list[str]:
    """The folders of results where commands put them unless they are told another place."""
    return [str(path.parent) for path in sorted(RESULTS.glob(f"*/{STUDY_FILE}"))]


def revisions() -> list[str]:
    """Branches and tags of the repository around this folder; no program is started for them."""
    here = Path.cwd()
    git = next((one / ".git" for one in (here, *here.parents) if (one / ".git").is_dir()), None)
    if git is None:
        return []
    found = set[str]()
    for kind in ("heads", "tags", "remotes"):
        folder = git / "refs" / kind
        paths = (path for path in folder.rglob("*") if path.is_file())
        found |= {path.relative_to(folder).as_posix() for path in paths}
    with contextlib.suppress(OSError):
        packed = (git / "packed-refs").read_text(encoding="utf-8", errors="replace")
        found |= set(_PACKED.findall(packed))
    return sorted(found)
