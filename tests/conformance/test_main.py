"""`python -m conformance` runs every suite, a bad one twice, and says last what was wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial

import pytest

from conformance import __main__ as conformance

NAMES = ("_autobahn", "_http2", "_http3", "_grpc")


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    conformance.told_wrong.clear()


def run(monkeypatch: pytest.MonkeyPatch, codes: dict[str, list[int]], *flags: str) -> list[str]:
    """The suites that ran, in order; each ends with the next of its codes, or well."""
    ran = []

    def suite(name: str, _: argparse.Namespace) -> int:
        ran.append(name)
        left = codes.get(name, [])
        return conformance.fail(f"{name}: a case") if left and left.pop(0) else 0

    for name in NAMES:
        monkeypatch.setattr(conformance, name, partial(suite, name))
    monkeypatch.setattr(sys, "argv", ["conformance", *flags])
    ran.append(str(conformance.main()))
    return ran


def test_each_suite_runs_once_where_all_is_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, {}) == [*NAMES, "0"]
    assert capsys.readouterr().err == ""


def test_what_was_wrong_once_is_told_and_does_not_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = run(monkeypatch, {"_http2": [1]})
    assert ran == ["_autobahn", "_http2", "_http2", "_http3", "_grpc", "0"]
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "conformance: _http2: a case",
        "conformance: the suite is run once more, and that run decides",
        "conformance: all that was wrong:",
        "conformance:   _http2: a case",
    ]


def test_what_is_wrong_twice_fails_and_the_rest_still_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = run(monkeypatch, {"_autobahn": [1, 1]})
    assert ran == ["_autobahn", *NAMES, "1"]


def test_what_is_written_down_is_of_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, {"_http2": [1]}, "http2", "--update") == ["_http2", "1"]


def test_a_name_that_is_none_is_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, {}, "http9") == [str(conformance.USAGE)]
