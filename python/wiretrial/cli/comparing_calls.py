"""Servers of gRPC in a comparison: the same call to each, and one rule about their replies.

Knows the options of a call, and which scenario calls which method; must not know how servers are
compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from wiretrial import quantities
from wiretrial.cli import output, urls
from wiretrial.cli.options import Asked
from wiretrial.cli.options_grpc import HTTP_STATUS, NO_CALLS, Calls
from wiretrial.errors import UsageProblem
from wiretrial.plan import Tls
from wiretrial.studies import calls as contract
from wiretrial.studies.spec import Study
from wiretrial.words import CALLS

if TYPE_CHECKING:
    from wiretrial.calls.methods import Method


@dataclass(frozen=True)
class Called:
    """The calls of one comparison: what is typed of them, and the methods that were found."""

    calls: Calls = NO_CALLS
    methods: dict[str, Method] = field(default_factory=dict)
    """By the path of the URL: the server that is named first tells of a method."""

    def parts(self, target: urls.Target, asked: Asked, tls: Tls) -> dict[str, Any]:
        """What a case says of its call, by the names of the case's fields."""
        grpc_wanted = _wanted()
        path = urlsplit(target.url).path
        call = grpc_wanted.call(target, asked, self.calls, tls, self.methods.get(path))
        self.methods[path] = call.method
        return {**call.parts, "fields": call.method.names()}

    def parts_of_contract(self, asked: Asked) -> dict[str, Any]:
        """What a case of a subject says of its call: the unary one of its contract."""
        _require_fitting(self.calls, asked)
        size = None
        if asked.payload is not None:
            size = quantities.size_bytes(asked.payload, "--payload")
            if size > contract.MOST_BYTES:
                raise UsageProblem(
                    f"--payload {asked.payload}: a call carries {contract.MOST_BYTES:,} bytes at"
                    " most",
                    "make it smaller",
                )
        parts = contract.request("unary", size)
        deadline = self.calls.deadline
        told = {
            "deadline_ns": quantities.duration_ns(deadline, "--deadline", 1) if deadline else None,
            "gzip": self.calls.gzip,
        }
        headers = _wanted().metadata(asked.header) if asked.header else ()
        return {
            "path": parts.path,
            "http": parts.http.model_copy(update={"headers": headers}),
            "message": parts.message,
            "expect": parts.expect,
            "grpc": parts.grpc.model_copy(update=told),
        }

    def learnt(self, study: Study, *, constants: bool) -> Study:
        """The study with what replies have in common, over all servers of a method; it is told."""
        if not self.methods:
            return study
        from wiretrial.cli import grpc_learning

        taught, rules = grpc_learning.in_study(study, self.methods, constants=constants)
        for rule in rules:
            output.say(rule.line)
        return taught


def _require_fitting(calls: Calls, asked: Asked) -> None:
    """Refuses what would call another method, or what the contract says already."""
    if asked.header_profile:
        raise UsageProblem("--header-profile is for http and https", "leave it out")
    is_file = asked.payload is not None and asked.payload.startswith("@")
    typed = {
        "--proto": calls.proto,
        "--proto-path": calls.proto_path,
        "--message-interval": calls.message_interval,
        "--turns": calls.turns,
        "--method": asked.method,
        "--text": asked.text,
        "--json": asked.json is not None,
        "--payload @FILE": is_file,
        "--expect": asked.expect,
        "--expect-status": asked.expect_status != HTTP_STATUS,
    }
    for flag, value in typed.items():
        if value:
            raise UsageProblem(
                f"{flag}: subjects of gRPC are called by {contract.request('unary').path}, whose"
                " replies are its messages",
                "leave it out, or name running servers: grpc://HOST:PORT/SERVICE/METHOD",
            )


def _wanted() -> ModuleType:
    """What reads typed calls, with the library that it needs."""
    try:
        from wiretrial.cli import grpc_wanted
    except ModuleNotFoundError as error:
        raise UsageProblem(
            "gRPC needs protobuf, which is not installed", "pip install 'wiretrial[grpc]'"
        ) from error
    return grpc_wanted


def is_called(url: str) -> bool:
    """Whether the URL is one of gRPC."""
    return url.partition("://")[0].lower() in CALLS
