"""A plan and what an engine tells of it, without secrets: as a record keeps them.

Knows plans and snapshots; must not know who keeps or shows them. What is sent is never changed.
"""

from __future__ import annotations

from collections.abc import Mapping

from wiretrial import redaction, redaction_traffic
from wiretrial.plan import Http, Plan
from wiretrial.redaction import Secrets
from wiretrial.results.fleet import Fleet
from wiretrial.snapshot import Snapshot, Start, Summary


def secrets_of(plan: Plan) -> Secrets:
    """The secrets that the plan sends."""
    asked = Secrets.of(plan.target.url, plan.target.http.headers)
    publish = plan.publish
    return asked if publish is None else asked | Secrets.of(publish.url, publish.headers)


def http(asked: Http) -> Http:
    """The parts of a request without the values of secret headers."""
    return asked.model_copy(update={"headers": redaction.headers(asked.headers)})


def plan(whole: Plan) -> Plan:
    """The plan without secrets."""
    target = whole.target
    shown = {"url": redaction.url(target.url), "http": http(target.http)}
    changed: dict[str, object] = {"target": target.model_copy(update=shown)}
    if whole.traffic:
        changed["traffic"] = redaction_traffic.redacted(whole.traffic)
    if publish := whole.publish:
        posted = {
            "url": redaction.url(publish.url),
            "headers": redaction.headers(publish.headers),
        }
        changed["publish"] = publish.model_copy(update=posted)
    return whole.model_copy(update=changed)


def start(told: Start) -> Start:
    """The first line of a run without the secrets of its URL, and of those that name routes."""
    changed: dict[str, object] = {"url": redaction.url(told.url)}
    if told.traffic:
        names = tuple(map(route, told.traffic.routes))
        changed["traffic"] = told.traffic.model_copy(update={"routes": names})
    return told.model_copy(update=changed)


def route(name: str) -> str:
    """The name of a route that is called by its URL, as it is in the plan that is kept."""
    return redaction.url(name)


def snapshot(told: Snapshot, secrets: Secrets) -> Snapshot:
    """A snapshot without them: also where the server sent one back."""
    match told:
        case Start(learned=learned):
            changed: dict[str, object] = {"url": secrets.text(told.url)}
            if learned:
                excerpt = secrets.text(learned.excerpt)
                changed["learned"] = learned.model_copy(update={"excerpt": excerpt})
            return told.model_copy(update=changed)
        case Summary(examples=examples):
            return summary(told, secrets) if examples or told.published else told
        case _:
            return told


def summary(told: Summary, secrets: Secrets) -> Summary:
    """The end of a run without them."""
    changed: dict[str, object] = {"examples": _examples(told.examples, secrets)}
    if one := told.published:
        own = {"examples": _examples(one.examples, secrets)}
        changed["published"] = one.model_copy(update=own)
    return told.model_copy(update=changed)


def _examples(told: Mapping[str, str], secrets: Secrets) -> dict[str, str]:
    return {name: secrets.text(example) for name, example in told.items()}


def fleet(told: Fleet, secrets: Secrets) -> Fleet:
    """What each agent told, without them."""
    agents = (
        agent.model_copy(update={"summary": summary(agent.summary, secrets)})
        if agent.summary
        else agent
        for agent in told.agents
    )
    return told.model_copy(update={"agents": tuple(agents)})
