"""Where a scenario's server runs, and what a study over a link records."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest
from pydantic import ValidationError

from tests.lab.test_isolation import needs_root
from tests.lab.test_links import engines_below
from tests.lab.test_study import FRESH, scenario, tiny
from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed
from wiretrial.results import hdr
from wiretrial.results.store import ResultsFolder, read_trial
from wiretrial.studies import environments, events, matrix, runner
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Case, Study


def document(environment: object) -> Document:
    """A study of one workload there."""
    return Document.model_validate(
        {
            "title": "t",
            "question": "q",
            "subjects": ["reference"],
            "workload": [
                {
                    "name": "small",
                    "protocol": "http",
                    "contract": "http-echo",
                    "environment": environment,
                }
            ],
        }
    )


def expanded(environment: object) -> Study:
    return matrix.expand("s", document(environment), command="c", seed=1)


def over(environment: str) -> Case:
    one = scenario("reference, HTTP", "reference", "http", "http-echo", load=FRESH)
    there = one.scenario.model_copy(update={"environment": environment})
    return one.model_copy(update={"scenario": there})


def test_the_environment_is_a_factor() -> None:
    cases = expanded(["loopback", "vpn", "link:delay=5ms"]).cases[:3]
    assert [case.scenario.environment for case in cases] == ["loopback", "vpn", "link:delay=5ms"]
    assert [case.scenario.name for case in cases] == [
        "reference: over loopback",
        "reference: over vpn",
        "reference: over delay=5ms",
    ]
    assert [case.scenario.levels["environment"] for case in cases][1] == "vpn"
    assert cases[1].scenario.workload.endswith("closed loop, over vpn")


def test_loopback_is_meant_where_nothing_is_said() -> None:
    (case, _) = expanded("loopback").cases
    assert "environment" not in case.scenario.levels
    assert "loopback" not in case.scenario.workload


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        (
            "office",
            "there is no environment 'office': use one of loopback, namespace, veth-steered, lan",
        ),
        ("link:office", "there is no link 'office'"),
        ([], "at least one value is needed"),
    ],
)
def test_an_environment_that_is_none_is_refused(environment: object, said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        document(environment)
    assert said in str(refused.value)


def test_the_generator_is_calibrated_without_the_link() -> None:
    found = [environments.without_link(one) for one in ("loopback", "namespace", "vpn", "link:")]
    assert found == ["loopback", "namespace", "namespace", "namespace"]


@needs_root
def test_an_environment_that_can_t_be_had_is_told(engine: Engine) -> None:
    found = environments.refusals(["loopback", "vpn", "link:latency=5ms"], engine.binary)
    assert list(found) == ["link:latency=5ms"]
    assert '"latency=5ms" is none of' in found["link:latency=5ms"]


@needs_root
def test_a_trial_over_a_link_keeps_its_delay_and_records_it(engine: Engine, tmp_path: Path) -> None:
    study = tiny(over("link:delay=5ms"), trials=1)
    folder = ResultsFolder.create(tmp_path, "tiny", study.model_dump_json(by_alias=True))
    seen = list(runner.run(study, folder, engine))
    (trial,) = [event.trial for event in seen if isinstance(event, events.TrialDone)]
    assert trial.summary.counters.ok
    assert not any(trial.summary.counters.errors.values())
    assert trial.plan.target.sources
    assert not any(source.startswith("127.") for source in trial.plan.target.sources)
    # A new connection and a reply are two round trips, and histograms keep three digits.
    taken = hdr.merge(filter(None, [trial.summary.histograms.get("service_time")]))
    assert taken.quantile(0.0) >= 0.999 * 20_000_000
    assert trial.subject is not None
    assert trial.subject.isolation is not None
    link = trial.subject.isolation.link
    assert link is not None
    assert (link.name, link.up, link.down) == ("delay=5ms", "delay=5ms", "delay=5ms")
    if link.carrier == "engine":
        assert link.carried_up is not None
        assert link.carried_up.carried > trial.summary.counters.ok
        assert link.carried_up.lost == 0
    assert read_trial(folder.paths()[0]).subject == trial.subject


@needs_root
def test_what_a_link_carried_before_the_trial_is_none_of_the_trial_s(
    engine: Engine, tmp_path: Path
) -> None:
    messages, second_ns = 40, 1_000_000_000
    few = over("link:delay=5ms").model_copy(update={"requests": messages, "priming_ns": second_ns})
    study = tiny(few, trials=1)
    folder = ResultsFolder.create(tmp_path, "tiny", study.model_dump_json(by_alias=True))
    seen = list(runner.run(study, folder, engine))
    (trial,) = [event.trial for event in seen if isinstance(event, events.TrialDone)]
    assert trial.summary.counters.ok == messages
    assert trial.subject is not None
    assert trial.subject.isolation is not None
    link = trial.subject.isolation.link
    assert link is not None
    if link.carried_up is not None:
        # Each on a connection of its own: a request, and what opens and closes it. In the second
        # before there were five times as many.
        assert messages < link.carried_up.offered < 12 * messages


@needs_root
def test_a_link_that_ended_by_itself_is_told(engine: Engine) -> None:
    with environments.make("link:delay=1ms,rate=1gbit", engine.binary) as isolation:
        environments.require_whole(isolation)
        (carrier,) = engines_below(psutil.Process())
        ended = os.pidfd_open(carrier.pid)
        os.kill(carrier.pid, signal.SIGKILL)
        os.waitid(os.P_PIDFD, ended, os.WEXITED | os.WNOWAIT)
        os.close(ended)
        with pytest.raises(EngineFailed, match="the link ended under the trial: signal 9"):
            environments.require_whole(isolation)
