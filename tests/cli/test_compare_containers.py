"""`compare` of containers: images that are made on the spot, and what is told where there are none.

An image needs no registry: it holds this machine's Python and what it is linked with. Where podman
can't run a container, as in a machine without the rights for it, those tests are skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli import checkouts
from tests.cli.checkouts import QUICK, SLOW_MS, write
from tests.cli.conftest import Run
from tests.cli.test_runs import MEASURED, results_of
from wiretrial.errors import EXIT_FAILED, EXIT_GATE, EXIT_USAGE

pytestmark = pytest.mark.alone

LINKED = re.compile(r"(/\S+\.so[.\d]*)")
NAMES = ("localhost/wiretrial-test:quick", "localhost/wiretrial-test:slow")
PORT = 18_431
LIMIT_S = 120.0
TRIED = ("/usr/bin/python3", "-c", "0")
NARROW = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n'
"""Where this machine may not raise limits, as a container inside of another."""
OTHER_RUNTIME = '[engine]\nruntime = "runc"\n'
"""Where the usual one, crun, refuses the machine's control groups."""


def podman(*words: str) -> subprocess.CompletedProcess[str]:
    """What podman says."""
    return subprocess.run(
        ["podman", *words], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def rootfs(into: Path) -> Path:
    """An archive of this machine's Python, its libraries, and the server at two speeds."""
    python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    standard = Path(os.__file__).parent
    linked = set(LINKED.findall(subprocess.check_output(["ldd", str(python)], text=True)))
    for module in (standard / "lib-dynload").glob("*.so"):
        linked |= set(LINKED.findall(subprocess.check_output(["ldd", str(module)], text=True)))
    servers = {
        "quick": write(into / "quick") / "server.py",
        "slow": write(into / "slow", busy_ms=SLOW_MS) / "server.py",
    }
    archive = into / "rootfs.tar"
    unwanted = {"test", "__pycache__", "site-packages", "dist-packages", "idlelib", "ensurepip"}
    with tarfile.open(archive, "w", dereference=True) as tar:
        tar.add(python, "usr/bin/python3")
        tar.add(
            standard,
            str(standard).lstrip("/"),
            filter=lambda member: None if Path(member.name).name in unwanted else member,
        )
        for library in sorted(linked):
            tar.add(library, library.lstrip("/"))
        for name, server in servers.items():
            tar.add(server, f"{name}.py")
    return archive


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ...]]:
    """The server's images, quick and slow."""
    if not shutil.which("podman"):
        pytest.skip("there is no podman")
    archive = rootfs(tmp_path_factory.mktemp("rootfs"))
    for name in NAMES:
        program = f"/{name.rpartition(':')[2]}.py"
        changes = (
            *("--change", f'CMD ["/usr/bin/python3", "{program}", "{PORT}"]'),
            *("--change", f"EXPOSE {PORT}"),
            *("--change", f"ENV PYTHONHOME={sys.base_prefix}"),
        )
        made = podman("import", *changes, str(archive), name)
        if made.returncode:
            pytest.skip(f"podman can't make an image here: {made.stderr.strip()[-200:]}")
    archive.unlink()
    with pytest.MonkeyPatch.context() as patch:
        for words in (None, NARROW, NARROW + OTHER_RUNTIME):
            if words:
                narrow = tmp_path_factory.mktemp("podman") / "containers.conf"
                narrow.write_text(words, encoding="utf-8")
                patch.setenv("CONTAINERS_CONF", str(narrow))
            tried = podman("run", "--rm", "--network", "host", NAMES[0], *TRIED)
            if not tried.returncode:
                break
        else:
            podman("rmi", "--force", *NAMES)
            pytest.skip(f"podman can't run a container here: {tried.stderr.strip()[-200:]}")
        yield NAMES
        podman("rmi", "--force", *NAMES)


def require_compose() -> None:
    """Skips without a podman-compose that can put a service on the host's network alone.

    The one of Debian 12 (1.0) gives each container the network of its project, too.
    """
    if not shutil.which("podman-compose"):
        pytest.skip("there is no podman-compose")
    said = subprocess.run(
        ["podman-compose", "version"], capture_output=True, text=True, timeout=LIMIT_S, check=False
    ).stdout
    found = re.search(r"podman-compose version:? (\d+)\.(\d+)", said)
    if not found or tuple(map(int, found.groups())) < (1, 1):
        pytest.skip("podman-compose is older than 1.1")


def containers() -> list[str]:
    """The names of ours that are there, whether they run or not."""
    listed = podman("ps", "--all", "--format", "{{.Names}}").stdout.split()
    return [name for name in listed if name.startswith("wiretrial-")]


@pytest.mark.timeout(300)
def test_the_slower_of_two_images_is_named_and_its_process_watched(
    wiretrial: Run, tmp_path: Path, images: tuple[str, ...]
) -> None:
    sides = [f"image:{name}@{PORT}" for name in images]
    done = wiretrial("compare", *sides, *QUICK, "--margin", "20%")
    assert done.returncode == EXIT_GATE, done.stdout + done.stderr
    assert re.search(rf"^broken +{re.escape(sides[1])} ", done.stdout, re.MULTILINE)
    for trial in results_of(tmp_path).trials():
        first, last = trial.subject_samples[0], trial.subject_samples[-1]
        # The command that started the container does nothing meanwhile.
        assert last.cpu_user_ns - first.cpu_user_ns > 20_000_000
        assert trial.subject is not None
        assert re.fullmatch(r"[0-9a-f]{12}", trial.subject.version)
    assert containers() == []


@pytest.mark.timeout(300)
def test_an_image_may_say_its_port_itself(
    wiretrial: Run, tmp_path: Path, images: tuple[str, ...]
) -> None:
    done = wiretrial("compare", f"image:{images[0]}", *QUICK, "--trials", "1")
    assert done.returncode in MEASURED, done.stderr
    (trial,) = results_of(tmp_path).trials()
    assert f":{PORT}/" in trial.plan.target.url
    assert containers() == []


@pytest.mark.timeout(300)
def test_a_service_of_a_real_compose_file_is_started_watched_and_taken_down(
    wiretrial: Run, tmp_path: Path, images: tuple[str, ...]
) -> None:
    require_compose()
    python = {"entrypoint": "/usr/bin/python3", "command": ["-c", "pass"]}
    services = {
        "web": {"image": images[1], "network_mode": "host"},
        "beside": {"image": images[0], "network_mode": "host", **python},
    }
    # YAML reads JSON, too.
    (tmp_path / "compose.yml").write_text(json.dumps({"services": services}), encoding="utf-8")
    done = wiretrial("compare", f"compose:compose.yml#web:{PORT}", *QUICK, "--trials", "1")
    assert done.returncode in MEASURED, done.stderr
    (trial,) = results_of(tmp_path).trials()
    first, last = trial.subject_samples[0], trial.subject_samples[-1]
    assert last.cpu_user_ns - first.cpu_user_ns > 20_000_000
    assert containers() == []


def test_an_image_that_is_not_here_is_told(wiretrial: Run, images: tuple[str, ...]) -> None:
    done = wiretrial("compare", "image:localhost/no-such:1@80", images[0])
    assert done.returncode == EXIT_FAILED
    assert done.stderr == (
        "wiretrial: image:localhost/no-such:1@80: podman has no image localhost/no-such:1 here: get"
        " it first: podman pull localhost/no-such:1, or podman build -t localhost/no-such:1 .\n"
    )


@pytest.mark.parametrize("side", ["image:shop:1@80", "compose:compose.yml#web:80"])
def test_without_podman_and_docker_the_remedy_is_told(
    wiretrial: Run, tmp_path: Path, side: str
) -> None:
    (tmp_path / "compose.yml").write_text("services: {}\n", encoding="utf-8")
    done = wiretrial("compare", side, PATH=str(tmp_path))
    assert done.returncode == EXIT_FAILED
    assert done.stderr == (
        f"wiretrial: {side} needs podman or docker, and neither is installed: install podman\n"
    )


def test_an_image_of_several_ports_needs_one_named(wiretrial: Run, tmp_path: Path) -> None:
    fake(
        tmp_path / "bin",
        '[{"Id": "abc", "Config": {"ExposedPorts": {"80/tcp": {}, "81/tcp": {}}}}]',
    )
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = wiretrial("compare", "image:shop:1", PATH=path)
    assert done.returncode == EXIT_USAGE
    assert done.stderr == (
        "wiretrial: image:shop:1: the image exposes 80 and 81: write image:shop:1@PORT\n"
    )


def fake(folder: Path, said: str) -> None:
    """A podman that answers each question with the same words."""
    folder.mkdir()
    program = folder / "podman"
    program.write_text(f"#!/bin/sh\necho '{said}'\n", encoding="utf-8")
    program.chmod(0o755)


COMPOSE = """#!/bin/sh
# A compose tool that starts the server of its file as a process: podman-compose -f FILE -p NAME ...
file=$2 name=$4
case $5 in
up) python3 "$(cat "$file")" PORT & echo $! >"$file.pid"; wait ;;
down) kill "$(cat "$file.pid")" 2>/dev/null; rm -f "$file.pid"; echo "$name" >>"$file.down" ;;
esac
"""
ENGINE = """#!/bin/sh
case $1 in
ps) echo id ;;
inspect) cat FOLDER/*.yml.pid 2>/dev/null ;;
esac
"""


def test_a_compose_file_is_started_watched_and_taken_down(wiretrial: Run, tmp_path: Path) -> None:
    server = write(tmp_path / "app", busy_ms=2) / "server.py"
    file = tmp_path / "compose.yml"
    file.write_text(str(server), encoding="utf-8")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in (("podman-compose", COMPOSE), ("podman", ENGINE)):
        text = text.replace("PORT", str(PORT)).replace("FOLDER", str(tmp_path))
        (tools / name).write_text(text, encoding="utf-8")
        (tools / name).chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    side = f"compose:compose.yml#web:{PORT}"
    done = wiretrial("compare", side, *QUICK, "--trials", "2", PATH=path)
    assert done.returncode in MEASURED, done.stderr
    for trial in results_of(tmp_path).trials():
        first, last = trial.subject_samples[0], trial.subject_samples[-1]
        assert last.cpu_user_ns - first.cpu_user_ns > 20_000_000
    # Once for the start before the first trial, and twice while its replies are learned.
    downs = Path(f"{file}.down").read_text(encoding="utf-8").split()
    assert len(downs) == len(set(downs)) == 5
    assert checkouts.running(tmp_path) == []
