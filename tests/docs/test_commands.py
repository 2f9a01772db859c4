"""Every command line of `wiretrial` that a page shows can be typed: its own parser takes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.exceptions import TyperException

from tests.docs.fences import commands
from wiretrial.cli import screen
from wiretrial.cli.app import app

Parse = Callable[[list[str]], None]
SHOWN = list(commands())


@pytest.fixture
def parse(monkeypatch: pytest.MonkeyPatch) -> Parse:
    """Has the command line read words as it does when they are typed; what they ask is not done."""
    monkeypatch.setattr(screen.Command, "invoke", lambda _command, _context: 0)
    return lambda words: app(words, prog_name="wiretrial", standalone_mode=False)


@pytest.mark.parametrize(
    ("page", "words"), SHOWN, ids=[f"{page}: {' '.join(words)}" for page, words in SHOWN]
)
def test_shown_command_parses(parse: Parse, page: Path, words: list[str]) -> None:
    try:
        parse(words)
    except TyperException as error:
        pytest.fail(f"{page}: wiretrial {' '.join(words)}: {error.format_message()}")


def test_pages_show_commands() -> None:
    assert len(SHOWN) > 80
    assert {page.parts[0] for page, _ in SHOWN} == {"README.md", "docs", "studies", "subjects"}


@pytest.mark.parametrize(
    "words",
    [["lod", "URL"], ["load", "URL", "--conections", "9"], ["load"], ["load", "URL", "-d"]],
)
def test_what_cannot_be_typed_is_found(parse: Parse, words: list[str]) -> None:
    with pytest.raises(TyperException):
        parse(words)
