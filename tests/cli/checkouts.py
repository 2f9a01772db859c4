"""Checkouts of a small server of a user's own, some slower than others, in repositories or not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import psutil

SERVER = """
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        # Of this thread's CPU, so that it costs the same on a busy machine.
        end = time.thread_time() + BUSY_MS / 1000
        while time.thread_time() < end:
            pass
        self.send_response(200 if self.path == "/" else 404)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128


port = sys.argv[1] if sys.argv[1:] else os.environ["PORT"]
Server(("127.0.0.1", int(port)), Handler).serve_forever()
"""
SLOW_MS = 2
COMMAND = "python3 server.py {port}"
QUICK = (
    *("-c", "2", "--trials", "4", "-d", "400ms", "--warmup", "100ms", "--seed", "1"),
    *("--server-threads", "1"),
)
"""A comparison that takes seconds."""


def write(folder: Path, *, busy_ms: float = 0, extra: str = "", command: str = COMMAND) -> Path:
    """The server with its `wiretrial.toml`; `extra` are further lines of that."""
    folder.mkdir(parents=True, exist_ok=True)
    source = SERVER.replace("BUSY_MS", str(busy_ms))
    (folder / "server.py").write_text(source, encoding="utf-8")
    text = f"command = '{command}'\n{extra}"
    (folder / "wiretrial.toml").write_text(text, encoding="utf-8")
    return folder


def git(folder: Path, *words: str) -> str:
    """What git says there."""
    return subprocess.run(
        ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def commit(folder: Path, tag: str) -> str:
    """Everything in the folder, committed and tagged; the commit's id."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", tag)
    git(folder, "tag", tag)
    return git(folder, "rev-parse", "HEAD")


def worktrees(folder: Path) -> int:
    """How many the repository knows; its own is one."""
    return len(git(folder, "worktree", "list").splitlines())


def running(below: Path) -> list[str]:
    """The command lines of processes that name a path in this folder, or run there."""
    found = []
    for process in psutil.process_iter():
        try:
            line, place = " ".join(process.cmdline()), process.cwd()
        except psutil.Error:
            continue
        if process.pid != os.getpid() and (str(below) in line or Path(place).is_relative_to(below)):
            found.append(line)
    return found
