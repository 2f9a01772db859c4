"""A server of grpc-go, which tells of itself by the newest version of reflection."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.calls.conftest import HERE, Run, measured
from tests.interop.conftest import BUILD_LIMIT_S, printed, program
from wiretrial.calls import reflection
from wiretrial.calls.channel import Server
from wiretrial.calls.methods import Methods
from wiretrial.subjects import toolchains

SERVICE = "grpc.testing.TestService"
SIZES = '"responseParameters": [{"size": 10}, {"size": 100}, {"size": 1000}]'
VARIES = "1 of 2 fields varies: $.server_id 16 hex digits"


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Its port."""
    program("go", "Go")
    module = HERE / "peer"
    go = toolchains.go_program(toolchains.go_wanted(module), printed)
    binary = tmp_path_factory.mktemp("go") / "peer"
    command = [go, "build", "-trimpath", "-buildvcs=false", "-o", str(binary), "."]
    done = subprocess.run(
        command, cwd=module, capture_output=True, text=True, timeout=BUILD_LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    with subprocess.Popen([binary], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


def test_it_is_asked_what_it_offers(peer: int) -> None:
    told = Methods(reflection.told(Server("127.0.0.1", peer)))
    assert told.find(f"{SERVICE}/FullDuplexCall").kind == "bidi"


@pytest.mark.parametrize(
    ("method", "message", "replies"),
    [
        ("UnaryCall", '{"responseSize": 64}', 0),
        ("StreamingOutputCall", f"{{{SIZES}}}", 3),
        ("StreamingInputCall", '[{"payload": {"body": "AAAA"}}, {"payload": {"body": "AA=="}}]', 0),
        ("FullDuplexCall", f"[{{{SIZES}}}, {{{SIZES}}}]", 6),
    ],
)
def test_each_kind_of_call_is_verified(
    wiretrial: Run, peer: int, method: str, message: str, replies: int
) -> None:
    url = f"grpc://127.0.0.1:{peer}/{SERVICE}/{method}"
    found = measured(wiretrial, url, "--json", message, "-n", "2k", "--streams", "10")
    assert found["statuses"] == {"OK": 2000}
    if replies:
        assert found["messages"] == 2000 * replies
    varies = [one["told"] for one in found["learned_rules"]]
    assert varies == ([VARIES] if method == "UnaryCall" else [])


def test_who_sends_in_gzip_is_answered_in_it(wiretrial: Run, peer: int) -> None:
    url = f"grpc://127.0.0.1:{peer}/{SERVICE}/FullDuplexCall"
    sent = ("--json", f"[{{{SIZES}}}, {{{SIZES}}}]", "--gzip")
    found = measured(wiretrial, url, *sent, "-n", "2k", "--streams", "10")
    assert (found["deflate"], found["messages"]) == ("gzip", 2000 * 6)
    assert found["bytes"]["application_received"] < found["bytes"]["payload_received"] / 5


def test_a_status_of_its_own_is_told(wiretrial: Run, peer: int) -> None:
    url = f"grpc://127.0.0.1:{peer}/{SERVICE}/UnaryCall"
    sent = ("--json", '{"responseStatus": {"code": 9, "message": "not now"}}', "-n", "10")
    done = wiretrial("load", url, *sent)
    assert "status FAILED_PRECONDITION, not OK: not now" in done.stderr
