"""Hurl's format: what is read, with its place, and what is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traffic.examples import FILES
from wiretrial.traffic.hurl import reading, words
from wiretrial.traffic.hurl.syntax import Body, Entry, Hole, Text
from wiretrial.traffic.hurl.words import Family
from wiretrial.traffic.places import TrafficProblem

FILE = Path("x.hurl")


def entries(source: str) -> tuple[Entry, ...]:
    return reading.parse(source, FILE).entries


def body(source: str) -> Body:
    found = entries(f"POST http://h/\n{source}\n")[0].request.body
    assert found is not None
    return found


@pytest.mark.parametrize("name", FILES)
def test_example_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "content.txt").write_text("text", encoding="utf-8")
    assert reading.parse(FILES[name], tmp_path / "x.hurl").entries


def test_an_entry_has_request_response_and_name() -> None:
    first, second = entries(
        "# @name login\nPOST http://h/login\nA: b\n{}\n"
        "HTTP 201\n[Captures]\nt: body\n\nGET http://h/\n"
    )
    assert (first.name, first.request.method, str(first.request.url)) == (
        "login",
        "POST",
        "http://h/login",
    )
    assert [(str(pair.key), str(pair.value)) for pair in first.request.headers] == [("A", "b")]
    assert first.response is not None
    assert first.response.status == 201
    assert [capture.name for capture in first.response.captures] == ["t"]
    assert (second.name, second.response, str(second.place)) == (None, None, "x.hurl:9:1")


def test_holes_have_their_places() -> None:
    url = entries("\nGET http://h/{{ a }}/x{{b-2}}\n")[0].request.url
    assert [(hole.name, str(hole.place)) for hole in url.holes] == [
        ("a", "x.hurl:2:14"),
        ("b-2", "x.hurl:2:23"),
    ]
    assert str(url) == "http://h/{{a}}/x{{b-2}}"


def test_a_place_counts_lines_and_what_stands_before() -> None:
    found = entries("POST http://h/\n```escape\na\\n{{a}} \\u{e9}\n  {{b}}```\n")[0].request.body
    assert found is not None
    assert isinstance(found.content, Text)
    assert [str(hole.place) for hole in found.content.holes] == ["x.hurl:3:4", "x.hurl:4:3"]


@pytest.mark.parametrize(
    ("written", "content", "media_type"),
    [
        ('{"a": [1,\n 2]}', '{"a": [1,\n 2]}', "application/json"),
        ("```\na\n b \n```", "a\n b \n", None),
        ("```\n```", "", None),
        ('```json\n{"a": "\\n"}\n```', '{"a": "\\n"}\n', "application/json"),
        ("```escape\na\\tb\n```", "a\tb\n", None),
        ("`a \\` b`", "a ` b", None),
    ],
)
def test_body_of_text(written: str, content: str, media_type: str | None) -> None:
    found = body(written)
    assert isinstance(found.content, Text)
    assert (str(found.content), found.media_type) == (content, media_type)
    assert not any(found.content.holes)


@pytest.mark.parametrize("written", ["base64,Y2Fmw6k=;", "base64,Y2Fm\nw6k;", "hex,636166c3a9;"])
def test_body_of_bytes(written: str) -> None:
    assert body(written).content == "café".encode()


def test_a_hole_in_json_stays_one() -> None:
    found = body('{"a": {{n}}, "b": "{{s}}"}').content
    assert isinstance(found, Text)
    assert [part.name for part in found.parts if isinstance(part, Hole)] == ["n", "s"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [("a\\#b # c", "a#b"), ("\\u{e9}\\n", "é\n"), ('"quoted"', '"quoted"'), ("a\\\\", "a\\")],
)
def test_values_have_escapes(written: str, meant: str) -> None:
    pairs = entries(f"GET http://h/\nA: {written}\n")[0].request.headers
    assert str(pairs[0].value) == meant


def test_a_line_of_asserts_is_query_filters_predicate() -> None:
    response = entries('GET http://h/\nHTTP 200\n[Asserts]\njsonpath "$.a" nth 2 count not == 3\n')[
        0
    ].response
    assert response is not None
    (line,) = response.assertions
    assert line.query.word == "jsonpath"
    assert [one.word for one in line.filters] == ["nth", "count"]
    assert line.negated
    assert (line.predicate.word, line.predicate.arguments[0].value) == ("==", 3)


def unsupported(family: Family) -> list[str]:
    return [row.word for row in words.TABLE if row.family is family and not row.is_supported]


PLACED = {
    Family.SECTION: ("GET http://h/\n[{}]\n", 2),
    Family.OPTION: ("GET http://h/\n[Options]\n{}: x\n", 3),
    Family.QUERY: ('GET http://h/\nHTTP 200\n[Asserts]\n{} "x" exists\n', 4),
    Family.FILTER: ("GET http://h/\nHTTP 200\n[Asserts]\nbody {} exists\n", 4),
    Family.PREDICATE: ("GET http://h/\nHTTP 200\n[Asserts]\nbody {}\n", 4),
}


@pytest.mark.parametrize(
    ("family", "word"), [(family, word) for family in PLACED for word in unsupported(family)]
)
def test_what_is_not_supported_is_refused_with_a_remedy(family: Family, word: str) -> None:
    source, line = PLACED[family]
    with pytest.raises(TrafficProblem, match="is not supported") as caught:
        entries(source.format(word))
    assert caught.value.place.line == line
    assert caught.value.remedy


def test_each_supported_word_is_in_an_example() -> None:
    together = "\n".join(FILES.values())
    for row in words.TABLE:
        if row.is_supported and row.family is not Family.BODY:
            assert row.word in together, f"no example of {row.family} {row.word}"
