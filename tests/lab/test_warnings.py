"""Warnings that need more than counters, and the page that lists them all."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from tests.lab.trials import trial
from wiretrial import warnings
from wiretrial.plan import Http
from wiretrial.results import hdr
from wiretrial.results.model import Machine, SubjectFacts, Trial
from wiretrial.results.observation import CpuUse, EmulatedLink, Isolation, Observation, SocketUse
from wiretrial.snapshot import Http3Figures
from wiretrial.warnings import modes
from wiretrial.warnings.catalogue import CATALOGUE, Code
from wiretrial.warnings.page import page

MS = 1_000_000
SECOND_NS = 1_000_000_000
PAGE = Path(__file__).parents[2] / "docs" / "warnings.md"


def test_the_page_is_that_of_the_catalogue() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "write it: python -m wiretrial.warnings.page > docs/warnings.md"
    assert all(f"| `{code}` |" in written for code in warnings.Code)


def distribution(values: Mapping[int, int]) -> str:
    histogram = HdrHistogram(hdr.LOWEST_NS, hdr.HIGHEST_NS, hdr.SIGNIFICANT_DIGITS)
    for value, count in values.items():
        histogram.record_value(value, count)
    return str(histogram.encode().decode("ascii"))


def bell(centre_ns: int, count: int, spread: float = 0.1) -> dict[int, int]:
    """A mode as replies have it: log-normal."""
    draw = random.Random(centre_ns)
    found: dict[int, int] = {}
    for _ in range(count):
        value = round(centre_ns * draw.lognormvariate(0, spread))
        found[value] = found.get(value, 0) + 1
    return found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (bell(MS, 1000) | bell(10 * MS, 100), (10 * MS, 1 / 11, MS)),
        (bell(10 * MS, 1000) | bell(MS, 100), (MS, 1 / 11, 10 * MS)),
        (bell(MS, 1000), None),
        # Two that overlap, a few stragglers, and a tail without a peak are one mode.
        (bell(MS, 1000) | bell(3 * MS // 2, 500), None),
        (bell(MS, 1000) | bell(10 * MS, 10), None),
        (bell(MS, 1000) | {ms * MS: 3 for ms in range(10, 300)}, None),
        ({}, None),
    ],
)
def test_a_second_mode_is_one_of_its_own(
    values: dict[int, int], expected: tuple[float, float, float] | None
) -> None:
    found = modes.second(distribution(values))
    if expected is None:
        assert found is None
        return
    assert found is not None
    at, share, main = expected
    assert found.at_ns == pytest.approx(at, rel=0.2)
    assert found.main_ns == pytest.approx(main, rel=0.2)
    assert found.share == pytest.approx(share, rel=0.1)


def seen(**parts: Any) -> Trial:
    observation = Observation(
        cpu_resolution_ns=1, tick_ns=1, cost_ns=0, watched_ns=1, alone=True, **parts
    )
    return trial().model_copy(update={"observation": observation})


def timed(one: Trial, values: Mapping[int, int]) -> Trial:
    summary = one.summary.model_copy(update={"histograms": {"service_time": distribution(values)}})
    return one.model_copy(update={"summary": summary})


def codes(one: Trial) -> set[str]:
    return {warning.code for warning in warnings.of_trial(one)}


def test_a_second_mode_is_told_unless_its_cause_is_known() -> None:
    both = timed(trial(), bell(MS, 1000) | bell(10 * MS, 100))
    (told,) = [one for one in warnings.of_trial(both) if one.code == "second-mode"]
    assert told.message.startswith("9.1 % of the replies took about ")
    delayed = timed(trial(), bell(MS, 1000) | bell(41 * MS, 100, spread=0.01))
    assert codes(delayed) == {"40-ms-mode"}
    waited = both.summary.model_copy(
        update={"generator": both.summary.generator.model_copy(update={"run_queue_ns": SECOND_NS})}
    )
    assert "second-mode" not in codes(both.model_copy(update={"summary": waited}))


def over_quic(one: Trial, **figures: int) -> Trial:
    """The same as it would have been over HTTP/3."""
    target = one.plan.target.model_copy(update={"http": Http(version="3")})
    summary = one.summary.model_copy(update={"http3": Http3Figures(**figures)})
    plan = one.plan.model_copy(update={"target": target})
    return one.model_copy(update={"plan": plan, "summary": summary})


def test_times_of_tcp_are_no_modes_of_quic() -> None:
    values = bell(MS, 1000) | bell(41 * MS, 100, spread=0.01)
    assert codes(timed(trial(), values)) == {"40-ms-mode"}
    assert codes(over_quic(timed(trial(), values))) == {"second-mode"}


@pytest.mark.parametrize(("dropped", "told"), [(0, False), (9, False), (10, True)])
def test_datagrams_that_the_generator_s_machine_dropped_are_told(dropped: int, told: bool) -> None:
    one = over_quic(trial(), datagrams_received=10_000 - dropped, datagrams_dropped=dropped)
    found = [one.message for one in warnings.of_trial(one) if one.code == "datagrams-dropped"]
    message = "the generator's machine dropped 10 of 10,000 datagrams from the server (0.1 %)"
    assert found == ([message] if told else [])
    assert "datagrams-dropped" not in codes(trial())


def sockets(server: float, generator: float) -> tuple[SocketUse, ...]:
    """Connections of both sides, with unacknowledged data for these shares of the time."""
    return tuple(
        SocketUse.model_validate(
            {
                "side": side,
                "followed_ns": SECOND_NS,
                "busy_ns": round(busy * SECOND_NS),
                "receive_window_limited_ns": 0,
                "send_buffer_limited_ns": 0,
                "retransmitted_segments": 0,
                "mean_send_queue_bytes": 0.0,
                "mean_receive_queue_bytes": 0.0,
            }
        )
        for side, busy in (("server", server), ("generator", generator))
    )


@pytest.mark.parametrize(
    ("server", "generator", "found"),
    [(0.98, 0.02, {"40-ms-mode"}), (0.02, 0.98, set()), (0.98, 0.98, set()), (0.1, 0.1, set())],
)
def test_where_every_reply_waits_for_an_ack_the_sockets_tell(
    server: float, generator: float, found: set[str]
) -> None:
    one = timed(seen(sockets=sockets(server, generator)), bell(44 * MS, 300, spread=0.03))
    assert codes(one) == found


def test_over_a_link_the_sockets_wait_for_the_link() -> None:
    link = EmulatedLink(name="l", up="", down="", seed=1, carrier="engine", realtime=True)
    there = SubjectFacts(
        name="s", version="1", language="C", isolation=Isolation(kind="link", link=link)
    )
    near = timed(seen(sockets=sockets(0.98, 0.02)), bell(44 * MS, 300, spread=0.03))
    assert codes(near) == {"40-ms-mode"}
    assert "40-ms-mode" not in codes(near.model_copy(update={"subject": there}))


@pytest.mark.parametrize(("stolen", "found"), [(50, {"steal"}), (5, set())])
def test_a_hypervisor_that_takes_time_is_told(stolen: int, found: set[str]) -> None:
    cpus = (
        CpuUse(cpu=None, user_ns=1000 - stolen, idle_ns=0, steal_ns=stolen),
        CpuUse(cpu=0, steal_ns=100),
    )
    assert codes(seen(cpus=cpus)) == found


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"throttled": 3}, "slowed down for its heat 3 times"),
        ({"throttled": 0, "cpu": {"governor": "powersave"}}, "(governor powersave)"),
        ({"throttled": 0, "cpu": {"governor": "performance"}}, None),
        ({"throttled": None, "cpu": {"governor": None}}, None),
        ({}, None),
    ],
)
def test_a_clock_that_may_change_is_told(facts: dict[str, Any], words: str | None) -> None:
    told = warnings.of_trial(trial().model_copy(update={"machine": Machine(facts=facts)}))
    assert [one.code for one in told] == (["frequency"] if words else [])
    assert all(str(words) in one.message for one in told)


def test_what_is_stopped_is_a_load_which_has_nothing_to_go_on_with() -> None:
    # A study loses the trial in which it is stopped, and says by itself how it goes on.
    remedy = CATALOGUE[Code.PARTIAL].remedy
    assert "--resume" not in remedy
    assert "Run the command again" in remedy
