"""Correctness before timing: does a subject keep what it claims, but for what is written down?

Knows checks, parts and limits; must not know how a server is started.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol as Shape

from pydantic import BaseModel, ConfigDict

from wiretrial.subjects import contracts
from wiretrial.subjects.checks import STANDARD, Check, Setting
from wiretrial.subjects.endpoint import Endpoint, Late
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
    late: str | None = None
    """How a first try came to no end in time; what stands here is of the second."""


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

    A claim of which not even one exchange is right is not asked further. What came to no end in
    time is tried once more: a machine that stands still for a while looks like a server that does.
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
    late: str | None = None,
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
        late=late,
    )


def how_it_ended(server: Started, limit_s: float) -> str | None:
    """How the server ended, or ends within the limit: its connections break before it is gone."""
    limit = time.monotonic() + limit_s
    while (how := server.ended()) is None and time.monotonic() < limit:
        time.sleep(0.01)
    return how


@dataclass(frozen=True)
class _Task:
    contract: ContractName
    protocol: Protocol
    check: Check
    late: str | None = None
    """How it came to no end when it was tried before."""


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
            groups.setdefault(setting, []).append(_Task(contract, protocol, check))
    return groups


def _until_problem(
    spec: Spec,
    configuration: ConfigurationName,
    server: Started,
    waiting: deque[_Task],
    broken: Iterable[Claim],
) -> Iterator[Outcome]:
    """Takes checks off `waiting` and does them, up to the first that fails.

    One that came to no end in time for the first time goes back to the front of `waiting`.
    """
    while waiting:
        task = waiting.popleft()
        contract, protocol, check = task.contract, task.protocol, task.check
        if (contract, protocol) in broken:
            continue
        endpoint = server.endpoint(protocol)
        limit = spec.known_limit(check.part, contract, protocol, configuration)
        if limit:
            endpoint = endpoint.model_copy(update={"deadline_s": KNOWN_DEADLINE_S})
        problem = _in_time(check, endpoint)
        how = how_it_ended(server, ENDING_S if problem else 0.0)
        if isinstance(problem, Late) and not (how or limit or task.late):
            waiting.appendleft(replace(task, late=problem))
            return
        if how:
            problem = f"{problem or 'answered'}; then the server ended: {how}"
        claim = (contract, protocol)
        yield outcome_of(spec, configuration, claim, check.part, check.name, problem, task.late)
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
    return found[0] if found else Late(f"it took more than {CHECK_LIMIT_S:g} s")
