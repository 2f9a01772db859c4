"""Each warning is raised by what it is about, and by nothing else."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from tests.report.synthetic import DEMO, demo_trials, one_trial
from wiretrial import warnings
from wiretrial.plan import Congestion, GeneratorSettings, Http
from wiretrial.results.model import BY_COST, Judgement, Machine, Trial, Window
from wiretrial.results.observation import EmulatedLink, Isolation
from wiretrial.snapshot import Blocked, Connections, Counters, Generator, Published
from wiretrial.warnings import CATALOGUE, Code

MS = 1_000_000
JUDGEMENT = Judgement(verdict="valid", bottleneck="server", evidence="")


@pytest.fixture(scope="module")
def trial() -> Trial:
    return one_trial(DEMO[0], 0, 0, 1, JUDGEMENT, 1.0, random.Random(3))


@pytest.fixture(scope="module")
def open_loop() -> Trial:
    shape = DEMO[0].__class__(**{**DEMO[0].__dict__, "offered": 5e3})
    return one_trial(shape, 0, 0, 1, JUDGEMENT, 1.0, random.Random(3))


def codes(trial: Trial) -> list[str]:
    return [warning.code for warning in warnings.of_trial(trial)]


def summary(trial: Trial, **changes: object) -> Trial:
    return trial.model_copy(update={"summary": trial.summary.model_copy(update=changes)})


def counters(trial: Trial, **changes: object) -> Trial:
    return summary(trial, counters=trial.summary.counters.model_copy(update=changes))


def connections(trial: Trial, **changes: Any) -> Trial:
    return summary(trial, connections=Connections(attempted=100, opened=100, **changes))


def generator(trial: Trial, **changes: Any) -> Trial:
    settings = GeneratorSettings(**changes)
    return trial.model_copy(update={"plan": trial.plan.model_copy(update={"generator": settings})})


def distribution(values: Mapping[int, int]) -> str:
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    for value, count in values.items():
        histogram.record_value(value, count)
    return str(histogram.encode().decode("ascii"))


def times(trial: Trial, metric: str, values: Mapping[int, int]) -> Trial:
    histograms = {**trial.summary.histograms, metric: distribution(values)}
    return summary(trial, histograms=histograms)


def test_a_good_trial_has_none() -> None:
    assert [codes(trial) for trial in demo_trials(blocks=1)] == [[]] * 7


def test_every_code_has_advice() -> None:
    assert list(CATALOGUE) == list(Code)
    assert all(
        one.cause.endswith((".", ").")) and one.remedy.endswith(".") for one in CATALOGUE.values()
    )


def test_counters(trial: Trial) -> None:
    assert codes(counters(trial, errors={"timeout": 3})) == ["errors"]
    assert codes(counters(trial, errors={"timeout": 0})) == []
    assert codes(connections(trial, failed={"refused": 2})) == ["connect-failures"]
    limits = codes(connections(trial, failed={"client": 2}))
    assert limits == ["connect-failures", "generator-limits"]
    assert codes(summary(trial, end="interrupted")) == ["partial"]
    assert codes(summary(trial, disturbed_intervals=2)) == ["disturbed"]
    posted = Counters(sent=9, ok=8, errors={"status": 1})
    published = Published(receivers=5, counters=posted, undelivered=0)
    (found,) = warnings.of_trial(summary(trial, published=published))
    assert found.message.startswith("1 of 9 events could not be published (")


def test_judgement_and_window(trial: Trial) -> None:
    bound = JUDGEMENT.model_copy(update={"verdict": "client-bound"})
    assert codes(trial.model_copy(update={"judgement": bound})) == ["client-bound"]
    for length, code in ((2000 * MS, "not-steady"), (300 * MS, "too-short")):
        window = Window(start_ns=0, end_ns=length, steady=False, rule="")
        assert codes(trial.model_copy(update={"window": window})) == [code]
    for rule, what in (("mean shift", "throughput"), (f"{BY_COST}: mean shift", BY_COST)):
        window = Window(start_ns=0, end_ns=2000 * MS, steady=False, rule=rule)
        (found,) = warnings.of_trial(trial.model_copy(update={"window": window}))
        assert found.message == f"{what} did not settle within the warm-up allowance"


def test_the_generators_cpu(trial: Trial) -> None:
    waited = Generator(run_queue_ns=trial.summary.end_ns // 5)
    assert codes(summary(trial, generator=waited)) == ["starved"]
    assert codes(generator(trial, cpus=(0,))) == ["shared-cpu"]
    assert codes(generator(trial, cpus=())) == ["unpinned"]
    assert codes(trial.model_copy(update={"subject": None, "subject_samples": ()})) == []
    assert codes(trial.model_copy(update={"subject_samples": ()})) == ["no-server-cpu"]


def test_a_certificate_that_nobody_looked_at(trial: Trial) -> None:
    start = trial.start.model_copy(update={"insecure": True})
    assert codes(trial.model_copy(update={"start": start})) == ["insecure"]


def test_stalls_of_a_closed_loop(trial: Trial) -> None:
    slots_ns = 100 * trial.summary.measure_end_ns
    blocked = Blocked(exchanges=100, slot_ns=slots_ns // 10, threshold_ns=10 * MS)
    assert codes(summary(trial, blocked=blocked)) == ["blocked"]
    assert codes(summary(trial, blocked=Blocked(exchanges=1, slot_ns=slots_ns // 1000))) == []


def test_late_sends_of_an_open_loop(trial: Trial, open_loop: Trial) -> None:
    late = {10_000: 900, 50 * MS: 100}
    assert codes(times(open_loop, "pacing_lag", late)) == ["late-sends"]
    assert codes(times(open_loop, "pacing_lag", {10_000: 1000})) == []
    assert codes(times(trial, "pacing_lag", late)) == []


@pytest.mark.parametrize(
    ("metric", "at_ms", "code"),
    [
        ("service_time", 41, "40-ms-mode"),
        ("service_time", 204, "200-ms-mode"),
        ("connect_time", 210, "200-ms-mode"),
        ("connect_time", 1020, "1-s-connects"),
    ],
)
def test_known_modes_are_named(trial: Trial, metric: str, at_ms: int, code: str) -> None:
    body = {300_000 + i * 1000: 10 for i in range(300)}
    assert codes(times(trial, metric, {**body, at_ms * MS: 30})) == [code]
    assert codes(times(trial, metric, {**body, at_ms * MS: 1})) == []


def test_a_slow_server_or_a_broad_tail_is_no_mode(trial: Trial) -> None:
    assert codes(times(trial, "service_time", {41 * MS: 1000})) == []
    body = {300_000: 10_000}
    tail = {ms * MS: 3 for ms in range(10, 300)}
    assert codes(times(trial, "service_time", {**body, **tail})) == []


@pytest.mark.parametrize("limit", [100, 1000])
def test_reconnects_at_a_servers_limit(trial: Trial, limit: int) -> None:
    ok = trial.summary.counters.ok
    closed = ok // limit - 50
    kept = Connections(
        attempted=closed + 100, opened=closed + 100, closed={"server": closed, "plan": 100}
    )
    assert codes(summary(trial, connections=kept)) == ["reconnects"]
    few = Connections(attempted=700, opened=700, closed={"server": 600})
    assert codes(summary(trial, connections=few)) == []


def test_a_starved_generator_explains_a_few_slow_replies(trial: Trial) -> None:
    body = {300_000 + i * 1000: 10 for i in range(300)}
    waited = Generator(run_queue_ns=trial.summary.end_ns // 5)
    for share, found in ((30, ["starved"]), (300, ["starved", "40-ms-mode"])):
        slow = times(trial, "service_time", {**body, 41 * MS: share})
        assert codes(summary(slow, generator=waited)) == found


def test_one_occasion_until_another_day_or_machine_is_there(trial: Trial) -> None:
    def at(started: str, cpu: str = "A") -> Trial:
        machine = trial.machine.model_copy(update={"facts": {"cpu": cpu}})
        return trial.model_copy(update={"started_at": started, "machine": machine})

    first = at("2026-11-20T23:30:00Z")
    # Midnight alone makes no other occasion.
    (found,) = warnings.of_occasions([first, at("2026-11-21T00:30:00Z")])
    assert found.code == "one-occasion"
    assert "another may differ by more than the intervals say (" in found.message
    for other in (at("2026-11-22T08:00:00Z"), at("2026-11-20T23:40:00Z", cpu="B")):
        assert warnings.of_occasions([first, other]) == ()
    assert warnings.of_occasions([first]) == ()


def test_three_occasions_are_enough_and_two_are_not(trial: Trial) -> None:
    many = [trial.model_copy(update={"occasion": occasion}) for occasion in (1, 1, 2, 2, 3, 3)]
    assert warnings.of_occasions(many) == ()
    (found,) = warnings.of_occasions(many[:4])
    assert found.message.startswith("two occasions are too few")


def test_few_trials() -> None:
    assert warnings.of_study({"A": 5, "B": 10}) == ()
    (some,) = warnings.of_study({"A": 4, "B": 5})
    assert (some.code, some.message) == ("few-trials", "few usable trials: A 4")
    (each,) = warnings.of_study({"A": 2, "B": 2})
    assert each.message == "only 2 usable trials of each scenario"


LINK = EmulatedLink(
    name="loss=1%", up="loss=1%", down="loss=1%", seed=1, carrier="engine", realtime=True
)
TCP_CONTROL = "net.ipv4.tcp_congestion_control"


def over(
    trial: Trial,
    http: Http,
    control: str | None = None,
    *,
    group: str = "main",
    link: EmulatedLink | None = LINK,
    told: Congestion | None = None,
) -> Trial:
    """The trial over this version of HTTP, on a machine with `reno`.

    `control` is that of its server's namespace, `told` what the server was told to have.
    """
    assert trial.subject is not None
    settings = ((TCP_CONTROL, control),) if control else ()
    there = Isolation(kind="link" if link else "namespace", settings=settings, link=link)
    target = trial.plan.target.model_copy(update={"http": http})
    return trial.model_copy(
        update={
            "scenario": trial.scenario.model_copy(update={"group": group}),
            "subject": trial.subject.model_copy(update={"isolation": there, "congestion": told}),
            "plan": trial.plan.model_copy(update={"target": target}),
            "machine": Machine(facts={"sysctls": {TCP_CONTROL: "reno"}}),
        }
    )


def test_another_congestion_control_of_tcp_is_told_where_it_is_compared_with_http_3(
    trial: Trial,
) -> None:
    quic = over(trial, Http(version="3"), "bbr")
    one, two = Http(), Http(version="2")
    (found,) = warnings.of_controls([quic, over(trial, two, "bbr")])
    assert found.code == "unlike-congestion"
    assert "TCP had the congestion control bbr, and HTTP/3 cubic" in found.message
    # What the namespace does not tell is the machine's.
    (found,) = warnings.of_controls([quic, over(trial, one), over(trial, two, "bbr")])
    assert "bbr and reno" in found.message
    for others in (
        [over(trial, two, "cubic")],
        [over(trial, two, "bbr", group="other")],
        [over(trial, two, "bbr", link=None)],
        [],
    ):
        assert warnings.of_controls([quic, *others]) == ()
    assert warnings.of_controls([over(trial, two, "bbr")]) == ()
    assert warnings.of_controls([trial.model_copy(update={"subject": None})]) == ()


def test_what_servers_were_told_counts_before_what_their_kernel_has(trial: Trial) -> None:
    quic = over(trial, Http(version="3"), told="cubic")
    two = Http(version="2")
    assert warnings.of_controls([quic, over(trial, two, "bbr", told="cubic")]) == ()
    (found,) = warnings.of_controls([quic, over(trial, two, "cubic", told="new-reno")])
    assert "TCP had the congestion control reno, and HTTP/3 cubic" in found.message
    # Where algorithms are compared, TCP's is among those of QUIC.
    varied = [over(trial, Http(version="3"), told=one) for one in ("cubic", "bbr")]
    assert warnings.of_controls([*varied, over(trial, two, told="bbr")]) == ()


def test_a_server_that_cannot_be_told_is_taken_to_have_what_the_generator_has(
    trial: Trial,
) -> None:
    quic = over(trial, Http(version="3", congestion="bbr"), "cubic")
    (found,) = warnings.of_controls([quic, over(trial, Http(version="2"), "cubic")])
    assert "TCP had the congestion control cubic, and HTTP/3 bbr" in found.message
    assert warnings.of_controls([quic, over(trial, Http(version="2"), "bbr")]) == ()
