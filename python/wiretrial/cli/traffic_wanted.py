"""What a traffic file asks `load` for.

Knows the compiled file and the options that go with it; must not know how a load is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from wiretrial import quantities
from wiretrial.cli import spoken, staging, urls, workload
from wiretrial.cli.options import STEADY, Asked, HttpVersions, Loop, Security
from wiretrial.cli.wanted import Wanted
from wiretrial.errors import UsageProblem
from wiretrial.plan import AnyHttpVersion, Http, OpenLoop, Stop, Target
from wiretrial.plan_traffic import Traffic
from wiretrial.traffic import following, loads
from wiretrial.traffic.compiler import compile_file
from wiretrial.traffic.routes import FARTHEST
from wiretrial.traffic.variables import given

DEFAULT_CONNECTIONS = "10"


def wanted(
    path: Path,
    variables: Sequence[str],
    loop: Loop,
    asked: Asked,
    security: Security,
    duration_ns: int | None,
    sessions: str | None,
    sources: tuple[str, ...],
    *,
    is_timed: bool,
    follow: str | None = None,
) -> Wanted:
    """The file's traffic; what is wrong in it, or at odds with it, is raised.

    `is_timed`: the command line says how long; otherwise stages do where there are any.
    """
    require_sessions(path, loop, asked)
    scenario = compile_file(path, given(variables), learns=asked.learns)
    sending = loads.sending(scenario, instead(loop, asked), seed=loop.seed)
    stop = Stop(
        duration_ns=duration_ns if is_timed else sending.stages_ns or duration_ns,
        sessions=None if sessions is None else quantities.count(sessions, "--requests", most=2**53),
    )
    _require_rows(sending, stop)
    address = urls.parse(scenario.origin, workload.LOADED)
    spoken.require_encrypted(sending.http, address.protocol)
    own = workload.http_of(address.protocol, spoken.unsaid(asked)).headers
    return Wanted(
        address=address,
        target=Target(
            url=address.url,
            sources=sources,
            http=Http(
                version=sending.http,
                windows=spoken.windows_over(sending.http, asked),
                congestion=asked.congestion,
                headers=(*scenario.headers, *own),
            ),
            tls=workload.tls_of(security),
        ),
        load=sending.load,
        stop=stop,
        workload=str(path),
        traffic=followed(sending.traffic, follow),
        file=str(path),
        goals=scenario.goals,
    )


def _require_rows(sending: loads.Sending, stop: Stop) -> None:
    """Raises where sessions that arrive at a steady rate take more rows than there are."""
    executor = sending.load.executor
    if stop.sessions is not None:
        loads.require_rows(sending, stop.sessions)
    elif isinstance(executor, OpenLoop) and stop.duration_ns and not sending.load.stages:
        loads.require_rows(sending, executor.rate * stop.duration_ns / 1e9)


def followed(traffic: Traffic, follow: str | None) -> Traffic:
    """The traffic with what `--follow` says of redirects."""
    if follow is None:
        return traffic
    return following.followed(traffic, quantities.count(follow, "--follow", most=FARTHEST))


def require_sessions(path: Path, loop: Loop, asked: Asked) -> None:
    """Raises for an option of one message, which a file is at odds with."""
    for option in _of_one_message(loop, asked):
        raise UsageProblem(
            f"{option} is of one message, and {path} says what is sent",
            f"leave {option} out, or change {path}",
        )


def instead(loop: Loop, asked: Asked, default: str = DEFAULT_CONNECTIONS) -> loads.Instead:
    """What the command line says; `default`: what -c is where it is not given."""
    streams = None if loop.depth == "1" else quantities.count(loop.depth, "--streams")
    # Where no version is asked for, the file's counts: its replies may be of that one.
    versions: dict[HttpVersions, AnyHttpVersion] = {HttpVersions.TWO: "2", HttpVersions.THREE: "3"}
    return replace(_instead(loop, default), streams=streams, http=versions.get(asked.http))


def _instead(loop: Loop, default: str) -> loads.Instead:
    """Users and arrivals."""
    users = None
    if loop.connections != default:
        users = quantities.count(loop.connections, "--connections")
    if staged := staging.of(loop):
        if staged.is_open:
            return loads.Instead(users, staged.most, loop.pacing, staged.stages)
        return loads.Instead(int(staged.most), stages=staged.stages)
    if loop.rate is None:
        return loads.Instead(users)
    return loads.Instead(users, quantities.rate(loop.rate, "--rate"), loop.pacing)


def _of_one_message(loop: Loop, asked: Asked) -> Iterator[str]:
    """The options that were given and say what one message is, or how one is sent."""
    given_here = {
        "--payload": asked.payload is not None,
        "--json": asked.json is not None,
        "--text": asked.text,
        "--method": asked.method is not None,
        "--early-data": asked.early_data,
        "--header-profile": asked.header_profile is not None,
        "--expect": bool(asked.expect),
        "--expect-status": asked.expect_status != "200",
        "--pack": loop.pack != "1",
        "--requests-per-connection": loop.requests_per_connection is not None,
        "--hold": loop.hold,
        "--pattern": loop.pattern != STEADY,
        "--pacing": loop.pacing not in ("constant", "poisson"),
        "--overflow": loop.overflow != "wait",
    }
    return (option for option, is_given in given_here.items() if is_given)
