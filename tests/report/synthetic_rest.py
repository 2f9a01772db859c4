"""A synthetic study of times per case: floors, stalls, single trials, a subject that is missing."""

from __future__ import annotations

import random
import tomllib
from datetime import date

from tests.lab import trials as records
from wiretrial.plan import ClosedLoop, Load, Stop
from wiretrial.report.model import ReportModel, build
from wiretrial.results.absent import Absent
from wiretrial.results.adoption import Adopted
from wiretrial.results.model import Judgement, Trial, Window
from wiretrial.studies import matrix
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Case, Study

TEXT = """
title = "Which REST framework?"
question = "How long does each take?"
subjects = ["steady", "stuck", "uneven", "missing"]
trials = 6
twin = "steady"

[[workload]]
name = "no work"
protocol = "http"
contract = "rest"
connections = 10
requests_per_connection = [1, "kept"]
requests_each = 1000
server_threads = [28, 4]

[[workload]]
name = "work"
protocol = "http"
contract = "rest"
connections = 10
requests_per_connection = 1
requests_each = 200
delay_ms = [200]
environment = ["loopback", "vpn"]
server_threads = [28, 4]
trials = 1

[[workload]]
name = "more work"
protocol = "http"
contract = "rest"
connections = 10
requests_per_connection = 1
requests_each = 1000
delay_ms = [200]
server_threads = [28]
trials = 1
subjects = ["steady"]

[[claim]]
text = "The uneven one takes twice as long"
source = "An article, 2020"
metric = "elapsed"
published = 2.0
of = { subject = "uneven", workload = "no work", levels = { server_threads = 28 } }
to = { subject = "steady", workload = "no work", levels = { server_threads = 28 } }

[[claim]]
text = "With fewer threads it takes 1.24 times as long"
source = "An article, 2020"
metric = "elapsed"
published = 1.24
within = 1.1
of = { subject = "uneven", workload = "work", levels = { server_threads = 4 } }
to = { subject = "steady", workload = "work", levels = { server_threads = 4 } }

[[claim]]
text = "Over the VPN three times as long as locally"
source = "An article, 2020"
metric = "elapsed"
published = 3.0
of = { subject = "steady", workload = "work", levels = { server_threads = 28, environment = "vpn" } }
to = { subject = "steady", workload = "work", levels = { server_threads = 28, environment = "loopback" } }

[[claim]]
text = "N = 1000 takes five times as long as N = 200"
source = "An article, 2020"
metric = "elapsed"
published = 4.999
arithmetic = { formula = "1000 / 200", value = 5.0 }
of = { subject = "steady", workload = "more work" }
to = { subject = "steady", workload = "work", levels = { server_threads = 28, environment = "loopback" } }

[[claim]]
text = "The stuck one stalls with four threads"
source = "An article, 2020"
metric = "elapsed"
published = "stalled"
of = { subject = "stuck", workload = "no work", levels = { server_threads = 4 } }

[[claim]]
text = "The steady one stalls with four threads"
source = "An article, 2020"
metric = "elapsed"
published = "stalled"
of = { subject = "steady", workload = "no work", levels = { server_threads = 4 } }

[[claim]]
text = "The missing one stalls"
source = "An article, 2020"
metric = "elapsed"
published = "stalled"
of = { subject = "missing", workload = "no work" }
"""  # noqa: E501 (TOML's inline tables take one line)

SECONDS = {"steady": 1.02, "stuck": 3.4, "uneven": 2.06}
REASON = "missing can't be built: it is in no package: name its folder with --prefix DIR"
MISSING = Absent(subject="missing", reason=REASON)
ADOPTED = (
    Adopted(
        subject="steady",
        language="C++",
        licence="BSD-3-Clause",
        version="0.6.16",
        released=date(2022, 7, 11),
        dependencies=9,
        dependency_bytes=21_400_000,
        program_bytes=1_340_000,
        build_wall_ns=17_200_000_000,
        build_cpu_ns=16_800_000_000,
        service_lines=143,
    ),
    Adopted(subject="missing", language="C++", licence="AGPL-3.0-or-later"),
)


def study() -> Study:
    """Four subjects, one of which is missing, in nine cases."""
    document = Document.model_validate(tomllib.loads(TEXT))
    return matrix.expand("rest", document, command="wiretrial study run rest --seed 1", seed=1)


def trials() -> list[Trial]:
    """Every trial that the study wants of those that are here."""
    draw = random.Random(6)
    wanted = study()
    return [
        _trial(case, block, position, draw)
        for block in range(wanted.trials)
        for position, case in enumerate(wanted.cases)
        if block < wanted.trials_of(case) and case.scenario.subject != MISSING.subject
    ]


def report(**options: object) -> ReportModel:
    """The report of all of them."""
    wanted = study()
    settings: dict[str, object] = {
        "claims": wanted.claims,
        "absent": (MISSING,),
        "adopted": ADOPTED,
        "order": [case.scenario.name for case in wanted.cases],
    }
    return build(
        trials(),
        question=wanted.question,
        title=wanted.title,
        command=wanted.command,
        **{**settings, **options},  # type: ignore[arg-type]
    )


def _trial(case: Case, block: int, position: int, draw: random.Random) -> Trial:
    subject = case.scenario.subject
    if subject == "stuck" and case.server_threads == 4:
        return _stalled(_record(case, block, position, 6.0, 0))
    floor = case.scenario.floor_ns
    seconds = (floor or 0.0) / 1e9 * (1 + draw.uniform(0.002, 0.006))
    if floor is None:
        kept = case.load.requests_per_connection is None
        seconds = SECONDS[subject] * (0.4 if kept else 1) * draw.uniform(0.97, 1.03)
    elif subject == "uneven" and case.server_threads == 4:
        seconds *= 1.21
    return _record(case, block, position, seconds, case.messages or 0)


def _record(case: Case, block: int, position: int, seconds: float, ok: int) -> Trial:
    end_ns = round(seconds * 1e9)
    made = records.trial(block, position, case.scenario.name)
    assert isinstance(case.load.executor, ClosedLoop)
    load = Load(
        connections=case.load.connections,
        requests_per_connection=case.load.requests_per_connection,
    )
    return made.model_copy(
        update={
            "scenario": case.scenario,
            "plan": made.plan.model_copy(
                update={"load": load, "stop": Stop(requests_each=case.requests_each)}
            ),
            "summary": records.summary(ok=ok, end_ns=end_ns),
            "window": Window(start_ns=0, end_ns=end_ns, steady=False, rule="whole run"),
        }
    )


def _stalled(trial: Trial) -> Trial:
    evidence = "no reply for 6 s after 0 of 10,000"
    summary = trial.summary.model_copy(update={"end": "interrupted"})
    judgement = Judgement(verdict="stalled", bottleneck="server", evidence=evidence)
    return trial.model_copy(update={"summary": summary, "judgement": judgement})
