"""Browsers: which are found, how each is started, and whom it trusts."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from wiretrial.browser import programs
from wiretrial.browser.programs import Browser, Program, command_line
from wiretrial.errors import UsageProblem
from wiretrial.subjects import certificates

CHROMIUM = Program("chromium", "chromium", "1")
FIREFOX = Program("firefox", "firefox-esr", "1")
URL = "http://127.0.0.1:1/"


def test_a_browser_that_is_not_here_is_told_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    for name, package in programs.PACKAGES.items():
        with pytest.raises(UsageProblem) as refused:
            programs.find(name)
        assert refused.value.line().endswith(f"install Debian's {package}")


def test_chromium_trusts_the_key_of_the_run_and_nothing_else(tmp_path: Path) -> None:
    certificate = certificates.make(tmp_path, "127.0.0.1")
    other = tmp_path / "other"
    other.mkdir()
    lines = [
        command_line(CHROMIUM, tmp_path, URL, one)
        for one in (certificate, certificates.make(other, "127.0.0.1"))
    ]
    flag = "--ignore-certificate-errors-spki-list="
    keys = [word.removeprefix(flag) for line in lines for word in line if word.startswith(flag)]
    assert len(set(keys)) == 2
    # Without its list the flag would accept every certificate.
    assert all(len(key) == 44 for key in keys)
    assert not any(
        "ignore-certificate-errors" in w for w in command_line(CHROMIUM, tmp_path, URL, None)
    )
    assert lines[0][-1] == URL
    assert f"--user-data-dir={tmp_path}" in lines[0]


def test_firefox_gets_a_profile_that_asks_nobody_else(tmp_path: Path) -> None:
    line = command_line(FIREFOX, tmp_path, URL, None)
    assert line == ["firefox-esr", "--headless", "--no-remote", "--profile", str(tmp_path), URL]
    preferences = (tmp_path / "user.js").read_text(encoding="utf-8")
    assert 'user_pref("network.proxy.type", 0);' in preferences
    assert 'user_pref("app.update.enabled", false);' in preferences


def ended(browser: Browser) -> str:
    """How it ended, as soon as it has."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if how := browser.ended():
            return how
        time.sleep(0.02)
    raise AssertionError("it runs and runs")


def test_a_browser_that_ends_says_how() -> None:
    with Browser(Program("firefox", "false", "1"), URL) as browser:
        how = ended(browser)
        assert how.startswith("exited 1")
        folder = browser.folder
    assert not folder.exists()


def test_a_browser_that_can_not_be_started_is_no_browser_that_runs() -> None:
    with Browser(Program("firefox", "there-is-no-such-browser", "1"), URL) as browser:
        assert "there-is-no-such-browser" in ended(browser)
