"""Congestion control in studies: how each server comes to the one that is asked for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.lab.test_isolation import needs_root
from tests.lab.test_matrix import expanded
from tests.lab.test_matrix_setup import OVER_3, SETUP, plain
from wiretrial.engine import Engine
from wiretrial.machine import congestion, facts
from wiretrial.machine.namespaces import Namespace
from wiretrial.plan import KERNEL_NAMES, Congestion
from wiretrial.studies import controls
from wiretrial.studies.spec import Case
from wiretrial.subjects import build, registry
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import Configuration
from wiretrial.warnings.controls import SETTING

MUTE = Configuration(description="has no word for it", command=("serve",))
TOLD = MUTE.model_copy(update={"congestion": ("--congestion", "{congestion}")})


def asked(tmp_path: Path, wanted: str, more: str = "") -> Case:
    """A case of a server in a namespace."""
    there = "" if "environment" in more else 'environment = "namespace"\n'
    (case,) = plain(expanded(tmp_path, f'{SETUP}{there}{more}congestion = "{wanted}"\n'))
    return case


def accepted_with(port: int) -> set[str]:
    """What the kernel has for the connections that were accepted at a port."""
    command = ("ss", "-tinHO", "state", "established", f"sport = :{port}")
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    words = {word for line in done.stdout.splitlines() for word in line.split()}
    return words & set(KERNEL_NAMES.values())


def test_a_server_that_cannot_be_told_is_refused_where_its_namespace_may_not_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "sysctl", lambda _name: "reno bbr")
    monkeypatch.setattr(congestion, "of_sockets", lambda _name: None)
    case = asked(tmp_path, "cubic")
    refused = controls.refusal(case, MUTE)
    assert refused is not None
    assert "\n" not in refused
    assert "is not measured: one can't be told to use cubic" in refused
    assert refused.endswith('(sysctl -w net.ipv4.tcp_allowed_congestion_control="reno bbr cubic")')
    assert controls.refusal(case, TOLD) is None
    assert controls.refusal(asked(tmp_path, "new-reno"), MUTE) is None
    # Over QUIC it is its library's, and over loopback the machine's.
    assert controls.refusal(asked(tmp_path, "cubic", OVER_3), MUTE) is None
    assert controls.refusal(asked(tmp_path, "cubic", 'environment = "loopback"\n'), MUTE) is None
    monkeypatch.setattr(facts, "sysctl", lambda _name: None)
    assert controls.refusal(case, MUTE) is None


def test_what_the_kernel_does_not_let_sockets_have_is_refused_for_all_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = congestion.of_sockets("of_no_kernel")
    assert why is not None
    assert "\n" not in why
    assert why.startswith("the kernel has no of_no_kernel for TCP (net.ipv4.tcp_available_congest")
    assert why.endswith("load it as root (modprobe tcp_of_no_kernel)")
    assert congestion.of_sockets("reno") is None
    monkeypatch.setattr(congestion, "of_sockets", lambda name: f"the kernel has no {name}: load it")
    refused = controls.refusal(asked(tmp_path, "bbr", 'environment = "loopback"\n'), TOLD)
    assert refused == "one is not measured: the kernel has no bbr: load it"
    assert controls.refusal(asked(tmp_path, "bbr", OVER_3), TOLD) is None


@pytest.mark.skipif(shutil.which("ss") is None, reason="ss (iproute2) is not installed")
@pytest.mark.parametrize("wanted", ["cubic", "new-reno", "bbr"])
def test_the_reference_server_has_the_one_that_it_is_told(
    engine: Engine, wanted: Congestion
) -> None:
    name = KERNEL_NAMES[wanted]
    if why := congestion.of_sockets(name):
        pytest.skip(why)
    subject = registry.find("reference")
    built = build.install(subject, engine.binary)
    with Server(subject, built, "default", engine=engine.binary, congestion=wanted) as server:
        server.wait_ready()
        assert server.command[-2:] == ("--congestion", wanted)
        endpoint = server.endpoint("tcp")
        with endpoint.connect() as line:
            line.sendall(b"x")
            assert line.recv(1) == b"x"
            assert accepted_with(endpoint.port) == {name}


def test_a_server_that_is_told_nothing_has_its_own_command(engine: Engine) -> None:
    subject = registry.find("reference")
    built = build.install(subject, engine.binary)
    with Server(subject, built, "default", engine=engine.binary) as server:
        assert server.congestion is None
        assert "--congestion" not in server.command


@needs_root
def test_a_namespace_has_it_for_servers_that_cannot_be_told(engine: Engine, tmp_path: Path) -> None:
    case = asked(tmp_path, "new-reno")
    subject = registry.find("nginx")
    built = build.install(subject, engine.binary)
    with (
        Namespace(settings=controls.settings("new-reno")) as isolation,
        Server(
            subject,
            built,
            "default",
            engine=engine.binary,
            isolation=isolation,
            congestion="new-reno",
        ) as server,
    ):
        asks = ("cat", f"/proc/sys/{SETTING.replace('.', '/')}")
        command = ("nsenter", f"--net={isolation.file}", *asks)
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
        assert done.stdout.strip() == "reno"
        assert server.congestion is None
        assert controls.of_server(server, case) == "new-reno"
        over_quic = asked(tmp_path, "new-reno", OVER_3)
        assert controls.of_server(server, over_quic) is None
