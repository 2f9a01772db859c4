"""Searches for the highest sustained rate: a row per search, and every step of all of them.

Knows knees; must not know how a table is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

from wiretrial.report import units
from wiretrial.report.blocks import NOTHING, Cell, Column, Table, words
from wiretrial.report.knees import Knee


def found(knees: Sequence[Knee]) -> Table:
    """A row per search, the highest rate first."""
    rows = tuple(
        (
            Cell(knee.label, colour=knee.colour),
            Cell(
                knee.figure,
                aside=("not confirmed",) if knee.is_open else (),
                value=knee.sustained,
            ),
            Cell(_time(knee.response_at(knee.sustained)) if knee.sustained else NOTHING),
            Cell(NOTHING if knee.refused is None else units.trimmed(knee.refused.offered)),
            Cell(str(len(knee.steps))),
            Cell(knee.why),
        )
        for knee in sorted(knees, key=lambda knee: knee.sustained or 0.0, reverse=True)
    )
    columns = (
        *words("Subject"),
        Column("Sustained\n/s"),
        Column(f"{_quantile(knees)} there", is_spare=True),
        Column("Refused at\n/s"),
        Column("Trials", is_spare=True),
        *words("Why"),
    )
    return Table(columns, rows)


def steps(knees: Sequence[Knee]) -> Table:
    """Every trial of the searches, in order."""
    rows = tuple(
        (
            Cell(knee.label, colour=knee.colour),
            Cell(units.trimmed(step.offered)),
            Cell(units.trimmed(step.achieved)),
            Cell(_time(step.response_ns)),
            Cell(step.outcome),
        )
        for knee in knees
        for step in knee.steps
    )
    figures = (Column("Offered\n/s"), Column("Answered\n/s"), Column(_quantile(knees)))
    return Table((*words("Subject"), *figures, *words("Outcome")), rows)


def _quantile(knees: Sequence[Knee]) -> str:
    return knees[0].objective.time


def _time(ns: float | None) -> str:
    return NOTHING if ns is None else units.duration(ns)
