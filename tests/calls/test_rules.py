"""Which messages a rule takes: one that was asked for, and one that was learned."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from google.protobuf.wrappers_pb2 import DoubleValue, Int64Value, StringValue
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from tests.calls.held import fits
from wiretrial.calls import fields, messages, wire
from wiretrial.calls.asking import Reply
from wiretrial.calls.methods import Method, Methods
from wiretrial.errors import WiretrialError
from wiretrial.plan import EchoContent, FieldsContent, LearnedContent, StatusContent
from wiretrial.plan_grpc import MessageShape
from wiretrial.traffic.learning.calls import Learned, learned

MANY = 30
Made = dict[str, JsonValue]


@pytest.fixture(scope="session")
def find(methods: Methods) -> Method:
    return methods.find("shop.Shop/Find")


def made(number: int = 0, **others: JsonValue) -> Made:
    """An item as a server makes it."""
    return {
        "id": str(uuid.UUID(int=number)),
        "name": "tea",
        "stock": -1 - number,
        "price": 2.5,
        "kind": "TEA",
        "sizes": [1, 300],
        "labels": {"colour": "green", "age": "old"},
        "at": "2026-01-01T00:00:00Z",
        "maker": {"name": "Ann", "since": 1999},
        "picture": "AP8=",
        "fresh": False,
        "others": [{"name": "Bob"}, {"name": "Eve"}],
        **others,
    }


def written(document: JsonValue, of: Descriptor) -> bytes:
    return messages.encoded(document, of, "a test")


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        ({"name": "tea"}, {"name": "coffee"}),
        ({"stock": -1}, {"stock": 1}),
        ({"price": 2.5}, {"price": 2.25}),
        ({"kind": "TEA"}, {"kind": "COFFEE"}),
        ({"sizes": [1, 300]}, {"sizes": [300, 1]}),
        ({"sizes": [1, 300]}, {"sizes": []}),
        ({"labels": {"age": "old", "colour": "green"}}, {"labels": {"age": "old"}}),
        ({"labels": {"age": "old", "colour": "green"}}, {"labels": {"age": "new", "x": "y"}}),
        ({"at": "2026-01-01T00:00:00Z"}, {"at": "2026-01-01T00:00:01Z"}),
        ({"at": "2026-01-01T00:00:00Z"}, {"at": "2026-01-01T00:00:00.5Z"}),
        ({"maker": {"since": "1999"}}, {"maker": {"name": "Ann"}}),
        ({"picture": "AP8="}, {"picture": "AA=="}),
        ({"fresh": False}, {"fresh": None}),
        ({"fresh": None}, None),
        ({"others": [{"name": "Bob"}, {"name": "Eve"}]}, {"others": [{"name": "Bob"}]}),
        ({"others": []}, None),
    ],
)
def test_what_was_asked_for_is_there_beside_anything_else(
    find: Method, asked: Made, wrong: Made | None
) -> None:
    rule = fields.of_expected(asked, find.reply, "--expect")
    whole = written(made(), find.reply)
    assert fits(rule, whole) is (wrong is not None)
    # Fields that were added since are no fault.
    assert fits(rule, written({**made(), **asked}, find.reply) + b"\xf8\x07\x01")
    assert not fits(rule, written({**made(), **(wrong or {})}, find.reply))


def test_a_value_that_is_not_written_may_be_written(find: Method) -> None:
    rule = fields.of_expected({"stock": 0}, find.reply, "--expect")
    assert fits(rule, b"")
    assert fits(rule, b"\x18\x00")
    assert not fits(rule, b"\x18\x01")


def test_an_expected_field_that_there_is_not_is_told(find: Method) -> None:
    with pytest.raises(WiretrialError, match=r"--expect: shop\.Item has no field nme"):
        fields.of_expected({"nme": "tea"}, find.reply, "--expect")


def of(find: Method, documents: Sequence[Made], **flags: bool) -> Learned:
    """What is learned of these, each a reply."""
    encoded = [written(one, find.reply) for one in documents]
    return learned([Reply((one,), (b"",), time.time()) for one in encoded], find, **flags)


def shape_of(found: Learned) -> MessageShape:
    assert isinstance(found.content, FieldsContent)
    return found.content.shape


def test_what_varies_may_vary_and_nothing_else(find: Method) -> None:
    found = of(find, [made(number) for number in range(MANY)])
    assert found.told == "2 of 13 fields vary: $.id UUID, $.stock integer"
    rule = shape_of(found)
    for number in (0, 7, 10**6):
        assert fits(rule, written(made(number), find.reply))
    wrong: list[Made] = [
        {"name": "coffee"},
        {"id": "short"},
        {"id": ""},
        {"price": 2.25},
        {"kind": "COFFEE"},
        {"sizes": [1]},
        {"labels": {"colour": "blue", "age": "old"}},
        {"at": "2026-01-01T00:00:01Z"},
        {"maker": {"name": "Ann", "since": 2000}},
        {"picture": "AP8A"},
        {"fresh": True},
        {"others": [{"name": "Bob", "since": 1}, {"name": "Eve"}]},
    ]
    for change in wrong:
        assert not fits(rule, written(made(3, **change), find.reply)), change
    assert not fits(rule, written(made(3), find.reply) + b"\xf8\x07\x01")
    # 0 is an integer, too, and not written.
    assert fits(rule, written(made(3, stock=0), find.reply))


def test_of_a_shape_values_do_not_count(find: Method) -> None:
    found = of(find, [made(number) for number in range(MANY)], constants=False)
    rule = shape_of(found)
    assert fits(rule, written(made(3, name="coffee", kind="OTHER"), find.reply))
    assert fits(rule, written(made(3), find.reply) + b"\xf8\x07\x01")
    assert not fits(rule, written(made(3, name="t" * 10**6), find.reply))


@pytest.mark.parametrize(
    ("vary", "fit", "wrong"),
    [
        (lambda n: {"name": "x" * (1 + n % 9)}, {"name": "y"}, {"name": "y" * 10**5}),
        (lambda n: {"sizes": list(range(1, 2 + n % 4))}, {"sizes": [9]}, {"sizes": [1] * 10**4}),
        (lambda n: {"kind": ("TEA", "COFFEE")[n % 2]}, {"kind": "TEA"}, {"kind": 77}),
        (lambda n: {"fresh": n % 2 == 0}, {"fresh": True}, {"fresh": None}),
        (lambda n: {"fresh": None if n % 2 else True}, {"fresh": None}, {"name": "x"}),
        (lambda n: {"others": [{"name": "a"}] * (n % 3)}, {"others": []}, {"others": [{}]}),
        (
            lambda n: {"maker": {"name": "Ann", "since": n + 1}},
            {"maker": {"name": "Ann", "since": 5}},
            {"maker": {"name": "Bob", "since": 5}},
        ),
        (
            lambda n: {"labels": {"colour": "red" * (1 + n % 2)}},
            {"labels": {"colour": "r" * 4}},
            {"labels": {"size": "red"}},
        ),
        (
            lambda n: {"picture": "AA==" if n % 2 else "AAAA"},
            {"picture": "AAA="},
            {"picture": "A" * 4000},
        ),
    ],
    ids=["text", "packed", "enum", "bool", "sometimes", "repeated", "message", "map", "bytes"],
)
def test_each_type_varies_in_its_way(
    find: Method, vary: Callable[[int], Made], fit: Made, wrong: Made
) -> None:
    base: Made = {"id": "one", "stock": 1}
    rule = shape_of(of(find, [{**base, **vary(number)} for number in range(MANY)]))
    for number in range(MANY):
        assert fits(rule, written({**base, **vary(number)}, find.reply))
    assert fits(rule, written({**base, **fit}, find.reply))
    assert not fits(rule, written({**base, **wrong}, find.reply))


def test_equal_replies_stay_equal(find: Method) -> None:
    found = of(find, [made()] * MANY)
    assert isinstance(found.content, LearnedContent)
    assert found.told is None


def test_a_time_that_goes_on_varies_although_it_stood_still(find: Method) -> None:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    found = of(find, [{"name": "tea", "at": now}] * MANY)
    rule = shape_of(found)
    assert fits(rule, written({"name": "tea", "at": "2036-01-01T00:00:00Z"}, find.reply))
    assert not fits(rule, written({"name": "tea", "at": "2036-01-01T00:00:00.5Z"}, find.reply))


def test_a_stream_has_so_many_messages(methods: Methods) -> None:
    listed = methods.find("shop.Shop/List")
    item = [written({"id": str(uuid.UUID(int=n)), "name": "tea"}, listed.reply) for n in range(90)]

    def replies(counts: Sequence[int]) -> list[Reply]:
        return [Reply(tuple(item[n : n + count]), (b"",), 0.0) for n, count in enumerate(counts)]

    same = learned(replies([3] * MANY), listed)
    assert same.replies == (3, 3)
    assert same.told == "1 of 2 fields varies: $.id UUID; 3 messages each"
    several = learned(replies([2 + n % 3 for n in range(MANY)]), listed)
    assert several.replies is not None
    least, most = several.replies
    assert most is not None
    assert least <= 2 <= 4 <= most
    none = learned(replies([0] * MANY), listed)
    assert (none.content, none.replies) == (StatusContent(), (0, 0))


def test_an_echo_is_known(methods: Methods) -> None:
    talk = methods.find("shop.Shop/Talk")
    came = [(written({"stock": n}, talk.reply),) for n in range(MANY)]
    found = learned([Reply(one, one, 0.0) for one in came], talk)
    assert found.content == EchoContent()


def test_what_a_file_does_not_know_may_be_there(find: Method) -> None:
    bodies = [written(made(number), find.reply) + b"\xf8\x07\x01" for number in range(MANY)]
    found = learned([Reply((one,), (b"",), 0.0) for one in bodies], find)
    assert fits(shape_of(found), bodies[3])


def test_a_reply_of_another_file_is_told(find: Method) -> None:
    with pytest.raises(WiretrialError, match=r"a reply is no shop\.Item"):
        learned([Reply((bytes([255, n]),), (b"",), 0.0) for n in range(MANY)], find)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(-(2**31), 2**31 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
)
def test_values_are_as_protobuf_writes_them(number: int, price: float, name: str) -> None:
    written_by_it: list[tuple[Message, JsonValue]] = [
        (Int64Value(value=number), number),
        (DoubleValue(value=price), price),
        (StringValue(value=name), name),
    ]
    for message, value in written_by_it:
        of: Any = message.DESCRIPTOR
        if message.ListFields():
            rule = fields.of_expected(value, of, "a test")
            assert fits(rule, message.SerializeToString())
            raw = wire.raw(of.fields[0], value)
            assert raw in message.SerializeToString()
