"""The highest rate in words, as a table and as a page."""

from __future__ import annotations

from typing import Any

import pytest

from wiretrial.report import limit_page, limit_text, limits
from wiretrial.results.limits import Figure, Found, Level, Limit, Resource

URL = "http://127.0.0.1:8080/"


def level(search: int, rate: float, p99_ms: float, **changes: Any) -> Level:
    is_kept = p99_ms < 50 and "reason" not in changes
    told: dict[str, Any] = {
        "reason": None if is_kept else "goal",
        "why": "" if is_kept else f"p99 is {p99_ms:.1f} ms",
        "server_busy": 0.6,
        "generator_busy": 0.31,
        "bottleneck": "rate",
        **changes,
    }
    return Level(
        search=search,
        rate=rate,
        answered=rate,
        duration_ns=5_000_000_000,
        connections=100,
        is_kept=is_kept,
        figures=(Figure(goal="p99 < 50ms", value=p99_ms * 1e6, is_kept=is_kept),),
        time_ns=p99_ms * 1e6,
        failed_share=0.0012,
        verdict="valid",
        evidence="the rate was kept",
        **told,
    )


LEVELS = (
    level(1, 4000, 8),
    level(1, 8000, 21),
    level(1, 8900, 71),
    level(1, 8400, 33),
    level(2, 8400, 34),
    level(2, 8750, 49.7, reason="backlog", why="the waiting line grew by 120 a second"),
)
LIMIT = Limit(
    target=URL,
    command=f"wiretrial limit {URL} --goal 'p99 < 50ms'",
    started_at="2026-01-01T12:00:00.000+00:00",
    unit="requests/s",
    goals=("p99 < 50ms", "errors < 0.1%"),
    time="p99",
    time_goal_ns=5e7,
    tolerance=0.05,
    rate=8400,
    low=8100,
    high=8700,
    binding="goal",
    refused=LEVELS[2],
    end="complete",
    searches=(
        Found(search=1, kept=8400, refused=8900, is_confirmed=True),
        Found(search=2, kept=8400, refused=8750, is_confirmed=True),
    ),
    levels=LEVELS,
)


def changed(**changes: Any) -> Limit:
    return LIMIT.model_copy(update=changes)


def opens(descriptors: int, unopened: int = 0, failed_share: float = 0.0, own: int = 1024) -> Limit:
    """Refused with so many open descriptors of a server, and what did not come about."""
    server = Resource(name="app", descriptors=descriptors, descriptor_limit=own)
    refused = level(1, 8900, 71, resources=(server,), unopened=unopened)
    return changed(refused=refused.model_copy(update={"failed_share": failed_share}))


@pytest.mark.parametrize(
    ("found", "evidence"),
    [
        (opens(1020, unopened=76), "1,020 of 1,024 were open at 8,900 requests/s, and 76 connecti"),
        (opens(1024, unopened=1), "1,024 of 1,024 were open at 8,900 requests/s, and 1 connection"),
        # A server may keep one, to close with it what it can't hold.
        (
            opens(1023, failed_share=0.012),
            "1,023 of 1,024 were open at 8,900 requests/s, and 1.2 %",
        ),
        (
            opens(1024, failed_share=0.012),
            "1,024 of 1,024 were open at 8,900 requests/s, and 1.2 %",
        ),
    ],
)
def test_descriptors_bind_where_one_was_lacking(found: Limit, evidence: str) -> None:
    told = limits.binds(found)
    assert told is not None
    assert told.what == "the descriptor limit of app"
    assert told.evidence.startswith(evidence)
    assert told.remedy == "raise it (ulimit -n)"
    assert limits.close_to(found) == ""


def test_what_lacked_a_descriptor_is_told() -> None:
    assert next(iter(limits.sentences(opens(1020, unopened=76)))) == (
        "The descriptor limit of app binds: 1,020 of 1,024 were open at 8,900 requests/s, and 76"
        " connections were not opened. Raise it (ulimit -n)."
    )


@pytest.mark.parametrize("found", [opens(1024), opens(1020, failed_share=0.012)])
def test_descriptors_that_nothing_lacked_bind_nothing(found: Limit) -> None:
    told = limits.binds(found)
    assert told is not None
    assert told.what == "a goal"
    opened = found.refused.resources[0].descriptors if found.refused else 0
    assert list(limits.sentences(found))[1] == (
        f"Close to the descriptor limit of app: {opened:,} of 1,024 were open at 8,900 requests/s,"
        " and none was lacking."
    )


@pytest.mark.parametrize("found", [opens(900, unopened=76), opens(0, own=0), LIMIT])
def test_descriptors_of_which_many_are_left_are_not_told(found: Limit) -> None:
    assert "descriptor" not in " ".join(limits.sentences(found))


def test_much_that_goes_to_disk_is_told_of_a_server_that_waits() -> None:
    def waits(written: float) -> str:
        db = Resource(name="db", written_bytes=written)
        told = limits.binds(changed(binding="server", refused=level(1, 8900, 71, resources=(db,))))
        assert told is not None
        return told.evidence

    assert waits(2.1e8).endswith("a disk or another server (db wrote 210 MB/s to disk)")
    assert waits(9e5).endswith("a disk or another server")


def test_the_answer_is_one_line() -> None:
    assert limits.headline(LIMIT) == (
        f"{URL} keeps p99 < 50 ms and errors < 0.1 % up to 8,400 requests/s (8,100 to 8,700);"
        " at 8,900 p99 is 71.0 ms."
    )
    answered = level(1, 8900, 71, why="96.1 % of the offered rate was answered")
    assert limits.headline(changed(refused=answered)).endswith(
        "; at 8,900, 96.1 % of the offered rate was answered."
    )
    assert limits.headline(changed(goals=())).startswith(
        f"{URL} carries up to 8,400 requests/s (8,100 to 8,700); at 8,900 p99"
    )


def test_the_level_that_a_server_did_not_come_back_from_is_told() -> None:
    ended = changed(end="failed", silent_after=64_000)
    assert list(limits.sentences(ended))[-1] == (
        "2 searches, 6 levels; 95 % interval over the searches. The server did not answer again"
        " after the level at 64,000 requests/s, which ended the search."
    )


def test_what_is_never_kept_is_one_line() -> None:
    lowest = level(1, 18.3, 71)
    nothing = changed(
        rate=None,
        low=None,
        high=None,
        refused=lowest,
        searches=(Found(search=1, kept=None, refused=18.3, is_confirmed=False),),
        levels=(level(1, 40, 90), lowest),
    )
    assert limits.headline(nothing) == (
        f"{URL} does not keep p99 < 50 ms and errors < 0.1 % at 18.3 requests/s, the lowest rate"
        " that was tried: p99 is 71.0 ms."
    )


def test_the_generators_limit_is_not_the_servers() -> None:
    ours = level(1, 8900, 71, bottleneck="generator", generator_busy=0.98, server_busy=0.99)
    least = changed(is_at_least=True, high=None, binding="generator", refused=ours)
    assert limits.headline(least) == (
        f"{URL} keeps p99 < 50 ms and errors < 0.1 % at 8,400 requests/s, and may at more:"
        " at 8,900 the load generator was at its limit."
    )
    told = " ".join(limits.sentences(least))
    assert "The load generator binds: 98 % busy at 8,900 requests/s" in told
    assert "server" not in told.lower()
    assert "carries at least 8,400 requests/s: no higher rate was tried" in limits.headline(
        changed(goals=(), is_at_least=True, high=None, binding="ceiling", refused=None)
    )
    *_, searched = limits.sentences(least)
    assert searched == "2 searches, 6 levels."
    in_haste = changed(is_at_least=True, high=None, binding="ceiling", refused=None, end="time")
    assert limits.headline(in_haste).endswith(
        "may at more: the time was over before a higher rate was refused for certain (--within)."
    )


@pytest.mark.parametrize(
    ("binding", "says"),
    [
        ("goal", "A goal binds: p99 is 71.0 ms at 8,900 requests/s, with the server's CPU 60 %"),
        ("server", "The server binds: its CPU is 60 % busy at 8,900 requests/s, so that it waits"),
        ("overload", "Overload binds: p99 is 71.0 ms at 8,900 requests/s, with the server's CPU"),
        (
            "connections",
            "The number of connections binds: 100 were 0 % occupied at 8,900 requests/s. Try more",
        ),
    ],
)
def test_what_binds_is_said(binding: Any, says: str) -> None:
    first, *_ = limits.sentences(changed(binding=binding))
    assert first.startswith(says)


@pytest.mark.parametrize("binding", ["goal", "server", "overload", "connections"])
def test_other_load_on_the_servers_cpus_is_told_before_all_else(binding: Any) -> None:
    kept_off = level(1, 8900, 71, server_busy=0.29, server_waiting=0.71)
    first, *_ = limits.sentences(changed(binding=binding, refused=kept_off))
    assert first == (
        "Other load on the server's CPUs binds: the server ran for 29 % of the time and waited for"
        " a CPU for 71 % at 8,900 requests/s. End other processes, or measure on more CPUs."
    )


@pytest.mark.parametrize(("busy", "waiting"), [(0.97, 0.03), (0.4, 0.3), (0.8, 0.2)])
def test_a_server_that_waits_little_or_for_itself_has_no_other_load(
    busy: float, waiting: float
) -> None:
    refused = level(1, 8900, 71, server_busy=busy, server_waiting=waiting)
    first, *_ = limits.sentences(changed(refused=refused, binding="goal"))
    assert first.startswith("A goal binds")


def test_an_end_before_its_time_is_said() -> None:
    *_, last = limits.sentences(changed(end="time"))
    assert last.endswith("The time was over before all searches had ended (--within).")
    unconfirmed = tuple(one.model_copy(update={"is_confirmed": False}) for one in LIMIT.searches)
    *_, last = limits.sentences(changed(end="interrupted", searches=unconfirmed))
    assert "not confirmed. Stopped before" in last


@pytest.mark.parametrize("width", [80, 110])
def test_every_level_stands_in_a_table_that_fits(width: int) -> None:
    text = limit_text.render(LIMIT, width=width)
    assert max(map(len, text.splitlines())) <= width
    for rate in ("4,000", "8,000", "8,400", "8,750", "8,900"):
        assert sum(line.strip().startswith(rate) for line in text.splitlines()) == 1
    assert "2 of 2" in text
    assert "p99 is 71.0 ms" in text
    assert limit_text.of_level(LEVELS[2], "requests/s") == (
        "search 1: 8,900 requests/s refused: p99 is 71.0 ms"
    )


def test_the_page_draws_each_search_and_holds_the_document() -> None:
    page = limit_page.render(changed(target="http://h/?a=<b>"))
    assert "<h2>Times at each rate</h2>" in page
    assert page.count("<svg") == 2
    assert "search 2" in page
    assert "p99 within 50 ms" in page
    # The picture counts what the table counts.
    assert "offered rate, thousand requests/s" in page
    assert "messages/s" not in page
    assert "<b>" not in page
    document = page.split('id="document">')[1].split("</script>")[0]
    assert Limit.model_validate_json(document).levels == LEVELS
    # Without a goal about a time there is nothing to draw.
    assert "<svg" not in limit_page.render(changed(time_goal_ns=None))
