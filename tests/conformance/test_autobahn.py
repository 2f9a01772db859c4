"""What is written down about the Autobahn suite, and how a run is judged against it."""

from __future__ import annotations

import pytest

from conformance import document
from conformance.autobahn import cases
from conformance.autobahn.cases import Side, Verdict

OK: Verdict = ("OK", "OK")
LENIENT: Verdict = ("NON-STRICT", "OK")


@pytest.mark.parametrize("side", cases.SIDES)
def test_nothing_worse_than_allowed_is_written_down(side: Side) -> None:
    expected = cases.read_expected()[side]
    assert expected
    assert {word for verdict in expected.values() for word in verdict} <= cases.ALLOWED


@pytest.mark.parametrize("side", cases.SIDES)
def test_every_group_that_is_run_is_written_down(side: Side) -> None:
    told = {case.partition(".")[0] for case in cases.read_expected()[side]}
    run = {pattern.partition(".")[0] for group in cases.GROUPS for pattern in group}
    assert told == run == cases.TITLES.keys()


def test_both_sides_meet_the_same_cases() -> None:
    expected = cases.read_expected()
    assert expected["server"].keys() == expected["client"].keys()


def test_the_page_shows_what_is_written_down() -> None:
    assert document.read("autobahn") == cases.table(cases.read_expected()), (
        "write it anew: python -m conformance --update"
    )


@pytest.mark.parametrize(
    ("expected", "found", "problems"),
    [
        pytest.param({"1.1": OK}, {"1.1": OK}, [], id="as-expected"),
        pytest.param({"1.1": OK}, {}, ["1.1: did not run"], id="lost"),
        pytest.param({}, {"1.1": OK}, ["1.1: OK, a case not written down"], id="new"),
        pytest.param(
            {"1.1": OK},
            {"1.1": ("FAILED", "OK")},
            ["1.1: FAILED, closing OK"],
            id="worse",
        ),
        pytest.param(
            {"1.1": ("FAILED", "FAILED")},
            {"1.1": ("FAILED", "FAILED")},
            ["1.1: FAILED"],
            id="worse-even-if-written-down",
        ),
        pytest.param(
            {"1.1": OK}, {"1.1": ("OK", "UNCLEAN")}, ["1.1: OK, closing UNCLEAN"], id="unclean"
        ),
        pytest.param(
            {"1.1": OK},
            {"1.1": LENIENT},
            ["1.1: NON-STRICT, closing OK, expected OK"],
            id="allowed-but-another",
        ),
        pytest.param(
            {"1.10": OK, "1.9": OK}, {}, ["1.9: did not run", "1.10: did not run"], id="in-order"
        ),
    ],
)
def test_a_run_is_judged(
    expected: dict[str, Verdict], found: dict[str, Verdict], problems: list[str]
) -> None:
    assert cases.problems(expected, found) == problems
