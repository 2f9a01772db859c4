"""The committed pages of the site, laid out like the tree, so that links between them hold.

Knows which Markdown files are pages and what their links point to; must not know how they look.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "bench/README.md"),
    *("studies/*/README.md", "studies/*/RESULTS.md", "studies/proxies/BREAKS.md"),
    "subjects/_contract/README.md",
)
ASSETS = Path(__file__).resolve().parent / "assets"

# Code first, so that what looks like a link in it is none.
PIECES = re.compile(
    r"""^(?P<fence>\ *```+).*?^(?P=fence)\ *$
      | `[^`\n]+`
      | !?\[(?P<label>[^\]]*)\]\((?P<target>[^)\s\#]*)(?:\#[^)\s]*)?\)""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
ELSEWHERE = re.compile(r"[a-z]+:")


class DeadLink(Exception):
    """A page links to what is not there."""


def pages() -> list[Path]:
    """Every committed page, from the root of the tree."""
    return sorted(path.relative_to(ROOT) for glob in PAGES for path in ROOT.glob(glob))


def lay_out(folder: Path) -> None:
    """Writes the pages, and the files that they link to, into `folder`."""
    files: set[Path] = set()
    for page in pages():
        text, targets = linked(page, (ROOT / page).read_text(encoding="utf-8"))
        files |= targets
        place = folder / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    for file in files.difference(pages()):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    shutil.copytree(ASSETS, folder / "assets")


def linked(page: Path, text: str) -> tuple[str, set[Path]]:
    """The text as the site has it, and the files that it links to.

    A link to a folder becomes its words: the hosting site lists folders, a built site does not.
    """
    targets: set[Path] = set()

    def follow(piece: re.Match[str]) -> str:
        target = piece["target"]
        if not target or ELSEWHERE.match(target):
            return piece[0]
        there = (ROOT / page.parent / target).resolve()
        if there.is_dir():
            return piece["label"]
        if not there.is_file():
            raise DeadLink(f"{page}: {target} is not there")
        targets.add(there.relative_to(ROOT))
        return piece[0]

    return PIECES.sub(follow, text), targets
