"""What conversations are compiled to: lines, steps that are done again, think times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.traffic.conftest import Compile
from wiretrial import redaction_traffic
from wiretrial.errors import UsageProblem
from wiretrial.traffic import loads, telling
from wiretrial.traffic.compiler import Scenario, compile_at
from wiretrial.traffic.loads import Instead

FLOW = '[[flow]]\nurl = "ws://h:8000/chat?token=s3cret"\n'
HELLO = """{await = {json = {"$.type" = "hello"}}, capture = {token = "$.token"}}"""
SAY = (
    """{send = '{"type": "say", "id": {{seq}}, "of": "{{token}}"}', reply = {text = "{{token}}"}}"""
)
SECOND = {"kind": "constant", "ns": 10**9}
NONE = {"kind": "none"}


def of(compiled: Compile, *steps: str, flow: str = FLOW, rest: str = "") -> Scenario:
    return compiled({"t.toml": f"{flow}step = [{', '.join(steps)}]\n{rest}"})


def lines(scenario: Scenario) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = scenario.traffic.model_dump(mode="json", by_alias=True)["lines"]
    return found


def steps(scenario: Scenario) -> list[tuple[str, Any, Any]]:
    """Of the first flow: the name of each step, its think time, and what it goes back to."""
    crossed = scenario.traffic.model_dump(mode="json", by_alias=True)
    names = [line["name"] for line in crossed["lines"]]
    own = crossed["flows"][0]["steps"]
    return [(names[one["route"]], one["think"], one["back"]) for one in own]


def test_steps_become_lines_between_open_and_close(compiled: Compile) -> None:
    flow = f'{FLOW}name = "talk"\nunasked = "fail"\nheaders = {{X-A = "{{{{user_number}}}}"}}\n'
    scenario = of(compiled, HELLO, SAY, "{send = 'bye'}", flow=flow)
    assert scenario.origin == "ws://h:8000"
    assert (scenario.traffic.flows[0].name, scenario.traffic.flows[0].unasked) == ("talk", "fail")
    opened, hello, say, bye, close = lines(scenario)
    assert (opened["name"], opened["does"]) == ("open /chat", "open")
    assert opened["target"] == [{"text": "/chat?token=s3cret"}]
    assert opened["headers"] == [["X-A", [{"make": "user"}]]]
    assert (hello["name"], hello["does"], hello["text"]) == ("hello", "await", [])
    assert hello["captures"] == [{"name": "token", "of": {"json": "$.token"}, "most": 8192}]
    test = {"is": "compared", "how": "==", "with": {"json": "hello"}}
    assert hello["awaits"] == [
        {"of": {"json": "$.type"}, "filters": [], "count": False, "not": False, "test": test}
    ]
    assert (say["name"], say["does"]) == ("say", "send")
    assert say["text"] == [
        {"text": '{"type": "say", "id": '},
        {"make": "seq"},
        {"text": ', "of": "'},
        {"json": "token"},
        {"text": '"}'},
    ]
    assert say["awaits"][0]["test"]["with"] == {"text": [{"value": "token"}]}
    assert (bye["name"], bye["awaits"], close["does"]) == ("send", [], "close")
    assert [name for name, _, _ in steps(scenario)] == [
        "open /chat",
        "hello",
        "say",
        "send",
        "close",
    ]


def test_matchers_hold_all_together(compiled: Compile) -> None:
    matcher = "{json = {'$.n' = 1, '$.s' = 'x', '$.l' = [true]}, contains = 'a', matches = '^b'}"
    (_, line, _) = lines(of(compiled, f"{{await = {matcher}, check = {{text = 'c'}}}}"))
    tests = [one["test"] for one in line["awaits"]]
    assert [test["with"] for test in tests[:4]] == [
        {"json": 1},
        {"json": "x"},
        {"json": [True]},
        {"text": [{"text": "a"}]},
    ]
    assert tests[4] == {"is": "matches", "pattern": "^b"}
    assert line["checks"][0]["test"]["with"] == {"text": [{"text": "c"}]}
    assert line["name"] == "await"


def test_what_is_the_same_is_one_line_and_what_differs_is_numbered(compiled: Compile) -> None:
    other = SAY.replace('"id"', '"number"')
    scenario = of(compiled, HELLO, SAY, SAY, other)
    assert [name for name, _, _ in steps(scenario)][2:5] == ["say", "say", "say (2)"]


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (
            [HELLO, SAY, "{think = '1s'}", "{repeat = 'from 2'}"],
            [("hello", NONE, None), ("say", NONE, (2, None, SECOND)), ("close", SECOND, None)],
        ),
        (
            [HELLO, "{think = '1s'}", SAY, "{repeat = 'from 2, 10 times'}", "{send = 'bye'}"],
            [
                ("hello", NONE, None),
                ("say", SECOND, (2, 10, SECOND)),
                ("send", NONE, None),
                ("close", NONE, None),
            ],
        ),
        (
            [HELLO, "{think = '1s'}", SAY, "{repeat = 'from 3, 1 time'}"],
            [("hello", NONE, None), ("say", SECOND, (2, 1, NONE)), ("close", NONE, None)],
        ),
        (
            [
                HELLO,
                SAY,
                "{repeat = 'from 2, 2 times'}",
                "{send = 'x'}",
                "{think = '1s'}",
                "{repeat = 'from 4, 3 times'}",
            ],
            [
                ("hello", NONE, None),
                ("say", NONE, (2, 2, NONE)),
                ("send", NONE, (3, 3, SECOND)),
                ("close", SECOND, None),
            ],
        ),
    ],
)
def test_thought_and_repeats_are_where_they_are_written(
    compiled: Compile, written: list[str], wanted: list[tuple[str, Any, Any]]
) -> None:
    found = [
        (name, think, back and (back["to"], back["times"], back["think"]))
        for name, think, back in steps(of(compiled, *written))[1:]
    ]
    assert found == wanted


def test_steps_may_be_tables(compiled: Compile) -> None:
    source = (
        f"{FLOW}[[flow.step]]\nsend = 'x'\nreply.text = 'y'\n[[flow.step]]\nrepeat = 'from 1'\n"
    )
    assert len(compiled({"t.toml": source}).traffic.lines) == 3


def test_goals_are_of_steps(compiled: Compile) -> None:
    scenario = of(compiled, HELLO, rest='[goal]\n"hello.p99" = "< 5ms"\n')
    assert str(scenario.goals[0]) == "hello.p99 < 5ms"


def test_users_for_a_rate_are_as_many_as_sessions_are_long(compiled: Compile) -> None:
    scenario = of(compiled, HELLO, "{think = '9s'}", SAY, "{repeat = 'from 2, 11 times'}")
    # Two seconds, eleven times ten, and one to close.
    assert loads.sending(scenario, Instead(rate=10)).load.connections == 1.5 * 10 * 113
    assert loads.sending(scenario).thinks


def test_secrets_of_a_conversation_are_hidden(compiled: Compile) -> None:
    flow = f'{FLOW}headers = {{Authorization = "Bearer s3cret"}}\n'
    hidden = redaction_traffic.redacted(of(compiled, HELLO, flow=flow).traffic)
    assert "s3cret" not in hidden.model_dump_json()
    assert [*redaction_traffic.lacking(hidden)] == [
        "a header of open /chat (Authorization)",
        "a parameter in the URL of open /chat",
    ]


ROOM = '[[flow]]\nurl = "socketio+ws://h:8000%s"\n'
DRAW = """
{send = ' ["draw", {"id": {{seq}}, "of": "{{key}}"}]', reply = {ack = {"$[0].id" = "{{seq}}"}}}"""
WELCOME = """{await = {json = {"$[0]" = "welcome"}}, capture = {key = "$[1].key"}}"""


def test_events_of_socket_io_are_acknowledged(compiled: Compile) -> None:
    plain = """{send = '["bye"]', name = "leave"}"""
    any_ack = """{send = '["x"]', reply = {ack = {}}, check = {json = {"$[0]" = 1}}}"""
    scenario = of(compiled, WELCOME, DRAW, plain, any_ack, flow=ROOM % "/")
    assert scenario.origin == "socketio+ws://h:8000"
    opened, welcome, draw, leave, asked, _ = lines(scenario)
    assert opened["target"] == [{"text": "/socket.io/?EIO=4&transport=websocket"}]
    assert (welcome["name"], welcome["acknowledged"]) == ("welcome", False)
    assert (draw["name"], draw["acknowledged"]) == ("draw", True)
    assert draw["text"][0] == {"text": '["draw", {"id": '}
    assert draw["awaits"][0]["of"] == {"json": "$[0].id"}
    assert (leave["name"], leave["acknowledged"], leave["awaits"]) == ("leave", False, [])
    assert (asked["acknowledged"], asked["awaits"], len(asked["checks"])) == (True, [], 1)
    shown = [line.text for line in telling.lines(scenario, "t.toml")]
    assert 'reply: its acknowledgement; jsonpath "$[0].id" == "{{seq}}"' in shown
    assert "reply: its acknowledgement" in shown


def test_the_acknowledgement_alone_is_waited_for(compiled: Compile) -> None:
    asked = """{send = '["x"]', reply = {ack = {}}}"""
    scenario = of(compiled, asked, "{repeat = 'from 1'}", flow=ROOM % "/")
    assert scenario.traffic.flows[0].steps[1].back is not None


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("", [{"text": "/socket.io/?EIO=4&transport=websocket"}]),
        ("/chat/", [{"text": "/chat/?EIO=4&transport=websocket"}]),
        (
            "/?user={{seq}}&x=1",
            [
                {"text": "/socket.io/?EIO=4&transport=websocket&user="},
                {"make": "seq"},
                {"text": "&x=1"},
            ],
        ),
        (
            "/{{seq}}/",
            [{"text": "/"}, {"make": "seq"}, {"text": "/?EIO=4&transport=websocket"}],
        ),
        ("/x?EIO=4&transport=websocket&t=1", [{"text": "/x?EIO=4&transport=websocket&t=1"}]),
    ],
)
def test_a_url_of_socket_io_asks_for_what_is_spoken(
    compiled: Compile, path: str, target: list[dict[str, str]]
) -> None:
    opened = lines(of(compiled, WELCOME, flow=ROOM % path))[0]
    assert opened["target"] == target


@pytest.mark.parametrize(
    ("flow", "step", "told"),
    [
        (FLOW, DRAW, "an acknowledgement over WebSocket"),
        (ROOM % "/", "{send = 'hello'}", "Socket.IO sends events, and this is none: write send"),
        (ROOM % "/", "{send = '[7]'}", "Socket.IO sends events, and this is none"),
        (
            ROOM % "/",
            """{send = '["x"]', reply = {ack = {"$[0]" = 1}, json = {"$[0]" = 1}}}""",
            "json beside ack: write its paths in ack",
        ),
        (ROOM % "/", "{await = {ack = {}}}", "there is no key ack"),
    ],
)
def test_what_is_no_socket_io_is_refused(
    compiled: Compile, flow: str, step: str, told: str
) -> None:
    with pytest.raises(UsageProblem) as problem:
        of(compiled, step.replace("{{key}}", "k"), flow=flow)
    assert told in problem.value.line()


def test_a_server_in_the_place_of_the_base(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text(
        f'[[flow]]\nurl = "{{{{base}}}}/chat"\nstep = [{SAY.replace("{{token}}", "k")}]\n', "utf-8"
    )
    assert compile_at(file, {}, None).schemes == ("ws", "wss")
    found = compile_at(file, {}, "wss://h:9/own/")
    assert found.origin == "wss://h:9"
    assert "/own/chat" in str(found.traffic.lines[0].target)
    with pytest.raises(UsageProblem) as problem:
        compile_at(file, {}, "http://h:9")
    assert "http is not sent" in problem.value.line()
