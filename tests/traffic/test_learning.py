"""What is learned from replies: those that were seen fit it, and what is wrong does not."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.traffic.judging import fits
from wiretrial.traffic.learning import Learned, NotLearned, Sample, learn
from wiretrial.traffic.learning.strings import with_room

EXAMPLES = settings(max_examples=60, deadline=None)
NOW = 1_790_000_000.0
UUIDS = st.uuids().map(str)
TIMES = st.datetimes().map(lambda one: f"{one.isoformat()}Z")
SCALARS: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | UUIDS
    | TIMES
    | st.sampled_from(["", "12", "1.5", "0f3a55aa", "2026-09-21", "$", "{{x}}"])
)
NAMES = st.sampled_from(["id", "at", "ok", "items", "a b", "é", "$"]) | st.text(max_size=4)
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)


def reply(
    body: object, media_type: str = "application/json", status: int = 200, sent: bytes = b""
) -> Sample:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = (("Content-Type", f"{media_type}; charset=utf-8"),) if media_type else ()
    return Sample(status, headers, content, sent, NOW)


def texts(*bodies: str) -> list[Sample]:
    return [reply(body.encode(), "text/html") for body in bodies]


def shape_of(learned: Learned) -> dict[str, Any]:
    assert learned.shape is not None, learned
    found: dict[str, Any] = learned.shape.model_dump(by_alias=True)
    return found


def is_right(learned: Learned, sample: Sample) -> bool:
    """Whether the rule takes a reply as right."""
    match learned.kind:
        case "equal":
            return sample.body == learned.body
        case "echo":
            return sample.body == sample.sent
        case "json":
            return fits(shape_of(learned), json.loads(sample.body))
        case "text":
            assert learned.pattern is not None
            # No line ends before the end: `$` of the engine's patterns is the end of all.
            pattern = learned.pattern.removesuffix("$")
            return re.fullmatch(pattern.removeprefix("^"), sample.body.decode()) is not None
        case "size":
            assert learned.length is not None
            return learned.length[0] <= len(sample.body) <= learned.length[1]


def nodes(shape: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield shape
    for member in shape["members"] or ():
        yield from nodes(member["shape"])
    for inner in (shape["items"], shape["others"]):
        if isinstance(inner, dict):
            yield from nodes(inner)


@given(st.lists(JSON, min_size=1, max_size=6), st.booleans())
@EXAMPLES
def test_documents_that_were_seen_fit_and_no_shape_is_anything(
    documents: list[Any], constants: bool
) -> None:
    samples = [reply(one) for one in documents]
    learned = learn("GET /", samples, constants=constants)
    assert all(is_right(learned, sample) for sample in samples)
    if learned.shape is not None:
        assert all(node["types"] or node["values"] for node in nodes(shape_of(learned)))
        assert len(learned.varied) <= learned.fields


@given(
    st.lists(st.text("ab <>&.\n09é", max_size=20), min_size=1, max_size=6),
    st.text("<x>", max_size=12),
    st.text("</b>", max_size=12),
)
@EXAMPLES
def test_texts_that_were_seen_fit(inner: list[str], before: str, behind: str) -> None:
    samples = texts(*(f"{before}{one}{behind}{one}" for one in inner))
    learned = learn("GET /", samples)
    assert all(is_right(learned, sample) for sample in samples)


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=6))
@EXAMPLES
def test_bytes_that_were_seen_fit(bodies: list[bytes]) -> None:
    samples = [reply(body, "image/png") for body in bodies]
    assert all(is_right(learn("GET /", samples), sample) for sample in samples)


Change = Callable[[dict[str, Any]], dict[str, Any]]
WRONG: dict[str, Change] = {
    "another type": lambda one: one | {"id": [one["id"]]},
    "no UUID": lambda one: one | {"id": "0"},
    "no time": lambda one: one | {"at": "yesterday"},
    "another constant": lambda one: one | {"currency": "USD"},
    "null": lambda one: one | {"stock": None},
    "a fraction": lambda one: one | {"stock": 1.5},
    "an empty text": lambda one: one | {"name": ""},
    "a member that is not there": lambda one: {k: v for k, v in one.items() if k != "stock"},
    "a member that was never there": lambda one: one | {"error": "no such table"},
    "an element of another type": lambda one: one | {"lines": [*one["lines"], 1]},
    "an element without a member": lambda one: one | {"lines": [{"sku": "a"}]},
    "far more elements": lambda one: one | {"lines": one["lines"] * 1000},
    "a list that is shorter": lambda one: one | {"tags": ["new"]},
    "a map's place of another type": lambda one: one | {"seen": "often"},
}
RIGHT: dict[str, Change] = {
    "another identifier": lambda one: one | {"id": str(uuid.UUID(int=99))},
    "a time without a fraction": lambda one: one | {"at": "2031-01-01T00:00:00Z"},
    "a longer name": lambda one: one | {"name": one["name"] * 2},
    "a greater number": lambda one: one | {"stock": 10**6},
    "more elements": lambda one: one | {"lines": one["lines"] * 2},
    "null that was seen": lambda one: one | {"next": None},
    "another name in a map": lambda one: one | {"seen": {"4711": {"times": 3}}},
    "a member that comes and goes": lambda one: one | {"sale": 0.5},
}


def item(number: int) -> dict[str, Any]:
    """A reply as applications give them."""
    return {
        "id": str(uuid.UUID(int=number)),
        "at": f"2026-01-01T00:00:{number:02}.5Z",
        "currency": "EUR",
        "tags": ["new", "red"],
        "name": "x" * (3 + number % 5),
        "stock": 7 * number % 90,
        "lines": [
            {"sku": f"{number}-{line}", "price": line + 0.25} for line in range(1 + number % 3)
        ],
        "next": f"page{number}" if number % 2 else None,
        "seen": {str(1000 + number): {"times": number}, str(2000 + number): {"times": 1}},
    } | ({"sale": 0.1 * number} if number % 3 == 0 else {})


@pytest.fixture(scope="module")
def learned() -> Learned:
    return learn("GET /item", [reply(item(number)) for number in range(30)])


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_does_not_fit(learned: Learned, name: str) -> None:
    assert not fits(shape_of(learned), WRONG[name](item(31)))


@pytest.mark.parametrize("name", RIGHT)
def test_what_an_application_may_well_reply_fits(learned: Learned, name: str) -> None:
    assert fits(shape_of(learned), RIGHT[name](item(31)))


def test_what_varies_is_told_in_one_line(learned: Learned) -> None:
    assert learned.told == (
        "11 of 13 fields vary: $.id UUID, $.at time, $.name text of 1 to 38, $.stock integer, "
        "$.lines list of 1 to 21, 6 more"
    )
    assert [str(one) for one in learned.varied[5:]] == [
        "$.lines[*].sku text of 1 to 23",
        "$.lines[*].price number",
        "$.next text of 1 to 39 or null",
        "$.seen names of members",
        "$.seen.*.times integer",
        "$.sale number, sometimes missing",
    ]


def test_only_the_shape_is_learned_where_that_is_asked_for() -> None:
    replies = [reply({"kind": "item", "id": number, "tags": ["a"]}) for number in range(30)]
    found = learn("GET /", replies, constants=False)
    assert found.told.startswith("the shape counts alone: $.kind text of 1 to 26, $.id integer")
    shape = shape_of(found)
    assert fits(shape, {"kind": "else", "id": 1, "tags": ["a", "b"], "new": 1})
    several: list[Any] = [{"kind": 1, "id": 1, "tags": []}, {"kind": "x", "id": 1}, [], {"id": 1}]
    for wrong in several:
        assert not fits(shape, wrong)


def test_a_list_that_grew_with_each_request_may_grow_on() -> None:
    replies = [reply({"notes": [0] * number}) for number in range(1, 31)]
    found = learn("GET /notes", replies)
    assert "$.notes list of 1 or more" in found.told
    assert fits(shape_of(found), {"notes": [0] * 100_000})


def test_a_list_that_grows_anew_from_each_start_of_its_server_on_grows_on() -> None:
    once = [reply({"notes": [0] * number}) for number in range(30)]
    assert "$.notes list of 0 or more" in learn("GET /notes", [*once, *once]).told
    not_grown = [reply({"notes": [0] * (number % 7)}) for number in range(60)]
    assert "$.notes list of 0 to 44" in learn("GET /notes", not_grown).told


def test_times_about_now_vary_although_they_stood_still() -> None:
    """Thirty replies take less than the second after which these change."""
    same = {"at": "2026-09-21T14:13:20Z", "unix": NOW, "ms": int(NOW * 1000), "born": "1990-01-01"}
    found = learn("GET /now", [reply(same)] * 30)
    assert found.told == "3 of 4 fields vary: $.at time, $.unix number, $.ms integer"
    pages = texts(*["<p>Made at 2026-09-21T14:13:20Z, since 2001-01-01</p>"] * 30)
    found = learn("GET /page", pages)
    assert found.told == "1 place varies in the text: time"
    assert is_right(found, texts("<p>Made at 2026-09-21T14:59:59Z, since 2001-01-01</p>")[0])
    assert not is_right(found, texts("<p>Made at 2026-09-21T14:13:20Z, since 2001-01-02</p>")[0])


def test_a_page_has_holes_where_it_varies() -> None:
    def page(number: int) -> str:
        rows = "".join(f"<li>{number * line} left</li>" for line in range(number % 3 + 1))
        token = f"{number:032x}"
        return f'<form><input value="{token}"></form><b>Hi {number}</b><ul>{rows}</ul><i>End.</i>'

    found = learn("GET /form", texts(*map(page, range(10, 40))))
    assert (
        found.told == ("3 places vary in the text: 32 hex digits, digits, text of 1 to 330")
        or found.kind == "text"
    ), found.told
    assert is_right(found, texts(page(77))[0])
    for wrong in ("<h1>Internal Server Error</h1>", page(20).replace("Hi", "Bye"), page(20) + "x"):
        assert not is_right(found, texts(wrong)[0])


@pytest.mark.parametrize(
    ("samples", "kind", "told"),
    [
        ([reply(b"same", "text/plain")] * 30, "equal", "all were equal"),
        ([reply(b"", "")] * 30, "equal", "all were equal"),
        ([reply({"a": 1})] * 30, "equal", "all were equal"),
        (
            [reply(b"%d" % n, "text/plain", sent=b"%d" % n) for n in range(30)],
            "echo",
            "each was its request's body",
        ),
        (
            [reply(b"\x00" * n, "image/png") for n in range(100, 130)],
            "size",
            "content varies, 23 to 560 bytes",
        ),
    ],
)
def test_other_replies(samples: Sequence[Sample], kind: str, told: str) -> None:
    found = learn("GET /", samples)
    assert found.kind == kind
    assert found.told == told, found.told


PAGE = reply(b"<html>Log in</html>")


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ([reply(b"no", status=500)] * 30, "GET /: status 500, which is not learned: 'no'"),
        (
            [reply({}), reply(b"oops", status=503)],
            "1 of 2 replies had status 503, which is not learned: 'oops'",
        ),
        ([reply({}), reply({}, status=201)], "replies had statuses 200 (1x) and 201 (1x)"),
        ([PAGE], "a reply said application/json, and was no JSON: '<html>Log in</html>'"),
        (
            [reply({}), *texts("<p>")],
            "replies had media types application/json (1x) and text/html (1x)",
        ),
    ],
)
def test_error_pages_are_not_learned(samples: Sequence[Sample], words: str) -> None:
    with pytest.raises(NotLearned) as raised:
        learn("GET /", samples)
    assert words in raised.value.line()


def test_a_status_that_was_asked_for_is_learned() -> None:
    missing = [reply({"error": "none", "n": number}, status=404) for number in range(30)]
    assert learn("GET /", missing, status=404).kind == "json"


def test_a_secret_is_no_constant_of_a_rule() -> None:
    same = {"access_token": "0f3a55aa-long", "code": 0, "key": "a", "user": {"name": "ann"}}
    found = learn("POST /login", [reply(same)] * 30)
    assert (found.kind, found.told) == ("equal", "all were equal")
    assert found.expect is not None
    assert found.expect.body is None
    assert "0f3a55aa" not in found.expect.model_dump_json()
    assert fits(shape_of(found), same | {"access_token": "else"})
    assert not fits(shape_of(found), same | {"code": 1})
    several = [reply(same | {"n": number}) for number in range(30)]
    assert "0f3a55aa" not in json.dumps(shape_of(learn("POST /login", several)))


@pytest.mark.parametrize("samples", [1, 5, 30, 300])
def test_the_bound_is_what_equal_replies_show(samples: int) -> None:
    bound = learn("GET /", [reply({})] * samples).bound
    assert (1 - bound) ** samples == pytest.approx(0.05)


@given(st.lists(st.integers(0, 500), min_size=1, max_size=30))
@EXAMPLES
def test_room_holds_what_was_seen_and_keeps_empty_apart(lengths: list[int]) -> None:
    least, most = with_room(lengths)
    assert least <= min(lengths) <= max(lengths) < most
    assert (least == 0) == (0 in lengths)
