"""A study against servers that somebody runs: the same scenarios, aimed at given addresses.

Pure. Knows documents, cases and URLs; must not know whether anybody answers there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from wiretrial import redaction, suggest
from wiretrial.errors import UsageProblem
from wiretrial.studies import environments
from wiretrial.studies.document import Document
from wiretrial.studies.sized import Limited
from wiretrial.studies.spec import Case, Study
from wiretrial.studies.workload import Driven, Workload
from wiretrial.subjects.spec import Protocol

NAME = "target"
"""What the servers are called in place of the study's subjects."""


def parse(given: Sequence[str], document: Document) -> dict[Protocol, str]:
    """Where each protocol is spoken: `HOST:PORT` for the study's first one, or `SCHEME://HOST:PORT`."""
    served = [one for one in document.workload if not isinstance(one, Driven)]
    if given and not served:
        raise UsageProblem(
            "--target takes the place of servers, and this study measures client libraries",
            "leave it out",
        )
    spoken: list[Protocol] = [protocol for one in served for protocol in one.protocol]
    found: dict[Protocol, str] = {}
    for text in given:
        url = text if "://" in text else f"{spoken[0]}://{text}"
        scheme, _, rest = url.partition("://")
        protocol = next((one for one in spoken if one == scheme), None)
        if protocol is None:
            known = ", ".join(dict.fromkeys(spoken))
            raise UsageProblem(
                f"--target {text}: this study does not speak {scheme!r}",
                suggest.remedy(scheme, spoken, f"it speaks {known}"),
            )
        if not _is_address(rest):
            shown = redaction.url(text)
            raise UsageProblem(f"--target {shown} names no host and port", "write HOST:PORT")
        if protocol in found:
            raise UsageProblem(f"--target names two servers for {protocol}", "name one")
        found[protocol] = rest.rstrip("/")
    return found


def aimed(document: Document, targets: dict[Protocol, str]) -> Document:
    """The study with one subject, as far as its protocols have a target. Its claims speak of it."""
    workloads = [_workload(workload, targets) for workload in document.workload]
    kept = [workload for workload in workloads if workload is not None]
    names = {workload.name for workload in kept}
    claims: dict[str, Any] = {}
    for claim in document.claim:
        if all(side.workload in names for side in claim.sides):
            sides: dict[str, Any] = {"of": claim.of.model_copy(update={"subject": NAME})}
            if claim.to:
                sides["to"] = claim.to.model_copy(update={"subject": NAME})
            claims.setdefault(claim.text, claim.model_copy(update=sides))
    return document.model_copy(
        update={
            "subjects": (NAME,),
            "workload": tuple(kept),
            "claim": tuple(claims.values()),
            "twin": None,
            "baseline": None,
            "adoption": False,
            "starts": 0,
        }
    )


def put(study: Study, targets: dict[Protocol, str]) -> Study:
    """Each case of the study put to the server that speaks its protocol."""
    return study.model_copy(update={"cases": tuple(_put(case, targets) for case in study.cases)})


def _put(case: Case, targets: dict[Protocol, str]) -> Case:
    url = f"{case.protocol}://{targets[case.protocol]}{case.path}"
    own = {"server_threads": None, "cpus": None, "idle_states": "on"}
    return case.model_copy(update={"url": url, **own})


def _workload(workload: Workload, targets: dict[Protocol, str]) -> Workload | None:
    protocols = tuple(protocol for protocol in workload.protocol if protocol in targets)
    if not protocols or isinstance(workload, Driven):
        return None
    # Nor how much CPU time it has.
    apart = {"cpus": None, "idle_states": None} if isinstance(workload, Limited) else {}
    quick = workload.quick.model_copy(update={"subjects": None}) if workload.quick else None
    return workload.model_copy(
        update={
            "protocol": protocols,
            "subjects": None,
            # Where somebody else's server runs is not ours to choose.
            "environment": (environments.LOOPBACK,),
            "server_threads": workload.server_threads[:1],
            "quick": quick,
            **apart,
        }
    )


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(f"//{text}")
        has_user = "@" in parts.netloc
        return bool(parts.hostname and parts.port) and not has_user and parts.path in ("", "/")
    except ValueError:
        return False
