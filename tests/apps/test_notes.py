"""The notes: what is wrong with them is named, and nothing is where nothing is wrong."""

from __future__ import annotations

from tests.apps.installed import EXAMPLES
from tests.apps.running import Application, Start
from wiretrial.errors import EXIT_INVALID

# Without pauses.
BUSY = """\
[[flow]]
file = "write.hurl"
feed = {file = "users.csv", order = "unique"}

[load]
users = 20

[goal]
"search.p50" = "< 300ms"

[variables]
password = "open sesame"
"""
LISTS = {"list", "list again"}


def write(application: Application) -> str:
    (application.folder / "traffic" / "busy.toml").write_text(BUSY, encoding="utf-8")
    return "traffic/busy.toml"


def test_the_healthy_application_has_no_failure(notes: Start) -> None:
    with notes("") as application:
        told = application.load("-n", "100")
    assert told.failures() == {}
    assert "goal kept: errors" in told.said
    assert len(told.document["traffic"]["routes"]) == 14
    assert all(route["ok"] > 0 for route in told.document["traffic"]["routes"])


def test_redirects_and_pages_are_learned(notes: Start) -> None:
    with notes("") as application:
        application.unsaid()
        told = application.load("-n", "30", file=write(application))
    assert told.failures() == {}
    rules = {one["route"]: one["told"] for one in told.document["learned_rules"]}
    assert rules["login"] == "status 303 to /notes; content: all were equal"
    assert "{{user}}, UUID" in rules["read"]
    assert "write" not in rules, "the file says what it captures"


def test_a_wrong_count_in_one_of_a_thousand_lists_is_named(notes: Start) -> None:
    with notes("count") as application:
        # Two lists a session.
        told = application.load("-n", "510", file=write(application))
    assert told.status == EXIT_INVALID
    ((route, wrong),) = told.failures().items()
    assert route in LISTS
    assert wrong == {"mismatch": 1}
    assert "notes</h1>" in told.example(route, "mismatch")


def test_leaking_and_slow_replies_are_named(notes: Start) -> None:
    with notes("leak,slow") as application:
        told = application.load("-n", "60", file=write(application))
    assert told.status == EXIT_INVALID
    failures = told.failures()
    assert failures.keys() <= LISTS
    assert sum(one["mismatch"] for one in failures.values()) == 2
    for route in failures:
        assert "Signed in as user" in told.example(route, "mismatch")
    assert "goal missed: search.p50 < 300ms" in told.said


def test_a_500_under_load_is_named(notes: Start) -> None:
    with notes("overload") as application:
        told = application.load("-n", "50", file=write(application))
    assert told.status == EXIT_INVALID
    assert told.failures().keys() == {"write"}
    assert "status 500, not 303" in told.example("write", "status")


def test_what_chromium_recorded_is_loaded_as_imported(notes: Start) -> None:
    recording = str(EXAMPLES / "notes" / "recording.har")
    with notes("") as application:
        application.imported("har", recording)
        told = application.load("-n", "20", file="made/traffic.toml")
    assert told.failures() == {}
    assert "GET {{location}}" in {route["name"] for route in told.document["traffic"]["routes"]}
