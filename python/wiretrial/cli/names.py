"""Names for a shell to complete: studies, subjects, folders of results.

Knows where they lie; must not know what is done with them. It runs at each press of Tab.
"""

from __future__ import annotations

from pathlib import Path

from wiretrial.catalogues import STUDIES, SUBJECTS
from wiretrial.results.files import STUDY_FILE

RESULTS = Path("results")


def studies() -> list[str]:
    """The studies that come with wiretrial; a folder is completed by the shell itself."""
    return [folder.name for folder in STUDIES.members()]


def subjects() -> list[str]:
    """The subjects of the catalogue; a folder is completed by the shell itself."""
    return [folder.name for folder in SUBJECTS.members()]


def results() -> list[str]:
    """The folders of results where commands put them unless they are told another place."""
    return [str(path.parent) for path in sorted(RESULTS.glob(f"*/{STUDY_FILE}"))]
