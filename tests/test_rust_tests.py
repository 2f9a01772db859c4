"""The tool that runs the Rust tests: what it makes of cargo's words, and how a failure is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools import rust_tests


def artifact(name: str, kind: str, folder: Path, **changes: Any) -> str:
    """What cargo says of one that it built."""
    return json.dumps(
        {
            "reason": "compiler-artifact",
            "manifest_path": str(folder / "Cargo.toml"),
            "target": {"name": name, "kind": [kind]},
            "profile": {"test": True},
            "executable": f"/bin/{name}",
            **changes,
        }
    )


def test_sockets_are_tried_with_each_poller_and_the_longest_begin() -> None:
    crates = Path("/crates")
    said = [
        artifact("wiretrial_net", "lib", crates / "net"),
        artifact("tls", "test", crates / "net"),
        artifact("raw", "test", crates / "proto"),
        artifact("cli", "test", crates / "engine"),
        artifact("truth", "test", crates / "engine"),
        artifact("wiretrial_load", "lib", crates / "load"),
        artifact("wiretrial-engine", "bin", crates / "engine", profile={"test": False}),
        artifact("serde", "lib", crates / "serde", executable=None),
        json.dumps({"reason": "build-finished", "success": True}),
    ]
    found = rust_tests.ordered(rust_tests.jobs("\n".join(said)))
    assert [(job.crate, job.name, *job.changes.values()) for job in found] == [
        ("load", "wiretrial_load"),
        ("engine", "truth"),
        ("engine", "truth", "epoll"),
        ("net", "wiretrial_net"),
        ("net", "tls"),
        ("net", "tls", "epoll"),
        ("proto", "raw"),
        ("engine", "cli"),
        ("all", "examples of the documentation"),
    ]
    assert found[0].command == ("nice", "-n", "10", "/bin/wiretrial_load")


def test_each_is_run_in_its_folder_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERE", "kept")
    script = 'echo "$HERE $WIRETRIAL_TEST_POLLER"; pwd >&2; exit 3'
    job = rust_tests.Job("net", "tls", ("sh", "-c", script), tmp_path, {rust_tests.POLLER: "epoll"})
    (ended,) = rust_tests.side_by_side([job])
    assert (ended.code, ended.output) == (3, f"kept epoll\n{tmp_path}\n")
    assert job.words().startswith("WIRETRIAL_TEST_POLLER=epoll sh -c ")


def test_one_failure_fails_all_and_tells_how_it_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = rust_tests.Job("net", "tls", ("false",), tmp_path)
    right = rust_tests.Job("net", "raw", ("echo", "all is right"), tmp_path)
    monkeypatch.setattr(rust_tests, "CARGO", ("true",))
    monkeypatch.setattr(rust_tests, "jobs", lambda _: iter([wrong, right]))
    assert rust_tests.main([]) == 1
    told, refused = capfd.readouterr()
    assert "--- net: raw (" in told
    assert "all is right" in told
    assert refused == f"failed: cd {tmp_path} && false\n"
    assert rust_tests.main(["--build"]) == 0
    assert rust_tests.main(["--nonsense"]) == 2
