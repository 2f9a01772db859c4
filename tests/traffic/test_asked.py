"""Entries that were sent once: what of it is a secret, and which exchange is whose."""

from __future__ import annotations

import base64
from pathlib import Path

from wiretrial.exchange import Exchange, Verdict
from wiretrial.traffic import asked
from wiretrial.traffic.compiler import compile_file

FORM = "application/x-www-form-urlencoded"
HURL = """\
GET http://h/a
[Options]
repeat: 2
HTTP 200
[Asserts]
jsonpath "$.a" == 1
jsonpath "$.b" == 2

GET http://h/c
"""


def exchange(
    *, sent: str = "", media: str = "application/json", came: str = "", **members: object
) -> Exchange:
    told = {
        "flow": "x",
        "session": 0,
        "connection": 0,
        "route": "r",
        "method": "POST",
        "url": "http://h/",
        "request_headers": (("Content-Type", media),),
        "request_body": base64.b64encode(sent.encode()).decode(),
        "status": 200,
        "headers": (),
        "body": base64.b64encode(came.encode()).decode(),
        "body_bytes": len(came),
        "is_cut": False,
        "service_ns": 1,
        "captures": {},
        "outcome": "ok",
        "fault": None,
    }
    return Exchange.model_validate({**told, **members})


def test_secrets_are_found_by_name_and_hidden_however_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "x.hurl").write_text(HURL, encoding="utf-8")
    traffic = compile_file(tmp_path / "x.hurl", {}).traffic
    all_of_it = [
        exchange(media=FORM, sent="user=ann&password=open%20sesame"),
        exchange(sent='{"login": [{"apiKey": "k\\"12345"}], "name": "ann"}'),
        exchange(came='{"accessToken": "t-12345", "code": "not-found", "n": 1}'),
        exchange(captures={"csrf": "c-12345", "place": "here"}),
        exchange(headers=(("Set-Cookie", "sid=s-12345; Path=/"),)),
        exchange(url="http://h/?token=u-12345&a=b"),
    ]
    hidden = asked.secrets(traffic, all_of_it)
    for one in ("open sesame", "open%20sesame", "open+sesame", 'k"12345', 'k\\"12345'):
        assert hidden.text(f"<{one}>") == "<***>"
    for one in ("t-12345", "c-12345", "s-12345", "u-12345"):
        assert hidden.text(f"<{one}>") == "<***>"
    for one in ("ann", "not-found", "here"):
        assert hidden.text(f"<{one}>") == f"<{one}>"
    assert asked.captures(all_of_it[3]) == {"csrf": "***", "place": "here"}


def test_each_entry_has_its_own_exchange_and_checks(tmp_path: Path) -> None:
    (tmp_path / "x.hurl").write_text(HURL, encoding="utf-8")
    scenario = compile_file(tmp_path / "x.hurl", {})
    right = Verdict(holds=True, came="200", fault=None)
    wrong = Verdict(holds=False, came="3", fault="$.a was 3, and is wanted 1")
    first = exchange(checks=(right, right, right))
    failed = exchange(checks=(right, wrong, right), outcome="mismatch", fault="$.a was 3")
    whole = asked.entries(scenario, [first, first, exchange()])
    assert [(one.number, one.times, one.is_right) for one in whole] == [(1, 2, True), (3, 1, True)]
    assert [one.is_unchecked for one in whole] == [False, True]
    one, unsent = asked.entries(scenario, [first, failed])
    assert (one.has_failed, one.times, unsent.exchange, unsent.has_failed) == (True, 2, None, False)
    assert [check.verdict for check in one.checks] == [right, wrong, right]
    assert [check.words for check in one.checks[1:]] == [
        'jsonpath "$.a" == 1',
        'jsonpath "$.b" == 2',
    ]
    assert [check.verdict for check in unsent.checks] == [None]
