"""What is left of a section where nothing can be drawn or folded.

Knows blocks; must not know what they say or how they are written.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretrial.report.blocks import Block, Drawing, Fold, Panels, Section, Swatches, Text, Told


def told(section: Section) -> tuple[Told, ...]:
    """Texts, lists and tables: of pictures their tables; nothing of what the page alone has."""
    if section.is_detail:
        return ()
    found: list[Told] = []
    for block in section.blocks:
        found += _of(block)
    # A heading is for what follows it.
    kept: list[Told] = []
    for one in found:
        if kept and _is_heading(kept[-1]) and _is_heading(one):
            kept.pop()
        kept.append(one)
    if kept and _is_heading(kept[-1]):
        kept.pop()
    return tuple(kept)


def _is_heading(block: Told) -> bool:
    return isinstance(block, Text) and block.style == "heading"


def _of(block: Block) -> Iterator[Told]:
    match block:
        case Fold() | Swatches() | Text(is_detail=True):
            return
        case Drawing(table=table) | Panels(table=table):
            if table is not None:
                yield table
        case _:
            yield block
