"""The tutorials, as their readers go through them: each command in turn, in one shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs import tutorial
from tests.docs.tutorial import Command, Done

SERVER, APPLICATION = Path("docs/start.md"), Path("docs/your-application.md")
INSTALL = Path("docs/install.md")


CALLS = Path("docs/grpc.md")

# What may come of a command on a machine that is slow or busy: a time is no test's pass or fail.
GOOD = {
    "load": {0, 3, 4},
    "compare": {0, 4},
    "limit": {0, 1, 3, 4},
    "advise": {0, 1, 3, 4},
    "gate": {0, 3, 4},
}
UNANSWERED = {("limit", 1), ("advise", 1)}


def require_good(done: list[Done]) -> None:
    for one in done:
        assert one.code in GOOD.get(one.program(), {0}), (
            f"{one.command.line}: {one.code}\n{one.said}"
        )


@pytest.mark.timeout(600)
def test_each_command_of_the_server_s_tutorial_runs(tmp_path: Path) -> None:
    require_good(tutorial.followed(SERVER, tmp_path))
    here = tmp_path / "here"
    assert (here / "load.html").exists()
    assert list(here.glob("results/compare-*/report.html"))


@pytest.mark.timeout(600)
def test_each_command_that_tries_an_installation_runs(tmp_path: Path) -> None:
    require_good(tutorial.followed(INSTALL, tmp_path))


@pytest.mark.timeout(600)
def test_each_command_of_the_application_s_tutorial_says_what_the_page_shows(
    tmp_path: Path,
) -> None:
    done = tutorial.followed(APPLICATION, tmp_path)
    require_good(done)
    # On a busy machine a search that ends after seconds may find no capacity, and says only that.
    answered = [one for one in done if (one.program(), one.code) not in UNANSWERED]
    assert len(answered) > len(done) / 2
    for one in answered:
        assert one.missing() is None, f"{one.command.line}: {one.missing()}\n{one.said}"


def test_each_command_of_the_page_about_grpc_runs(tmp_path: Path) -> None:
    require_good(tutorial.followed(CALLS, tmp_path))


@pytest.mark.parametrize(
    ("page", "ways"),
    [
        (SERVER, {"machine", "load", "compare", "report", "gate"}),
        (APPLICATION, {"traffic", "load", "limit", "advise", "compare", "gate", "subject"}),
        (CALLS, {"load"}),
    ],
)
def test_a_tutorial_shows_each_way(page: Path, ways: set[str]) -> None:
    lines = map(str.split, tutorial.commands(page))
    assert {words[1] for words in lines if words[0] == "wiretrial"} == ways


@pytest.mark.parametrize(
    ("shown", "said", "missing"),
    [
        ("1,352 requests/s in 20.8 ms", "7 requests/s  in\n9 us", None),
        ("failed: ... (50 %)", "failed: all of them (3.5 %)", None),
        ("goal kept: errors", "goal missed: errors", "goal kept: errors"),
        ("one ... two", "two one", "two"),
        ("status 200", "status ok", "status #"),
        ("http2 sh4", "http3 sh4", "http2 sh4"),
    ],
)
def test_what_a_page_shows_is_compared_word_by_word(
    shown: str, said: str, missing: str | None
) -> None:
    assert Done(Command("wiretrial x", shown), 0, said).missing() == missing
