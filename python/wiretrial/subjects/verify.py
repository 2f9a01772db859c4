"""Correctness before timing: does a server keep the contracts that it claims?

Knows which checks a subject must pass and how they are listed; must not know how a server is
started. The checks themselves are in `checks_http`, `checks_websocket` and `checks_raw`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pydantic import BaseModel, ConfigDict
from websockets.exceptions import WebSocketException

from wiretrial.errors import SubjectFailed
from wiretrial.subjects import checks_http, checks_raw, checks_websocket
from wiretrial.subjects.endpoint import Broken, Endpoint
from wiretrial.subjects.spec import ContractName, Protocol, Spec

Check = Callable[[Endpoint], None]

CHECKS: dict[ContractName, dict[str, Check]] = {
    "http-echo": checks_http.ECHO,
    "static": checks_http.STATIC,
    "ws-echo": checks_websocket.ECHO,
    "raw-echo": checks_raw.ECHO,
}
"""What each contract demands, in order; the first check of each is the readiness probe."""


class Outcome(BaseModel):
    """One check on one protocol. `problem` is None where the subject was right."""

    model_config = ConfigDict(frozen=True)

    contract: ContractName
    protocol: Protocol
    check: str
    problem: str | None


def verify(spec: Spec, endpoint: Callable[[Protocol], Endpoint]) -> Iterator[Outcome]:
    """Every check of every contract on every protocol that the subject claims, as each is done."""
    for contract, protocol in spec.claims():
        for name, check in CHECKS[contract].items():
            yield Outcome(
                contract=contract,
                protocol=protocol,
                check=name,
                problem=_problem(check, endpoint(protocol)),
            )


def probe(endpoint: Endpoint, contract: ContractName) -> None:
    """Raises unless one exchange is right."""
    name, check = next(iter(CHECKS[contract].items()))
    problem = _problem(check, endpoint)
    if problem:
        raise SubjectFailed(
            f"{endpoint} breaks {contract} ({name}): {problem}", "see `wiretrial subject verify`"
        )


def _problem(check: Check, endpoint: Endpoint) -> str | None:
    try:
        check(endpoint)
    except Broken as broken:
        return str(broken)
    except (OSError, EOFError, WebSocketException) as error:
        return f"{type(error).__name__}: {error}"
    except checks_http.HTTP_ERRORS as error:
        return f"{type(error).__name__}: {error}"
    return None
