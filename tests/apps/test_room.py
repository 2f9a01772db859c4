"""The room: what is wrong with it is named, and nothing is where nothing is wrong."""

from __future__ import annotations

from tests.apps.running import Start
from wiretrial.errors import EXIT_INVALID


def test_the_healthy_room_has_no_failure(room: Start) -> None:
    with room("") as application:
        told = application.load("-n", "100")
    assert told.failures() == {}
    assert "goal kept: errors" in told.said
    (flow,) = told.document["traffic"]["flows"]
    assert (flow["name"], flow["done"]) == ("draw", 100)
    assert flow["unasked"].keys() == {"joined", "drawn"}, "what others do"
    assert {one["name"]: one["ok"] for one in told.document["traffic"]["routes"]} == {
        "open /": 100,
        "welcome": 100,
        "join": 100,
        "board": 100,
        "draw": 500,
        "drawn": 500,
        "close": 100,
    }


def test_wrong_leaking_and_slow_answers_are_named(room: Start) -> None:
    with room("ack,leak,slow") as application:
        # Of 1,055 shapes one is acknowledged wrongly, and 21 are shown as of another room.
        told = application.load("-n", "230", "-c", "40", file=application.without_pauses())
    assert told.status == EXIT_INVALID
    failures = told.failures()
    assert failures.keys() == {"draw", "drawn"}
    assert failures["draw"] == {"mismatch": 1}
    assert failures["drawn"]["mismatch"] > 10
    assert "$[0].id was" in told.example("draw", "mismatch")
    assert '$[1].room was "' in told.example("drawn", "mismatch")
    assert "goal missed: board.p50 < 200ms" in told.said


def test_a_connection_that_is_closed_under_load_is_named(room: Start) -> None:
    with room("overload") as application:
        told = application.load("-n", "50", file=application.without_pauses())
    assert told.status == EXIT_INVALID
    assert told.failures().keys() == {"draw"}
    assert "closed with code" in told.example("draw", "closed")
