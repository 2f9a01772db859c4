"""Plans of calls of gRPC, with all that they can say."""

from __future__ import annotations

import base64

from wiretrial.plan import (
    EchoContent,
    Expect,
    FieldsContent,
    FixedPayload,
    Http,
    LearnedContent,
    ListPayload,
    Load,
    Message,
    MessagesContent,
    NumberedPayload,
    Plan,
    Stop,
    Target,
)
from wiretrial.plan_grpc import FieldShape, Grpc, MessageShape
from wiretrial.plan_traffic import (
    BytesPiece,
    Call,
    Capture,
    Check,
    Compared,
    Feed,
    FieldOf,
    FieldPlace,
    Flow,
    MadeOf,
    NumberOf,
    NumberPiece,
    Route,
    RouteExpect,
    SizedPiece,
    StatusIn,
    Step,
    TextOperand,
    TextPiece,
    Traffic,
    ValueOf,
)

TEXT = base64.b64encode(b"a message of 32 bytes, or so ....").decode()

REPLY = MessageShape(
    fields=(
        FieldShape(number=1, wire="len", least=1, most=1, length=(1, 12), utf8=True),
        FieldShape(number=2, wire="varint", range=(-5, None), signed="zigzag"),
        FieldShape(number=3, wire="i64", values=(base64.b64encode(bytes(8)).decode(),)),
        FieldShape(
            number=4, wire="len", message=MessageShape(fields=(FieldShape(number=1, wire="i32"),))
        ),
    ),
    others=True,
)

PLANS = [
    Plan(
        target=Target(
            url=f"grpc://h:1/a.B/{call.kind}",
            grpc=call,
            message=Message(source=source),
            expect=Expect(content=content),
        ),
        load=Load(connections=1),
        stop=Stop(requests=1),
    )
    for call, source, content in (
        (Grpc(), FixedPayload(base64=TEXT), LearnedContent()),
        (Grpc(), NumberedPayload(base64=TEXT, places=(0, 16)), EchoContent()),
        (
            Grpc(kind="server", replies=(1, None)),
            FixedPayload(base64=TEXT),
            FieldsContent(shape=REPLY),
        ),
        (
            Grpc(kind="bidi", deadline_ns=10**9),
            ListPayload(base64=(TEXT, TEXT)),
            MessagesContent(base64=(TEXT, TEXT)),
        ),
        (Grpc(kind="client", status=5), ListPayload(base64=(TEXT,)), EchoContent()),
        (Grpc(kind="bidi", turns=True), ListPayload(base64=(TEXT, TEXT)), EchoContent()),
        (
            Grpc(kind="client", gzip=True, message_interval_ns=10**6),
            ListPayload(base64=(TEXT, TEXT)),
            EchoContent(),
        ),
    )
]

_OF = ValueOf(value="item")
_SESSIONS = Traffic(
    feeds=(Feed(name="items", columns=("item",), rows=(("tea",),)),),
    routes=(
        Route(
            name="find",
            method="POST",
            target=(),
            headers=(("tenant", (MadeOf(make="user"),)),),
            expect=RouteExpect(
                status=StatusIn(statuses=(0,)),
                checks=(
                    Check(
                        of=FieldOf(
                            place=FieldPlace(
                                name="$.a[1].b", path=((9, 1), (2, None)), scalar="text"
                            )
                        ),
                        test=Compared(how="==", operand=TextOperand(text=(_OF,))),
                    ),
                ),
            ),
            captures=(
                Capture(
                    name="stock",
                    of=FieldOf(
                        place=FieldPlace(
                            name="$.stock", path=((3, None),), scalar="zigzag", has_usual=True
                        )
                    ),
                ),
            ),
            call=Call(
                path="/a.B/C",
                messages=(
                    (
                        BytesPiece(base64="Cg=="),
                        SizedPiece(sized=(TextPiece(text=(_OF,)),)),
                        NumberPiece(number=NumberOf(of=MadeOf(make="seq"), scalar="signed")),
                    ),
                ),
                deadline_ns=10**9,
                replies=(1, None),
                shape=REPLY,
            ),
        ),
    ),
    flows=(Flow(name="find", feed="items", steps=(Step(route=0),)),),
)
PLANS.append(
    Plan(
        target=Target(url="http://h:1/", http=Http(version="2")),
        traffic=_SESSIONS,
        load=Load(connections=1),
        stop=Stop(sessions=1),
    )
)
