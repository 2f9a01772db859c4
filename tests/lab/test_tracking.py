"""Connections that the kernel tracks: seen where it does, and room for them asked for."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from wiretrial.machine import preflight, tracking
from wiretrial.machine.tracking import Table

ASK = "from wiretrial.machine import tracking; print(tracking.table())"
RULES = """
table ip filter {
  chain output {
    type filter hook output priority 0; policy accept;
    ct state new accept
  }
}
"""
needs_a_namespace = pytest.mark.skipif(
    subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode != 0,
    reason="network namespaces need root",
)
needs_nft = pytest.mark.skipif(shutil.which("nft") is None, reason="nft is not installed")


def table_in_a_namespace(before: str = "true") -> str:
    """What `tracking.table` says in a namespace of its own, after a command there."""
    script = f'ip link set lo up && {before} && exec "$1" -c "$2"'
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", script, "sh", sys.executable, ASK],
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    return done.stdout.strip()


@needs_a_namespace
def test_without_rules_nothing_is_tracked() -> None:
    assert table_in_a_namespace() == "None"


@needs_a_namespace
@needs_nft
def test_a_rule_that_looks_at_connections_has_them_tracked() -> None:
    told = table_in_a_namespace(f"printf '%s' '{RULES}' | nft -f -")
    assert told.startswith(f"Table(count={tracking.PROBES}, most=")


@pytest.mark.parametrize(("free", "is_enough"), [(99_999, False), (100_000, True)])
def test_a_full_table_is_told_before_the_run(
    monkeypatch: pytest.MonkeyPatch, free: int, is_enough: bool
) -> None:
    monkeypatch.setattr(tracking, "table", lambda: Table(262_144 - free, 262_144))
    (found,) = [
        one
        for one in preflight.check(preflight.Demand(connections=100_000))
        if one.name == "tracked connections"
    ]
    assert found.enough is is_enough
    assert f"{free:,} are available" in found.line()
    assert "sysctl -w net.netfilter.nf_conntrack_max=200000" in found.remedy


def test_few_connections_or_none_that_are_tracked_ask_for_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = preflight.Demand(connections=preflight.FEW_TRACKED - 1)
    monkeypatch.setattr(tracking, "table", lambda: Table(262_144, 262_144))
    assert "tracked connections" not in {one.name for one in preflight.check(few)}
    monkeypatch.setattr(tracking, "table", lambda: None)
    many = preflight.Demand(connections=preflight.FEW_TRACKED)
    assert "tracked connections" not in {one.name for one in preflight.check(many)}
