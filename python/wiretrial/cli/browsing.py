"""The same requests from a real browser: measured in one without a window, or by a person.

Knows what was typed; must not know how it was spelled.
"""

from __future__ import annotations

import secrets
import shlex
import sys
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from wiretrial import quantities, suggest
from wiretrial.browser import front, programs
from wiretrial.browser.desk import Desk
from wiretrial.browser.front import PORTS, Upstream
from wiretrial.browser.jobs import MOST_REQUESTS, Job, Outcome
from wiretrial.cli import interrupts, output, progress, reports
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GOOD, SubjectFailed, UsageProblem
from wiretrial.machine import facts
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import browsed, environments, prepare, trial, ways
from wiretrial.studies.bench import Bench
from wiretrial.studies.browsed import Asking, Ran
from wiretrial.studies.events import Unavailable
from wiretrial.studies.order import Slot
from wiretrial.studies.spec import Case, Study
from wiretrial.studies.ways import Target, Way

FAR = "broadband-far"


@dataclass(frozen=True)
class Asked:
    """Which server, and over what."""

    subject: str
    target: str | None
    """A URL, instead of the subject."""
    link: str | None
    explain: bool
    """Over a slow link, too."""


@dataclass(frozen=True)
class Trials:
    """With which browser, and how often."""

    program: str
    requests: str
    number: int | None
    seed: int | None


def resume(folder: Path, trials: int | None, *, details: bool) -> int:
    """Goes on with a study of this command."""
    return progress.run(*progress.resume(folder, ways.NAME, trials), details=details)


def measure(asked: Asked, trials: Trials, results: Path, *, details: bool) -> int:
    """Measures each way in a browser without a window, and reports."""
    over = _over(asked)
    target = _target(asked.subject, asked.target)
    name = _program(trials.program)
    count = quantities.count(trials.requests, "--requests", most=MOST_REQUESTS)
    found = programs.find(name)
    front.installed(Engine.find().binary)
    chosen = secrets.randbits(32) if trials.seed is None else trials.seed
    study = ways.study(
        target,
        name,
        requests=count,
        over=over,
        trials=trials.number or 5,
        seed=chosen,
        command=_command(chosen, given=trials.seed is not None),
        ways=[way for way in target.ways if way.http == "1.1" or found.trusts],
    )
    if not found.trusts:
        output.say(f"left out: {name} over TLS (install Debian's libnss3-tools, for certutil)")
    return progress.run(study, progress.begin(study, results), details=details)


def by_hand(asked: Asked, port: int, results: Path) -> int:
    """Serves the page until Ctrl-C, and keeps what a person measures."""
    where = _over(asked)[-1]
    target = _target(asked.subject, asked.target)
    engine = Engine.find()
    study = ways.study(
        target,
        "chromium",
        requests=50,
        over=[where],
        trials=1,
        seed=0,
        command="wiretrial browser",
    )
    bench = Bench(study, engine, facts.collect())
    case = study.cases[0]
    with ExitStack() as stack:
        ready = _ready(study, case, engine)
        asking = stack.enter_context(browsed.asking(stack.enter_context(bench.stand(case, ready))))
        diary = Diary(bench, target, asking, where, results)
        about = {
            **asking.about(),
            "subject": f"{target.name}{'' if where == environments.LOOPBACK else f' over {where}'}",
            "transports": list(target.transports),
            "remedy": (
                "Over TLS the browser has to trust the certificate: open"
                f" {asking.front.base('2')}/ once and accept it, or import the authority that the"
                " terminal names."
            ),
        }
        try:
            desk = stack.enter_context(Desk(about, keep=diary.keep, port=port))
        except OSError as error:
            raise UsageProblem(
                f"can't listen on port {port}: {error.strerror}", "use another --port"
            ) from error
        output.emit(desk.url, None)
        output.say(f"TLS: the authority is {asking.front.certificate.authority}")
        for http in PORTS:
            output.say(f"  HTTP/{http:<13} {asking.front.base(http)}{target.path}")
        output.say("Ctrl-C ends it, and writes the report")
        with _until_stopped():
            threading.Event().wait()
    return diary.conclude()


def _over(asked: Asked) -> list[str]:
    """The environments, the one for a person last."""
    if asked.link is None and not asked.explain:
        return [environments.LOOPBACK]
    if asked.target is not None:
        raise UsageProblem(
            "--target is a server that runs already: wiretrial can't put a link in front of it",
            "leave --link and --explain out, or use --subject",
        )
    return [environments.LOOPBACK, environments.check(asked.link or FAR)]


def _target(subject: str, url: str | None) -> Target:
    if url is None:
        return Target.of_subject(subject)
    Upstream.of_url(url)
    parts = urlsplit(url)
    return Target.of_url(url, f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}")


def _program(name: str) -> Literal["chromium", "firefox"]:
    if name == "chromium":
        return "chromium"
    if name == "firefox":
        return "firefox"
    raise UsageProblem(
        f"--browser {name}: unknown",
        suggest.remedy(name, ("chromium", "firefox"), "use chromium or firefox"),
    )


def _command(seed: int, *, given: bool) -> str:
    words = ["wiretrial", *sys.argv[1:]]
    return shlex.join(words if given else [*words, "--seed", str(seed)])


@contextmanager
def _until_stopped() -> Generator[None, None, None]:
    """Takes a signal as the end of the work, not as its failure."""
    try:
        yield
    except interrupts.Stopped:
        return


def _ready(study: Study, case: Case, engine: Engine) -> prepare.Ready | None:
    """The subject, installed and verified; None where it is the user's own."""
    if case.url is not None:
        return None
    reasons: list[str] = []
    found: dict[str, prepare.Ready] = {}
    steps = prepare.prepare(study, engine)
    while True:
        try:
            event = next(steps)
        except StopIteration as end:
            found = end.value
            break
        if isinstance(event, Unavailable):
            reasons.append(event.reason)
    if case.scenario.name not in found:
        raise SubjectFailed(reasons[0] if reasons else f"{case.scenario.subject} is not available")
    return found[case.scenario.name]


@dataclass
class Diary:
    """What a person measures: a trial each, in a folder that is made for the first."""

    bench: Bench
    target: Target
    asked: Asking
    where: str
    results: Path
    folder: ResultsFolder | None = None
    count: int = 0

    def keep(self, job: Job, outcome: Outcome) -> str:
        """Stores one measurement; says where."""
        if not outcome.requests:
            return "Nothing was answered, so nothing is kept."
        if self.folder is None:
            self.folder = progress.begin(self.bench.study, self.results)
        case = self._case(job, outcome)
        now = datetime.now().astimezone()
        ran = Ran(
            outcome=outcome,
            begun_at=now.isoformat(timespec="milliseconds"),
            begun_unix_ns=round(now.timestamp() * 1e9),
            ended_ns=outcome.elapsed_ns,
        )
        slot = Slot(self.count, 0, case.scenario.name, 0)
        sent = browsed.sent_of(self.asked, case, ran)
        self.folder.add(trial.recorded(self.asked.stand, slot, sent, case))
        self.count += 1
        return f"{self.count} kept in {self.folder.folder}"

    def conclude(self) -> int:
        """The report of what was kept."""
        if self.folder is None:
            output.say("nothing was measured")
            return EXIT_GOOD
        made = reports.whole(self.folder)
        path = self.folder.write(progress.REPORT_FILE, reports.page(made).encode())
        output.emit(f"report: {path}", None)
        return EXIT_GOOD

    def _case(self, job: Job, outcome: Outcome) -> Case:
        """The case of what was chosen, which need not be one of the study's."""
        http = next(name for name in PORTS if self.asked.front.base(name) == job.base)
        way = next(
            (
                way
                for way in self.target.ways
                if (way.transport, way.http) == (job.transport, http)
                and (job.transport != "fetch" or (way.urls, way.cache) == (job.urls, job.cache))
            ),
            Way(
                f"{job.transport}, HTTP/{http}, {job.urls} URL, {job.cache}",
                job.transport,
                http,
                job.urls,
                job.cache,
            ),
        )
        count = len(outcome.requests) + len(outcome.failed)
        return ways.case(self.target, "chromium", way, job.pattern, count, self.where)
