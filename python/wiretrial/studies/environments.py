"""Where a scenario's server runs: over loopback, in a namespace, at the far end of a link.

Knows the environments' names and how each is made; must not know what is measured there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from wiretrial import suggest
from wiretrial.errors import EngineFailed, UsageProblem
from wiretrial.machine import links, namespaces, pinning
from wiretrial.machine.links import LinkedNamespace
from wiretrial.machine.namespaces import Namespace
from wiretrial.machine.pinning import Pinning
from wiretrial.machine.steering import Steering

LOOPBACK = "loopback"
PLAIN = (LOOPBACK, namespaces.ENVIRONMENT, namespaces.STEERED)
"""Those without a link of stated delay, loss or rate."""
SEEDS = 2**64


def check(environment: str) -> str:
    """The environment's name, if it is one. Raises `UsageProblem`."""
    if environment in PLAIN or links.of_environment(environment):
        return environment
    known = (*PLAIN, *links.PROFILES)
    raise UsageProblem(
        f"there is no environment {environment!r}",
        suggest.remedy(
            environment, known, f"use one of {', '.join(known)}, or {links.PREFIX} and numbers"
        ),
    )


def make(
    environment: str,
    engine: Path,
    seed: int = 0,
    cpus: Pinning | None = None,
    settings: Mapping[str, str] | None = None,
) -> AbstractContextManager[Namespace | None]:
    """A fresh one; None where the server needs none.

    `seed` decides what a link loses. `cpus` are those of both sides. `settings` of the kernel are
    made inside, beside those that are as outside.
    """
    if environment == namespaces.ENVIRONMENT:
        return Namespace(settings=settings)
    if environment == namespaces.STEERED:
        sides = cpus or pinning.choose()
        steering = Steering(ours=sides.generator, server=sides.server)
        return Namespace(settings=settings, steering=steering)
    if link := links.of_environment(environment):
        return LinkedNamespace(link, engine=engine, settings=settings, seed=seed % SEEDS)
    return nullcontext()


def without_link(environment: str) -> str:
    """The environment that is like this one, but for what a link adds."""
    return namespaces.ENVIRONMENT if links.of_environment(environment) else environment


def refusals(environments: Iterable[str], engine: Path) -> dict[str, str]:
    """Why an environment can't be had here, for each that can't."""
    found = {}
    for environment in dict.fromkeys(environments):
        try:
            with make(environment, engine):
                pass
        except UsageProblem as problem:
            found[environment] = problem.line()
    return found


def require_whole(isolation: Namespace | None) -> None:
    """Raises `EngineFailed` where a link ended by itself: the trial over it is worthless."""
    wire = isolation.wire if isinstance(isolation, LinkedNamespace) else None
    if wire and (how := wire.ended()):
        raise EngineFailed(f"the link ended under the trial: {how}", "run it again")
