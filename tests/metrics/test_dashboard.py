"""The dashboard: it asks for metrics that are sent, all of which it shows, and is whole JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard, Panel
from grafana_foundation_sdk.models.prometheus import Dataquery

from tests.cli.conftest import Run, wiretrial
from wiretrial.errors import UsageProblem
from wiretrial.metrics import address, dashboard
from wiretrial.metrics.families import FAMILIES

__all__ = ["wiretrial"]


def test_every_metric_that_is_asked_for_is_sent() -> None:
    sent = {family.prometheus for family in FAMILIES}
    sent |= {f"{family.prometheus}_bucket" for family in FAMILIES}
    for query in dashboard.queries():
        assert set(re.findall(r"wiretrial_\w+", query)) <= sent


def test_panels_lie_beside_each_other_and_have_names() -> None:
    panels = dashboard.dashboard()["panels"]
    places = [(one["gridPos"]["x"], one["gridPos"]["y"]) for one in panels]
    assert len(set(places)) == len(places)
    assert all(one["gridPos"]["x"] + one["gridPos"]["w"] <= 24 for one in panels)
    assert len({one["title"] for one in panels}) == len(panels)
    assert len({one["id"] for one in panels}) == len(panels)


def test_grafanas_own_types_know_every_field() -> None:
    # A field that they do not know they leave out, as Grafana would: without a word.
    register_default_plugins()
    made = dashboard.dashboard()
    read = Dashboard.from_json(made)
    assert [*_lost(made, json.loads(JSONEncoder().encode(read)))] == []
    panels = [panel for panel in read.panels or () if isinstance(panel, Panel)]
    targets = [target for panel in panels for target in panel.targets or ()]
    assert {type(target) for target in targets} == {Dataquery}


def test_a_field_that_grafana_does_not_know_is_found() -> None:
    register_default_plugins()
    made = dashboard.dashboard()
    made["panels"][0]["gridPos"]["width"] = 8
    read = json.loads(JSONEncoder().encode(Dashboard.from_json(made)))
    assert [*_lost(made, read)] == ["/panels/0/gridPos/width"]


def _lost(made: Any, read: Any, where: str = "") -> Iterator[str]:
    """Where something was written that was not read."""
    if isinstance(made, dict) and isinstance(read, dict):
        for name, value in made.items():
            yield from _lost(value, read.get(name), f"{where}/{name}")
    elif isinstance(made, list) and isinstance(read, list) and len(made) == len(read):
        for number, (value, found) in enumerate(zip(made, read, strict=True)):
            yield from _lost(value, found, f"{where}/{number}")
    elif made != read:
        yield where


def test_the_command_writes_a_file_that_grafana_can_import(wiretrial: Run, tmp_path: Path) -> None:
    done = wiretrial("metrics", "dashboard", "-o", "wiretrial.json")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "wiretrial.json").read_text(encoding="utf-8"))
    assert found == dashboard.dashboard()
    assert {one["name"] for one in found["templating"]["list"]} == {
        *("datasource", "study", "scenario", "subject", "trial")
    }
    assert wiretrial("metrics", "dashboard").stdout == json.dumps(found, indent=2) + "\n"


def test_the_list_names_every_metric(wiretrial: Run) -> None:
    done = wiretrial("metrics", "list")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [one.prometheus for one in FAMILIES]


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("prometheus:http://h:9090", "http://h:9090/api/v1/write"),
        ("prometheus:http://h:9090/", "http://h:9090/api/v1/write"),
        ("prometheus:https://h/api/v1/push", "https://h/api/v1/push"),
        ("otlp:http://h:4318", "http://h:4318/v1/metrics"),
        ("otlp:http://h:4318/v1/metrics", "http://h:4318/v1/metrics"),
        ("otlp:http://h:9090/api/v1/otlp", "http://h:9090/api/v1/otlp/v1/metrics"),
        ("otlp:http://h:4318?a=b", "http://h:4318/v1/metrics?a=b"),
    ],
)
def test_an_address_has_the_path_of_its_protocol(typed: str, url: str) -> None:
    assert address.parse(typed).url == url


def test_an_address_is_shown_without_secrets() -> None:
    shown = address.parse("otlp:http://h:4318?token=sesame").text
    assert "sesame" not in shown


@pytest.mark.parametrize("typed", ["otlp", "otpl:http://h", "graphite:h", "otlp:file:///x"])
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(UsageProblem, match="--metrics"):
        address.parse(typed)
