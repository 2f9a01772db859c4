"""The generated parts of `docs/conformance.md`.

Knows where each begins and ends; must not know what they say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "conformance.md"


def read(part: str) -> list[str]:
    """The lines of a generated part."""
    return _match(part, PAGE.read_text(encoding="utf-8"))[2].strip().splitlines()


def write(part: str, lines: Sequence[str]) -> None:
    """Puts new lines into a generated part."""
    text = PAGE.read_text(encoding="utf-8")
    begin, _, end = _match(part, text).group(1, 2, 3)
    old = "".join(_match(part, text).group(1, 2, 3))
    new = f"{begin}\n" + "\n".join(lines) + f"\n{end}"
    PAGE.write_text(text.replace(old, new), encoding="utf-8")


def _match(part: str, text: str) -> re.Match[str]:
    pattern = rf"(<!-- generated: {part} -->)(.*?)(<!-- end: {part} -->)"
    found = re.search(pattern, text, re.DOTALL)
    if found is None:
        raise LookupError(f"{PAGE.name} has no part {part}")
    return found
