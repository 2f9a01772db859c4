"""`wiretrial limit`: a real search on a real server, and what it refuses to search for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.advise import synthetic
from tests.cli.conftest import Run
from wiretrial.cli import limit, limiting
from wiretrial.cli.limiting import Searched
from wiretrial.errors import EXIT_GATE, EXIT_GOOD, EXIT_INVALID, UsageProblem
from wiretrial.results.limits import Found, Limit

GENERATOR = ("--poller", "epoll", "--sources", "127.0.0.1")
QUICK = ("-d", "150ms", "--warmup", "0", "--searches", "1", "-c", "2")


def test_a_rate_is_found_and_every_level_kept(
    wiretrial: Run, reference_url: str, tmp_path: Path
) -> None:
    goals = ("--goal", "p50 < 2s", "--goal", "errors < 1%")
    flags = (*goals, "--from", "800", "--to", "1600", *QUICK, *GENERATOR, "--report", "page.html")
    done = wiretrial("limit", reference_url, *flags, "--format", "json", "-o", "limit.json")
    assert done.returncode in (EXIT_GOOD, EXIT_GATE, EXIT_INVALID), done.stderr
    found = Limit.model_validate_json((tmp_path / "limit.json").read_text(encoding="utf-8"))
    assert found.goals == ("p50 < 2000ms", "errors < 1%")
    assert found.levels[0].rate == 800
    told = [line for line in done.stderr.splitlines() if line.startswith("search 1: ")]
    assert len(told) == len(found.levels)
    assert "<title>http://127.0.0.1" in (tmp_path / "page.html").read_text(encoding="utf-8")
    for one in found.levels:
        assert [figure.goal for figure in one.figures] == list(found.goals)
        assert one.is_kept == (one.reason is None)
        if one.is_kept:
            assert all(figure.is_kept for figure in one.figures)
    if found.rate == 1600:
        # Nothing kept it from more, so that this is a bound.
        assert found.is_at_least
        assert (found.high, found.binding) == (None, "ceiling")
        assert sum(one.is_kept for one in found.levels if one.rate == 1600) >= 2


def test_a_goal_that_no_rate_keeps_is_one_line(wiretrial: Run, reference_url: str) -> None:
    flags = ("--goal", "p50 < 1ns", "--from", "600", *QUICK[2:], "-d", "50ms")
    done = wiretrial("limit", reference_url, *flags)
    assert done.returncode in (EXIT_GATE, EXIT_INVALID), done.stderr
    first, *rest = done.stdout.splitlines()
    whole = " ".join([first, *rest])
    assert f"{reference_url} does not keep p50 <" in whole
    assert "the lowest rate that was tried" in whole
    assert max(map(len, rest)) <= 80


def test_no_right_reply_ends_it_at_once(wiretrial: Run, reference_url: str) -> None:
    done = wiretrial("limit", reference_url, "--goal", "p99 < 1s", "--expect", "json:no=1", *QUICK)
    assert done.returncode != EXIT_GOOD
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ({"goal": ["p99"]}, "--goal 'p99' is no goal: write it as 'p99 < 50ms'"),
        ({"goal": ["p98 < 1s"]}, "--goal 'p98 < 1s': there is no figure p98: use one of p50"),
        ({"goal": ["p99 < soon"]}, "--goal 'p99 < soon': p99 soon: not a "),
        ({"goal": ["list.p99 < 1s"]}, "--goal 'list.p99 < 1s': there is no route or flow list"),
        ({"goal": ["throughput > 10"]}, "throughput > 10/s: not a goal that a lower rate keeps"),
        ({"goal": ["p99 > 1s"]}, "p99 > 1000ms: not a goal that a lower rate keeps"),
        ({"tolerance": "0"}, "--tolerance 0 is never reached"),
        ({"within": "2s"}, "--within 2s is shorter than one level: give 8 s or more"),
        ({"searches": "0"}, "--searches 0: "),
        ({"duration": "0"}, "--duration 0: "),
        ({"cpus": "4096"}, "--cpus 4096: there is no CPU 4096 for us: use some of "),
        ({"sources": "nowhere"}, "--sources nowhere: "),
    ],
)
def test_what_makes_no_sense_is_one_line(
    reference_url: str, typed: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageProblem) as problem:
        limit.limit(reference_url, **typed)
    assert problem.value.line().startswith(says)


def test_steps_of_conversations_are_known_by_name(tmp_path: Path) -> None:
    file = tmp_path / "chat.toml"
    step = "{name = 'say', send = 'hi', reply = {text = 'hi'}}"
    file.write_text(f"[[flow]]\nurl = 'ws://127.0.0.1:1/chat'\nstep = [{step}]\n", "utf-8")
    with pytest.raises(UsageProblem) as problem:
        limit.limit(str(file), goal=["sai.p99 < 1s"])
    told = "--goal 'sai.p99 < 1s': there is no route or flow sai: use one of "
    assert problem.value.line() == told + "open /chat, say, close, chat"


def test_users_are_as_many_as_sessions_take_once_some_were_seen(
    wiretrial: Run, reference_url: str, tmp_path: Path
) -> None:
    entry = f"GET {reference_url}\nHTTP 200\n\n"
    (tmp_path / "three.hurl").write_text(3 * entry, encoding="utf-8")
    flags = ("--goal", "p50 < 9s", "--from", "100", "--to", "100", *QUICK[:-2], *GENERATOR)
    done = wiretrial("limit", "three.hurl", *flags, "--format", "json")
    first, *further = Limit.model_validate_json(done.stdout).levels
    # A second for each reply, and half as many again.
    assert first.connections == 450
    if first.is_kept:
        assert all(one.connections < 450 for one in further)


@pytest.mark.parametrize(
    ("typed", "kept", "code"),
    [
        (("250", "250"), 250.0, EXIT_GOOD),
        (("250", "250"), 227.0, EXIT_GATE),
        (("200", "250"), 227.0, EXIT_GOOD),
        ((None, "250"), 227.0, EXIT_GOOD),
    ],
)
def test_the_only_rate_that_is_asked_for_is_kept_or_not(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: tuple[str | None, str],
    kept: float,
    code: int,
) -> None:
    searches = (Found(search=1, kept=kept, refused=None, is_confirmed=True),)
    whole: Any = SimpleNamespace(signal=None, failure=None)
    seen = Searched(synthetic.limit(rate=kept, searches=searches), whole)
    monkeypatch.setattr(limiting, "searched", lambda *_, **__: seen)
    first, ceiling = typed
    assert limit.limit("http://127.0.0.1:1/", first=first, ceiling=ceiling) == code
    says = "not kept: 250 requests/s, the only rate that was asked for\n"
    assert capsys.readouterr().err == (says if code == EXIT_GATE else "")
