"""Both sides of the seam say the same: the schemas of the engine, made from its types, and ours."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, Literal, get_args

import jsonschema
import pytest
from pydantic import TypeAdapter

from tests.lab import call_plans
from wiretrial.engine import Engine
from wiretrial.exchange import TOLD
from wiretrial.machine.pinning import Pinning
from wiretrial.observation import OBSERVATION
from wiretrial.plan import (
    AfterResponse,
    ClosedLoop,
    Deflate,
    EchoContent,
    Expect,
    FixedContent,
    FixedPayload,
    GeneratorSettings,
    Hold,
    Http,
    LearnedContent,
    ListPayload,
    Load,
    Message,
    NoPayload,
    OpenLoop,
    Phases,
    Plan,
    RandomBurst,
    SequencePayload,
    ShapedContent,
    Stage,
    Stop,
    Styx,
    Target,
    TemplatePayload,
    Tls,
    WebSocket,
)
from wiretrial.plan_shape import Choice, Member, Shape
from wiretrial.plan_traffic import (
    Back,
    Capture,
    Check,
    Compared,
    Contains,
    CookieOf,
    Empty,
    Ends,
    Exists,
    Feed,
    Flow,
    HeaderOf,
    IsShape,
    IsType,
    JsonAt,
    JsonOf,
    JsonOperand,
    Line,
    LognormalThink,
    MadeOf,
    Matches,
    NthFilter,
    PathFilter,
    PatternFilter,
    PatternReplaced,
    PlainFilter,
    RegexFilter,
    RegexIn,
    Replaced,
    ReplaceFilter,
    Route,
    RouteExpect,
    SplitFilter,
    Starts,
    StatusIn,
    Step,
    TextOperand,
    Traffic,
    UniformThink,
    UrlOf,
    ValueOf,
    Words,
)
from wiretrial.snapshot import SNAPSHOT
from wiretrial.studies import demo, plans

Schema = dict[str, Any]

NAMED_ELSEWHERE = {"schema", "version"}
"""The engine checks these two by value when it reads a plan; our models have them as constants."""


def _shape(
    node: Schema | Literal[True], defs: Schema, above: Mapping[str, int] | None = None, at: int = 0
) -> Any:
    """What a schema admits, without words, formats and the ways of writing the same thing.

    `at`: how many arrays and objects this node stands in. `above`: the definitions that it is a
    part of, with the same of them; one that stands in itself is named by how far above it begins.
    """
    above = above or {}
    if node is True or not node.keys() - {"title", "description"}:
        return "anything"
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        if name in above:
            return ("again", at - above[name])
        target = defs[name]
        beside = {key: value for key, value in node.items() if key == "properties"}
        whole = (
            {**target, "properties": {**target.get("properties", {}), **beside["properties"]}}
            if beside
            else target
        )
        return _shape(whole, defs, {**above, name: at}, at)
    if "allOf" in node:
        (only,) = node["allOf"]
        return _shape(only, defs, above, at)
    choices = node.get("oneOf") or node.get("anyOf")
    if choices:
        return _union([_shape(choice, defs, above, at) for choice in choices])
    if "const" in node:
        return ("one of", frozenset({node["const"]}))
    if "enum" in node:
        return ("one of", frozenset(node["enum"]))
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    return _union([_of_kind(kind, node, defs, above, at) for kind in kinds])


def _of_kind(kind: str, node: Schema, defs: Schema, above: Mapping[str, int], at: int) -> Any:
    if kind == "array":
        parts = node.get("prefixItems")
        if parts:
            return ("tuple", tuple(_shape(part, defs, above, at + 1) for part in parts))
        return ("array", _shape(node["items"], defs, above, at + 1))
    if kind != "object":
        return kind
    if "properties" not in node:
        return ("map", _shape(node["additionalProperties"], defs, above, at + 1))
    members = {
        name: _shape(member, defs, above, at + 1)
        for name, member in node["properties"].items()
        if name not in NAMED_ELSEWHERE
    }
    return ("object", frozenset(members.items()))


def _union(shapes: list[Any]) -> Any:
    constants: set[Any] = set()
    others: set[Any] = set()
    for shape in shapes:
        if isinstance(shape, tuple) and shape[0] == "one of":
            constants |= shape[1]
        else:
            others.add(shape)
    if "number" in others:
        others.discard("integer")
    if constants:
        others.add(("one of", frozenset(constants)))
    return next(iter(others)) if len(others) == 1 else ("any of", frozenset(others))


def _engine(engine: Engine, document: str) -> Schema:
    found = json.loads(engine.schema(document))
    assert isinstance(found, dict)
    return found


def _explain(shape: Any, indent: int = 0) -> str:
    """A shape as lines in a stable order, so that a failing comparison shows a readable diff."""
    pad = "  " * indent
    if not isinstance(shape, tuple):
        return f"{pad}{shape}\n"
    kind, content = shape
    if kind == "again":
        return f"{pad}again, {content} above\n"
    if kind == "object":
        lines = [
            f"{pad}  {name}:\n{_explain(member, indent + 2)}" for name, member in sorted(content)
        ]
        return f"{pad}object\n{''.join(lines)}"
    if kind == "any of":
        return f"{pad}any of\n{''.join(sorted(_explain(one, indent + 1) for one in content))}"
    if kind == "one of":
        return f"{pad}one of {sorted(content)}\n"
    if kind == "tuple":
        return f"{pad}tuple\n{''.join(_explain(one, indent + 1) for one in content)}"
    return f"{pad}{kind}\n{_explain(content, indent + 1)}"


@pytest.mark.parametrize(
    ("document", "ours"),
    [
        ("plan", Plan.model_json_schema(by_alias=True)),
        ("snapshot", SNAPSHOT.json_schema(by_alias=True)),
        ("exchange", TOLD.json_schema(by_alias=True)),
        ("observation", OBSERVATION.json_schema(by_alias=True)),
    ],
    ids=["plan", "snapshot", "exchange", "observation"],
)
def test_the_models_have_the_engine_s_fields(engine: Engine, document: str, ours: Schema) -> None:
    theirs = _engine(engine, document)
    assert _explain(_shape(ours, ours["$defs"])) == _explain(_shape(theirs, theirs["$defs"]))


def _defaults(node: Schema | Literal[True], defs: Schema, path: str = "") -> dict[str, Any]:
    """Every default of a plain value, by its place."""
    if node is True:
        return {}
    if "$ref" in node:
        return _defaults(defs[node["$ref"].rsplit("/", 1)[1]], defs, path)
    found: dict[str, Any] = {}
    for choice in node.get("oneOf", []):
        tag = next((m["const"] for m in choice.get("properties", {}).values() if "const" in m), "")
        found |= _defaults(choice, defs, f"{path}<{tag}>") if "$ref" not in choice else {}
    for name, member in node.get("properties", {}).items():
        if "default" in member and not isinstance(member["default"], dict):
            found[f"{path}.{name}"] = member["default"]
        found |= _defaults(member, defs, f"{path}.{name}")
    return found


def test_the_plan_s_defaults_are_the_engine_s(engine: Engine) -> None:
    theirs = _engine(engine, "plan")
    ours = Plan.model_json_schema(by_alias=True)
    wanted = _defaults(theirs, theirs["$defs"])
    mine = _defaults(ours, ours["$defs"])
    common = set(wanted) & set(mine)
    assert {".phases.connect_ns", ".load.depth", ".target.tls.resumption"} <= common
    assert {name: mine[name] for name in common} == {name: wanted[name] for name in common}


TEXT = base64.b64encode(b"some text").decode()

SHAPE = Shape(
    types=("object", "null"),
    members=(
        Member(name="id", shape=Shape(types=("uuid",))),
        Member(
            name="items",
            shape=Shape(items=Shape(range=(0, 1.5), values=(1, 0.5)), length=(1, None)),
            required=False,
        ),
        Member(name="name", shape=Shape(pattern="^[a-z]+$", length=(5, 12), others=False)),
    ),
    others=Shape(choices=(Choice(of=(Shape(types=("time",)), Shape()), least=1, most=2),)),
)

PLANS = [
    Plan(target=Target(url="tcp://h:1"), load=Load(connections=1), stop=Stop(requests=5)),
    Plan(
        target=Target(url="http://h/", http=Http(version="2", sse=True)),
        load=Load(connections=1, depth=5),
        stop=Stop(duration_ns=10**9),
    ),
    Plan(
        target=Target(
            url="https://h/",
            addresses=("127.0.0.1:443",),
            sources=("127.0.1.1", "127.0.1.2"),
            http=Http(method="PUT", headers=(("A", "b"), ("A", "c")), header_profile="partly"),
            tls=Tls(insecure=True, ca_file="ca.pem", server_name="n", resumption=False),
            message=Message(kind="text", source=TemplatePayload(text="{seq}")),
            expect=Expect(content=FixedContent(base64=TEXT), status=201),
        ),
        load=Load(
            connections=10,
            depth=8,
            pack=4,
            requests_per_connection=100,
            executor=OpenLoop(rate=1e4, pacing="poisson", overflow="drop"),
            seed=2**63,
        ),
        stop=Stop(duration_ns=10**9, requests=10**6),
        phases=Phases(warmup_ns=1),
        generator=GeneratorSettings(threads=2, cpus=(0, 1), poller="uring", spin=True),
    ),
    *(
        Plan(
            target=Target(
                url="ws://h/", message=Message(source=source), expect=Expect(content=content)
            ),
            load=Load(connections=1, executor=ClosedLoop()),
            stop=Stop(requests=1),
        )
        for source, content in (
            (NoPayload(), LearnedContent()),
            (NoPayload(), ShapedContent(shape=SHAPE)),
            (SequencePayload(bytes=20), EchoContent()),
            (FixedPayload(base64=TEXT), EchoContent()),
            (ListPayload(base64=(TEXT, TEXT)), EchoContent()),
        )
    ),
    Plan(
        target=Target(
            url="styx+json+ws://h/",
            styx=Styx(
                table_size=6,
                first_table=5,
                user="p",
                first_player=7,
                password="",
                delay_ms=9,
                lobby=True,
            ),
        ),
        load=Load(connections=600, executor=OpenLoop(rate=600, pacing="phased")),
        stop=Stop(duration_ns=10**9),
    ),
    Plan(
        target=Target(url="ws://h/", websocket=WebSocket(deflate=Deflate(level=1))),
        load=Load(connections=100, depth=10, pack=10, executor=RandomBurst()),
        stop=Stop(duration_ns=10**9),
    ),
    Plan(
        target=Target(url="ws://h/", addresses=("127.0.16.1:1", "127.0.16.2:1")),
        load=Load(connections=10**6, executor=Hold(rate=5, idle_ns=10**9)),
        stop=Stop(duration_ns=10**9, requests=10**6),
        generator=GeneratorSettings(threads=54),
    ),
    Plan(
        target=Target(url="socketio+ws://h/"),
        load=Load(connections=1, executor=AfterResponse(pause_ns=10**9)),
        stop=Stop(duration_ns=10**9),
    ),
    *call_plans.PLANS,
    *(
        plans.plan_of(
            demo.study(5, 1), case, f"{case.protocol}://h:1{case.path}", Pinning((0,), (1,))
        )
        for case in demo.study(5, 1).cases
    ),
]


TRAFFIC = Traffic(
    feeds=(Feed(name="users", columns=("user",), rows=(("ann",), ("bob",)), order="unique"),),
    routes=(
        Route(
            name="POST /login",
            method="POST",
            target=(Words(text="/login?of="), UrlOf(url="user")),
            headers=(("Content-Type", (Words(text="application/json"),)),),
            body=(Words(text='{"user": "'), JsonOf(name="user"), Words(text='"}')),
            expect=RouteExpect(
                status=StatusIn(statuses=(200, 201)),
                checks=(
                    Check(of="status", test=Compared(how="<", operand=JsonOperand(value=300))),
                    Check(
                        of=JsonAt(path="$.user"),
                        test=Compared(how="==", operand=TextOperand(text=(ValueOf(value="user"),))),
                    ),
                    Check(
                        of=JsonAt(path="$.roles[*]"),
                        test=Contains(operand=JsonOperand(value={"a": [1.5, None]})),
                    ),
                    Check(of="bytes", test=IsType(name="integer")),
                    Check(of="body", test=IsShape(shape=SHAPE)),
                    Check(of=HeaderOf(header="Server"), negated=True, test=Exists()),
                    Check(of="body", test=Starts(text=(Words(text="{"),))),
                    Check(of="body", test=Ends(text=(Words(text="}"),))),
                    Check(of=RegexIn(regex="a(.)"), test=Matches(pattern="b")),
                    Check(of=JsonAt(path="$.left"), count=True, test=Empty()),
                    Check(
                        of="body",
                        filters=(
                            PathFilter(jsonpath="$.a[?@.b > 1]"),
                            NthFilter(nth=0),
                            RegexFilter(regex="a(.)"),
                            ReplaceFilter(replace=Replaced(old="a", new="b")),
                            PatternFilter(replace_regex=PatternReplaced(pattern="a", new="b")),
                            SplitFilter(split=","),
                            *get_args(PlainFilter),
                        ),
                        test=Exists(),
                    ),
                ),
            ),
            captures=(
                Capture(name="token", of=JsonAt(path="$.token"), most=100),
                Capture(name="sid", of=CookieOf(cookie="sid")),
            ),
        ),
        Route(
            name="GET /items",
            method="GET",
            target=(Words(text="/items"),),
            headers=(("Authorization", (Words(text="Bearer "), ValueOf(value="token"))),),
            expect=RouteExpect(status="any", body=(MadeOf(make="seq"),)),
            follow=3,
        ),
    ),
    flows=(
        Flow(
            name="browse",
            weight=8,
            feed="users",
            steps=(
                Step(route=0),
                Step(route=1, think=UniformThink(low_ns=1, high_ns=2)),
                Step(route=1, think=LognormalThink(median_ns=10**9, sigma=0.6)),
            ),
        ),
    ),
)

PLANS.append(
    Plan(
        target=Target(url="https://h/"),
        traffic=TRAFFIC,
        load=Load(
            connections=2,
            executor=OpenLoop(rate=5),
            stages=(Stage.model_validate({"for_ns": 10**9, "from": 0, "to": 1}),),
        ),
        stop=Stop(sessions=100),
    )
)


CONVERSATION = Traffic(
    routes=(),
    lines=(
        Line(
            name="open",
            does="open",
            target=(Words(text="/chat?of="), UrlOf(url="user")),
            headers=(("X-User", (ValueOf(value="user"),)),),
        ),
        Line(
            name="hello",
            does="await",
            awaits=(Check(of="body", test=Matches(pattern="hello")),),
            captures=(Capture(name="token", of=JsonAt(path="$.token")),),
        ),
        Line(
            name="say",
            does="send",
            text=(Words(text='{"id":'), MadeOf(make="seq"), Words(text="}")),
            awaits=(
                Check(
                    of=JsonAt(path="$.id"),
                    test=Compared(how="==", operand=TextOperand(text=(MadeOf(make="seq"),))),
                ),
            ),
            checks=(Check(of=JsonAt(path="$.ok"), test=Exists()),),
        ),
        Line(name="close", does="close"),
    ),
    feeds=(Feed(name="users", columns=("user",), rows=(("ann",), ("bob",))),),
    flows=(
        Flow(
            name="chat",
            feed="users",
            unasked="fail",
            steps=(
                Step(route=0),
                Step(route=1),
                Step(route=2, back=Back(to=2, times=5, think=UniformThink(low_ns=1, high_ns=2))),
                Step(route=3),
            ),
        ),
    ),
)

PLANS.append(
    Plan(
        target=Target(url="wss://h/"),
        traffic=CONVERSATION,
        load=Load(connections=2),
        stop=Stop(sessions=100),
    )
)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: str(plan.target.message.source.source))
def test_every_plan_is_valid_for_the_engine(engine: Engine, plan: Plan) -> None:
    document = json.loads(plan.to_json())
    jsonschema.validate(document, _engine(engine, "plan"))
    assert TypeAdapter(Plan).validate_python(document) == plan


def test_the_schema_refuses_what_it_does_not_know(engine: Engine) -> None:
    document = json.loads(PLANS[0].to_json())
    document["load"]["virtual_users"] = 5
    with pytest.raises(jsonschema.ValidationError, match="virtual_users"):
        jsonschema.validate(document, _engine(engine, "plan"))
