"""How tests are spread over workers: the names are true, and the longest come first."""

from __future__ import annotations

from pathlib import Path

from tests import spreading

ROOT = Path(__file__).resolve().parents[1]


def test_what_is_named_is_there() -> None:
    assert all((ROOT / name).exists() for name in spreading.LONGEST)


def test_a_file_is_a_unit_and_a_folder_may_be() -> None:
    assert spreading.unit("tests/cli/test_runs.py::test_a[x::y]") == "tests/cli/test_runs.py"
    assert spreading.unit("tests/publish/test_build.py::test_a") == "tests/publish/"


def test_the_longest_come_first() -> None:
    first, last = (f"{name}::test_a" for name in (spreading.LONGEST[0], "tests/test_tree.py"))
    assert spreading.place(first) == 0
    assert spreading.place(last) == len(spreading.LONGEST)
