"""Places of made-up servers that somebody else runs, for any trial."""

from __future__ import annotations

from typing import Any

from wiretrial.results.watched import Span, WatchedPart, WatchedPlace

SECOND = 1_000_000_000
SPAN = Span(start_ns=0, end_ns=2 * SECOND, replies=10_000)


def a_part(**more: Any) -> WatchedPart:
    """A database with a CPU limit: 60 us per reply, of which 20 in the kernel."""
    fields: dict[str, Any] = {
        "name": "db",
        "address": "podman:postgres",
        "span": SPAN,
        "cpu_ns": 600_000_000,
        "cpu_user_ns": 400_000_000,
        "cpu_system_ns": 200_000_000,
        "cpu_resolution_ns": 1000,
        "memory": "control group",
        "memory_end_bytes": 52_400_000,
        "memory_growth_bytes": 1_300_000,
        "quota_cpus": 0.5,
        "throttled_ns": 100_000_000,
        "throttled_periods": 1,
        "periods": 20,
        "processes": 7,
        "threads": 9,
    }
    return WatchedPart.model_validate({**fields, **more})


def a_place(*parts: WatchedPart, **more: Any) -> WatchedPlace:
    """A host of 4 CPUs that was 0.9 busy, 0.1 of it before the load."""
    fields: dict[str, Any] = {
        "place": "this machine",
        "kind": "observe",
        "parts": parts or (a_part(),),
        "has_generator": True,
        "cpus": 4,
        "span": SPAN,
        "user_ns": SECOND,
        "system_ns": 600_000_000,
        "irq_ns": 0,
        "softirq_ns": 200_000_000,
        "steal_ns": 0,
        "idle_ns": 6_200_000_000,
        "baseline_ns": SECOND,
        "baseline_busy_ns": 100_000_000,
        "generator_ns": 800_000_000,
        "kernel": "6.1",
    }
    return WatchedPlace.model_validate({**fields, **more})
