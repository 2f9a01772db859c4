"""Another system than Linux: one line, whatever was typed, and nothing is tried."""

from __future__ import annotations

import os

import pytest

from wiretrial.cli import app
from wiretrial.errors import EXIT_FAILED


def test_another_system_than_linux_is_told_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mac = os.uname_result(("Darwin", "mac", "24.1.0", "Darwin Kernel Version 24.1.0", "arm64"))
    monkeypatch.setattr(os, "uname", lambda: mac)
    monkeypatch.setattr(app, "run", lambda: pytest.fail("a command was run"))
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == EXIT_FAILED
    assert capsys.readouterr().err == (
        "wiretrial: this is Darwin, and wiretrial needs Linux: run it in a virtual machine or a"
        " container with Linux (docs/install.md)\n"
    )
