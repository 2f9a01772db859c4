"""The generator's ceiling: which loads have one, how long it takes, and where it is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.lab.conftest import Children
from tests.lab.test_isolation import needs_root
from tests.lab.test_study import FRESH, scenario, tiny
from tests.lab.trials import interval
from wiretrial.engine import Engine
from wiretrial.machine.namespaces import ENVIRONMENT
from wiretrial.plan import Load, OpenLoop, SequencePayload
from wiretrial.report import facts
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import calibration, events, runner
from wiretrial.studies.calibration import Calibration
from wiretrial.studies.spec import Case, Study

ENOUGH_NS = 6_000_000_000
OPEN = Load(connections=4, executor=OpenLoop(rate=100))


def kept(study: Study, tmp_path: Path) -> ResultsFolder:
    return ResultsFolder.create(tmp_path, "tiny", study.model_dump_json(by_alias=True))


def calibrated(
    study: Study, results: ResultsFolder, engine: Engine, budget_ns: int = ENOUGH_NS
) -> tuple[Calibration, list[events.Event]]:
    """What was found, and what was told meanwhile."""
    found: list[Calibration] = []

    def ask() -> Iterator[events.Event]:
        found.append(
            (yield from calibration.ensure(study, study.cases, results, engine, budget_ns))
        )

    told = list(ask())
    return found[0], told


def named(name: str, case: Case, **changes: object) -> Case:
    """The same case under another name, with another subject."""
    alike = case.scenario.model_copy(update={"name": name, "subject": "ws"})
    return case.model_copy(update={"scenario": alike, **changes})


HTTP = scenario("http", "reference", "http", "http-echo")


def test_each_load_has_one_ceiling_whoever_answers_it(engine: Engine, tmp_path: Path) -> None:
    cases = (
        HTTP,
        named("the same", HTTP),
        named("fresh", HTTP, load=FRESH, sources=("127.0.1.1", "127.0.1.2")),
        scenario("wss", "ws", "wss", "ws-echo"),
        scenario("static", "nginx", "http", "static"),
        named("own", HTTP, url="http://127.0.0.1:1/x", contract=None, path=""),
        named("open", HTTP, load=OPEN),
    )
    study = tiny(*cases)
    found, told = calibrated(study, kept(study, tmp_path), engine)
    ceilings = {case.scenario.name: found.ceiling(study, case) for case in cases}
    assert None not in ceilings.values()
    assert ceilings["http"] == ceilings["the same"] == ceilings["open"]
    assert len(found.ceilings) == 5
    assert found.pacing is not None
    lags = [found.pacing.lag_p50_ns, found.pacing.lag_p99_ns]
    # A machine that was kept from running has too few of its messages left for p99.
    known = [lag for lag in lags if lag is not None]
    assert known == sorted(known)
    assert [event for event in told if isinstance(event, events.Preparing)]


def test_versions_of_http_inside_tls_have_ceilings_of_their_own(
    engine: Engine, tmp_path: Path, children: Children
) -> None:
    one = scenario("https", "nginx", "https", "static")
    cases = [
        named(version, one, http=one.http.model_copy(update={"version": version}))
        for version in ("1.1", "2", "3")
    ]
    study = tiny(*cases)
    found, _ = calibrated(study, kept(study, tmp_path), engine)
    assert all(found.ceiling(study, case) for case in cases)
    assert len(found.ceilings) == len(cases)
    assert children() == []


def test_what_was_measured_is_kept_and_not_measured_again(
    engine: Engine, tmp_path: Path, children: Children
) -> None:
    one = tiny(HTTP)
    results = kept(one, tmp_path)
    before, _ = calibrated(one, results, engine)
    assert calibrated(one, results, engine) == (before, [])
    both = tiny(HTTP, named("fresh", HTTP, load=FRESH))
    after, _ = calibrated(both, results, engine)
    assert after.ceiling(both, HTTP) == before.ceiling(one, HTTP)
    assert len(after.ceilings) == 2
    assert children() == []
    (results.folder / calibration.FILE).write_text("not whole", encoding="utf-8")
    again, _ = calibrated(one, results, engine)
    assert len(again.ceilings) == 1


def test_it_keeps_to_its_time(engine: Engine, tmp_path: Path) -> None:
    sizes = (16, 32, 64, 128)
    cases = [
        HTTP.model_copy(
            update={
                "scenario": HTTP.scenario.model_copy(update={"name": f"{size} bytes"}),
                "message": HTTP.message.model_copy(
                    update={"is_json": False, "source": SequencePayload(bytes=size)}
                ),
            }
        )
        for size in sizes
    ]
    study = tiny(*cases)
    found, told = calibrated(study, kept(study, tmp_path), engine, budget_ns=1_000_000_000)
    assert found == calibration.NOTHING
    assert told == []
    found, _ = calibrated(study, kept(study, tmp_path), engine, budget_ns=2_000_000_000)
    assert len(found.ceilings) == 2


def test_another_load_has_another_name() -> None:
    study = tiny(HTTP)
    two_threads = study.model_copy(update={"generator_threads": 2})
    deeper = HTTP.model_copy(update={"load": Load(connections=4, depth=2)})
    assert len({calibration.load_of(study, case) for case in (HTTP, deeper)}) == 2
    assert calibration.load_of(study, HTTP) != calibration.load_of(two_threads, HTTP)
    assert calibration.load_of(study, HTTP) == calibration.load_of(study, named("x", HTTP))


def test_the_upper_quartile_of_the_intervals_counts() -> None:
    intervals = [interval(number, ok=ok, busy=0.5) for number, ok in enumerate((10, 100, 90, 5))]
    found = calibration.upper(intervals)
    assert found is not None
    assert (found.reached, found.messages_per_second) == (900, 1800)
    assert calibration.upper([]) is None
    assert calibration.upper([interval(0, ok=0)]) is None


@needs_root
def test_a_namespace_has_ceilings_of_its_own(engine: Engine, tmp_path: Path) -> None:
    there = HTTP.scenario.model_copy(update={"name": "there", "environment": ENVIRONMENT})
    study = tiny(HTTP, HTTP.model_copy(update={"scenario": there}))
    found, _ = calibrated(study, kept(study, tmp_path), engine)
    assert len(found.ceilings) == 2


def test_a_study_s_trials_carry_their_ceiling(engine: Engine, tmp_path: Path) -> None:
    # A tenth of these trials is enough for one load.
    study = tiny(HTTP, trials=4, duration_ns=2_000_000_000)
    results = kept(study, tmp_path)
    seen = list(runner.run(study, results, engine))
    trials = [event.trial for event in seen if isinstance(event, events.TrialDone)]
    assert len(trials) == 4
    (ceiling,) = {trial.ceiling for trial in trials}
    assert ceiling is not None
    assert results.trials() == trials
    (told,) = [one for one in facts.sections(trials, "") if one.title == "The generator by itself"]
    assert told.rows[0][:2] == ("http", f"{ceiling.messages_per_second:,.0f} requests/s")
    stored = Calibration.model_validate_json((results.folder / calibration.FILE).read_bytes())
    assert stored.ceiling(study, HTTP) == ceiling
