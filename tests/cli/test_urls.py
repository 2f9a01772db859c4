"""URLs as people misspell them, and the URL that the error tells them to write."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Run
from wiretrial.cli import urls, workload
from wiretrial.errors import UsageProblem

TABLE = [
    ("http//127.0.0.1:8080/", "http://127.0.0.1:8080/"),
    ("http:/127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
    ("http:127.0.0.1:8080", "http://127.0.0.1:8080"),
    ("http;//127.0.0.1/", "http://127.0.0.1/"),
    ("http:://127.0.0.1/", "http://127.0.0.1/"),
    ("HTTP:/127.0.0.1/", "http://127.0.0.1/"),
    ("https//example.org", "https://example.org"),
    ("ws:127.0.0.1:9001", "ws://127.0.0.1:9001"),
    ("wss:/example.org/chat", "wss://example.org/chat"),
    ("styx+json//127.0.0.1:4123", "styx+json://127.0.0.1:4123"),
    ("127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
    ("localhost:8080", "http://localhost:8080"),
    ("example.org", "http://example.org"),
    ("[::1]:8080", "http://[::1]:8080"),
    ("//127.0.0.1/", "http://127.0.0.1/"),
    (":8080/x", "http://127.0.0.1:8080/x"),
    ("8080", "http://127.0.0.1:8080"),
    ("tcp:7000", "tcp://127.0.0.1:7000"),
    ("http:", "http://HOST:PORT/PATH"),
]


@pytest.mark.parametrize(("typed", "meant"), TABLE, ids=lambda text: str(text))
def test_the_url_that_was_meant(typed: str, meant: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        urls.parse(typed, workload.LOADED)
    assert refused.value.remedy == f"write {meant}"
    if "HOST" not in meant:
        assert urls.parse(meant, workload.LOADED).url == meant


@pytest.mark.parametrize("text", ["ws", "ws:tuned", "./mine", "./mine:tuned", "uwebsockets-0.14"])
def test_a_subject_is_no_url(text: str) -> None:
    assert not urls.is_meant(text, workload.SCHEMES)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("localhost:8080", "http://localhost:8080"),
        ("http:/127.0.0.1:8080/", "http://127.0.0.1:8080/"),
        ("http//127.0.0.1/", "http://127.0.0.1/"),
        ("ws:127.0.0.1:9001", "ws://127.0.0.1:9001"),
    ],
)
def test_compare_takes_none_for_a_subject(wiretrial: Run, typed: str, meant: str) -> None:
    done = wiretrial("compare", typed, "http://127.0.0.1:1/")
    assert done.stderr == f"wiretrial: {typed!r} is not a URL: write {meant}\n"
    assert done.returncode == 2
