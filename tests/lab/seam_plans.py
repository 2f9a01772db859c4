"""Plans in which each part of a plan stands at least once.

Knows our models; must not know the engine's.
"""

from __future__ import annotations

import base64
from typing import get_args

from tests.lab import call_plans
from wiretrial.machine.pinning import Pinning
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
from wiretrial.plan_publish import Publish
from wiretrial.plan_shape import (
    Choice,
    Member,
    Shape,
)
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
from wiretrial.studies import (
    demo,
    plans,
)

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
            url="https://h/", http=Http(version="3", congestion="new-reno", early_data=True)
        ),
        load=Load(connections=1, depth=5),
        stop=Stop(duration_ns=10**9),
    ),
    Plan(
        target=Target(url="ws://h/subscribe"),
        load=Load(connections=7, executor=Hold()),
        stop=Stop(duration_ns=10**9),
        publish=Publish(
            url="http://h/publish", rate=0.5, bytes=100, settle_ns=10**8, headers=(("A", "b"),)
        ),
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
