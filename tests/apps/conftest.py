"""The applications of `examples`, each installed once and started anew for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest

from tests import postgres
from tests.apps import installed
from tests.apps.running import Application, Start, running

Temporary = pytest.TempPathFactory


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    """The address of a PostgreSQL of our own."""
    with postgres.started() as address:
        yield address


@pytest.fixture(scope="session")
def shop(database: str, tmp_path_factory: Temporary) -> Start:
    """FastAPI in front of PostgreSQL."""
    folder = installed.python_application("shop")
    uvicorn = [str(folder / ".venv" / "bin" / "python"), "-m", "uvicorn", "shop.app:app"]

    def start(fault: str = "") -> AbstractContextManager[Application]:
        return running(
            "shop",
            [*uvicorn, "--app-dir", str(folder), "--port", "0", "--no-access-log"],
            r"running on (http://[\d.:]+)",
            tmp_path_factory.mktemp("shop"),
            FAULT=fault,
            DATABASE_URL=database,
        )

    return start


@pytest.fixture(scope="session")
def notes(tmp_path_factory: Temporary) -> Start:
    """Express with forms and cookie sessions."""
    return of_node("notes", r"notes: (http://[\d.:]+)", tmp_path_factory)


@pytest.fixture(scope="session")
def catalogue(tmp_path_factory: Temporary) -> Start:
    """A Go service with an OpenAPI description."""
    program = installed.go_application("catalogue")

    def start(fault: str = "") -> AbstractContextManager[Application]:
        return running(
            "catalogue",
            [str(program)],
            r"catalogue: (http://[\d.:]+)",
            tmp_path_factory.mktemp("catalogue"),
            FAULT=fault,
            ADDRESS="127.0.0.1:0",
        )

    return start


@pytest.fixture(scope="session")
def chat(tmp_path_factory: Temporary) -> Start:
    """Rooms over WebSocket."""
    return of_node("chat", r"chat: (ws://[\d.:]+)", tmp_path_factory)


@pytest.fixture(scope="session")
def room(tmp_path_factory: Temporary) -> Start:
    """Drawing boards over Socket.IO."""
    return of_node("room", r"room: (socketio\+ws://[\d.:]+)", tmp_path_factory)


def of_node(name: str, address: str, temporary: Temporary) -> Start:
    """An application of `server.js`; `address`: the pattern of what it says when it is up."""
    folder = installed.node_application(name)

    def start(fault: str = "") -> AbstractContextManager[Application]:
        command = ["node", str(folder / "server.js")]
        return running(name, command, address, temporary.mktemp(name), FAULT=fault, PORT="0")

    return start
