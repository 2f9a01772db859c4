"""`load FILE --fleet`: the sessions of one file from several agents are one result."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

from tests.cli.conftest import begin
from tests.cli.test_load_traffic import ROUTES, Start, start, write
from tests.fleet.conftest import Cluster, load

__all__ = ["begin", "start"]

HOSTS = ("127.0.0.2", "127.0.0.3")


def test_agents_share_the_sessions_of_a_file(
    stack: ExitStack, start: Start, tmp_path: Path
) -> None:
    cluster = Cluster(stack, tmp_path, "127.0.0.1", [(host, None) for host in HOSTS])
    write(tmp_path, start(), "[load]\nusers = 6\n")
    run = load(
        stack,
        *("shop.toml", "-n", "31", "--format", "json"),
        *cluster.flags("--fleet-agents", "2"),
        cwd=tmp_path,
    )
    out, err = run.communicate(timeout=90)
    assert out, err
    found = json.loads(out)
    assert found["totals"]["errors"] == {}
    assert [route["name"] for route in found["traffic"]["routes"]] == list(ROUTES)
    assert {route["ok"] for route in found["traffic"]["routes"]} == {31}
    (flow,) = found["traffic"]["flows"]
    assert (flow["begun"], flow["done"]) == (31, 31)
    agents = found["agents"]
    assert sum(agent["connections"] for agent in agents) == 6
    assert sum(agent["totals"]["ok"] for agent in agents) == 4 * 31
