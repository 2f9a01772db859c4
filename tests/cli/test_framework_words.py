"""What the study of web frameworks says in one sentence."""

from __future__ import annotations

import pytest

from wiretrial.cli.framework_words import AT_ONE_RATE, summary
from wiretrial.report import metrics
from wiretrial.report.finding import Finding, Multiple


def led(where: str, leader: str, **others: float) -> Finding:
    """One framework needs the least there."""
    multiples = tuple(Multiple(f"{name}:tuned", ratio) for name, ratio in others.items())
    return Finding("best", where=where, metric=metrics.SERVER, leaders=(leader,), others=multiples)


TIE = Finding("shared", where=AT_ONE_RATE[3], metric=metrics.SERVER, leaders=("gin", "echo"))


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (
            [
                led(AT_ONE_RATE[0], "axum-web:tuned", gin=2.0, express=3.914, django=61.7),
                led(AT_ONE_RATE[1], "axum-web:tuned", express=2.5),
                led(AT_ONE_RATE[2], "fasthttp:tuned", express=9.0),
                TIE,
            ],
            (
                "At one rate axum-web needs the least CPU per request in 2 of 4 workloads; express"
                " needs 2.50 to 3.91 times as much there."
            ),
        ),
        (
            [led(AT_ONE_RATE[0], "express", django=2.0)],
            "At one rate express needs the least CPU per request in 1 of 1 workloads.",
        ),
        (
            [led(AT_ONE_RATE[0], "go-web", express=2.0)],
            (
                "At one rate go-web needs the least CPU per request in 1 of 1 workloads; express"
                " needs 2.00 times as much there."
            ),
        ),
        ([TIE], None),
        ([], None),
    ],
)
def test_who_needs_least_is_one_sentence(found: list[Finding], told: str | None) -> None:
    assert summary(found) == told
