"""The steps of an installation: package managers and compilers, one step at a time.

Knows commands and where each leaves its result; must not know the cache. A step that fails is the
subject's failure, in one line, with the log that tells the rest.
"""

from __future__ import annotations

import base64
import fnmatch
import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from wiretrial.errors import SubjectUnavailable
from wiretrial.subjects import database_parts, toolchains
from wiretrial.subjects.spec import SHARED, SPEC_FILE, NpmPack, Subject, fill, sources

STEP_LIMIT_S = 1800
"""No single step of a recipe may take longer."""

JDK = "jdk"
"""Where in a build the JDK lies that it asked for."""

APT_WAIT = ("-o", "DPkg::Lock::Timeout=300")
"""Another apt may run: seconds to wait for it."""


class Step(BaseModel):
    """One command of an installation, and what it cost."""

    model_config = ConfigDict(frozen=True)

    command: tuple[str, ...]
    compiles: bool
    """Whether it makes our program, rather than fetching what others made."""
    wall_ns: int
    cpu_ns: int


class Recipe:
    """Carries out one subject's recipe in `work`, and logs what every command says."""

    def __init__(
        self,
        subject: Subject,
        work: Path,
        log: Path,
        values: dict[str, str],
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.steps: list[Step] = []
        self._subject = subject
        self._work = work
        self._log = log
        self._values = values
        self._tell = tell

    def run(self) -> None:
        """Every package manager that the subject names, then its own build commands."""
        install = self._subject.spec.install
        for program in install.needs:
            self._demand(program)
        self.apt(install.apt)
        if self._subject.spec.database and database_parts.programs() is None:
            self.apt((database_parts.PACKAGE,))
        self._copy_sources()
        self._unpack_debs(install.deb)
        self._unpack_deb_sources(install.deb_source)
        for pack in install.npm_pack:
            self._unpack_npm(pack)
        if install.npm:
            self._run(["npm", "ci", "--omit=dev", "--no-audit", "--no-fund"])
        if install.pip:
            self._make_venv()
        if install.crates:
            self._run(["cargo", "vendor", "--locked", "--quiet", "vendor"])
        if install.cargo:
            self._build_cargo()
        if install.go:
            self._build_go()
        if install.java:
            self._link_jdk(install.java)
        if install.maven:
            self._demand("javac")
            self._run(["mvn", "-q", "-B", "-DskipTests", "package"], compiles=True)
        for command in self._subject.spec.build:
            self._run([fill(word, self._values) for word in command], compiles=True)

    def apt(self, packages: Sequence[str]) -> None:
        """Installs what is missing of the named packages on the system."""
        missing = missing_packages(packages)
        if not missing:
            return
        wanted = " ".join(missing)
        if not _as_root():
            raise self._unavailable(
                f"{wanted} must be installed by root", f"run: apt-get install {wanted}"
            )
        install = ["apt-get", *APT_WAIT, "install", "-y", "--no-install-recommends", *missing]
        self._apt_step([*_as_root(), *install], Path("/"))

    def version(self) -> str:
        """What the version command says."""
        return self._run([fill(word, self._values) for word in self._subject.spec.version.command])

    def _copy_sources(self) -> None:
        subject = self._subject
        for path in sources(subject.folder):
            if path.name != SPEC_FILE:
                _copy(path, self._work / path.relative_to(subject.folder))
        for folder in subject.shared_folders():
            if not folder.is_dir():
                raise self._unavailable(
                    f"its shared sources {folder.name} are missing", f"they belong in {SHARED}/"
                )
            for path in sources(folder):
                _copy(path, self._work / "shared" / path.relative_to(folder.parent))

    def _unpack_debs(self, packages: Sequence[str]) -> None:
        if not packages:
            return
        with tempfile.TemporaryDirectory() as downloads:
            self._apt_step(["apt-get", "download", *packages], Path(downloads))
            for archive in sorted(Path(downloads).glob("*.deb")):
                self._run(["dpkg-deb", "-x", str(archive), str(self._work)])

    def _unpack_deb_sources(self, packages: Sequence[str]) -> None:
        """Debian's sources, from where the system takes its packages: no root, no change to it."""
        if not packages:
            return
        self._demand("dpkg-source")
        format_ = "deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)"
        lines = self._run(
            ["apt-get", "indextargets", "--format", format_, "Created-By: Packages"]
        ).splitlines()
        with tempfile.TemporaryDirectory() as scratch:
            own = Path(scratch)
            (own / "lists" / "partial").mkdir(parents=True)
            listed = own / "sources.list"
            listed.write_text("\n".join(sorted(set(lines))) + "\n", encoding="utf-8")
            options = [
                *("-o", f"Dir::Etc::SourceList={listed}"),
                *("-o", "Dir::Etc::SourceParts=/dev/null"),
                *("-o", f"Dir::State::Lists={own / 'lists'}"),
                *("-o", f"Dir::Cache={own}"),
                *("-o", "APT::Sandbox::User="),
            ]
            self._run(["apt-get", *options, "update"])
            for package in packages:
                name, _, wanted = package.partition("=")
                shown = self._run(["apt-cache", *options, "showsrc", "--only-source", name])
                # Unlike `install`, `source` takes no pattern for a version.
                versions = re.findall(r"^Version: (\S+)$", shown, re.MULTILINE)
                fitting = fnmatch.filter(versions, wanted or "*")
                if not fitting:
                    raise self._unavailable(
                        f"Debian has no source of {package} here, only {', '.join(versions)}",
                        "pin one of these",
                    )
                self._run(["apt-get", *options, "source", "-q", f"{name}={fitting[0]}"])

    def _unpack_npm(self, pack: NpmPack) -> None:
        with tempfile.TemporaryDirectory() as downloads:
            self._run(
                [
                    *("npm", "pack", "--silent", "--pack-destination", downloads),
                    f"{pack.name}@{pack.version}",
                ]
            )
            archive = next(Path(downloads).glob("*.tgz"))
            digest = hashlib.sha512(archive.read_bytes()).digest()
            found = "sha512-" + base64.b64encode(digest).decode()
            if found != pack.integrity:
                raise self._unavailable(
                    f"{pack.name}@{pack.version} is not what was pinned",
                    f"its digest is {found}; find out why before you trust it",
                )
            # Python's own tarfile has learned to be careful only in 3.11.4.
            self._run(["tar", "--no-same-owner", "-xzf", str(archive), "-C", downloads])
            (Path(downloads) / "package").rename(self._work / pack.name)

    def _make_venv(self) -> None:
        self._run([sys.executable, "-m", "venv", "venv"])
        python = str(self._work / "venv" / "bin" / "python")
        self._run(
            [
                *(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
                *("--require-hashes", "-r", "requirements.txt"),
            ]
        )

    def _build_cargo(self) -> None:
        self._run(["cargo", "build", "--release", "--locked", "--quiet"], compiles=True)
        release = self._work / "target" / "release"
        for path in release.iterdir():
            if path.is_dir():
                shutil.rmtree(path)

    def _build_go(self) -> None:
        (self._work / "bin").mkdir(exist_ok=True)
        go = toolchains.go_program(toolchains.go_wanted(self._work), self._run)
        self._run([go, "build", "-trimpath", "-o", "bin/", "./..."], compiles=True)

    def _link_jdk(self, wanted: int) -> None:
        """Puts a JDK that is new enough where the recipe and the server name it."""
        self._demand("javac")
        home = toolchains.java_home(wanted)
        if home is None:
            raise self._unavailable(
                f"Java {wanted} or later is not installed",
                f"install a JDK of version {wanted} or later",
            )
        (self._work / JDK).symlink_to(home)

    def _apt_step(self, command: Sequence[str], folder: Path) -> None:
        """Runs an apt command; when it fails, once more with fresh package lists."""
        try:
            self._run(command, folder)
        except SubjectUnavailable:
            if not shutil.which("apt-get") or not _as_root():
                raise
            self._run([*_as_root(), "apt-get", "update"], folder)
            self._run(command, folder)

    def _demand(self, program: str) -> None:
        """Makes sure that a program is there; from Debian's package, where one has it."""
        if shutil.which(program):
            return
        package = toolchains.DEBIAN_PACKAGES.get(program)
        if package and shutil.which("apt-get"):
            self.apt((package,))
        if not shutil.which(program):
            raise self._unavailable(f"{program} is not installed", f"install {program}")

    def _run(
        self, command: Sequence[str], folder: Path | None = None, *, compiles: bool = False
    ) -> str:
        """Runs one command; returns what it printed."""
        self._demand(command[0])
        shown = " ".join(command)
        if self._tell:
            self._tell(shown)
        environment = {
            **os.environ,
            "DEBIAN_FRONTEND": "noninteractive",
            "LC_ALL": "C.UTF-8",
            "GOFLAGS": "-mod=readonly",
            "CARGO_TARGET_DIR": str(self._work / "target"),
            **({"JAVA_HOME": str(self._work / JDK)} if self._subject.spec.install.java else {}),
        }
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.monotonic_ns()
        try:
            done = subprocess.run(
                command,
                cwd=folder or self._work,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=STEP_LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise self._unavailable(
                f"`{shown}` took more than {STEP_LIMIT_S} s", "try it by hand"
            ) from error
        wall_ns = time.monotonic_ns() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"$ {shown}\n{done.stdout}\n")
        if done.returncode != 0:
            raise self._failed(shown, done.returncode, done.stdout)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.steps.append(
            Step(
                command=tuple(command),
                compiles=compiles,
                wall_ns=wall_ns,
                cpu_ns=round(cpu_s * 1e9),
            )
        )
        return done.stdout

    def _failed(self, shown: str, status: int, output: str) -> SubjectUnavailable:
        lines = [line for line in output.strip().splitlines() if line.strip()]
        telling = [line for line in lines if "rror" in line or line.startswith("E:")] or lines
        said = f": {telling[0].strip()}" if telling else ""
        if len(shown) > 80:
            shown = f"{shown[:80]}…"
        return self._unavailable(
            f"`{shown}` ended with {status}{said}", f"the whole of it is in {self._log}"
        )

    def _unavailable(self, reason: str, remedy: str) -> SubjectUnavailable:
        spec = self._subject.spec
        return SubjectUnavailable(
            f"{spec.name} is unavailable: {reason}", spec.install.remedy or remedy
        )


def missing_packages(packages: Sequence[str]) -> list[str]:
    """Which of these Debian packages the system lacks, in this version."""
    if not packages:
        return []
    if not shutil.which("dpkg-query"):
        return list(packages)
    installed = package_versions([package.partition("=")[0] for package in packages])
    return [package for package in packages if not _satisfied(package, installed)]


def package_versions(names: Sequence[str]) -> dict[str, str]:
    """The versions of those Debian packages that the system has."""
    if not names or not shutil.which("dpkg-query"):
        return {}
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status} ${Version}\\n", *names],
        capture_output=True,
        text=True,
        check=False,
    )
    fields = [line.split() for line in done.stdout.splitlines()]
    return {entry[0]: entry[2] for entry in fields if len(entry) == 3 and entry[1] == "installed"}


def _satisfied(package: str, installed: dict[str, str]) -> bool:
    name, _, version = package.partition("=")
    return name in installed and fnmatch.fnmatchcase(installed[name], version or "*")


def _as_root() -> list[str]:
    """What to write before a command that needs root; empty where root can't be had."""
    if os.geteuid() == 0:
        return ["env"]
    return ["sudo", "-n"] if shutil.which("sudo") else []


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
