"""The chat: what is wrong with it is named, and nothing is where nothing is wrong."""

from __future__ import annotations

from tests.apps.running import Start
from wiretrial.errors import EXIT_INVALID


def test_the_healthy_chat_has_no_failure(chat: Start) -> None:
    with chat("") as application:
        told = application.load("-n", "100")
    assert told.failures() == {}
    assert "goal kept: errors" in told.said
    (flow,) = told.document["traffic"]["flows"]
    assert (flow["done"], flow["unasked"].keys()) == (100, {"said"})
    assert {one["name"]: one["ok"] for one in told.document["traffic"]["routes"]} == {
        "open /chat": 100,
        "hello": 100,
        "history": 100,
        "say": 500,
        "close": 100,
    }


def test_wrong_leaking_and_slow_answers_are_named(chat: Start) -> None:
    with chat("ack,leak,slow") as application:
        # Of 1,055 messages one is acknowledged wrongly, of 211 histories four are another room's.
        told = application.load("-n", "210", "-c", "40", file=application.without_pauses())
    assert told.status == EXIT_INVALID
    assert told.failures() == {"say": {"mismatch": 1}, "history": {"mismatch": 4}}
    assert "$.id was" in told.example("say", "mismatch")
    assert '$.room was "' in told.example("history", "mismatch")
    assert "goal missed: history.p50 < 200ms" in told.said


def test_a_connection_that_is_closed_under_load_is_named(chat: Start) -> None:
    with chat("overload") as application:
        told = application.load("-n", "50", file=application.without_pauses())
    assert told.status == EXIT_INVALID
    assert told.failures().keys() == {"say"}
    assert "closed with code 1011" in told.example("say", "closed")
