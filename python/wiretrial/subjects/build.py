"""Makes a subject runnable, once: each build is kept by the digest of its recipe and sources.

Knows the cache; must not know how a step is carried out, nor how a subject is run. What can't be
had here is `SubjectUnavailable`, with the reason and the remedy, and stops nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from wiretrial.errors import SubjectUnavailable
from wiretrial.subjects import footprint
from wiretrial.subjects.footprint import Weight
from wiretrial.subjects.recipes import JDK, Recipe, Step, missing_packages, package_versions
from wiretrial.subjects.spec import SPEC_FILE, Subject

ENVIRONMENT = "WIRETRIAL_CACHE"
PREFIX = "CMAKE_PREFIX_PATH"
"""Where libraries lie that were installed by hand; `--prefix` sets it."""
RECORD = "build.json"
"""What a build knows about itself, in its own folder: an incomplete one has none."""


class Build(BaseModel):
    """A subject that is ready to run."""

    model_config = ConfigDict(frozen=True)

    folder: Path
    digest: str
    """Of the recipe, the sources and what they share."""
    version: str
    prefix: str
    """Folders of libraries installed by hand, separated by `;`; empty: none were used."""
    packages: dict[str, str]
    """Debian packages that the recipe names, with the versions that were there."""
    built_at: str
    """UTC, ISO 8601."""
    steps: tuple[Step, ...]
    weight: Weight

    @property
    def built_s(self) -> float:
        """When it was built, seconds of the epoch."""
        return datetime.fromisoformat(self.built_at).timestamp()


def installed(subject: Subject, engine: Path) -> Build | None:
    """The subject's build, if it is there already."""
    for folder in _candidates(subject):
        try:
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            found = Build.model_validate({**record, "folder": folder})
        except (OSError, ValueError):
            continue
        if missing_packages(subject.spec.install.apt):
            continue
        if subject.spec.install.java and not (folder / JDK).exists():
            continue
        if any("{engine}" in word for word in subject.spec.version.command):
            # The engine is not part of the recipe: it may be another one today.
            recipe = Recipe(subject, folder, log_file(subject), _values(subject, folder, engine))
            return found.model_copy(update={"version": _version(subject, recipe.version())})
        return found
    return None


def refused(subject: Subject) -> str | None:
    """Why the last try to install this very recipe failed; None where there was none."""
    try:
        return _refusal(subject).read_text(encoding="utf-8")
    except OSError:
        return None


def install(
    subject: Subject,
    engine: Path,
    tell: Callable[[str], None] | None = None,
    *,
    since: float | None = None,
) -> Build:
    """The subject's build, made now if it is not there yet.

    `tell` is handed each command before it runs. `since`: seconds of the epoch; an older build is
    made again.
    """
    found = installed(subject, engine)
    if found and (since is None or found.built_s >= since):
        return found
    digest = subject.digest()
    place = _place(subject, digest)
    place.parent.mkdir(parents=True, exist_ok=True)
    log = log_file(subject)
    log.unlink(missing_ok=True)
    # Built beside its place and renamed: an interrupted build is never taken for a whole one.
    work = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        recipe = Recipe(subject, work, log, _values(subject, work, engine), tell)
        built = _build(subject, engine, digest, recipe, work)
        record = built.model_dump_json(exclude={"folder"}, indent=1)
        (work / RECORD).write_text(record, encoding="utf-8")
        shutil.rmtree(place, ignore_errors=True)
        work.rename(place)
    except SubjectUnavailable as error:
        _refusal(subject).write_text(error.line(), encoding="utf-8")
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    _refusal(subject).unlink(missing_ok=True)
    return built.model_copy(update={"folder": place})


def cache() -> Path:
    """Where builds are kept."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "wiretrial"


def log_file(subject: Subject) -> Path:
    """What the commands of the subject's last installation printed."""
    return cache() / "logs" / f"install-{subject.spec.name}.log"


def _build(subject: Subject, engine: Path, digest: str, recipe: Recipe, work: Path) -> Build:
    recipe.run()
    steps = tuple(recipe.steps)
    packages = [name.partition("=")[0] for name in subject.spec.install.apt]
    return Build(
        folder=work,
        digest=digest,
        version=_version(subject, recipe.version()),
        prefix=_prefix(subject),
        packages=package_versions(packages),
        built_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        steps=steps,
        weight=footprint.weigh(subject, work, _values(subject, work, engine), steps),
    )


def _values(subject: Subject, work: Path, engine: Path) -> dict[str, str]:
    return {
        "source": str(subject.folder),
        "build": str(work),
        "prefix": _prefix(subject),
        "engine": str(engine),
    }


def _prefix(subject: Subject) -> str:
    """The prefix, for a recipe that asks for one; the same separator as CMake's lists."""
    uses = any("{prefix}" in word for command in subject.spec.build for word in command)
    return os.environ.get(PREFIX, "").replace(":", ";") if uses else ""


def _place(subject: Subject, digest: str) -> Path:
    prefix = _prefix(subject)
    mark = f"-{hashlib.sha256(prefix.encode()).hexdigest()[:8]}" if prefix else ""
    return cache() / "subjects" / f"{subject.spec.name}-{digest[:16]}{mark}"


def _refusal(subject: Subject) -> Path:
    place = _place(subject, subject.digest())
    return place.with_name(f"{place.name}.unavailable")


def _candidates(subject: Subject) -> list[Path]:
    """Where the build may lie: as asked for now, else the newest that another prefix made."""
    digest = subject.digest()
    wanted = _place(subject, digest)
    if _prefix(subject):
        return [wanted]
    others = [path for path in wanted.parent.glob(f"{wanted.name}-*") if path.is_dir()]
    return [wanted, *sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)]


def _version(subject: Subject, said: str) -> str:
    match = re.search(subject.spec.version.pattern, said)
    if not match:
        raise SubjectUnavailable(
            f"{subject.spec.name} is unavailable: it does not report a version",
            f"correct [version] in {subject.folder / SPEC_FILE}",
        )
    return match[1] if match.groups() else match[0]
