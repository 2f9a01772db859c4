"""Traffic is shown and kept without its secrets, and tells which it lacks."""

from __future__ import annotations

from wiretrial import redaction_traffic
from wiretrial.plan import Load, Plan, Stop, Target
from wiretrial.plan_traffic import Feed, Flow, Route, Step, Text, Traffic, ValueOf, Words
from wiretrial.results import redacted
from wiretrial.snapshot import TrafficNames

SECRET = "s3cr3t-9f2c41d0"


def words(text: str) -> Text:
    return (Words(text=text),)


TRAFFIC = Traffic(
    feeds=(
        Feed(name="users.csv", columns=("user", "password"), rows=(("ann", SECRET), ("b", SECRET))),
        Feed(name="ids.csv", columns=("id",), rows=(("7",),)),
    ),
    routes=(
        Route(
            name=f"GET /items?key={SECRET}",
            method="GET",
            target=(Words(text=f"/items?key={SECRET}&id="), ValueOf(value="id")),
            headers=(
                ("X-Api-Key", words(SECRET)),
                ("Authorization", (Words(text="Bearer "), ValueOf(value="token"))),
                ("Accept", words("text/plain")),
            ),
        ),
    ),
    flows=(Flow(name="browse", steps=(Step(route=0),)),),
)


def test_secrets_are_taken_out_and_told() -> None:
    shown = redaction_traffic.redacted(TRAFFIC)
    assert SECRET not in shown.model_dump_json()
    assert shown.feeds[1] == TRAFFIC.feeds[1]
    assert shown.routes[0].headers[1:] == TRAFFIC.routes[0].headers[1:]
    assert shown.routes[0].target[1] == ValueOf(value="id")
    assert list(redaction_traffic.lacking(shown)) == [
        "the column password of users.csv",
        "a header of GET /items?key=*** (X-Api-Key)",
        "a parameter in the URL of GET /items?key=***",
    ]
    assert not list(redaction_traffic.lacking(TRAFFIC))


def test_a_plan_is_kept_without_them() -> None:
    plan = Plan(
        target=Target(url="http://h:1/"),
        traffic=TRAFFIC,
        load=Load(connections=1),
        stop=Stop(sessions=1),
    )
    kept = redacted.plan(plan)
    assert SECRET not in kept.to_json()
    assert kept.traffic is not None
    names = TrafficNames(routes=(TRAFFIC.routes[0].name,), flows=("browse",))
    assert tuple(map(redacted.route, names.routes)) == tuple(r.name for r in kept.traffic.routes)
