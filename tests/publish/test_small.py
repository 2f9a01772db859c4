"""The small picture of a result: what it compares, best first, whatever its tables hold."""

from __future__ import annotations

import pytest

from tests.publish.test_measured import table
from wiretrial.report.blocks import Cell, Column, Section, Table
from wiretrial.site import small


def shown(title: str, *tables: Table) -> tuple[str, str] | None:
    """Its title, and what it says of itself."""
    found = small.of([Section(title, tables)])
    return (found.title, found.picture.alternative.partition("best first: ")[2]) if found else None


def texts(*rows: tuple[str, str, str]) -> Table:
    """A table of an older result: figures and intervals are texts."""
    cells = ((Cell(name), Cell(text, aside=(aside,))) for name, text, aside in rows)
    return Table((Column("Scenario", is_figure=False), Column("Median")), tuple(cells))


@pytest.mark.parametrize(
    ("title", "told", "expected"),
    [
        pytest.param(
            "p99: echo",
            texts(("b", "2.5 ms", "1 to 3"), ("a", "≤ 1 ms", ""), ("c", "9 s", "8 to 10")),
            ("p99: echo", "a ≤ 1 ms and b 2.5 ms."),
            id="texts-of-one-unit",
        ),
        pytest.param(
            "Throughput: echo",
            texts(("b", "1,200 /s", ""), ("a", "3,000 /s", "")),
            ("Throughput: echo", "a 3,000 /s and b 1,200 /s."),
            id="more-is-better",
        ),
        pytest.param(
            "Server CPU, µs: bots",
            table("|TCP|JSON", "10 connections|7|8", "20 connections|5|4"),
            ("Server CPU, µs: bots, 20 connections", "TCP 5 and JSON 4."),
            id="levels-downwards",
        ),
        pytest.param(
            "Time per case",
            table("|N = 1\nt = 0", "a|3 s", "b|4 s", "Floor|1 s", has_floor=True),
            ("Time per case, N = 1, t = 0", "a 3 s and b 4 s."),
            id="without-the-floor",
        ),
        pytest.param("p99: echo", table("Scenario|Median", "a|1 ms"), None, id="one-alone"),
        pytest.param("Warnings", table("Scenario|Trials", "a|1", "b|2"), None, id="counts"),
    ],
)
def test_what_it_compares(title: str, told: Table, expected: tuple[str, str] | None) -> None:
    assert shown(title, told) == expected


def test_it_shows_the_first_table_that_has_something() -> None:
    found = shown("p99: x", table("Scenario|Median", "a|1"), table("Scenario|p99", "a|1", "b|2"))
    assert found == ("p99: x, p99", "a 1 and b 2.")
