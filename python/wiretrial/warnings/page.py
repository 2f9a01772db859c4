"""The catalogue as a page for people, `docs/warnings.md`.

Knows Markdown. Usage: python -m wiretrial.warnings.page > docs/warnings.md
"""

from __future__ import annotations

from wiretrial.warnings.catalogue import CATALOGUE

HEAD = """# Warnings

The warnings of a report, gravest first, each with its cause and its remedy. A warning says what was
seen, with figures; the rule that recognises it is in [statistics.md](statistics.md). This page is
written by `python -m wiretrial.warnings.page`.

| warning | cause | remedy |
|---|---|---|
"""


def page() -> str:
    """The whole page."""
    rows = (f"| `{code}` | {one.cause} | {one.remedy} |\n" for code, one in CATALOGUE.items())
    return HEAD + "".join(rows)


if __name__ == "__main__":
    print(page(), end="")
