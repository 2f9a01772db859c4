"""A rate that cannot be reached is told, with the reason and an exit code."""

from __future__ import annotations

import json
import subprocess

from tests.cli.conftest import Run, address_in
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_INVALID


def test_a_rate_beyond_what_connections_carry_is_overload(wiretrial: Run) -> None:
    """Two messages in flight that take 50 ms each are 40 a second on any machine."""
    with subprocess.Popen(
        [str(Engine.find().binary), "respond", "--http", "127.0.0.1:0", "--delay", "50ms"],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        url = f"http://{address_in(server.stdout.readline())}/"
        flags = ("-c", "2", "--rate", "1k", "-d", "1s")
        told = wiretrial("load", url, *flags)
        json_told = wiretrial("load", url, *flags, "--format", "json")
        server.terminate()
    text = " ".join(told.stdout.split())
    assert "requests/s sent" in text
    assert "more threads" not in text or "client-bound" in text
    found = json.loads(json_told.stdout)
    # A machine that keeps the generator from running is the generator's limit.
    assert found["verdict"] in ("overloaded", "client-bound", "invalid")
    if found["verdict"] == "overloaded":
        assert json_told.returncode == EXIT_INVALID
        assert found["throughput"] <= 60
    if "verdict overloaded" in text:
        assert told.returncode == EXIT_INVALID
        assert "the offered rate was not reached" in text
        assert "Little's law" in text
