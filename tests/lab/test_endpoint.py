"""How a check connects to where a server speaks."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from wiretrial.subjects import contracts
from wiretrial.subjects.endpoint import Endpoint


def itself(_address: object, **_options: Any) -> socket.socket:
    """A connection whose both ends are one socket, as to a free port among those of clients."""
    met = socket.socket()
    met.bind(("127.0.0.1", 0))
    met.settimeout(1.0)
    met.connect(met.getsockname())
    return met


def test_a_connection_that_met_itself_is_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", itself)
    nobody = Endpoint(protocol="tcp", host="127.0.0.1", port=40_000, deadline_s=1.0)
    echo = contracts.checks("raw-echo", "tcp")[0]
    # What it says comes back: the echo would be right.
    assert contracts.problem(echo, nobody) == (
        "ConnectionRefusedError: nobody listens on port 40000: it met itself"
    )


def test_a_port_at_which_a_connection_met_itself_has_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "create_connection", itself)
    nobody = Endpoint(protocol="tcp", host="127.0.0.1", port=40_000, deadline_s=1.0)
    with pytest.raises(ConnectionRefusedError):
        nobody.knock("127.0.0.1")
