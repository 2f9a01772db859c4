"""Messages from JSON to bytes, and from bytes to what can be compared."""

from __future__ import annotations

import pytest
from google.protobuf.descriptor import Descriptor
from pydantic import JsonValue

from wiretrial.calls import messages, statuses
from wiretrial.calls.methods import Methods
from wiretrial.errors import WiretrialError


@pytest.fixture(scope="session")
def item(methods: Methods) -> Descriptor:
    return methods.find("shop.Shop/Find").reply


@pytest.fixture(scope="session")
def query(methods: Methods) -> Descriptor:
    return methods.find("shop.Shop/Find").request


def test_json_becomes_bytes(query: Descriptor) -> None:
    document = messages.read_json('{"name": "tea", "many": 300}', "--json")
    assert messages.encoded(document, query, "--json") == b"\n\x03tea\x10\xac\x02"
    assert messages.encoded({}, query, "--json") == b""


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (
            {"nam": "tea"},
            "--json: shop.Query has no field nam: did you mean name? If not, it has name, many",
        ),
        ({"many": "x"}, "many"),
        ({"many": -1}, "many"),
        ([], "--json"),
        ("tea", "--json"),
    ],
)
def test_json_that_is_no_message_is_told_in_one_line(
    query: Descriptor, document: JsonValue, line: str
) -> None:
    with pytest.raises(WiretrialError) as refused:
        messages.encoded(document, query, "--json")
    assert line in refused.value.line()
    assert "\n" not in refused.value.line()


@pytest.mark.parametrize(
    ("document", "of"),
    [
        ({"maker": {"nam": "Ann"}}, "parts.Maker has no field nam"),
        ({"others": [{"name": "Ann"}, {"year": 1}]}, "parts.Maker has no field year"),
    ],
)
def test_a_field_that_there_is_not_is_found_in_messages_within(
    item: Descriptor, document: JsonValue, of: str
) -> None:
    with pytest.raises(WiretrialError, match=of):
        messages.encoded(document, item, "--json")


def test_text_that_is_no_json_is_told_with_its_place() -> None:
    with pytest.raises(WiretrialError, match="--json is not JSON at line 1, column 2"):
        messages.read_json("{name: 1}", "--json")


def test_a_message_is_a_document(item: Descriptor) -> None:
    asked: JsonValue = {
        "name": "tea",
        "stock": -3,
        "kind": "TEA",
        "sizes": [1, 300],
        "labels": {"b": "2", "a": "1"},
        "at": "2026-01-01T00:00:00Z",
        "picture": "AP8=",
        "fresh": False,
    }
    message = messages.decoded(messages.encoded(asked, item, "--json"), item)
    assert messages.document(message) == {
        "name": "tea",
        "stock": -3,
        "kind": "TEA",
        "sizes": [1, 300],
        "labels": [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}],
        "at": {"seconds": 1767225600},
        "picture": "\x00\xff",
        "fresh": False,
    }
    assert not messages.has_unknown(message)


def test_fields_that_a_file_does_not_know_are_seen(item: Descriptor, query: Descriptor) -> None:
    assert messages.has_unknown(messages.decoded(b"\xf8\x07\x01", item))
    # Field 9 is a maker, which has no field 5.
    assert messages.has_unknown(messages.decoded(b"\x4a\x02\x28\x01", item))
    with pytest.raises(messages.NotAMessage, match=r"no shop\.Query"):
        messages.decoded(b"\xff", query)


def test_a_status_is_named_or_numbered() -> None:
    assert statuses.number("not_found", "--expect-status") == 5
    assert statuses.number("16", "--expect-status") == 16
    for wrong, words in (("NOTFOUND", "did you mean NOT_FOUND"), ("17", "use 0 to 16")):
        with pytest.raises(WiretrialError) as refused:
            statuses.number(wrong, "--expect-status")
        assert words in refused.value.line()
