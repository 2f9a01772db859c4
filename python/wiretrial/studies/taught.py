"""What is learned, before the first trial, from servers that a study starts itself.

Each is started twice and asked each time: what stands still while a server runs, such as the number
of its process, is another one after its next start. Knows when each server is asked. Must not know
which rule it is held to then, nor who says what was learned.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence

from wiretrial.errors import EngineFailed, SubjectFailed
from wiretrial.results.learned import LearnedRule
from wiretrial.studies import held, learned, loaded
from wiretrial.studies.bench import Bench
from wiretrial.studies.events import Event, Preparing, Taught
from wiretrial.studies.held import Server
from wiretrial.studies.prepare import Ready
from wiretrial.studies.spec import Case, Learning, Study

STARTS = 2
"""Of each server."""


def pending(study: Study, *, constants: bool = True) -> Study:
    """The study, to learn before its first trial where a server that it starts has no rule."""
    is_needed = any(case.url is None and _learns(case) for case in study.cases)
    learning = Learning(constants=constants) if is_needed else None
    return study.model_copy(update={"learning": learning})


def taught(study: Study, bench: Bench, ready: Mapping[str, Ready]) -> Generator[Event, None, Study]:
    """The study with what is learned from all its servers, those that run already among them.

    A server that can't be started or asked has trials that tell of it, and is held to what the
    others have in common. Raises `NotLearned`.
    """
    assert study.learning is not None
    constants = study.learning.constants
    cases: dict[str, Case] = {}
    rules: dict[LearnedRule, None] = {}
    unknown: dict[str, None] = {}
    for servers in _groups(study):
        for server in servers:
            yield from _ask(server, bench, ready)
        for server, its in zip(servers, held.held(servers, constants=constants), strict=True):
            cases |= {case.scenario.name: its.put(case) for case in server.cases}
            rules |= dict.fromkeys(its.rules)
            unknown |= dict.fromkeys(its.unknown)
    every = tuple(cases.get(case.scenario.name, case) for case in study.cases)
    made = study.model_copy(update={"cases": every, "learning": None})
    yield Taught(made, tuple(rules), tuple(unknown))
    return made


def _ask(server: Server, bench: Bench, ready: Mapping[str, Ready]) -> Generator[Event, None, None]:
    """Starts and asks it; one that runs already is asked once."""
    case = next((one for one in server.cases if one.url or one.scenario.name in ready), None)
    if case is None:
        return
    yield Preparing(server.name, "learn the replies of")
    asked = learned.question(case, _url(case))
    for _ in range(1 if case.url else STARTS):
        try:
            with bench.stand(case, ready.get(case.scenario.name)) as stand:
                plan = loaded.plan_of(stand)
                plan = plan.model_copy(update={"load": asked.load, "stop": asked.stop})
                server.came.append(learned.replies(bench.engine, plan))
        except (SubjectFailed, EngineFailed):
            return


def _groups(study: Study) -> Iterable[Sequence[Server]]:
    """The servers that are asked the same."""
    groups: dict[object, dict[object, Server]] = {}
    for case in filter(_learns, study.cases):
        of = case.scenario
        key = case.url or (of.subject, of.configuration)
        # Routes of the same names may be others in another workload's file.
        asked = case.traffic and case.traffic.model_dump_json()
        alike = (case.protocol, learned.alike(case, _url(case)), asked)
        name = of.subject if of.configuration == "default" else f"{of.subject}:{of.configuration}"
        groups.setdefault(alike, {}).setdefault(key, Server(name)).cases.append(case)
    return [tuple(servers.values()) for servers in groups.values()]


def _learns(case: Case) -> bool:
    if case.sending is not None or case.is_held:
        return False
    return learned.learns(learned.question(case, _url(case)))


def _url(case: Case) -> str:
    """Where it goes; the host of a server that is yet to be started is none."""
    return case.url or f"{case.protocol}://server{case.path}"
