"""The catalogue: what is wrong with it is named, and nothing is where nothing is wrong."""

from __future__ import annotations

import urllib.request

from tests.apps.running import Start
from wiretrial.errors import EXIT_INVALID


def test_the_healthy_catalogue_has_no_failure(catalogue: Start) -> None:
    with catalogue("") as application:
        told = application.load("-n", "1000")
    assert told.failures() == {}
    assert "goal kept: errors" in told.said
    assert len(told.document["traffic"]["routes"]) == 5


def test_wrong_leaking_and_slow_replies_are_named(catalogue: Start) -> None:
    with catalogue("total,leak,slow") as application:
        # One quote in 5 sessions, one account in 20; a quote in 1,000 is wrong, an account in 50.
        told = application.load("-n", "5600", "-c", "250")
    assert told.status == EXIT_INVALID
    assert told.failures() == {"makeQuote": {"mismatch": 1}, "getAccount": {"mismatch": 5}}
    assert "$.total_cents was" in told.example("makeQuote", "mismatch")
    assert '$.reader was "somebody-else"' in told.example("getAccount", "mismatch")
    assert "goal missed: search.p50" in told.said


def test_a_500_under_load_is_named(catalogue: Start) -> None:
    with catalogue("overload") as application:
        told = application.load("-n", "400")
    assert told.status == EXIT_INVALID
    assert told.failures().keys() == {"makeQuote"}
    assert "too many quotes at once" in told.example("makeQuote", "status")


def test_what_the_files_do_not_say_is_learned_and_faults_are_named(catalogue: Start) -> None:
    with catalogue("total,leak") as application:
        application.unsaid()
        # The faults strike after the 30 requests of which is learned.
        told = application.load("-n", "5600", "-c", "50")
    assert told.status == EXIT_INVALID
    assert told.failures() == {"makeQuote": {"mismatch": 1}, "getAccount": {"mismatch": 6}}
    assert "$.total_cents was" in told.example("makeQuote", "mismatch")
    assert '$.reader was "somebody-else"' in told.example("getAccount", "mismatch")
    rules = {one["route"]: one["told"] for one in told.document["learned_rules"]}
    assert "$.total_cents {{total}}" in rules["makeQuote"]
    assert "$.reader {{reader}}" in rules["getAccount"]
    assert rules["search"] == "all were equal"


def test_its_own_description_is_loaded_as_imported(catalogue: Start) -> None:
    with catalogue("") as application:
        with urllib.request.urlopen(f"{application.base}/openapi.yaml", timeout=10) as reply:
            (application.folder / "openapi.yaml").write_bytes(reply.read())
        application.imported("openapi", "openapi.yaml")
        told = application.load(
            "-n", "100", "--variable", "api_key=key-of-ann", file="made/traffic.toml"
        )
    assert told.failures() == {}
    assert len(told.document["traffic"]["routes"]) == 5
