"""Ranks share a place unless a difference is shown."""

from __future__ import annotations

from wiretrial.stats.ranks import rank


def test_all_shown_to_differ() -> None:
    found = rank("abc", {("a", "b"), ("a", "c"), ("b", "c")})
    assert found.ranks == (1, 2, 3)
    assert found.brackets == ()


def test_nothing_shown_is_one_place() -> None:
    found = rank("abc", set())
    assert found.ranks == (1, 1, 1)
    assert found.brackets == ((0, 2),)


def test_a_chain_overlaps() -> None:
    found = rank("abc", {("a", "c")})
    assert found.ranks == (1, 1, 2)
    assert found.brackets == ((0, 1), (1, 2))


def test_two_pairs() -> None:
    better = {(x, y) for x in "ab" for y in "cd"}
    found = rank("abcd", better)
    assert found.ranks == (1, 1, 3, 3)
    assert found.brackets == ((0, 1), (2, 3))


def test_one_alone_has_no_bracket() -> None:
    assert rank("a", set()).brackets == ()
