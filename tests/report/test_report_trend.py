"""What is concluded from results over time: changes of the subject, and marks of all else."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from tests.report import synthetic_trend
from wiretrial.report import indexed, units
from wiretrial.report.canvas import NARROW, WIDE, Frame, inline_svg
from wiretrial.report.trend import briefs, forms, found, held, points, terms, words
from wiretrial.report.trend.points import Asked, Line, Point
from wiretrial.report.views import trend as view
from wiretrial.results.history import Result
from wiretrial.results.model import Revision, Trial

MACHINE = {"CPU": "one", "kernel": "6.1", "engine": "0.1.0"}


def line(
    levels: Sequence[float],
    *,
    scatter: float = 0.01,
    seed: int = 1,
    change: Callable[[int, Point], Point] = lambda _place, point: point,
    higher_is_better: bool = False,
) -> Line:
    """A line of p99 in nanoseconds, one result a day, each on a boot of its own."""
    draw = random.Random(seed)
    made = [
        change(
            place,
            Point(
                result=f"result-{place:02}",
                at=f"2026-{1 + place // 28:02}-{1 + place % 28:02}T10:00:00+00:00",
                value=1e6 * level * math.exp(draw.gauss(0, scatter)),
                revision=f"c{place:06}",
                boot=f"boot-{place}",
                terms=MACHINE,
            ),
        )
        for place, level in enumerate(levels)
    ]
    return Line("compare", "echo", "p99", "p99", units.TIMES, higher_is_better, tuple(made))


def slower(at: int, by: float = 0.05, many: int = 30) -> list[float]:
    return [1 + by * (place >= at) for place in range(many)]


def test_a_regression_is_told_with_its_results_and_its_size() -> None:
    judged = found.judge(line(slower(17)))
    (step,) = judged.changes
    assert step.kind == "worse"
    assert (step.before.result, step.after.result) == ("result-16", "result-17")
    assert step.results == (17, 13)
    assert step.low is not None
    assert step.high is not None
    assert 1.03 < step.low < step.ratio < step.high < 1.07
    said = words.sentence(judged.line, step)
    assert said.startswith("worse since 2026-01-18 10:00 (c000017): ")
    assert "17 results before and 13 since" in said
    assert judged.tested == 30
    assert judged.tells_newest


def test_more_of_what_is_better_is_no_regression() -> None:
    judged = found.judge(line(slower(10), higher_is_better=True))
    assert [step.kind for step in judged.steps] == ["better"]


def test_equal_results_say_how_much_would_be_found() -> None:
    judged = found.judge(line([1.0] * 30))
    assert judged.steps == ()
    assert judged.resolution is not None
    assert 0.01 < judged.resolution < 0.04
    assert words.verdict(judged).startswith("no change shown; about ")


def test_another_machine_is_a_mark_and_no_regression() -> None:
    """The level jumps by 20 % with the kernel: nothing is compared over it."""

    def upgraded(place: int, point: Point) -> Point:
        changed = {**MACHINE, "kernel": "6.5"}
        return (
            replace(point, terms=changed, reference=8e5)
            if place >= 15
            else (replace(point, reference=1e6))
        )

    judged = found.judge(line(slower(15, 0.2), change=upgraded))
    (step,) = judged.steps
    assert step.kind == "machine"
    assert step.differs == ("kernel 6.1 → 6.5",)
    assert judged.changes == ()
    said = words.sentence(judged.line, step)
    assert "the machine changed at 2026-01-16 10:00 (c000015) (kernel 6.1 → 6.5)" in said
    assert "the reference server −20.0 %" in said
    assert "not compared" in said


def test_what_became_slower_later_is_not_put_down_to_the_machine() -> None:
    """The kernel changes and nothing else; a step of 20 % follows after 12 results."""

    def upgraded(place: int, point: Point) -> Point:
        return replace(point, terms={**MACHINE, "kernel": "6.5"}) if place >= 6 else point

    judged = found.judge(line(slower(18, 0.2), change=upgraded))
    machine, regression = judged.steps
    assert (machine.kind, machine.results) == ("machine", (6, 12))
    assert machine.ratio == pytest.approx(1, abs=0.02)
    assert (regression.kind, regression.results) == ("worse", (12, 12))


def test_a_regression_on_one_machine_is_found_beside_another_one() -> None:
    """Two machines by turns, one a third slower: each is compared with itself."""

    def turns(place: int, point: Point) -> Point:
        if place % 2:
            return replace(point, value=point.value * 1.3, terms={**MACHINE, "CPU": "two"})
        return point

    many = 48
    judged = found.judge(line(slower(24, 0.06, many), change=turns))
    assert {step.kind for step in judged.steps} == {"worse"}
    assert any("by turns" in note for note in judged.notes)
    assert all(abs(int(step.after.result[-2:]) - 24) <= 2 for step in judged.steps)
    assert found.judge(line([1.0] * many, change=turns)).changes == ()


def test_another_load_is_a_mark() -> None:
    def more(place: int, point: Point) -> Point:
        return replace(point, terms={**MACHINE, "connections": "100" if place > 14 else "10"})

    judged = found.judge(line(slower(15, 0.5), change=more))
    assert [step.kind for step in judged.steps] == ["asked"]
    assert "another load" in words.sentence(judged.line, judged.steps[0])


def reference(places: range, share: float) -> Callable[[int, Point], Point]:
    """The reference server reaches `share` of its rate at these places, with its own scatter."""
    draw = random.Random(9)

    def changed(place: int, point: Point) -> Point:
        rate = 1e6 * (share if place in places else 1) * math.exp(draw.gauss(0, 0.01))
        return replace(point, reference=rate)

    return changed


def test_a_machine_that_slowed_down_is_not_told_as_the_server() -> None:
    """Same facts, but the reference server lost as much: a noisy neighbour, a new microcode."""
    judged = found.judge(line(slower(15, 0.1), change=reference(range(15, 30), 1 / 1.1)))
    (step,) = judged.steps
    assert step.kind == "machine"
    assert step.reference == pytest.approx(1 / 1.1, rel=0.02)
    said = words.sentence(judged.line, step)
    assert "the reference server moved too (−9" in said
    assert said.endswith("not the server's")


def test_what_the_machine_did_is_taken_out_of_a_change() -> None:
    judged = found.judge(line(slower(15, 0.2), change=reference(range(15, 30), 0.95)))
    (step,) = judged.changes
    assert step.kind == "worse"
    assert step.net == pytest.approx(1.2 * 0.95, rel=0.02)
    assert "which leaves +" in words.sentence(judged.line, step)


def test_a_reference_that_stood_still_changes_nothing() -> None:
    judged = found.judge(line(slower(15, 0.1), change=reference(range(0), 1)))
    (step,) = judged.changes
    assert step.net is None
    assert step.reference == pytest.approx(1, rel=0.02)


def test_memory_is_not_held_against_the_speed_of_the_reference() -> None:
    one = line(slower(15, 0.1), change=reference(range(15, 30), 1 / 1.1))
    judged = found.judge(replace(one, is_speed=False))
    assert [step.kind for step in judged.steps] == ["worse"]


def test_a_jump_at_one_of_few_boots_is_told_as_the_boot() -> None:
    def of_three(place: int, point: Point) -> Point:
        return replace(point, boot=f"boot-{place // 10}")

    judged = found.judge(line(slower(10, 0.05), change=of_three))
    (step,) = judged.steps
    assert step.kind == "boot"
    assert judged.changes == ()
    assert "Another boot may differ by as much" in words.sentence(judged.line, step)


def test_bounds_are_not_compared() -> None:
    def limited(place: int, point: Point) -> Point:
        return replace(point, bound="at least") if place < 20 else point

    judged = found.judge(line(slower(15, 0.3), change=limited))
    assert judged.changes == ()
    assert any("20 of 30 results are bounds" in note for note in judged.notes)
    assert any("12 results of one machine and load are needed" in note for note in judged.notes)


def test_a_change_between_results_of_one_commit_is_not_its_code() -> None:
    judged = found.judge(
        line(slower(15), change=lambda _place, point: replace(point, revision="same"))
    )
    (step,) = judged.changes
    assert "its code is not why" in words.sentence(judged.line, step)


def test_a_long_line_keeps_its_newest_results() -> None:
    judged = found.judge(line([1.0] * (found.MOST_POINTS + 10)))
    assert judged.tested == found.MOST_POINTS
    assert any("the 10 oldest results are left out" in note for note in judged.notes)


def test_reasons_that_differ_in_their_numbers_alone_are_told_once() -> None:
    few = [(f"r{came}", f"p99 needs 1,000 replies; {came} came") for came in ("991", "45", "986")]
    other = ("r9", "http3 failed in 2 of 5 trials")
    judged = found.judge(replace(line([1.0] * 20), left_out=(*few, other)))
    assert judged.notes == (
        "3 results left out: p99 needs 1,000 replies; 45 to 991 came",
        "1 result left out: http3 failed in 2 of 5 trials",
    )


# A gate over time.


def outcomes(one: Line, result: str, last: int) -> list[str]:
    return [row.outcome for row in held.rows([one], result, last)]


def test_a_gate_breaks_only_for_a_change_within_the_last_results() -> None:
    one = line(slower(20))
    assert outcomes(one, "result-29", 10) == ["broken"]
    assert outcomes(one, "result-29", 5) == ["kept"]
    # Before the change, the results after it are not known.
    assert outcomes(one, "result-19", 10) == ["kept"]
    assert outcomes(one, "result-05", 10) == ["cannot tell"]
    assert outcomes(one, "none", 10) == []


def test_a_gate_is_kept_once_the_level_is_good_again() -> None:
    levels = [1.1 if 10 <= place < 20 else 1.0 for place in range(30)]
    assert outcomes(line(levels), "result-29", 25) == ["kept"]
    assert outcomes(line([1.0 if place < 10 else 0.9 for place in range(30)]), "result-29", 25) == [
        "kept"
    ]


def test_a_gate_fails_for_a_result_without_the_figure() -> None:
    one = replace(line([1.0] * 12), left_out=(("result-99", "no usable trial"),))
    (row,) = held.rows([one], "result-99", 5)
    assert (row.outcome, row.text) == ("missing", "no usable trial")


def test_a_gate_cannot_tell_of_a_new_machine() -> None:
    one = line(
        [1.0] * 20,
        change=lambda place, point: replace(point, terms={"CPU": "new"}) if place > 16 else point,
    )
    assert outcomes(one, "result-19", 5) == ["cannot tell"]


# Points of results.


def result(name: str, *trials: Trial) -> Result:
    return Result(name, tuple(map(briefs.of, trials)))


def test_points_carry_commit_interval_boot_and_terms() -> None:
    trials = tuple(
        synthetic_trend.trial(block, 1.0, day=3, commit="c1", ceiling=2e5) for block in range(3)
    )
    (one,) = points.lines([result("r", *trials)], Asked(metric="throughput"))
    (point,) = one.points
    assert (one.study, one.scenario, one.figure) == ("compare", "WebSocket", "throughput")
    assert (point.result, point.trials, point.revision, point.boot) == ("r", 3, "c1", "boot-1")
    assert point.low is not None
    assert point.low < point.value
    assert point.reference == pytest.approx(2e5)
    assert point.terms["kernel"] == "6.1.0"
    assert point.terms["memory"] == "8 GiB"
    assert point.terms["connections"] == "100"
    assert "seed" not in point.terms


def test_without_a_label_the_subject_s_version_is_the_revision() -> None:
    one = synthetic_trend.trial(0, 1.0, day=0)
    (made,) = points.lines([result("r", one)], Asked())
    assert made.points[0].revision == "0.1.0"


def test_a_server_built_from_a_repository_needs_no_label() -> None:
    one = synthetic_trend.trial(0, 1.0, day=0)
    assert one.subject is not None

    def at(commit: str, *, dirty: bool = False, label: str | None = None) -> Trial:
        built = {"revision": Revision(commit=commit, dirty=dirty)}
        labels = {"commit": label} if label else {}
        subject = one.subject.model_copy(update=built) if one.subject else None
        return one.model_copy(update={"subject": subject, "labels": labels})

    told = [at("3f2a"), at("3f2a", label="mine"), at("3f2a", dirty=True)]
    revisions = [
        points.lines([result("r", trial)], Asked())[0].points[0].revision for trial in told
    ]
    assert revisions == ["3f2a", "mine", "0.1.0"], "changes that are in no commit have none"
    assert [indexed.row(trial).commit for trial in told] == ["3f2a", "mine", None]


def test_results_are_joined_by_commit_and_by_day() -> None:

    def of_day(name: str, day: int, commit: str) -> Result:
        return result(name, synthetic_trend.trial(0, 1.0, day=day, commit=commit))

    some = [of_day("a", 1, "c1"), of_day("b", 1, "c2"), of_day("c", 2, "c2")]
    values = {
        by: [point.revision for point in points.lines(some, Asked(by=by))[0].points]
        for by in ("result", "commit", "day")
    }
    assert values == {
        "result": ["c1", "c2", "c2"],
        "commit": ["c1", "c2"],
        "day": [None, "c2"],
    }


def test_commits_give_the_order_where_they_are_named() -> None:
    some = [
        result(f"r{place}", synthetic_trend.trial(0, 1.0, day=place, commit=f"{name}0000"))
        for place, name in enumerate(("ccc", "aaa", "bbb", "zzz"))
    ]
    (one,) = points.lines(some, Asked(commits=["aaa", "bbb", "ccc000000"]))
    assert [point.result for point in one.points] == ["r1", "r2", "r0"]


def test_only_results_with_a_label_are_taken() -> None:
    some = [result(name, synthetic_trend.trial(0, 1.0, day=1, commit=name)) for name in ("a", "b")]
    (one,) = points.lines(some, Asked(where={"commit": "b"}))
    assert [point.result for point in one.points] == ["b"]


def test_a_result_without_a_usable_trial_is_left_out_with_the_reason() -> None:
    one = synthetic_trend.trial(0, 1.0, day=1)
    bad = one.model_copy(
        update={"judgement": one.judgement.model_copy(update={"verdict": "invalid"})}
    )
    (made,) = points.lines([result("r", bad)], Asked())
    assert made.points == ()
    assert made.left_out == (("r", "no usable trial"),)


def test_differences_are_named() -> None:
    before: Mapping[str, str] = {"CPU": "a", "kernel": "6"}
    assert terms.differences(before, {"CPU": "b"}) == ["CPU a → b", "kernel 6 → not known"]
    assert terms.are_of_machine(before, {"CPU": "b"})
    assert not terms.are_of_machine(before, {**before, "payload": "64 bytes"})
    assert not terms.are_of_machine(before, before)


# What is shown.


def test_text_fits_its_width_and_names_both_results() -> None:
    judged = [found.judge(line([1.0] * 30)), found.judge(line(slower(17)))]
    shown = forms.text(judged, ("a problem",), 80)
    assert max(map(len, shown.splitlines())) <= 80
    # What became worse comes first.
    assert shown.index("worse since") < shown.index("no change shown")
    assert "between result-16 and result-17" in shown
    assert "at most 1 % of" in shown
    assert shown.endswith("a problem")


def test_markdown_is_a_table_and_sentences() -> None:
    shown = forms.markdown([found.judge(line(slower(17)))], ())
    assert "| echo | p99 | 30 | ❌ worse since 2026-01-18 10:00 (c000017), +" in shown
    assert "- echo: worse since" in shown


def test_the_document_has_points_and_steps() -> None:
    document = forms.document([found.judge(line(slower(17)))], ())
    (one,) = document["lines"]
    assert one["unit"] == "ns"
    assert len(one["points"]) == 30
    assert one["steps"][0]["kind"] == "worse"
    assert one["steps"][0]["after"]["revision"] == "c000017"


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_picture_shows_points_levels_and_changes(width: int) -> None:
    judged = found.judge(line(slower(17)))
    picture = view.picture(judged, Frame(width))
    svg = inline_svg(picture, "picture")
    assert svg.count("<title>") >= 30
    assert words.share(judged.changes[0].ratio) in svg
    assert "worse since 2026-01-18" in picture.alternative


def test_a_ratio_to_another_scenario_is_paired_by_block() -> None:
    """What slows both down in a block is in neither's ratio."""
    trials: list[Trial] = []
    for block, machine in enumerate((1.0, 0.5, 2.0)):
        one = synthetic_trend.trial(block, machine, day=1)
        other = synthetic_trend.trial(block, 2 * machine, day=1)
        name = other.scenario.model_copy(update={"name": "other"})
        trials += [one, other.model_copy(update={"scenario": name})]
    (made,) = points.lines([result("r", *trials)], Asked(against="other"))
    assert made.title == "Throughput over that of other"
    assert made.points[0].value == pytest.approx(0.5, rel=0.02)
    assert made.points[0].trials == 3
    (alone,) = points.lines([result("r", trials[0])], Asked(against="other"))
    assert alone.left_out == (("r", "no block has a usable trial of both it and other"),)
