"""Places in JSON: a pointer finds its name or its element, whatever stands beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiretrial.traffic.json_places import offset_of, offset_of_word

_NAMES = st.sampled_from(["a", "", "a/b", "~", 'q"\\', "{", "[0]", ", :", "ü", "0"])
_DOCUMENTS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), _NAMES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=12,
)


def parts(value: Any, pointer: str) -> Iterator[tuple[str, str | None, Any]]:
    """Every part: its pointer, its name where it has one, and its value."""
    if isinstance(value, list):
        for index, one in enumerate(value):
            yield f"{pointer}/{index}", None, one
            yield from parts(one, f"{pointer}/{index}")
    if isinstance(value, dict):
        for name, one in value.items():
            place = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            yield place, name, one
            yield from parts(one, place)


@settings(deadline=None)
@given(document=_DOCUMENTS, indent=st.sampled_from([None, 0, 2]), is_ascii=st.booleans())
def test_each_part_is_found(document: Any, indent: int | None, is_ascii: bool) -> None:
    source = json.dumps(document, indent=indent, ensure_ascii=is_ascii)
    assert offset_of(source, "#") == 0
    for pointer, name, value in parts(document, "#"):
        found, _ = json.JSONDecoder().raw_decode(source, offset_of(source, pointer))
        assert found == (value if name is None else name)


@pytest.mark.parametrize(
    ("source", "pointer", "found"),
    [
        (' {"a": 1}', "#", 1),
        ('{"a": {"b": 1}}', "#/a/gone", 1),
        ('{"a": 1}', "#/a/b", 1),
        ('{"a": 1, "a": 2}', "#/a", 9),
        ('{"a": 1}', "#/b/c", 0),
    ],
)
def test_of_what_is_not_there_what_it_would_be_in_is_found(
    source: str, pointer: str, found: int
) -> None:
    assert offset_of(source, pointer) == found


def test_a_word_is_found_outside_of_texts() -> None:
    assert offset_of_word('{"NaN": "NaN", "b": [NaN]}', "NaN") == 21
