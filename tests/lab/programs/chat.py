"""A small chat server over WebSocket: it greets, acknowledges, repeats what is said, pushes news.

Usage: chat.py [--port N] [--tls CERT KEY] [--fault FAULT [--every N]]. It prints its port. Each
N-th message that is said meets with the fault: `mute` (no acknowledgement), `other` (that of
another message), `nobody` (one without a user), `leave` (the server closes with code 1011), `after`
(it comes behind what was said, which is none). `tokenless`: greetings have no token. `refuse`: no
user is let in.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import ssl
from http import HTTPStatus

from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

TOKENS, SAID = itertools.count(1), itertools.count(1)


class Chat:
    """One fault at most."""

    def __init__(self, fault: str, every: int) -> None:
        self.fault, self.every = fault, every

    def let_in(self, connection: ServerConnection, request: Request) -> Response | None:
        """A user has a name in the URL, and the same in a header."""
        name = request.headers.get("X-User", "")
        if self.fault == "refuse" or f"user={name}" not in request.path:
            return connection.respond(HTTPStatus.FORBIDDEN, "no\n")
        return None

    async def talk(self, connection: ServerConnection) -> None:
        """Serves one user."""
        assert connection.request
        token = f"t-{next(TOKENS)}"
        hello = {"type": "hello", "token": token}
        if self.fault == "tokenless":
            del hello["token"]
        await connection.send(json.dumps(hello))
        async for text in connection:
            said = json.loads(text)
            if said["type"] == "say":
                await self.answer(connection, said, token)

    async def answer(
        self, connection: ServerConnection, said: dict[str, object], token: str
    ) -> None:
        """News, the acknowledgement, and what was said."""
        fault = self.fault if next(SAID) % self.every == 0 else ""
        ack = {"type": "ack", "id": said["id"], "user": said["user"]}
        await connection.send(json.dumps({"type": "news"}))
        if fault == "leave":
            await connection.close(1011)
        if fault == "other":
            ack["id"] = -1
        if fault == "nobody":
            ack["user"] = None
        if fault != "mute" and said["token"] == token:
            answers = [ack, {"type": "said", "text": said["text"]}]
            for answer in reversed(answers) if fault == "after" else answers:
                await connection.send(json.dumps(answer))


async def main() -> None:
    """Serves until it is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--fault", default="")
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    context = None
    if given.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*given.tls)
    chat = Chat(given.fault, given.every)
    async with serve(
        chat.talk, "127.0.0.1", given.port, process_request=chat.let_in, ssl=context
    ) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main())
