"""Where the studies and subjects that come with wiretrial lie, and how they are called.

Knows folders; must not know what their documents say. A shell asks for names at each press of Tab,
so nothing is read but the names.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Catalogue:
    """Folders with a document of one kind each, in a folder of their own."""

    document: str
    """The file that each of them holds."""
    folder: str
    """In a checkout; a package has the same with an underscore before it."""
    variable: str
    """Of the environment: another folder instead."""

    def places(self) -> list[Path]:
        """Where the folder may be, the first before the others."""
        named = os.environ.get(self.variable)
        if named:
            return [Path(named)]
        package = Path(__file__).resolve().parent
        return [package / f"_{self.folder}", package.parents[1] / self.folder]

    def root(self) -> Path | None:
        """The folder; None where there is none."""
        return next((place for place in self.places() if place.is_dir()), None)

    def members(self) -> list[Path]:
        """The folders in it that hold a document, by name."""
        root = self.root()
        return [path.parent for path in sorted(root.glob(f"*/{self.document}"))] if root else []

    def is_one(self, folder: Path) -> bool:
        """Whether a folder, wherever it lies, holds such a document."""
        return (folder / self.document).is_file()


STUDIES = Catalogue("study.toml", "studies", "WIRETRIAL_STUDIES")
SUBJECTS = Catalogue("subject.toml", "subjects", "WIRETRIAL_SUBJECTS")
