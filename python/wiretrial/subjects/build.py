"""Makes a subject runnable: packages, build, version; each kept by the digest of its sources.

Knows package managers and the cache; must not know how a subject is run. What can't be had here is
`SubjectUnavailable`, with the reason and the remedy, and stops nothing else.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from wiretrial.errors import SubjectUnavailable
from wiretrial.subjects.spec import SPEC_FILE, Subject, fill

ENVIRONMENT = "WIRETRIAL_CACHE"
STEP_LIMIT_S = 1800
"""No single step of a recipe may take longer."""


class Build(BaseModel):
    """A subject that is ready to run."""

    model_config = ConfigDict(frozen=True)

    folder: Path
    digest: str
    version: str


def installed(subject: Subject, engine: Path) -> Build | None:
    """The subject's build, if it is there already."""
    digest = subject.digest()
    folder = _place(subject, digest)
    if not folder.is_dir() or _missing_packages(subject.spec.install.apt):
        return None
    return Build(folder=folder, digest=digest, version=_version(subject, folder, engine))


def install(subject: Subject, engine: Path) -> Build:
    """The subject's build, made now if it is not there yet."""
    found = installed(subject, engine)
    if found:
        return found
    recipe = subject.spec.install
    _install_apt(subject, recipe.apt)
    digest = subject.digest()
    place = _place(subject, digest)
    place.parent.mkdir(parents=True, exist_ok=True)
    # Built beside its place and renamed: an interrupted build is never taken for a whole one.
    work = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        if recipe.deb:
            _unpack_debs(subject, recipe.deb, work)
        if recipe.npm:
            _copy_sources(subject, work)
            _step(subject, ["npm", "ci", "--omit=dev", "--no-audit", "--no-fund"], work)
        if subject.spec.build:
            values = {"source": str(subject.folder), "build": str(work)}
            _step(subject, [fill(word, values) for word in subject.spec.build], work)
        version = _version(subject, work, engine)
        if not place.is_dir():
            work.rename(place)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return Build(folder=place, digest=digest, version=version)


def cache() -> Path:
    """Where builds are kept."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "wiretrial"


def _place(subject: Subject, digest: str) -> Path:
    return cache() / "subjects" / f"{subject.spec.name}-{digest[:16]}"


def _copy_sources(subject: Subject, work: Path) -> None:
    for path in subject.folder.iterdir():
        if path.is_file() and path.name != SPEC_FILE:
            shutil.copy2(path, work)


def _missing_packages(packages: Sequence[str]) -> list[str]:
    if not packages:
        return []
    if not shutil.which("dpkg-query"):
        return list(packages)
    return [package for package in packages if not _has_package(package)]


def _has_package(package: str) -> bool:
    name, _, version = package.partition("=")
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", name],
        capture_output=True,
        text=True,
        check=False,
    )
    status, _, found = done.stdout.partition(" ")
    return status == "installed" and (not version or found == version)


def _install_apt(subject: Subject, packages: Sequence[str]) -> None:
    missing = _missing_packages(packages)
    if not missing:
        return
    wanted = " ".join(missing)
    if not _as_root():
        raise _unavailable(
            subject, f"{wanted} must be installed by root", f"run: apt-get install {wanted}"
        )
    command = [*_as_root(), "apt-get", "install", "-y", "--no-install-recommends", *missing]
    _apt_step(subject, command, Path("/"))


def _unpack_debs(subject: Subject, packages: Sequence[str], work: Path) -> None:
    with tempfile.TemporaryDirectory() as downloads:
        _apt_step(subject, ["apt-get", "download", *packages], Path(downloads))
        for archive in sorted(Path(downloads).glob("*.deb")):
            _step(subject, ["dpkg-deb", "-x", str(archive), str(work)], Path(downloads))


def _apt_step(subject: Subject, command: Sequence[str], folder: Path) -> None:
    """Runs an apt command; when it fails, once more with fresh package lists."""
    try:
        _step(subject, command, folder)
    except SubjectUnavailable:
        if not shutil.which("apt-get") or not _as_root():
            raise
        _step(subject, [*_as_root(), "apt-get", "update"], folder)
        _step(subject, command, folder)


def _as_root() -> list[str]:
    """What to write before a command that needs root; empty where root can't be had."""
    if os.geteuid() == 0:
        return ["env"]
    return ["sudo", "-n"] if shutil.which("sudo") else []


def _step(subject: Subject, command: Sequence[str], folder: Path) -> str:
    """Runs one command of a recipe; its failure is the subject's, in one line."""
    if not shutil.which(command[0]):
        raise _unavailable(subject, f"{command[0]} is not installed", f"install {command[0]}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
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
        raise _unavailable(
            subject, f"`{' '.join(command)}` took more than {STEP_LIMIT_S} s", "try it by hand"
        ) from error
    if done.returncode != 0:
        lines = [line for line in done.stdout.strip().splitlines() if line.strip()]
        telling = [line for line in lines if "rror" in line or line.startswith("E:")] or lines
        said = f": {telling[0].strip()}" if telling else ""
        raise _unavailable(
            subject,
            f"`{' '.join(command)}` ended with {done.returncode}{said}",
            "try the command by hand",
        )
    return done.stdout


def _version(subject: Subject, build: Path, engine: Path) -> str:
    values = {"build": str(build), "source": str(subject.folder), "engine": str(engine)}
    command = [fill(word, values) for word in subject.spec.version.command]
    said = _step(subject, command, build)
    match = re.search(subject.spec.version.pattern, said)
    if not match:
        raise _unavailable(
            subject,
            f"`{' '.join(command)}` does not tell a version",
            f"correct [version] in {subject.folder / SPEC_FILE}",
        )
    return match[1] if match.groups() else match[0]


def _unavailable(subject: Subject, reason: str, remedy: str) -> SubjectUnavailable:
    return SubjectUnavailable(f"{subject.spec.name} is unavailable: {reason}", remedy)
