"""Who was the bottleneck follows from evidence, and the sentence says which."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from wiretrial.machine import listeners
from wiretrial.plan import AfterResponse, Load, OpenLoop
from wiretrial.results.ceiling import Ceiling
from wiretrial.results.model import Bottleneck, Use
from wiretrial.results.observation import CpuUse, LinkUse, Observation, SocketUse
from wiretrial.results.watched import Span, WatchedPart, WatchedPlace
from wiretrial.studies import bottleneck
from wiretrial.studies.bottleneck import Evidence
from wiretrial.studies.overload import Offered
from wiretrial.words import REQUEST

SECOND_NS = 1_000_000_000
CLOSED = Load(connections=10)
OPEN = Load(connections=10, executor=OpenLoop(rate=1000.0))
IDLE = Evidence(
    load=CLOSED,
    sent=1000.0,
    answered=1000.0,
    generator=Use(0.3),
    generator_on_cpu=0.25,
    server=Use(0.3),
    server_cpus=(0,),
    direct=True,
)
"""Nobody is at a limit."""


def seen(**parts: Any) -> Observation:
    """One second, observed."""
    return Observation(
        cpu_resolution_ns=1,
        tick_ns=10**7,
        cost_ns=0,
        watched_ns=SECOND_NS,
        start_ns=0,
        end_ns=SECOND_NS,
        alone=True,
        **parts,
    )


def sockets(
    side: str, *, window: float = 0.0, buffer: float = 0.0, unread: float = 0.0
) -> Observation:
    """One side's connections, without room for these shares of the time."""
    use = {
        "side": side,
        "followed_ns": 4 * SECOND_NS,
        "busy_ns": 4 * SECOND_NS,
        "receive_window_limited_ns": round(4 * SECOND_NS * window),
        "send_buffer_limited_ns": round(4 * SECOND_NS * buffer),
        "retransmitted_segments": 0,
        "mean_send_queue_bytes": 0.0,
        "mean_receive_queue_bytes": unread,
    }
    return seen(sockets=(SocketUse.model_validate(use),))


def link(sent: int = 0, received: int = 0) -> Observation:
    """So many bytes in a second, over a link that lets 2.5 MB through."""
    use = LinkUse(
        interfaces=("wire0",),
        sent_bytes=sent,
        received_bytes=received,
        send_rate_bytes=2.5e6,
        receive_rate_bytes=2.5e6,
    )
    return seen(link=use)


def test_if_nobody_was_it_the_sentence_says_so() -> None:
    assert bottleneck.find(IDLE) == (
        "unknown",
        "neither side was at its limit (our loop 70 % idle, server: its CPU 30 % busy)",
    )


@pytest.mark.parametrize(
    ("ours", "server", "expected"),
    [
        (0.50, Use(0.99), "server"),
        (0.99, Use(0.60), "generator"),
        (0.99, None, "generator"),
        (0.99, Use(0.99), "server"),
        (0.30, Use(0.30), "unknown"),
        (0.30, None, "unknown"),
        (0.30, Use(0.40, 0.55), "server"),
        (0.99, Use(0.40, 0.55), "generator"),
        (Use(0.30, 0.75), Use(0.40, 0.55), "generator"),
        (Use(0.30, 0.55), Use(0.40, 0.30), "generator"),
        (Use(0.30, 0.55), Use(0.40, 0.55), "server"),
        (Use(0.30, 0.40), Use(0.40, 0.30), "unknown"),
        (Use(0.94, 0.46), Use(0.48, 0.00), "generator"),
        (Use(0.94, 0.20), Use(0.48, 0.00), "unknown"),
        (Use(0.80, 0.46), Use(0.48, 0.00), "unknown"),
        (Use(0.94, 0.46), Use(0.40, 0.55), "server"),
        (Use(0.10, 0.00), Use(0.10, 0.60), "server"),
        (Use(0.10, 0.45), Use(0.10, 0.60), "unknown"),
    ],
)
def test_a_side_is_at_its_limit_where_it_is_busy_or_waits_for_a_cpu(
    ours: float | Use, server: Use | None, expected: Bottleneck
) -> None:
    use = ours if isinstance(ours, Use) else Use(ours)
    found, text = bottleneck.find(replace(IDLE, generator=use, server=server))
    assert found == expected
    assert "idle" in text
    assert ("waiting for a CPU" in text) == any(one and one.queued for one in (use, server))
    assert ("its CPU unknown" in text or "could not be read" in text) == (server is None)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param({}, "rate", id="each copy comes"),
        pytest.param({"answered": 950.0}, "rate", id="an event less at the edge"),
        pytest.param({"answered": 800.0}, "unknown", id="copies are lacking"),
        pytest.param({"server": Use(0.99)}, "server", id="a busy server"),
        pytest.param({"generator": Use(0.99)}, "generator", id="a busy generator"),
        pytest.param({"server": None}, "unknown", id="a server that is not seen"),
    ],
)
def test_published_events_set_the_pace_where_nobody_is_busy(
    told: dict[str, Any], expected: Bottleneck
) -> None:
    found, text = bottleneck.find(replace(IDLE, published=1000.0, **told))
    assert found == expected
    assert ("the rate was kept" in text) == (expected == "rate")


@pytest.mark.parametrize(
    ("unseen", "reason"),
    [
        (listeners.ELSEWHERE, "it runs on another host, so look at its CPU there"),
        (
            listeners.OF_ANOTHER.format(user="www-data"),
            "it belongs to the user www-data: run as root, or as that user",
        ),
        (None, "the run was too short to read it twice"),
    ],
)
def test_a_server_that_is_not_seen_is_not_called_idle(unseen: str | None, reason: str) -> None:
    found, text = bottleneck.find(replace(IDLE, server=None, unseen=unseen))
    assert found == "unknown"
    assert text == (
        "the generator was not the bottleneck (our loop 70 % idle); the server may have been, but"
        f" its CPU could not be read: {reason}"
    )


@pytest.mark.parametrize(
    ("sent", "ours", "server", "expected"),
    [
        (1000, 0.30, 0.50, "rate"),
        (1000, 0.30, 0.99, "rate"),
        (600, 0.30, 0.99, "server"),
        (600, 0.99, 0.50, "generator"),
        (1000, 0.99, 0.50, "generator"),
        (600, 0.30, 0.30, "unknown"),
    ],
)
def test_an_open_loop_is_limited_by_its_rate_if_that_was_kept(
    sent: float, ours: float, server: float, expected: Bottleneck
) -> None:
    offered = Offered(
        rate=1000,
        sent=sent,
        growth=0,
        connections=10,
        slots=10,
        occupied=0.5,
        missing=max(1000 - sent, 0),
    )
    evidence = replace(
        IDLE, load=OPEN, sent=sent, offered=offered, generator=Use(ours), server=Use(server)
    )
    found, text = bottleneck.find(evidence)
    assert found == expected
    assert f"{sent:,} of 1,000 messages/s sent" in text


def test_sessions_are_not_counted_in_messages() -> None:
    offered = Offered(
        rate=200, sent=600, growth=0, connections=10, slots=10, occupied=0.5, missing=0
    )
    load = Load(connections=10, executor=OpenLoop(rate=200.0))
    evidence = replace(
        IDLE, load=load, sent=600, begun=199, offered=offered, what=REQUEST, server=Use(0.3)
    )
    _, text = bottleneck.find(evidence)
    assert "199 of 200 sessions/s begun, 600 requests/s sent" in text


@pytest.mark.parametrize(
    ("watched", "expected", "words"),
    [
        (sockets("generator", window=0.97), "server", "server's receive window 97 %"),
        (sockets("server", window=0.60), "generator", "generator's receive window 60 %"),
        (sockets("server", buffer=0.40), "server", "the server's send buffer full 40 %"),
        (sockets("generator", buffer=0.40), "generator", "the generator's send buffer full 40 %"),
        (sockets("generator", window=0.10), "unknown", "server's receive window 10 %"),
        (sockets("generator", window=0.01), "unknown", None),
        (sockets("server", unread=64_000), "unknown", "64,000 bytes per connection not read by"),
        (sockets("server", unread=64), "unknown", None),
        (link(sent=2_400_000), "link", "19.2 of 20 Mbit/s from the server"),
        (link(received=2_400_000), "link", "19.2 of 20 Mbit/s to the server"),
        (link(sent=1_500_000), "unknown", "12 of 20 Mbit/s from the server"),
        (link(sent=100_000), "unknown", None),
    ],
)
def test_a_window_a_buffer_or_a_link_that_is_full_is_named(
    watched: Observation, expected: Bottleneck, words: str | None
) -> None:
    found, text = bottleneck.find(replace(IDLE, seen=watched))
    assert found == expected
    if words is None:
        assert text == bottleneck.find(IDLE)[1]
    else:
        assert words in text


def test_a_link_of_unknown_rate_is_never_full() -> None:
    carried = LinkUse(interfaces=("lo",), sent_bytes=10**12, received_bytes=10**12)
    assert bottleneck.find(replace(IDLE, seen=seen(link=carried))) == bottleneck.find(IDLE)


@pytest.mark.parametrize(
    ("states", "queued", "words"),
    [
        ({"user_ns": 6, "nice_ns": 4, "idle_ns": 0}, 0.6, "CPU 0 full"),
        ({"user_ns": 6, "nice_ns": 4, "idle_ns": 0}, 0.0, None),
        ({"user_ns": 6, "idle_ns": 4}, 0.6, None),
        ({"user_ns": 6, "idle_ns": 2, "steal_ns": 2}, 0.0, "20 % of CPU 0 taken by the hypervisor"),
    ],
)
def test_a_cpu_of_the_server_that_others_had_is_named(
    states: dict[str, int], queued: float, words: str | None
) -> None:
    ten = {name: share * 10**8 for name, share in states.items()}
    watched = seen(cpus=(CpuUse(cpu=0, **ten), CpuUse(cpu=1, user_ns=SECOND_NS, idle_ns=0)))
    _, text = bottleneck.find(replace(IDLE, server=Use(0.3, queued), seen=watched))
    assert "CPU 1" not in text
    assert words in text if words else "CPU 0" not in text


@pytest.mark.parametrize(
    ("answered", "ours", "server", "expected", "words"),
    [
        # 50,000 at 50 % make a ceiling of 100,000.
        (97_000, 0.70, 0.60, "generator", "97,000 messages/s where its own ceiling is 100,000"),
        (104_000, 0.70, 0.60, "generator", "its own ceiling is 100,000 messages/s"),
        (97_000, 0.70, 0.99, "server", ""),
        (94_000, 0.70, 0.60, "unknown", ""),
        # More than the ceiling: it was none.
        (130_000, 0.70, 0.60, "unknown", ""),
        (5_000, 0.10, 0.10, "server", "messages waited in it: 10 % of what the reference server"),
        (5_000, 0.60, 0.10, "unknown", ""),
        (26_000, 0.10, 0.10, "unknown", ""),
    ],
)
def test_a_throughput_is_held_against_what_the_generator_does_alone(
    answered: float, ours: float, server: float, expected: Bottleneck, words: str
) -> None:
    evidence = replace(
        IDLE,
        answered=answered,
        generator=Use(ours),
        generator_on_cpu=ours,
        server=Use(server),
        ceiling=Ceiling(reached=50_000, loop_utilisation=0.5),
    )
    found, text = bottleneck.find(evidence)
    assert found == expected
    assert words in text
    _, of_http = bottleneck.find(replace(evidence, what=REQUEST))
    assert of_http == text.replace("messages", "requests")
    # Over a network, what is missing may be on its way.
    if words.startswith("messages waited"):
        assert bottleneck.find(replace(evidence, direct=False))[0] == "unknown"


@pytest.mark.parametrize(
    ("round_trip_ms", "ours", "server", "expected"),
    [
        (52.0, 0.10, 0.10, "link"),
        (52.0, 0.10, 0.99, "server"),
        (52.0, 0.60, 0.10, "unknown"),
        (20.0, 0.10, 0.10, "unknown"),
        (None, 0.10, 0.10, "unknown"),
    ],
)
def test_a_link_that_takes_most_of_each_message_s_time_is_the_bottleneck(
    round_trip_ms: float | None, ours: float, server: float, expected: Bottleneck
) -> None:
    evidence = replace(
        IDLE,
        generator=Use(ours),
        generator_on_cpu=ours,
        server=Use(server),
        direct=False,
        round_trip_ns=None if round_trip_ms is None else round_trip_ms * 1e6,
        service_ns=53e6,
    )
    found, text = bottleneck.find(evidence)
    assert found == expected
    assert ("there and back are 52 of 53 ms" in text) == (expected == "link")


@pytest.mark.parametrize(
    ("service_ns", "server", "who"),
    [(10**6, 0.3, "rate"), (10**9, 0.3, "unknown"), (10**8, 0.99, "server")],
)
def test_pauses_are_the_rate_of_bots_that_wait_until_the_server_is_at_its_limit(
    service_ns: float, server: float, who: Bottleneck
) -> None:
    load = Load(connections=10, executor=AfterResponse(pause_ns=SECOND_NS))
    told = replace(IDLE, load=load, service_ns=service_ns, server=Use(server))
    assert bottleneck.find(told)[0] == who


def watched(part: dict[str, Any], **place: Any) -> Evidence:
    """A server elsewhere with these figures over a second, whose process nobody sees."""
    span = Span(start_ns=0, end_ns=SECOND_NS, replies=1000)
    one = WatchedPart.model_validate({"name": "db", "address": "pid:7", "span": span, **part})
    fields: dict[str, Any] = {"place": "h2", "kind": "observe", "cpus": 2, "span": span}
    host = WatchedPlace.model_validate({**fields, "parts": (one,), **place})
    return replace(IDLE, server=None, places=(host,))


HALF = {"cpu_ns": SECOND_NS // 2, "threads": 4}


@pytest.mark.parametrize(
    ("part", "place", "words"),
    [
        (
            {**HALF, "quota_cpus": 0.5, "periods": 10, "throttled_periods": 6},
            {},
            "db was stopped by its limit of 0.5 CPUs in 60 % of the limit's periods",
        ),
        ({**HALF, "quota_cpus": 0.5}, {}, "db used its limit of 0.5 CPUs"),
        ({"cpu_ns": SECOND_NS, "threads": 1}, {}, "the only thread of db had its CPU full"),
        (HALF, {"user_ns": 2 * SECOND_NS}, "the CPUs of h2 were full, most of it by db"),
    ],
)
def test_a_watched_server_at_its_limit_is_the_bottleneck(
    part: dict[str, Any], place: dict[str, Any], words: str
) -> None:
    who, text = bottleneck.find(watched(part, **place))
    assert who == "server"
    assert words in text
    # A generator that had no room either loaded it as much as it can be.
    busy = replace(watched(part, **place), generator=Use(0.99))
    assert bottleneck.find(busy)[0] == "server"


@pytest.mark.parametrize(
    ("part", "place"),
    [
        (HALF, {}),
        ({**HALF, "quota_cpus": 1.0, "periods": 10, "throttled_periods": 1}, {}),
        ({**HALF, "quota_cpus": 0.5, "shares_group": True}, {}),
        (HALF, {"user_ns": 2 * SECOND_NS, "has_generator": True}),
    ],
)
def test_a_watched_server_that_has_room_is_told(
    part: dict[str, Any], place: dict[str, Any]
) -> None:
    who, text = bottleneck.find(watched(part, **place))
    assert who == "unknown"
    assert "neither side was at a limit that is known" in text
    assert "db: 0.50" in text
    assert "unknown" not in text
    assert bottleneck.find(replace(watched(part, **place), generator=Use(0.99)))[0] == "generator"


def test_without_a_figure_of_it_the_server_may_have_been() -> None:
    assert "could not be read" in bottleneck.find(watched({}))[1]
