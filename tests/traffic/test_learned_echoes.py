"""Values of a request that come back in its reply, and redirects: what is learned of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence

import pytest

from tests.traffic.test_learned_asserts import written
from wiretrial.exchange import Exchange
from wiretrial.plan_traffic import (
    Feed,
    Flow,
    JsonOf,
    MadeOf,
    Route,
    Step,
    Text,
    Traffic,
    UrlOf,
    ValueOf,
    Words,
)
from wiretrial.traffic import telling
from wiretrial.traffic.learning import Learned, Sample, learn
from wiretrial.traffic.learning.values import Source, sent_with

USER, PRICE, TOKEN = ValueOf(value="user"), ValueOf(value="price"), ValueOf(value="token")
SEQ, AT = MadeOf(make="seq"), MadeOf(make="time")
FEED = Feed(
    name="users",
    columns=("user", "price", "kind"),
    rows=(("ann b", "1", "x"), ('bo"b', "2", "x"), ("cat", "3", "x"), ("cat", "4", "x")),
)


def route(name: str, path: Text, body: Text = (), header: Text = ()) -> Route:
    headers = (("X-User", header),) if header else ()
    return Route(name=name, method="GET", target=path, headers=headers, body=body)


def traffic(*routes: Route, flows: Sequence[str] = ("buy",)) -> Traffic:
    steps = tuple(Step(route=index) for index in range(len(routes)))
    made = tuple(Flow(name=name, feed="users", steps=steps) for name in flows)
    return Traffic(feeds=(FEED,), routes=routes, flows=made)


def sent(
    name: str, path: str, body: str = "", session: int = 0, header: str = "", flow: str = "buy"
) -> Exchange:
    return Exchange(
        flow=flow,
        session=session,
        connection=0,
        route=name,
        method="GET",
        url=f"http://127.0.0.1:1{path}",
        request_headers=(("x-user", header),) if header else (),
        request_body=base64.b64encode(body.encode()).decode(),
        status=200,
        headers=(),
        body="",
        body_bytes=0,
        is_cut=False,
        service_ns=1,
        captures={},
        outcome="ok",
        fault=None,
    )


ROW_OF_ANN = {USER: "ann b", PRICE: "1", ValueOf(value="kind"): "x"}


@pytest.mark.parametrize(
    ("of", "one", "values"),
    [
        # A row is found by what the request has of it, wherever that stands.
        (
            route("a", (Words(text="/items?q="), UrlOf(url="user"))),
            sent("a", "/items?q=ann%20b"),
            ROW_OF_ANN,
        ),
        (
            route("a", (Words(text="/"),), header=(Words(text="key of "), USER)),
            sent("a", "/", header="key of ann b"),
            ROW_OF_ANN,
        ),
        (
            route(
                "a",
                (Words(text="/"),),
                (Words(text='{"n":'), SEQ, Words(text=',"u":"'), JsonOf(name="user"), AT),
            ),
            sent("a", "/", '{"n":17,"u":"bo\\"b2026'),
            # Where one value ends and the next one begins is not told: there is no such row.
            {SEQ: "17"},
        ),
        (
            route("a", (Words(text="/"),), (Words(text='"'), JsonOf(name="user"), Words(text='"'))),
            sent("a", "/", '"bo\\"b"'),
            {USER: 'bo"b', PRICE: "2", ValueOf(value="kind"): "x"},
        ),
        # Of several rows that fit, what they agree in.
        (
            route("a", (Words(text="/"), USER)),
            sent("a", "/cat"),
            {USER: "cat", ValueOf(value="kind"): "x"},
        ),
        # A capture is known where it is sent.
        (
            route("a", (Words(text="/"), USER, Words(text="/"), TOKEN)),
            sent("a", "/cat/0f3a"),
            {USER: "cat", ValueOf(value="kind"): "x", TOKEN: "0f3a"},
        ),
        (route("a", (Words(text="/"),)), sent("a", "/"), {ValueOf(value="kind"): "x"}),
    ],
)
def test_values_are_read_from_what_was_sent(
    of: Route, one: Exchange, values: Mapping[Source, str]
) -> None:
    assert sent_with(traffic(of), [one]) == [values]


def test_a_row_is_known_in_the_whole_session() -> None:
    login, orders = route("login", (Words(text="/"), USER)), route("orders", (Words(text="/o"),))
    exchanges = [
        sent("login", "/ann%20b".replace("%20", " "), session=0),
        sent("login", "/cat", session=1),
        sent("orders", "/o", session=0),
        sent("orders", "/o", session=1),
    ]
    found = sent_with(traffic(login, orders), exchanges)
    assert [one.get(USER) for one in found] == ["ann b", "cat", "ann b", "cat"]
    assert found[2][PRICE] == "1"
    # Another flow may have no such column.
    assert USER not in sent_with(traffic(login, orders, flows=("buy", "look")), exchanges)[2]


def reply(number: int, body: object, media_type: str = "application/json") -> Sample:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    values: dict[Source, str] = {USER: f"user {number}", PRICE: str(number), SEQ: str(number + 5)}
    return Sample(200, (("Content-Type", media_type),), content, values=values)


def item(number: int) -> Sample:
    return reply(
        number,
        {"n": number + 5, "owner": {"name": f"user {number}"}, "total": number, "at": [number]},
    )


def checks(found: Learned) -> list[str]:
    return [telling.check(one) for one in found.checks[:-1]]


def test_a_value_that_always_comes_back_is_learned() -> None:
    found = learn("GET /items", [item(number) for number in range(30)])
    assert found.told == (
        "4 of 4 fields vary: $.n {{seq}}, $.owner.name {{user}}, $.total {{price}}, $.at[*] integer"
    )
    assert checks(found) == [
        'jsonpath "$.n" == "{{seq}}"',
        'jsonpath "$.owner.name" == "{{user}}"',
        'jsonpath "$.total" == "{{price}}"',
    ]
    lines = written(found)[0].splitlines()
    assert 'jsonpath "$.owner.name" == "{{user}}"' in lines
    assert not any('"$.total" isInteger' in line for line in lines)


@pytest.mark.parametrize(
    "samples",
    [
        # One reply is another's, there are too few, or all of them were sent the same.
        [*(item(number) for number in range(29)), reply(1, json.loads(item(2).body))],
        [item(number) for number in range(10)],
        [reply(1, {"total": 1, "n": number}) for number in range(30)],
    ],
)
def test_what_comes_back_now_and_then_is_not_learned(samples: list[Sample]) -> None:
    assert learn("GET /items", samples).echoes == ()


def test_only_the_shape_is_learned_where_it_counts_alone() -> None:
    assert learn("a", [item(number) for number in range(30)], constants=False).echoes == ()


def test_a_value_in_a_page_is_learned_with_what_stands_beside_it() -> None:
    pages = [
        reply(
            number,
            f"<h1>Notes</h1><p>Price <b>{number}</b>, {number % 7} left".encode(),
            "text/html",
        )
        for number in range(30)
    ]
    found = learn("GET /page", pages)
    assert found.told == "2 places vary in the text: {{price}}, digits"
    assert checks(found) == ['body contains "1>Notes</h1><p>Price <b>{{price}}</b>, "']
    assert 'body contains "1>Notes</h1><p>Price <b>{{price}}</b>, "' in written(found)[0]


def redirect(address: str | None, status: int = 303) -> Sample:
    return Sample(status, () if address is None else (("location", address),), b"")


ID = "0f3a55aa-1111-4222-8333-0123456789a"


@pytest.mark.parametrize(
    ("addresses", "told", "line"),
    [
        (["/notes"] * 30, "status 303 to /notes", 'header "Location" == "/notes"'),
        (
            [f"/notes/{ID}{number % 10}" for number in range(30)],
            "status 303 to /notes/[UUID]",
            'header "Location" matches /^\\/notes\\/(',
        ),
        (
            [f"/{number}" for number in range(30)],
            "status 303 to addresses that vary",
            'header "Location" matches /./',
        ),
    ],
)
def test_where_a_redirect_goes_is_learned(addresses: list[str], told: str, line: str) -> None:
    found = learn("POST /notes", [redirect(address) for address in addresses])
    assert found.told == f"{told}; content: all were equal"
    assert found.expect is not None
    assert [telling.check(one)[: len(line)] for one in found.expect.checks] == [line]
    assert 'header "Location"' in written(found)[0]


def test_a_redirect_without_an_address_is_told_by_its_status() -> None:
    found = learn("GET /", [redirect(None, 304)] * 30)
    assert found.told == "status 304; content: all were equal"
