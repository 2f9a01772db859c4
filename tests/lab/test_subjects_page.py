"""The page of the catalogue: a part of it written anew leaves the rest as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiretrial.errors import UsageProblem
from wiretrial.subjects import page, registry
from wiretrial.subjects.page import Entry

ROOT = Path(__file__).resolve().parents[2]
SYSTEM = "Debian GNU/Linux 12 (bookworm)"


def kept() -> str:
    return (ROOT / "docs" / "subjects.md").read_text(encoding="utf-8")


def entry(name: str, reason: str) -> Entry:
    """A subject that can't be had."""
    return Entry(registry.find(name).spec, None, reason, {})


def test_a_page_is_what_its_rows_are() -> None:
    assert page.renewed(kept(), [], SYSTEM) == kept()


def test_a_part_written_anew_leaves_the_rest() -> None:
    made = page.renewed(kept(), [entry("nghttpd", "nghttpd is unavailable: no | apt")], SYSTEM)
    before, after = kept().splitlines(), made.splitlines()
    gone, new = ([one for one in a if one not in b] for a, b in ((before, after), (after, before)))
    assert {one.split("](")[0].split(" |")[0].strip("| [") for one in gone} == {"nghttpd"}
    assert "| nghttpd | nghttpd is unavailable: no \\| apt |" in new
    (row,) = (one for one in new if one.startswith("| [nghttpd]"))
    assert "| unavailable |" in row
    # Its limits are its recipe's, whether it could be had or not.
    limits = [one for one in after if one.startswith("| nghttpd | routes")]
    assert len(limits) == 1
    names = [one for one in after if one.startswith("| [")]
    assert [one.split("]")[0] for one in names] == [
        one.split("]")[0] for one in before if one.startswith("| [")
    ]


def test_a_page_of_another_system_is_not_mixed_with_ours() -> None:
    with pytest.raises(UsageProblem, match="verified on Debian 13"):
        page.renewed(kept(), [entry("nghttpd", "-")], "Debian 13")
