"""`docs/versions.md`: each comparison that it shows is made, in a repository like its reader's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli import checkouts
from tests.cli.checkouts import QUICK
from tests.cli.conftest import Run, wiretrial
from tests.docs.fences import commands
from wiretrial.errors import EXIT_GATE, EXIT_GOOD, EXIT_INVALID
from wiretrial.subjects import containers

__all__ = ["wiretrial"]

PAGE = Path("docs/versions.md")
SERVER = """#!/usr/bin/env python3
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *arguments):
        pass


port = sys.argv[sys.argv.index("--port") + 1]
ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
"""
SHOWN = [
    words
    for page, words in commands()
    if page == PAGE and words[0] == "compare" and not any(map(containers.is_meant, words))
]


def server(folder: Path) -> None:
    """What `make` makes is there already; its description is the page's."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "server").write_text(SERVER, encoding="utf-8")
    (folder / "server").chmod(0o755)
    (folder / "Makefile").write_text("all:\n", encoding="utf-8")
    text = "build = 'make'\ncommand = './server --port {port}'\npath = '/items'\n"
    (folder / "wiretrial.toml").write_text(text, encoding="utf-8")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("words", SHOWN, ids=" ".join)
def test_each_comparison_of_the_page_is_made(
    wiretrial: Run, tmp_path: Path, words: list[str]
) -> None:
    if not shutil.which("make"):
        pytest.skip("there is no make")
    for place in (".", "a", "b", "services/api"):
        server(tmp_path / place)
    (tmp_path / ".gitignore").write_text("results\ncache\n*.xml\n*.md\n", encoding="utf-8")
    for number in range(11):
        (tmp_path / "number").write_text(str(number), encoding="utf-8")
        checkouts.commit(tmp_path, f"v1.{number}")
    checkouts.git(tmp_path, "checkout", "-q", "-b", "change")
    (tmp_path / "number").write_text("the change", encoding="utf-8")
    checkouts.commit(tmp_path, "change")
    cache = {"WIRETRIAL_CACHE": str(tmp_path / "cache")}
    done = wiretrial(*words, *QUICK, "--trials", "1", **cache)
    assert done.returncode in (EXIT_GOOD, EXIT_GATE, EXIT_INVALID), done.stderr
    assert "report: " in done.stdout
    assert checkouts.worktrees(tmp_path) == 1


def test_the_page_shows_each_way() -> None:
    said = {word for words in SHOWN for word in words if word.startswith("--")}
    assert {"--at", "--build", "--command", "--path", "--margin", "--junit", "--markdown"} <= said
