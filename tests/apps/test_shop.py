"""The shop: what is wrong with it is named, and nothing is where nothing is wrong."""

from __future__ import annotations

import json
import urllib.request

from tests.apps.installed import EXAMPLES
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
# What a person makes of the flows of its OpenAPI description: whoever has a basket has signed in.
SIGNED_IN = ("login", "put", "basket", "place", "list_orders", "order", "cancel", "logout")
ANYBODY = ("list_products", "product", "search")
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


def test_what_chromium_recorded_is_loaded_as_imported(shop: Start) -> None:
    recording = str(EXAMPLES / "shop" / "recording.har")
    with shop("") as application:
        application.imported("har", recording)
        told = application.load("-n", "20", file="made/traffic.toml")
    assert told.failures() == {}
    assert {"POST /api/login", "PUT /api/basket/10"} <= told.routes()


def test_its_own_description_is_imported_and_loaded_in_sessions(shop: Start) -> None:
    with shop("") as application:
        with urllib.request.urlopen(f"{application.base}/openapi.json", timeout=10) as reply:
            description = reply.read()
        (application.folder / "openapi.json").write_bytes(description)
        said = application.imported("openapi", "openapi.json")
        assert "the cookie session is not sent" in said
        told = application.load("-n", "100", file=in_sessions(application, description))
    assert told.failures() == {}
    assert len(told.routes()) == len(SIGNED_IN) + len(ANYBODY)


def in_sessions(application: Application, description: bytes) -> str:
    """Writes the file that has the imported requests, those of a signed-in customer in a session.

    Beside the order, one thing is not in the description: whose number an order has.
    """
    folder = application.folder / "made"
    files = {path.stem.partition("-api-")[0]: path for path in folder.glob("*.hurl")}
    paths = json.loads(description)["paths"]
    assert len(files) == sum(len(operations) for operations in paths.values())
    session = "\n".join(
        files[name.replace("_", "-")].read_text(encoding="utf-8") for name in SIGNED_IN
    )
    captured = 'HTTP 201\n[Captures]\nnumber_2: jsonpath "$.id"\n'
    (folder / "session.hurl").write_text(session.replace("HTTP 201\n", captured), encoding="utf-8")
    names = ["session.hurl", *(files[name.replace("_", "-")].name for name in ANYBODY)]
    flows = "".join(f'[[flow]]\nfile = "{name}"\n' for name in names)
    written = folder / "sessions.toml"
    written.write_text(f'{flows}[variables]\nnumber = "1"\nproduct = "1"\n', encoding="utf-8")
    return "made/sessions.toml"
