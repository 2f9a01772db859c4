"""Ranks share a place unless a difference is shown."""

from __future__ import annotations

from wiretrial.stats.ranks import rank


def test_all_shown_to_differ() -> None:
    found = rank("abc", {("a", "b"), ("a", "c"), ("b", "c")})
    assert found.ranks == {"a": 1, "b": 2, "c": 3}
    assert found.brackets == ()


def test_nothing_shown_is_one_place() -> None:
    found = rank("abc", set())
    assert found.ranks == {"a": 1, "b": 1, "c": 1}
    assert found.brackets == ((0, 2),)


def test_a_chain_overlaps() -> None:
    found = rank("abc", {("a", "c")})
    assert found.ranks == {"a": 1, "b": 1, "c": 2}
    assert found.brackets == ((0, 1), (1, 2))


def test_two_pairs() -> None:
    better = {(x, y) for x in "ab" for y in "cd"}
    found = rank("abcd", better)
    assert found.ranks == {"a": 1, "b": 1, "c": 3, "d": 3}
    assert found.brackets == ((0, 1), (2, 3))


def test_one_alone_has_no_bracket() -> None:
    assert rank("a", set()).brackets == ()


def test_who_cannot_be_placed_has_no_rank_and_is_no_end_of_a_bracket() -> None:
    found = rank("abcd", {("b", "c")}, unranked={"a", "d"})
    assert found.order == tuple("abcd")
    assert found.ranks == {"b": 1, "c": 2}
    assert found.brackets == ()
    assert rank("abc", set(), unranked={"b"}).brackets == ((0, 2),)
    assert rank("abc", set(), unranked={"c"}).brackets == ((0, 1),)


def test_who_cannot_be_placed_counts_for_those_it_beats() -> None:
    assert rank("abc", {("a", "c"), ("b", "c")}, unranked={"a"}).ranks == {"b": 1, "c": 3}
