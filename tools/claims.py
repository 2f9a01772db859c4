"""Writes docs/claims.md: the verdict on each published claim, before today's rules and by them,
and the smallest difference that each study could have shown.

Usage: python -m tools.claims. The verdicts before are those of the first kept results
(`claims_before.json`); today's are read from `studies/NAME/results/found.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wiretrial.report import found, units
from wiretrial.report.blocks import NO_FIGURE, Cell, Table, Text
from wiretrial.report.claims import OURS
from wiretrial.report.tables import claims, resolution

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "claims.md"
BEFORE = Path(__file__).with_name("claims_before.json")
RENAMED = {"refuted": "not reproduced", "explained by arithmetic": "arithmetic"}
"""Verdicts before, in today's words."""
HEAD = """# Each published claim, before and now

<!-- Written by `make results`. -->

What five published studies said, held against our own measurements twice.

- **Before**: our first kept results, one occasion each, judged by rules that a reviewer found
  wrong: an interval was stretched by a factor before it was compared, so that a wide one
  confirmed, and two kinds of bounds had two factors.
- **Now**: the results that are kept today, by the rules of
  [statistics](statistics.md#two-scenarios): *reproduced* where our whole interval lies within the
  published ratio divided and multiplied by 1.25, *not reproduced* where it lies wholly outside,
  *cannot be told* between the two, *arithmetic* where the source's own figures give the ratio
  without a measurement. Where the reason begins with *measured again*, these rules are new, too.

A claim marked *our reading* is one that the source does not make in so many words.

Below each study's name stands the smallest difference that its declared contrasts could have shown.
"""
COLUMNS = "| Claim | Published | Before | Now | Why it changed |\n|---|---|---|---|---|"


def page() -> str:
    """The page, from what is kept."""
    return "\n".join([HEAD, *_studies()]) + "\n"


def _studies() -> Iterator[str]:
    for study in json.loads(BEFORE.read_text("utf-8")):
        name = study["study"]
        kept = found.read(ROOT / "studies" / name)
        rows = {} if kept is None else _rows_of(kept)
        is_same = kept is not None and kept.date == study["date"]
        yield f"## [{name}](../studies/{name}/RESULTS.md)\n"
        yield f"Before: of {study['date']}{_now(kept)}\n"
        yield COLUMNS
        known = set()
        for claim in study["claims"]:
            text = claim.get("now", claim["text"])
            known.add(text)
            yield _line(claim, rows.get(text), is_same=is_same)
        for text, (marked, there, here, verdict) in rows.items():
            if text not in known:
                yield _row(marked, there, "not claimed", _said(here, verdict), "")
        yield ""


def _now(kept: found.Found | None) -> str:
    """Of which day and how many occasions the results are, and what they could have shown."""
    if kept is None:
        return "."
    texts = (
        block.text
        for section in kept.sections
        if section.title == resolution.TITLE
        for block in section.blocks
        if isinstance(block, Text)
    )
    told = next(texts, "")
    over = units.plural(kept.occasions, "occasion")
    return f"; now of {over} until {kept.date}. {told}".rstrip()


def _rows_of(kept: found.Found) -> dict[str, tuple[str, str, str, Cell]]:
    """By the claim's text: the same with its mark, what was published, our ratio, the verdict."""
    tables = (
        block
        for section in kept.sections
        if section.title == claims.TITLE
        for block in section.blocks
        if isinstance(block, Table)
    )
    return {
        row[0].text.removesuffix(OURS): (row[0].text, row[1].text, row[2].text, row[3])
        for table in tables
        for row in table.rows
    }


def _line(claim: dict[str, Any], now: tuple[str, str, str, Cell] | None, *, is_same: bool) -> str:
    before = f"{claim['here']}: {claim['verdict']}"
    if now is None:
        why = claim.get("gone", "Not kept.")
        return _row(claim["text"], claim["published"], before, "no claim", why)
    marked, _, here, verdict = now
    # The verdict in today's words.
    if RENAMED.get(claim["verdict"], claim["verdict"]) == verdict.text:
        why = ""
    else:
        what = "The rule, of the same trials" if is_same else "Measured again"
        why = f"{what}: {'; '.join(verdict.aside)}."
    return _row(marked, claim["published"], before, _said(here, verdict), why)


def _said(here: str, verdict: Cell) -> str:
    """Of a claim without a ratio, about a time or a stall, what was seen."""
    if here == NO_FIGURE.text and verdict.aside:
        here = verdict.aside[0].split(";")[0].removesuffix(" here")
    return f"{here}: {verdict.text}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def main() -> int:
    """Writes the page."""
    PAGE.write_text(page(), "utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
