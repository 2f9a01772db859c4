"""What is sent: requests of HTTP, calls of gRPC, messages of everything else."""

from __future__ import annotations

import pytest

from wiretrial import words
from wiretrial.words import CALL, MESSAGE, REQUEST, Noun


@pytest.mark.parametrize(
    ("url", "noun"),
    [
        ("http://127.0.0.1:1/", REQUEST),
        ("HTTPS://example.org/a?b=http://c", REQUEST),
        ("ws://127.0.0.1:1/", MESSAGE),
        ("socketio+wss://127.0.0.1:1/", MESSAGE),
        ("tcp://127.0.0.1:1", MESSAGE),
        ("styx+json://127.0.0.1:1", MESSAGE),
        ("grpcs://127.0.0.1:1/a.B/C", CALL),
    ],
)
def test_the_url_says_what_is_sent(url: str, noun: Noun) -> None:
    assert words.of_url(url) == noun


@pytest.mark.parametrize(
    ("protocols", "noun"),
    [
        (["http", "https"], REQUEST),
        (["http", "ws"], MESSAGE),
        (["grpc", "grpcs"], CALL),
        (["ws"], MESSAGE),
        ([], MESSAGE),
    ],
)
def test_http_beside_sockets_sends_messages(protocols: list[str], noun: Noun) -> None:
    assert words.of_all(protocols) == noun


def test_a_text_takes_the_noun() -> None:
    assert (
        REQUEST.in_text("CPU per {message}, of all {messages}")
        == "CPU per request, of all requests"
    )
