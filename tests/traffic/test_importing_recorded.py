"""What is made of what was sent once: curl commands, recordings of browsers, access logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.traffic.sources import fields, log, made, written

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
UUID = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"


CURL = """\
#!/bin/sh
curl 'https://h/login?next=%2F' \\
  -H 'content-type: application/json' -H 'User-Agent: x' -b 'sid=1' -H 'X-A: b # c' \\
  --data-raw $'{"user":"o\\'neil","text":"{{x}} \\u00e9"}' --compressed
curl -sSL -XPUT "https://h/items/7" -d 'a=1&b=two+words' -d c=3 && echo done
/usr/bin/curl -u ann:x1 -G https://h/s --data-urlencode "q=a&b c" | jq .
curl --json '[1,2]' https://h/j; curl https://other/
curl https://h/text -H 'Content-Type: text/plain' -d 'one
two'
"""
CURL_MADE = r"""POST {{base}}/login?next=%2F
X-A: b \# c
{"user": "o'neil", "text": "\u007b{x}} é"}

PUT {{base}}/items/7
[Form]
a: 1
b: two words
c: 3

GET {{base}}/s?q=a%26b+c
Authorization: Basic YW5uOngx

POST {{base}}/j
[1, 2]

POST {{base}}/text
Content-Type: text/plain
```
one
two```
"""


def test_curl(tmp_path: Path) -> None:
    draft = made("curl", CURL)
    files = written(draft, tmp_path)
    assert files["session.hurl"] == CURL_MADE
    assert draft.base == "https://h"
    assert any("https://other" in note for note in draft.notes)
    assert any("redirects are followed only where" in note for note in draft.notes)


def exchange(
    method: str,
    url: str,
    at: str,
    request: dict[str, Any] | None = None,
    response: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """An entry of a recording; `at` are seconds."""
    return {
        "startedDateTime": f"2026-01-01T10:00:{at}Z",
        "time": 20,
        "request": {"method": method, "url": url, **(request or {})},
        "response": {"status": 200, **(response or {})},
        **more,
    }


def as_json(content: object) -> dict[str, Any]:
    return {"content": {"mimeType": "application/json", "text": json.dumps(content)}}


RECORDED = [
    exchange(
        "GET",
        "http://shop/",
        "00.000",
        response={
            "headers": fields(Set_Cookie="sid=Zx81kk29aPq0Lm; Path=/"),
            "content": {
                "mimeType": "text/html; charset=utf-8",
                "text": '<input type="hidden" name="csrf" value="a1B2c3D4e5F6g7H8">',
            },
        },
    ),
    exchange("GET", "https://cdn.example/a.js", "00.100"),
    exchange(
        "POST",
        "http://shop/login",
        "03.100",
        request={
            "headers": fields(Cookie="sid=Zx81kk29aPq0Lm", User_Agent="x", sec_fetch_mode="cors"),
            "postData": {
                "mimeType": "application/x-www-form-urlencoded",
                "text": "user=ann&csrf=a1B2c3D4e5F6g7H8",
            },
        },
        response=as_json({"token": TOKEN, "user": {"id": 48213}, "year": 2026, "ok": True}),
    ),
    exchange(
        "GET",
        "http://shop/users/48213/orders?year=2026",
        "03.200",
        request={"headers": fields(Authorization=f"Bearer {TOKEN}", X_Sid="Zx81kk29aPq0Lm")},
        response=as_json([{"id": UUID}]),
    ),
    exchange(
        "PUT",
        f"http://shop/orders/{UUID}",
        "03.300",
        request={
            "postData": {
                "mimeType": "application/json",
                "text": json.dumps({"order": UUID, "text": "{{x}}"}),
            }
        },
        response={"status": 204},
    ),
    exchange("GET", "http://shop/logo.png", "03.300", response={"status": 304}),
    exchange("GET", "ws://shop/ws", "03.300", response={"status": 101}),
]
HAR_MADE = r"""GET {{base}}/
HTTP 200
[Captures]
sid: cookie "sid"
csrf: regex /<input type="hidden" name="csrf" value="([^"']+)"/
[Asserts]
header "Content-Type" contains "text/html"

POST {{base}}/login
[Options]
delay: 2980ms
[Form]
user: ann
csrf: {{csrf}}
HTTP 200
[Captures]
token: jsonpath "$.token"
user_id: jsonpath "$.user.id"
[Asserts]
header "Content-Type" contains "application/json"
jsonpath "$.token" isString
jsonpath "$.user" exists
jsonpath "$.year" isInteger
jsonpath "$.ok" isBoolean

GET {{base}}/users/{{user_id}}/orders?year=2026
Authorization: Bearer {{token}}
X-Sid: {{sid}}
HTTP 200
[Captures]
item_id: jsonpath "$[0].id"
[Asserts]
header "Content-Type" contains "application/json"
jsonpath "$" count >= 0

PUT {{base}}/orders/{{item_id}}
{"order": "{{item_id}}", "text": "\u007b{x}}"}
HTTP 204
"""


def test_har(tmp_path: Path) -> None:
    draft = made("har", json.dumps({"log": {"entries": RECORDED}}))
    assert written(draft, tmp_path)["session.hurl"] == HAR_MADE
    assert draft.base == "http://shop"
    told = "\n".join(draft.notes)
    assert "https://cdn.example (1)" in told
    assert "cache or not at all: 1" in told
    assert "neither http nor https: 1" in told


REDIRECTED = [
    exchange(
        "POST",
        "http://shop/notes",
        "00.000",
        request={
            "headers": fields(Accept_Language="de", Accept="*/*", Origin="http://shop"),
            "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "title=a"},
        },
        response={"status": 303, "headers": fields(Location=f"/notes/{UUID}")},
    ),
    exchange(
        "GET",
        f"http://shop/notes/{UUID}",
        "00.100",
        request={"headers": fields(Accept_Language="de", Referer="http://shop/notes")},
    ),
    exchange(
        "POST",
        f"http://shop/notes/{UUID}/delete",
        "00.200",
        request={"headers": fields(Referer=f"http://shop/notes/{UUID}", Origin="http://shopping")},
        response={"status": 303, "headers": fields(Location="/notes")},
    ),
]
REDIRECTED_MADE = """\
POST {{base}}/notes
Origin: {{base}}
[Form]
title: a
HTTP 303
[Captures]
location: header "Location"

GET {{base}}{{location}}
Referer: {{base}}/notes
HTTP 200

POST {{base}}{{location}}/delete
Referer: {{base}}{{location}}
Origin: http://shopping
HTTP 303
"""


def test_a_redirect_to_what_was_made_is_followed_where_it_leads(tmp_path: Path) -> None:
    draft = made("har", json.dumps({"log": {"entries": REDIRECTED}}))
    files = written(draft, tmp_path)
    assert files["session.hurl"] == REDIRECTED_MADE
    assert '[headers]\nAccept-Language = "de"\n' in files["traffic.toml"]
    assert any(note.startswith("1 value of a reply comes back") for note in draft.notes)


def test_an_id_of_the_body_is_captured_rather_than_the_redirect(tmp_path: Path) -> None:
    posted = {**REDIRECTED[0], "response": {**REDIRECTED[0]["response"], **as_json({"id": UUID})}}
    source = json.dumps({"log": {"entries": [posted, *REDIRECTED[1:]]}})
    made_of = written(made("har", source), tmp_path)["session.hurl"]
    assert 'id: jsonpath "$.id"' in made_of
    assert "POST {{base}}/notes/{{id}}/delete" in made_of
    assert "location" not in made_of


LOGGED = (
    *(f"GET /items/{1000 + index}?ref=home 200" for index in range(20)),
    *(f"GET /users/name{letter}/profile 200" for letter in "abcdefghijklmno"),
    *("GET /search?q=red+shoe&page=1 200", "GET /search?page=2&q=b%26w 200") * 2,
    "GET / 200",
    "POST /login 200",
    "GET /old 404",
)


@pytest.mark.parametrize("combined", [True, False])
def test_access_log(tmp_path: Path, combined: bool) -> None:
    draft = made("access-log", log(*LOGGED, combined=combined) + "\ngarbage")
    files = written(draft, tmp_path)
    assert [(flow.name, flow.weight) for flow in draft.flows] == [
        ("GET /items/*?ref", 20),
        ("GET /users/*/profile", 15),
        ("GET /search?page&q", 4),
        ("GET /", 1),
    ]
    assert files["get-items-ref.hurl"] == (
        "GET {{base}}/items/{{item_id}}\n[Query]\nref: home\nHTTP 200\n"
    )
    assert files["get-items-ref.csv"].splitlines()[:2] == ["item_id", "1000"]
    assert files["get-users-profile.hurl"] == "GET {{base}}/users/{{user_id}}/profile\nHTTP 200\n"
    assert files["get-search-page-q.csv"].splitlines()[:3] == ["page,q", "1,red shoe", "2,b&w"]
    assert files["get.hurl"] == "GET {{base}}/\nHTTP 200\n"
    assert draft.arrivals == "0.513/s"
    told = "\n".join(draft.notes)
    assert "left out, not read: 1 lines of 43" in told
    assert "left out, since a log has no bodies: 1 requests of 42" in told
    assert "left out, answered with an error: 1 requests of 41" in told
