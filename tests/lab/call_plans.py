"""Plans of calls of gRPC, with all that they can say."""

from __future__ import annotations

import base64

from wiretrial.plan import (
    EchoContent,
    Expect,
    FieldsContent,
    FixedPayload,
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
    )
]
