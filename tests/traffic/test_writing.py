"""What is written as a `.hurl` file is read as the same entries."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.traffic.examples import FILES
from wiretrial.traffic.hurl import reading
from wiretrial.traffic.hurl.syntax import (
    Assertion,
    Body,
    Call,
    Capture,
    Entry,
    Hole,
    Pair,
    Request,
    Response,
    Text,
    Value,
)
from wiretrial.traffic.hurl.writing import write
from wiretrial.traffic.places import Place

HERE = Place(Path("x.hurl"))

NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,6}", fullmatch=True)
# Hurl takes no control characters but those that it has escapes for.
PLAIN = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co", "Zl", "Zp")), min_size=1, max_size=12
) | st.sampled_from(["{{", "{", "}", "#", "\\", " ", "a\nb", "\t", '"', "`", "```\n", "é", "a: b"])
HOLES = NAMES.map(lambda name: Hole(name, HERE))


@st.composite
def texts(draw: st.DrawFn, empty: bool = True) -> Text:
    parts: list[str | Hole] = []
    for part in draw(st.lists(PLAIN | HOLES, min_size=0 if empty else 1, max_size=4)):
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            parts[-1] += part
        else:
            parts.append(part)
    return Text(tuple(parts), HERE)


PAIRS = st.builds(Pair, texts(empty=False), texts())
URLS = HOLES.map(lambda hole: Text(("http://h/a b#", hole, "?{"), HERE))
VALUES = st.builds(
    Value,
    texts(empty=False)
    | st.integers(-(10**9), 10**9)
    | st.booleans()
    | st.none()
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.binary(min_size=1, max_size=100),
    st.just(HERE),
)
QUERIES = st.sampled_from(["status", "body"]).map(lambda word: Call(word, HERE)) | st.builds(
    lambda text: Call("header", HERE, (Value(text, HERE),)), texts(empty=False)
)
PREDICATES = st.builds(
    lambda word, value: Call(word, HERE, (value,)), st.sampled_from(["==", "contains"]), VALUES
) | st.just(Call("exists", HERE))
CAPTURES = st.builds(Capture, NAMES, QUERIES, st.just(()), st.just(HERE))
ASSERTIONS = st.builds(Assertion, QUERIES, st.just(()), PREDICATES, st.booleans())
BODIES = st.builds(Body, texts() | st.binary(max_size=200), st.just(HERE)) | st.builds(
    Body, texts(), st.just(HERE), st.just("application/xml")
)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    request = Request(
        method=draw(st.sampled_from(["GET", "POST"])),
        url=draw(URLS),
        place=HERE,
        headers=tuple(draw(st.lists(PAIRS, max_size=2))),
        sections={"Query": tuple(draw(st.lists(PAIRS, max_size=2)))} if draw(st.booleans()) else {},
        body=draw(st.none() | BODIES),
    )
    response = Response(
        status=draw(st.none() | st.integers(100, 599)),
        place=HERE,
        captures=tuple(
            draw(
                st.lists(st.builds(Capture, NAMES, QUERIES, st.just(()), st.just(HERE)), max_size=2)
            )
        ),
        assertions=tuple(
            draw(
                st.lists(
                    st.builds(Assertion, QUERIES, st.just(()), PREDICATES, st.booleans()),
                    max_size=2,
                )
            )
        ),
        body=draw(st.none() | BODIES),
    )
    name = draw(st.none() | NAMES)
    return Entry(request, draw(st.none() | st.just(response)), name)


def bare(part: Any) -> Any:
    """Without places."""
    if isinstance(part, Place):
        return None
    if isinstance(part, tuple):
        return tuple(map(bare, part))
    if isinstance(part, dict):
        return {key: bare(value) for key, value in part.items()}
    if is_dataclass(part):
        return {one.name: bare(getattr(part, one.name)) for one in fields(part)}
    return part


@settings(max_examples=60, deadline=None)
@given(st.lists(entries(), min_size=1, max_size=2))
def test_written_entries_are_read_again(written: list[Entry]) -> None:
    found = reading.parse(write(written), HERE.file).entries
    assert bare(found) == bare(tuple(written))


@pytest.mark.parametrize("name", FILES)
def test_an_example_is_the_same_when_it_is_written_again(name: str, tmp_path: Path) -> None:
    (tmp_path / "content.txt").write_text("text", encoding="utf-8")
    path = tmp_path / "x.hurl"
    first = reading.parse(FILES[name], path).entries
    assert bare(reading.parse(write(first), path).entries) == bare(first)
