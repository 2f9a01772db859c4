"""Servers of gRPC in a comparison: the same call to each, and one rule about their replies.

Knows the options of a call, and which scenario calls which method; must not know how servers are
compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from wiretrial.cli import output, urls
from wiretrial.cli.options import Asked
from wiretrial.cli.options_grpc import NO_CALLS, Calls
from wiretrial.errors import UsageProblem
from wiretrial.plan import Tls
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
        try:
            from wiretrial.cli import grpc_wanted
        except ModuleNotFoundError as error:
            raise UsageProblem(
                "gRPC needs protobuf, which is not installed", "pip install 'wiretrial[grpc]'"
            ) from error
        path = urlsplit(target.url).path
        call = grpc_wanted.call(target, asked, self.calls, tls, self.methods.get(path))
        self.methods[path] = call.method
        return {**call.parts, "fields": call.method.names()}

    def learnt(self, study: Study, *, constants: bool) -> Study:
        """The study with what replies have in common, over all servers of a method; it is told."""
        if not self.methods:
            return study
        from wiretrial.cli import grpc_learning

        taught, rules = grpc_learning.in_study(study, self.methods, constants=constants)
        for rule in rules:
            output.say(rule.line)
        return taught


def is_called(url: str) -> bool:
    """Whether the URL is one of gRPC."""
    return url.partition("://")[0].lower() in CALLS
