"""Calls in traffic files: what is sent, what is right, what is kept, and what is refused."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

from tests.calls.conftest import HERE, Run
from tests.cli.test_runs import MEASURED, results_of
from wiretrial.calls import messages
from wiretrial.calls.methods import Methods
from wiretrial.errors import EXIT_GATE, EXIT_GOOD, EXIT_USAGE
from wiretrial.plan_traffic import BytesPiece, NumberPiece, Piece, SizedPiece, TextPiece, Words
from wiretrial.traffic.compiler import compile_file
from wiretrial.traffic.loads import Instead, sending
from wiretrial.traffic.places import TrafficProblem

LONG = "a name that has more than one hundred and twenty-seven bytes, " * 3
ROWS = f"item,many,p\ntea,3,2.5\n{LONG.strip().replace(',', ';')},4,1e3\n"
FLOW = """\
base = "{base}"
proto = ["shop.proto"]

[[flow]]
name = "buy"
feed = "rows.csv"

[[flow.step]]
name = "find"
call = "shop.Shop/Find"
data = {{name = "{{{{item}}}}", many = "{{{{many}}}}"}}
metadata = {{tenant = "{{{{user_number}}}}"}}
deadline = "20s"
reply = {{json = {{"$.name" = "{{{{item}}}}", "$.maker.since" = 1999}}}}
capture = {{id = "$.id", n = "$.stock"}}

[[flow.step]]
think = "1ms"

[[flow.step]]
call = "shop.Shop/Put"
data = [
  {{id = "{{{{id}}}}", stock = "{{{{n}}}}", price = "{{{{p}}}}", labels = {{of = "{{{{item}}}}"}}}},
  {{name = "{{{{id}}}}", sizes = [1, 300], maker = {{name = "{{{{item}}}}", since = 7}}}},
]
reply = {{json = {{"$.items" = 2, "$.names[1]" = "{{{{id}}}}"}}}}

[[flow.step]]
name = "lost"
call = "shop.Shop/Find"
data = {{name = "nothing"}}
status = "NOT_FOUND"

[[flow.step]]
call = "shop.Shop/List"
data = {{name = "{{{{item}}}}", many = 3}}

[load]
users = 2
"""
ROUTES = ("find", "shop.Shop/Put", "lost", "shop.Shop/List")
STUDY = """\
title = "Shop"
question = "How fast is it?"
subjects = ["reference"]
trials = 1
duration = "300ms"
warmup = "100ms"
twin = "reference"
[[workload]]
name = "buy"
traffic = "shop.toml"
"""
BRIEFLY = ("-d", "300ms", "--warmup", "0")


def written(folder: Path, base: str = "grpc://127.0.0.1:1", text: str = FLOW) -> Path:
    """The files of the shop's traffic."""
    for name in ("shop.proto", "parts.proto"):
        (folder / name).write_bytes((HERE / name).read_bytes())
    (folder / "rows.csv").write_text(ROWS, encoding="utf-8")
    path = folder / "shop.toml"
    path.write_text(text.format(base=base), encoding="utf-8")
    return path


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_each_method_is_a_route_over_one_connection_per_user(
    wiretrial: Run, silent_shop: str, tmp_path: Path
) -> None:
    written(tmp_path, silent_shop)
    done = wiretrial("load", "shop.toml", *BRIEFLY, "--format", "json")
    assert done.returncode == EXIT_GOOD, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["totals"]["errors"] == {}
    routes = found["traffic"]["routes"]
    assert [one["name"] for one in routes] == list(ROUTES)
    assert all(one["ok"] > 0 for one in routes)
    assert set(found["statuses"]) == {"OK", "NOT_FOUND"}


def test_a_call_is_checked_and_shown(wiretrial: Run, silent_shop: str, tmp_path: Path) -> None:
    text = FLOW.replace('"$.maker.since" = 1999', '"$.maker.since" = 2000')
    written(tmp_path, silent_shop, text)
    done = wiretrial("traffic", "check", "shop.toml")
    said = one_line(done.stdout)
    assert done.returncode not in (EXIT_GOOD, EXIT_USAGE), said
    assert "field 9.2 had 1999, not 2000" in said or "maker.since" in said, said
    written(tmp_path, silent_shop)
    done = wiretrial("traffic", "check", "shop.toml")
    assert done.returncode == EXIT_GOOD, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('"$.name" = "{{{{item}}}}"', '"$.name" = "{{{{many}}}}"', "$.name was 'tea'"),
        ('status = "NOT_FOUND"', 'status = "INTERNAL"', "status NOT_FOUND, not INTERNAL"),
        ('"$.items" = 2', '"$.items" = 3', "$.items was '2', and is wanted '3'"),
        ('name = "nothing"}}\nstatus = "NOT_FOUND"', 'name = "slow"}}\ndeadline = "50ms"', ""),
    ],
)
def test_a_wrong_reply_is_named_with_its_route(
    wiretrial: Run, silent_shop: str, tmp_path: Path, old: str, new: str, line: str
) -> None:
    assert old in FLOW
    written(tmp_path, silent_shop, FLOW.replace(old, new))
    done = wiretrial("load", "shop.toml", *BRIEFLY, "--allow-errors", "99%")
    said = one_line(done.stdout + done.stderr)
    assert line in said, said
    assert "DEADLINE_EXCEEDED" in said or "deadline" in said or line, said


def test_servers_are_compared_method_by_method(
    wiretrial: Run, shop: str, silent_shop: str, tmp_path: Path
) -> None:
    written(tmp_path, shop)
    urls = [one.replace("grpc://", "http://") for one in (shop, silent_shop)]
    done = wiretrial("compare", "--traffic", "shop.toml", *urls, *BRIEFLY, "--trials", "1")
    assert done.returncode in MEASURED, done.stderr
    for trial in results_of(tmp_path).trials():
        assert not any(trial.summary.counters.errors.values())
        assert trial.start.traffic is not None
        assert trial.start.traffic.routes == ROUTES


def test_a_goal_of_a_method_is_kept(wiretrial: Run, silent_shop: str, tmp_path: Path) -> None:
    written(tmp_path, silent_shop, FLOW + '[goal]\n"find.p50" = "< 1ns"\n')
    done = wiretrial("load", "shop.toml", *BRIEFLY)
    assert done.returncode == EXIT_GATE, done.stdout + done.stderr


def made(pieces: tuple[Piece, ...], values: dict[str, str]) -> bytes:
    """What the engine makes of pieces."""
    out = b""
    for piece in pieces:
        match piece:
            case BytesPiece(base64=text):
                out += base64.b64decode(text)
            case TextPiece(text=parts):
                for part in parts:
                    name = getattr(part, "value", "")
                    out += (part.text if isinstance(part, Words) else values[name]).encode()
            case SizedPiece(sized=inner):
                inside = made(inner, values)
                out += _varint(len(inside)) + inside
            case NumberPiece(number=number):
                name = getattr(number.of, "value", "")
                out += _number(values[name], number.scalar)
    return out


def _varint(value: int) -> bytes:
    from wiretrial.calls import wire

    return wire.varint(value)


def _number(digits: str, scalar: str) -> bytes:
    import struct

    match scalar:
        case "double":
            return struct.pack("<d", float(digits))
        case "zigzag":
            value = int(digits)
            return _varint(value << 1 if value >= 0 else (-value << 1) - 1)
    return _varint(int(digits))


def test_pieces_are_the_message_that_protobuf_writes(methods: Methods, tmp_path: Path) -> None:
    scenario = compile_file(written(tmp_path), {})
    values = {"item": LONG, "many": "3", "p": "1e3", "id": "x1", "n": "-5"}
    find, put, *_ = scenario.traffic.routes
    assert find.call
    assert put.call
    query = messages.decoded(
        made(find.call.messages[0], values), methods.find("shop.Shop/Find").request
    )
    assert _fields(query) == {"name": LONG, "many": 3}
    item = methods.find("shop.Shop/Put").request
    first, second = (messages.decoded(made(one, values), item) for one in put.call.messages)
    labels = [{"key": "of", "value": LONG}]
    assert _fields(first) == {"id": "x1", "stock": -5, "labels": labels, "price": 1000.0}
    maker = {"name": LONG, "since": 7}
    assert _fields(second) == {"name": "x1", "sizes": [1, 300], "maker": maker}


def _fields(message: Message) -> dict[str, Any]:
    return dict(messages.document(message))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('proto = ["shop.proto"]\n', "", "without the files that describe them"),
        ('proto = ["shop.proto"]', 'proto = ["no.proto"]', "no.proto is no file"),
        ("shop.Shop/Put", "shop.Shop/Pot", "there is no method shop.Shop/Pot"),
        ('many = "{{{{many}}}}"', 'mny = "{{{{many}}}}"', "shop.Query has no field mny"),
        ('many = "{{{{many}}}}"', 'many = "{{{{p}}}}"', "p of row 1 of rows.csv is '2.5'"),
        ('many = "{{{{many}}}}"', 'many = "{{{{newUuid}}}}"', "many is a number"),
        ('many = "{{{{many}}}}"', 'many = "1{{{{many}}}}"', "is written 1{{many}}"),
        ('stock = "{{{{n}}}}"', 'stock = "{{{{id}}}}"', "stock is a number"),
        ('n = "$.stock"', 'n = "$.price"', "stock is a number, and {{n}} may be none"),
        ('labels = {{of = "{{{{item}}}}"}}', 'kind = "{{{{item}}}}"', "kind is an enum"),
        ('labels = {{of = "{{{{item}}}}"}}', 'picture = "{{{{item}}}}"', "picture is bytes"),
        ('labels = {{of = "{{{{item}}}}"}}', 'at = "{{{{item}}}}"', "Timestamp with {{}}"),
        ('id = "$.id"', 'id = "$.idd"', "shop.Item has no field idd"),
        ('id = "$.id"', 'id = "$.others.name"', "others is repeated: write others[0]"),
        ('id = "$.id"', 'id = "$.sizes[0]"', "sizes is packed numbers"),
        ('id = "$.id"', 'id = "$.maker"', "$.maker is a message"),
        ('id = "$.id"', 'id = "id"', "id is no path to a field"),
        ('id = "$.id"', 'item = "$.id"', "item is a column of rows.csv, too"),
        ('"$.items" = 2', '"$.itms" = 2', "has no field itms"),
        ('"$.items" = 2', '"$.items" = "x"', "items"),
        (
            'reply = {{json = {{"$.items" = 2, "$.names[1]" = "{{{{id}}}}"}}}}',
            'reply = {{text = "a"}}',
            "text of a reply to a call",
        ),
        ('status = "NOT_FOUND"', 'status = "LOST"', "gRPC has no such status"),
        (
            'status = "NOT_FOUND"',
            'status = "NOT_FOUND"\ncapture = {{a = "$.id"}}',
            "has no message",
        ),
        ('tenant = "', 'grpc-timeout = "', "is gRPC's own"),
        ('data = {{name = "nothing"}}', "data = [{{}}, {{}}]", "takes one"),
        ('call = "shop.Shop/List"', 'send = "x"', "send in a flow of calls"),
        ('name = "buy"\n', 'name = "buy"\nunasked = "fail"\n', "unasked of a flow of calls"),
        ('proto = ["shop.proto"]', 'proto = ["shop.proto"]\nhttp = "1.1"', "go over HTTP/2"),
    ],
)
def test_what_is_wrong_in_a_step_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, line: str
) -> None:
    assert old in FLOW
    with pytest.raises(TrafficProblem) as caught:
        compile_file(written(tmp_path, text=FLOW.replace(old, new, 1)), {})
    assert line in caught.value.line()
    assert "shop.toml" in caught.value.line()
    assert "\n" not in caught.value.line()


def test_requests_stand_beside_calls(tmp_path: Path) -> None:
    (tmp_path / "page.hurl").write_text("GET {{base}}/page\nHTTP 200\n", encoding="utf-8")
    more = FLOW.replace("[load]", '[[flow]]\nfile = "page.hurl"\n\n[load]')
    scenario = compile_file(written(tmp_path, "http://127.0.0.1:1", more), {})
    assert scenario.http == "2"
    assert [one.name for one in scenario.traffic.routes] == [*ROUTES, "GET /page"]
    assert scenario.origin == "http://127.0.0.1:1"


def test_calls_may_go_over_http_3(tmp_path: Path) -> None:
    text = FLOW.replace('proto = ["shop.proto"]', 'proto = ["shop.proto"]\nhttp = "3"')
    scenario = compile_file(written(tmp_path, "grpcs://127.0.0.1:1", text), {})
    assert (scenario.http, sending(scenario).http) == ("3", "3")
    over_http_2 = compile_file(written(tmp_path, "grpcs://127.0.0.1:1"), {})
    assert sending(over_http_2, Instead(http="3")).http == "3"


def test_a_study_has_a_row_per_method(wiretrial: Run, silent_shop: str, tmp_path: Path) -> None:
    written(tmp_path, silent_shop)
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    target = silent_shop.removeprefix("grpc://")
    done = wiretrial("study", "run", "./study.toml", "--target", target, "--seed", "1")
    assert done.returncode in MEASURED, done.stderr
    (trial,) = results_of(tmp_path).trials()
    assert not any(trial.summary.counters.errors.values())
    assert trial.start.traffic is not None
    assert trial.start.traffic.routes == ROUTES
