"""The study `web-frameworks`: whom it asks for what, at which rates, and in how much time."""

from __future__ import annotations

import re

from tests.lab.test_web_traffic import FOLDER
from tests.lab.whole_studies import by_label, check_claims, check_readme, check_time, of
from wiretrial.observers.watching import REST_S
from wiretrial.studies import estimate, registry
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import registry as subjects

NAME = "web-frameworks"
AT_ONE_RATE = ("JSON", "one row", "page", "session")
BELOW = ("laravel", "symfony")
"""As their quick starts have them they carry less than the rate of all."""
KINDS = ("plaintext", "20 rows", "20 updates", "20 cached rows", *AT_ONE_RATE)
EVERY_ROUTE = {path.stem for path in FOLDER.glob("*.toml")}


def labels(cases: list[Case]) -> set[str | None]:
    return {case.scenario.label for case in cases}


def test_every_framework_is_asked_for_every_route(document: Document, study: Study) -> None:
    for kind in KINDS:
        assert labels(of(study, kind)) >= set(document.subjects), kind
    files = {(case.scenario.file or "").removesuffix(".toml") for case in study.cases}
    assert files == EVERY_ROUTE
    for name in registry.subjects_of(NAME):
        assert subjects.find(name).spec.contracts == ("web",)


def test_both_forms_of_each_stand_beside_each_other_for_one_row(study: Study) -> None:
    asked = of(study, "one row, at one rate")
    tuned = {case.scenario.label for case in asked if case.scenario.configuration == "tuned"}
    plain = {case.scenario.label for case in asked if case.scenario.configuration == "default"}
    assert tuned - {f"{label}:tuned" for label in plain} == {f"{name}:tuned" for name in BELOW}
    assert len({case.scenario.group for case in asked}) == 1


def test_each_is_compared_with_express_and_its_quick_start_with_its_tuned_form(
    study: Study,
) -> None:
    for case in study.cases:
        own = case.scenario
        if own.twin_of or own.label == "express:tuned":
            assert own.baseline is None
            continue
        assert own.baseline is not None
        base = study.case(own.baseline).scenario
        is_plain = own.configuration == "default"
        assert base.label == (f"{own.subject}:tuned" if is_plain else "express:tuned")
        assert base.levels == own.levels


def test_a_common_rate_is_what_the_slowest_carries_of_the_same(study: Study) -> None:
    for kind in AT_ONE_RATE:
        at_rate = of(study, f"{kind}, at one rate")
        tops = {case.scenario.name for case in of(study, kind)}
        assert at_rate
        for case in at_rate:
            assert case.rate_from is not None
            assert set(case.rate_from.scenarios) == tops


def test_sessions_take_one_row_after_the_other(study: Study) -> None:
    """Of rows that are each user's own, arriving sessions would use up all."""
    for case in study.cases:
        feeds = case.traffic.feeds if case.traffic else ()
        assert all(feed.order != "unique" for feed in feeds)
    session = of(study, "session")[0]
    assert session.traffic is not None
    assert len(session.traffic.flows[0].steps) == 4
    assert session.load.connections == 32


def test_the_highest_rate_keeps_p99_below_50_ms(study: Study) -> None:
    searched = [case for case in study.cases if case.knee]
    assert {case.scenario.levels["workload"] for case in searched} == {"one row, the highest rate"}
    for case in searched:
        assert case.knee is not None
        assert (case.knee.quantile, case.knee.objective) == (0.99, 50_000_000)
    languages = {subjects.find(case.scenario.subject).spec.language for case in searched}
    assert languages == {"C++", "Go", "Java", "JavaScript", "PHP", "Python", "Ruby", "Rust"}


def test_each_is_started_as_it_is_compared(document: Document, study: Study) -> None:
    assert study.starts is not None
    assert study.starts.count == document.starts == 5
    started = [f"{name}:{configuration}" for name, configuration in study.starts.subjects]
    assert started == list(document.subjects)
    assert document.adoption


def test_it_fits_in_its_time(document: Document, study: Study) -> None:
    check_time(document, study, hours=2.5, quick_seconds=660, budget_hours=2.5)


def test_the_estimate_has_the_database_and_the_rest_before_each_load(study: Study) -> None:
    case = of(study, "plaintext")[0]
    # A server of the same load that has nothing behind it.
    own = case.scenario.model_copy(update={"subject": "ws"})
    alone = study.model_copy(update={"cases": (case.model_copy(update={"scenario": own}),)})
    whole = study.model_copy(update={"cases": (case,)})
    more_ns = estimate.estimate(whole).block_ns - estimate.estimate(alone).block_ns
    assert more_ns == estimate.DATABASE_NS + REST_S * 1_000_000_000


def test_every_claim_finds_its_sides(study: Study) -> None:
    assert len(study.claims) == 14
    check_claims(study, by_label)


def test_the_number_of_frameworks_is_said_right(document: Document) -> None:
    told = (document.question, (registry.find(NAME).folder / "README.md").read_text("utf-8"))
    numbers = re.findall(r"(\d+)\s+(?:web )?frameworks", " ".join(told))
    assert set(numbers) == {str(len(document.subjects))}


def test_the_readme_says_what_is_kept() -> None:
    check_readme(NAME)
