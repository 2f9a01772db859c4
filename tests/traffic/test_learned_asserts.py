"""What was learned, as a file that a person keeps: it is read again, and says what it can't say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traffic.test_learning import item, reply, texts
from wiretrial.traffic.compiler import compile_file
from wiretrial.traffic.hurl.reading import parse
from wiretrial.traffic.hurl.syntax import Entry
from wiretrial.traffic.hurl.writing import write
from wiretrial.traffic.importing.parts import Sent, request
from wiretrial.traffic.learning import Learned, Sample, learn
from wiretrial.traffic.learning.asserts import response
from wiretrial.traffic.learning.strings import UUID


def written(found: Learned) -> tuple[str, tuple[str, ...]]:
    part, left = response(found)
    asked = request(Sent("GET", "http://127.0.0.1:1/item"), {})
    return write([Entry(asked, part)]), left


def test_each_place_has_a_line_or_is_said_to_have_none() -> None:
    text, left = written(learn("GET /item", [reply(item(number)) for number in range(30)]))
    lines = text.splitlines()
    assert lines[:4] == [
        "GET {{base}}/item",
        "HTTP 200",
        "[Asserts]",
        'header "Content-Type" contains "application/json"',
    ]
    for line in (
        f'jsonpath "$.id" matches /^{UUID}$/',
        'jsonpath "$.at" isIsoDate',
        'jsonpath "$.currency" == "EUR"',
        'jsonpath "$.tags" count == 2',
        'jsonpath "$.tags[1]" == "red"',
        'jsonpath "$.stock" isInteger',
        'jsonpath "$.lines" count >= 1',
        'jsonpath "$.lines[0].price" isNumber',
    ):
        assert line in lines, text
    assert left == (
        "of $.lines the first element is checked alone",
        "$.lines[0] has no other members",
        "$.next is string or null",
        "$.sale may be missing",
        "$ has no other members",
    )


PAGES = texts(*(f"<h1>It's\n{{{{number}}}}: {number}/9</h1>" for number in range(10, 40)))


@pytest.mark.parametrize(
    "samples",
    [
        [reply(item(number)) for number in range(30)],
        [reply({"a": [1, {"b": None}]})] * 30,
        [reply(b"", "")] * 30,
        [reply("{{x}} \\ ` #", "text/plain")] * 30,
        [reply(b"\xff\x00", "image/png")] * 30,
        [reply(b"\xff" * number, "image/png") for number in range(1, 31)],
        PAGES,
    ],
)
def test_what_is_written_compiles(tmp_path: Path, samples: list[Sample]) -> None:
    text, _ = written(learn("GET /item", samples))
    path = tmp_path / "item.hurl"
    path.write_text(text)
    assert write(parse(text, path).entries) == text
    scenario = compile_file(path, {"base": "http://127.0.0.1:1"})
    assert scenario.unchecked == ()
