"""What verification found, kept beside the build: nothing is verified twice, or measured before.

Knows how subjects are started for it and where its record lies; must not know what is measured.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wiretrial.engine import Engine
from wiretrial.machine import pinning
from wiretrial.subjects import (
    any_connection,
    checks_driver,
    checks_proxy,
    checks_streams,
    checks_traffic,
    contracts,
)
from wiretrial.subjects.build import Build
from wiretrial.subjects.checks import Setting
from wiretrial.subjects.endpoint import Endpoint
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import (
    ON_STREAMS,
    ConfigurationName,
    ContractName,
    Part,
    Protocol,
    Subject,
)
from wiretrial.subjects.verify import Outcome, problems, verify

SCHEMA: Final = "wiretrial-verified"
VERSION: Final = 1


class _Key(BaseModel):
    """What a record speaks of. Another recipe, version or check asks for another verification."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    digest: str
    version: str
    engine: str
    """Digest of the engine where the subject runs it, or is asked by it; empty elsewhere."""
    checks: str
    configuration: ConfigurationName


class Verification(BaseModel):
    """Every outcome of one build in one configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_name: Literal["wiretrial-verified"] = Field(default=SCHEMA, alias="schema")
    version: Literal[1] = VERSION
    of: _Key
    at: str
    outcomes: tuple[Outcome, ...]

    def problems(self, subject: Subject) -> list[str]:
        """What is not as it is claimed or written down, a line each; none: it is verified."""
        return list(problems(subject.spec, self.of.configuration, self.outcomes))

    def failed(self) -> list[Outcome]:
        """The parts that do not hold, known or not."""
        return [outcome for outcome in self.outcomes if outcome.problem]

    def covers(self, contract: ContractName | None, protocol: Protocol) -> bool:
        """Whether anything of that was looked at: it is, where the subject claims it."""
        return any((one.contract, one.protocol) == (contract, protocol) for one in self.outcomes)

    def missing(
        self,
        contract: ContractName | None,
        protocol: Protocol,
        needed: Iterable[Part],
        forgiven: Collection[Part] = (),
    ) -> dict[Part, str]:
        """Each needed part that failed or was never verified, and why.

        A part that is `forgiven` may fail where the subject has it written down.
        """
        here = [
            outcome
            for outcome in self.outcomes
            if (outcome.contract, outcome.protocol) == (contract, protocol)
        ]
        lacking: dict[Part, str] = {}
        for part in sorted(needed):
            found = [outcome for outcome in here if outcome.part == part]
            failed = [
                outcome
                for outcome in found
                if outcome.problem and not (outcome.known and part in forgiven)
            ]
            if failed:
                lacking[part] = failed[0].known or f"{failed[0].check}: {failed[0].problem}"
            elif not found:
                lacking[part] = "it was never verified"
        return lacking


def examine(
    subject: Subject,
    build: Build,
    configuration: ConfigurationName,
    engine: Path,
    tell: Callable[[Outcome], None] | None = None,
) -> Verification:
    """Verifies now, and keeps what was found. `tell` is handed each outcome as it is found.

    Raises `SubjectFailed` where the subject does not even start.
    """
    outcomes = []
    look = _server_outcomes if subject.spec.kind == "server" else checks_driver.verify
    for outcome in look(subject, build, configuration, engine):
        outcomes.append(outcome)
        if tell:
            tell(outcome)
    record = Verification(
        of=_key(subject, build, configuration, engine),
        at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        outcomes=tuple(outcomes),
    )
    _keep(build, record)
    return record


def verified(
    subject: Subject, build: Build, configuration: ConfigurationName, engine: Path
) -> Verification | None:
    """What was found when this was verified last; None where it never was."""
    try:
        record = Verification.model_validate_json(_path(build, configuration).read_bytes())
    except (OSError, ValidationError):
        return None
    return record if record.of == _key(subject, build, configuration, engine) else None


def ensure(
    subject: Subject, build: Build, configuration: ConfigurationName, engine: Path
) -> Verification:
    """What was found when this was verified last, or is found now."""
    kept = verified(subject, build, configuration, engine)
    return kept or examine(subject, build, configuration, engine)


def _server_outcomes(
    subject: Subject, build: Build, configuration: ConfigurationName, engine: Path
) -> Iterator[Outcome]:
    any_connection.require(subject.spec.speaks)

    @contextmanager
    def start(setting: Setting, backend: Endpoint | None = None) -> Iterator[Server]:
        with Server(
            subject,
            build,
            configuration,
            engine=engine,
            threads=setting.threads,
            delay_ms=setting.delay_ms,
            cpus=pinning.choose(setting.threads).server,
            counts_statements=True,
            backend=backend,
        ) as server:
            # Not for its contracts: whether they hold is what the checks tell.
            server.wait_ready(())
            yield server

    yield from verify(subject.spec, configuration, start)
    yield from checks_streams.verify(subject.spec, configuration, start, Engine(engine))
    yield from checks_traffic.verify(subject, configuration, start, Engine(engine))
    yield from checks_proxy.verify(subject.spec, configuration, start)


def _key(subject: Subject, build: Build, configuration: ConfigurationName, engine: Path) -> _Key:
    command = subject.configuration(configuration).command
    asks = subject.spec.traffic or any(protocol in ON_STREAMS for protocol in subject.spec.speaks)
    answers = subject.spec.backend or any("{engine}" in word for word in command)
    return _Key(
        digest=build.digest,
        version=build.version,
        engine=_digest(engine, engine.stat().st_mtime_ns) if asks or answers else "",
        # The file and those that it names may lie outside of the folder.
        checks=contracts.digest() + checks_traffic.digest(subject),
        configuration=configuration,
    )


@cache
def _digest(path: Path, _changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _path(build: Build, configuration: ConfigurationName) -> Path:
    # A file for each: two that verify at the same time lose nothing of each other.
    return build.folder / f"verified-{configuration}.json"


def _keep(build: Build, record: Verification) -> None:
    """Written whole or not at all; where it may not be written, the next one verifies again."""
    with contextlib.suppress(OSError):
        descriptor, name = tempfile.mkstemp(prefix=".verified-", dir=build.folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(record.model_dump_json(by_alias=True, indent=1))
            Path(name).replace(_path(build, record.of.configuration))
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
