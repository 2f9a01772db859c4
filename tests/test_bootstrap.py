"""What the bootstrap installs on a machine that lacks things, with an apt that only writes down."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "tools" / "bootstrap.sh"
USUAL = ("bash", "chmod", "cut", "env", "head", "readlink", "sed", "sort")
RUST_WEB = "cargo-web rustc-web rust-web-clippy rustfmt-web"

APT_GET = """#!/bin/bash
echo "$*" >> {log}
[[ "$*" == *" install "*cargo* ]] && printf '#!/bin/sh\\necho cargo 1.96.0\\n' > {bin}/cargo
[[ "$*" == *" install "* ]] && for made in {bin}/cargo; do [[ -e $made ]] && chmod +x $made; done
exit 0
"""
APT_CACHE = """#!/bin/bash
case $2 in {cases} esac
"""


@dataclass(frozen=True)
class Machine:
    """A PATH of its own, and what was asked of apt."""

    bin: Path
    log: Path

    def add(self, name: str, text: str = "#!/bin/sh\n") -> None:
        (self.bin / name).write_text(text, encoding="utf-8")
        (self.bin / name).chmod(0o755)

    def offers(self, **candidates: str) -> None:
        """Which versions of which packages apt has."""
        cases = " ".join(
            f"{name.replace('_', '-')}) echo '  Candidate: {version}' ;;"
            for name, version in candidates.items()
        )
        self.add("apt-cache", APT_CACHE.format(cases=cases))
        self.add("apt-get", APT_GET.format(log=self.log, bin=self.bin))

    def bootstrap(self, *needs: str, **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bin / "bash"), str(SCRIPT), "python", *needs],
            env={"PATH": str(self.bin), "HOME": "/nowhere", **changes},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def installed(self) -> list[str]:
        """The packages of each installation."""
        if not self.log.exists():
            return []
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [
            line.partition("--no-install-recommends ")[2] for line in lines if "install" in line
        ]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path / "bin", tmp_path / "apt.log")
    made.bin.mkdir()
    for name in USUAL:
        source = next(p for p in (Path("/usr/bin") / name, Path("/bin") / name) if p.exists())
        (made.bin / name).symlink_to(source)
    made.add("python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    made.add("sudo", '#!/bin/sh\n[ "$1" = -n ] && shift\nexec "$@"\n')
    made.add("cc")
    return made


def test_nothing_is_asked_of_apt_where_nothing_is_missing(machine: Machine) -> None:
    machine.offers()
    machine.add("cargo", "#!/bin/sh\necho cargo 1.88.0\n")
    done = machine.bootstrap()
    assert (done.returncode, done.stderr) == (0, "")
    assert not machine.log.exists()


def test_rust_comes_from_the_package_that_is_new_enough(machine: Machine) -> None:
    machine.offers(cargo="0.66.0+ds1-1", cargo_web="1.96.0+dfsg1-1~deb12u2")
    done = machine.bootstrap()
    assert done.returncode == 0, done.stderr
    assert machine.installed() == [RUST_WEB]


def test_the_usual_package_is_taken_where_it_is_new_enough(machine: Machine) -> None:
    machine.offers(cargo="1.90.0", cargo_web="1.96.0")
    assert machine.bootstrap().returncode == 0
    assert machine.installed() == ["cargo rustc rust-clippy rustfmt"]


def test_without_a_package_that_would_do_the_remedy_is_named(machine: Machine) -> None:
    machine.offers(cargo="0.66.0+ds1-1", cargo_web="(none)")
    done = machine.bootstrap()
    assert done.returncode == 1
    assert done.stderr == (
        "bootstrap: no cargo: install Rust 1.88 or newer (rustup is the usual way)\n"
    )
    assert machine.installed() == []


def test_a_cargo_that_is_not_debians_is_left_alone(machine: Machine) -> None:
    machine.offers(cargo_web="1.96.0")
    machine.add("cargo", "#!/bin/sh\necho cargo 1.80.1\n")
    done = machine.bootstrap()
    assert done.returncode == 1
    assert "cargo is 1.80.1, 1.88 or newer is needed: rustup update stable" in done.stderr
    assert machine.installed() == []


def test_node_is_installed_for_the_tests_alone(machine: Machine) -> None:
    machine.offers()
    machine.add("cargo", "#!/bin/sh\necho cargo 1.96.0\n")
    assert machine.bootstrap().returncode == 0
    assert machine.installed() == []
    assert machine.bootstrap("tests").returncode == 0
    assert machine.installed() == ["git nodejs npm"]
    assert machine.bootstrap("fuzz", "tests", CI="true").returncode == 0
    assert machine.installed()[1] == (
        "g++ git nodejs npm curl chromium nghttp2-client rsync"
        " prometheus prometheus-node-exporter postgresql"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root needs nobody's leave")
def test_who_is_not_root_is_told_what_to_run(machine: Machine) -> None:
    machine.offers()
    (machine.bin / "sudo").unlink()
    done = machine.bootstrap("tests")
    assert done.returncode == 1
    assert "run 'apt-get install git nodejs npm' as root" in done.stderr


def test_without_apt_what_is_missing_is_named(machine: Machine) -> None:
    machine.add("cargo", "#!/bin/sh\necho cargo 1.96.0\n")
    done = machine.bootstrap("tests")
    assert done.returncode == 1
    assert "missing git nodejs npm, and there is no apt-get: install them by hand" in done.stderr


def test_another_system_than_linux_is_told_in_a_line(machine: Machine) -> None:
    done = machine.bootstrap(OSTYPE="darwin24")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "bootstrap: this is darwin24, and wiretrial needs Linux: use a virtual machine or a"
        " container (docs/install.md)\n"
    )
    assert machine.installed() == []
