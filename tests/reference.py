"""Subjects that are verified once for all tests, and the reference server for a cache of their own.

Verification takes half a minute and is a test by itself; `make subjects` does it. What it found
holds for the same engine and the same checks, which its record names by their digests.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from wiretrial.engine import Engine
from wiretrial.subjects import build, registry, verification
from wiretrial.subjects.spec import ConfigurationName, Subject
from wiretrial.subjects.verification import Verification


def kept(
    subject: Subject, engine: Engine, configuration: ConfigurationName = "default"
) -> Verification:
    """What was found when it was verified last, where all was right; else what is found now."""
    built = build.install(subject, engine.binary)
    found = verification.verified(subject, built, configuration, engine.binary)
    if found and not found.problems(subject):
        return found
    return verification.examine(subject, built, configuration, engine.binary)


def put_into(cache: Path, engine: Engine) -> None:
    """Has it installed and verified there as it is in the cache of this environment."""
    subject = registry.find("reference")
    kept(subject, engine)
    folder = build.install(subject, engine.binary).folder
    shutil.copytree(folder, cache / folder.relative_to(build.cache()))
