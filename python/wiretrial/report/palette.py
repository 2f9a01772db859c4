"""Colours: Okabe and Ito's for scenarios, a few inks for everything else.

A chart is drawn with the light inks; the page's style sheet turns each of them into the dark one by
selecting elements on the colour, so one picture serves both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wiretrial.results.model import Trial

INK = "#1c1e21"
MUTED = "#5d6470"
HAIRLINE = "#dfe2e6"
PAPER = "#ffffff"

DARK = {INK: "#e8eaed", MUTED: "#a3abb8", HAIRLINE: "#343941", PAPER: "#15171a"}

SCENARIOS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    INK,
    "#f0e442",
)
SHAPES = ("circle", "square", "triangle-up", "diamond")
DASHES = ((1, 0), (7, 4), (2, 3), (8, 3, 2, 3))
"""With each turn through the colours, the marks and the lines look otherwise."""


def css(colour: str) -> str:
    """The colour in a style sheet's words: an ink follows the reader's setting."""
    return "var(--ink)" if colour == INK else colour


def scenario(index: int) -> str:
    """The colour of the label at `index`; they repeat, with another shape and another dash."""
    return SCENARIOS[index % len(SCENARIOS)]


def shape(index: int) -> str:
    """The mark of the label at `index`."""
    return SHAPES[index // len(SCENARIOS) % len(SHAPES)]


def dash(index: int) -> list[int]:
    """The line of the label at `index`: lengths of strokes and gaps."""
    return list(DASHES[index // len(SCENARIOS) % len(DASHES)])


def look(index: int) -> dict[str, str | list[int]]:
    """Colour, mark and line of the label at `index`."""
    return {"colour": scenario(index), "shape": shape(index), "dash": dash(index)}


def places(trials: Sequence[Trial], order: Sequence[str]) -> dict[str, int]:
    """A place in the palette per scenario or search, in the study's order.

    Those with the same label share it, unless a group holds a label twice, apart from a scenario
    that is measured again.
    """
    place = {name: i for i, name in enumerate(order)}
    found = {(t.scenario.search or t.scenario.name): t.scenario for t in trials}
    names = sorted(found, key=lambda name: (place.get(name, len(place)), name))
    labels = {name: found[name].label or name for name in names}
    places = Counter(
        (found[name].group, label) for name, label in labels.items() if not found[name].twin_of
    )
    if max(places.values(), default=0) > 1:
        labels = {name: name for name in names}
    index = {label: i for i, label in enumerate(dict.fromkeys(labels.values()))}
    return {name: index[label] for name, label in labels.items()}
