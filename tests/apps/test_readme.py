"""README's first example of somebody's own application: its three commands, as they stand there."""

from __future__ import annotations

from pathlib import Path

from tests.apps.installed import EXAMPLES
from tests.apps.running import Start
from tests.docs.fences import commands
from wiretrial.errors import EXIT_GOOD

RECORDED_AT = "http://127.0.0.1:8001"


def test_a_recording_is_imported_checked_and_loaded(notes: Start) -> None:
    shown = [words for page, words in commands() if page == Path("README.md")]
    lines = [
        words for words in shown if any(word.startswith(("recording", "shop")) for word in words)
    ]
    assert [words[0] for words in lines] == ["traffic", "traffic", "load"]
    recording = (EXAMPLES / "notes" / "recording.har").read_text(encoding="utf-8")
    assert RECORDED_AT in recording
    with notes("") as application:
        here = recording.replace(RECORDED_AT, application.base)
        (application.folder / "recording.har").write_text(here, encoding="utf-8")
        for words in lines:
            done = application.wiretrial(*("1s" if word == "30s" else word for word in words))
            assert done.returncode == EXIT_GOOD, done.stderr
    # Where a line ends is up to the length of the figures.
    assert "no request failed" in " ".join(done.stdout.split())
