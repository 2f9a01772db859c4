"""The shop: what is wrong with it is named, and nothing is where nothing is wrong."""

from __future__ import annotations

from tests.apps.running import Application, Start
from wiretrial.errors import EXIT_INVALID

# Without pauses, and with more who buy than come to a real shop.
BUSY = """\
[[flow]]
file = "browse.hurl"
feed = "words.csv"

[[flow]]
file = "buy.hurl"
weight = 4
feed = "customers.csv"

[load]
users = 10

[goal]
"search.p50" = "< 300ms"

[variables]
password = "open sesame"
"""
TOTALS = {"basket", "put", "put another", "order", "order again"}


def write(application: Application) -> str:
    (application.folder / "traffic" / "busy.toml").write_text(BUSY, encoding="utf-8")
    return "traffic/busy.toml"


def test_the_healthy_shop_has_no_failure(shop: Start) -> None:
    with shop("") as application:
        told = application.load("-n", "60")
    assert told.failures() == {}
    assert "goal kept: errors" in told.said
    assert len(told.document["traffic"]["routes"]) == 14
    assert all(route["ok"] > 0 for route in told.document["traffic"]["routes"])


def test_wrong_leaking_and_slow_replies_are_named(shop: Start) -> None:
    with shop("total,leak,slow") as application:
        # 240 sessions buy. Each has five replies with a total, of which every 1,000th is wrong, and
        # one list of orders, of which every 50th is another customer's.
        told = application.load("-n", "300", file=write(application))
    assert told.status == EXIT_INVALID
    failures = told.failures()
    assert failures.pop("orders") == {"mismatch": 4}
    assert '$.customer was "customer' in told.example("orders", "mismatch")
    ((route, wrong),) = failures.items()
    assert route in TOTALS
    assert wrong == {"mismatch": 1}
    assert "$.total_cents was" in told.example(route, "mismatch")
    assert "goal missed: search.p50 < 300ms" in told.said


def test_a_500_under_load_is_named(shop: Start) -> None:
    with shop("overload") as application:
        told = application.load("-n", "50", file=write(application))
    assert told.status == EXIT_INVALID
    assert told.failures().keys() == {"order"}
    example = told.example("order", "status")
    assert "500" in example
    assert "too many orders at once" in example
