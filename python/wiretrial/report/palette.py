"""Colours: Okabe and Ito's for scenarios, a few inks for everything else.

A chart is drawn with the light inks; the page's style sheet turns each of them into the dark one by
selecting elements on the colour, so one picture serves both.
"""

from __future__ import annotations

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
BEYOND = "#8a8f98"


def css(colour: str) -> str:
    """The colour in a style sheet's words: an ink follows the reader's setting."""
    return "var(--ink)" if colour == INK else colour


def scenario(index: int) -> str:
    """The colour of the scenario at `index`; grey once the palette is used up."""
    return SCENARIOS[index] if index < len(SCENARIOS) else BEYOND
