"""Correctness before timing: does a subject keep what it claims, but for what is written down?

Knows checks, parts and limits; must not know how a server is started.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol as Shape

from pydantic import BaseModel, ConfigDict

from wiretrial.subjects import contracts
from wiretrial.subjects.checks import STANDARD, Check, Setting
from wiretrial.subjects.endpoint import Endpoint
from wiretrial.subjects.spec import (
    TRAFFIC,
    ConfigurationName,
    ContractName,
    Limit,
    Part,
    Protocol,
    Spec,
)

CHECK_LIMIT_S = 30.0
"""No check may take longer as a whole, however often it is answered within the deadline."""

ENDING_S = 0.5
"""How long a server that failed a check is given to be seen ending."""

KNOWN_DEADLINE_S = 3.0
"""No answer may take longer where none is expected: most limits show by silence."""

Claim = tuple[ContractName | None, Protocol]
"""A contract on a protocol; a client driver keeps one contract, which has no name."""


class Outcome(BaseModel):
    """One check on one protocol. `problem` is None where the subject was right."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    contract: ContractName | None
    """None for a client driver."""
    protocol: Protocol
    part: Part
    check: str
    problem: str | None
    known: str | None
    """Why the subject is known not to keep this part, where it says so."""


class Started(Shape):
    """A server that runs."""

    def endpoint(self, protocol: Protocol) -> Endpoint:
        """Where it speaks the protocol."""

    def ended(self) -> str | None:
        """How it ended, in words; None while it runs."""


Start = Callable[[Setting], AbstractContextManager[Started]]
"""Starts the server anew, so that all its ports answer."""


def verify(spec: Spec, configuration: ConfigurationName, start: Start) -> Iterator[Outcome]:
    """Every check of every contract on every protocol that the server claims, as each is done.

    A claim of which not even one exchange is right is not asked further.
    """
    broken: set[Claim] = set()
    for setting, tasks in _by_setting(spec).items():
        waiting = deque(tasks)
        while waiting:
            # After a failure the next check gets a fresh server: it shall not suffer from the last.
            with start(setting) as server:
                for outcome in _until_problem(spec, configuration, server, waiting, broken):
                    yield outcome
                    if outcome.problem and outcome.part == "exchange":
                        broken.add((outcome.contract, outcome.protocol))


def problems(
    spec: Spec, configuration: ConfigurationName, outcomes: Sequence[Outcome]
) -> Iterator[str]:
    """What is not as it is claimed or written down, a line each."""
    for outcome in outcomes:
        if outcome.problem and not outcome.known:
            contract = f"{outcome.contract} over " if outcome.contract else ""
            yield f"{contract}{outcome.protocol}, {outcome.check}: {outcome.problem}"
    for limit in spec.limits:
        if limit.configurations and configuration not in limit.configurations:
            continue
        covered = [
            outcome
            for outcome in outcomes
            if covers(limit, outcome.part, outcome.contract, outcome.protocol)
        ]
        where = ", ".join((*limit.contracts, *limit.protocols))
        part = f"{limit.part} ({where})" if where else limit.part
        if covered and not any(outcome.problem for outcome in covered):
            yield f"{part} is written down as not kept, but holds"
        if not covered and not any(outcome.problem for outcome in outcomes):
            yield f"{part} is written down as not kept, but nothing checks it"


def covers(limit: Limit, part: Part, contract: ContractName | None, protocol: Protocol) -> bool:
    """Whether the limit speaks of this part here."""
    return (
        limit.part == part
        and (not limit.contracts or contract in limit.contracts)
        and (not limit.protocols or protocol in limit.protocols)
    )


def outcome_of(
    spec: Spec,
    configuration: ConfigurationName,
    claim: Claim,
    part: Part,
    check: str,
    problem: str | None,
) -> Outcome:
    """What a check found, with what was known before."""
    contract, protocol = claim
    limit = spec.known_limit(part, contract, protocol, configuration)
    return Outcome(
        contract=contract,
        protocol=protocol,
        part=part,
        check=check,
        problem=problem,
        known=limit.why if limit else None,
    )


def how_it_ended(server: Started, limit_s: float) -> str | None:
    """How the server ended, or ends within the limit: its connections break before it is gone."""
    limit = time.monotonic() + limit_s
    while (how := server.ended()) is None and time.monotonic() < limit:
        time.sleep(0.01)
    return how


_Task = tuple[ContractName, Protocol, Check]


def _by_setting(spec: Spec) -> dict[Setting, list[_Task]]:
    """All checks by how the server must be started for them, the standard way first."""
    groups: dict[Setting, list[_Task]] = {STANDARD: []}
    for contract, protocol in spec.claims():
        if contract == TRAFFIC:
            # Its checks are the entries of a file.
            continue
        for check in contracts.checks(contract, protocol):
            most = spec.max_threads or check.setting.threads
            threads = max(min(check.setting.threads, most), spec.least_threads)
            setting = replace(check.setting, threads=threads)
            if check.setting != STANDARD and setting == STANDARD:
                # The subject has one thread: this was checked the standard way.
                continue
            groups.setdefault(setting, []).append((contract, protocol, check))
    return groups


def _until_problem(
    spec: Spec,
    configuration: ConfigurationName,
    server: Started,
    waiting: deque[_Task],
    broken: Iterable[Claim],
) -> Iterator[Outcome]:
    """Takes checks off `waiting` and does them, up to the first that fails."""
    while waiting:
        contract, protocol, check = waiting.popleft()
        if (contract, protocol) in broken:
            continue
        endpoint = server.endpoint(protocol)
        if spec.known_limit(check.part, contract, protocol, configuration):
            endpoint = endpoint.model_copy(update={"deadline_s": KNOWN_DEADLINE_S})
        problem = _in_time(check, endpoint)
        how = how_it_ended(server, ENDING_S if problem else 0.0)
        if how:
            problem = f"{problem or 'answered'}; then the server ended: {how}"
        yield outcome_of(spec, configuration, (contract, protocol), check.part, check.name, problem)
        if problem:
            return


def _in_time(check: Check, endpoint: Endpoint) -> str | None:
    """How the server fails the check, be it by not coming to an end."""
    found: list[str | None] = []
    # A thread that is given up ends with its connections, when the server does.
    thread = threading.Thread(
        target=lambda: found.append(contracts.problem(check, endpoint)), daemon=True
    )
    thread.start()
    thread.join(CHECK_LIMIT_S)
    return found[0] if found else f"it took more than {CHECK_LIMIT_S:g} s"
