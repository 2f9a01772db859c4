"""Kept trials: small, whole, and enough for all that a report shows."""

from __future__ import annotations

import contextlib
import io
import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from tests.report.synthetic import NODE, demo_trials
from tests.report.synthetic_study import OBJECTIVE, SUBJECTS, searches
from tools import claims
from tools import results as remade
from wiretrial.cli import reports
from wiretrial.errors import StoreError
from wiretrial.report import coarse, contest, found, knees, merged, sent
from wiretrial.report import kept as kept_trials
from wiretrial.report.exports import table
from wiretrial.report.knees import Knee
from wiretrial.report.measures import Measured
from wiretrial.report.model import build
from wiretrial.results import absent, adoption, kept, offered, starts
from wiretrial.results import searches as on_record
from wiretrial.results.absent import Absent
from wiretrial.results.adoption import Adopted
from wiretrial.results.starts import Start
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import demo, document

ROOT = Path(__file__).parents[2]
STUDY = demo.study(trials=5, seed=1)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> ResultsFolder:
    """A study with trials, a subject that could not be had, the weight and a start of another."""
    made = ResultsFolder.create(tmp_path_factory.mktemp("base"), STUDY.name, STUDY.document())
    for trial in demo_trials():
        made.add(trial.model_copy(update={"study_digest": STUDY.digest()}))
    absent.keep(made, [Absent(subject="gone", reason="gone is unavailable: no compiler")])
    adoption.keep(made, [Adopted(subject="ws", language="JavaScript", licence="MIT")])
    started = {"contract": "ws-echo", "protocol": "ws", "first_reply_ns": 38_000_000}
    starts.keep(made, [Start.model_validate({"subject": "ws", "number": 1, **started})])
    return made


@pytest.fixture(scope="module")
def file(results: ResultsFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kept") / "trials.jsonl.xz"
    path.write_bytes(kept_trials.pack(results))
    return path


def test_what_is_kept_tells_all_that_the_trials_told(
    results: ResultsFolder, file: Path, tmp_path: Path
) -> None:
    again = kept.unpack(file, tmp_path)
    assert json.loads(again.document()) == json.loads(results.document())
    for beside in (absent, adoption, starts):
        assert beside.read(again) == beside.read(results) != ()
    whole, unpacked = (found.of_report(reports.whole(one)) for one in (results, again))
    assert unpacked == whole
    assert len(unpacked.sections) > 3
    assert found.of_report(reports.of_kept(kept.read(file))) == whole


def test_each_line_has_the_figures_of_its_record(file: Path) -> None:
    head, *lines = map(json.loads, lines_of(file))
    trials = kept.read(file).trials
    rows = table.rows(trials, head_adopted(head))
    assert (head["schema"], head["trials"]) == ("wiretrial-kept", len(lines))
    for line, row in zip(lines, rows, strict=True):
        known = {k: v for k, v in json.loads(json.dumps(row)).items() if v is not None}
        assert line["figures"] == near(known, 1e-5)
    assert {"occasion", "scenario", "throughput", "p99", "server"} <= lines[0]["figures"].keys()


def test_a_file_of_packed_histograms_is_still_read(file: Path, tmp_path: Path) -> None:
    head, *lines = map(json.loads, lines_of(file))
    old = tmp_path / "old.jsonl.xz"
    trials = kept.read(file).trials
    for line, trial in zip(lines, trials, strict=True):
        line["trial"] = trial.model_dump(mode="json", by_alias=True)
    text = "\n".join(map(json.dumps, ({**head, "version": 1}, *lines)))
    assert '"HISTF' in text
    old.write_bytes(lzma.compress(text.encode()))
    assert kept.read(old).trials == trials


def test_a_histogram_that_is_none_is_refused(file: Path, tmp_path: Path) -> None:
    head, line, *_ = lines_of(file)
    broken = tmp_path / "broken.jsonl.xz"
    spoilt = re.sub(r'("service_time":")\d', r"\1x", line)
    assert spoilt != line
    broken.write_bytes(lzma.compress(f"{head}\n{spoilt}\n".encode()))
    with pytest.raises(StoreError, match="holds no kept trials"):
        kept.read(broken)


def near(row: dict[str, object], share: float) -> dict[str, object]:
    """What equals the row but for so much of each figure with a fraction."""
    return {k: pytest.approx(v, rel=share) if isinstance(v, float) else v for k, v in row.items()}


def lines_of(file: Path) -> list[str]:
    return lzma.decompress(file.read_bytes()).decode().splitlines()


def head_adopted(head: dict[str, object]) -> tuple[Adopted, ...]:
    rows = head["adopted"]
    assert isinstance(rows, list)
    return tuple(map(Adopted.model_validate, rows))


@pytest.mark.parametrize(("most", "by_phase"), [(20, True), (3, True), (1, True), (1, False)])
def test_fewer_intervals_give_the_same_figures(most: int, by_phase: bool) -> None:
    for trial in demo_trials(blocks=1):
        small = coarse.of(merged.of(trial), most, by_phase=by_phase)
        assert len(small.intervals) <= 3 * most
        before, after = Measured(trial), Measured(small)
        assert after.throughput == pytest.approx(before.throughput)
        assert after.waiting_time.count == before.waiting_time.count
        assert after.waiting_time.quantile(0.99) == before.waiting_time.quantile(0.99)
        assert after.transport_bytes == pytest.approx(before.transport_bytes)
        assert after.generator_ns == pytest.approx(before.generator_ns)
        # Replies between two readings of the server's CPU are reckoned between intervals' ends.
        assert after.server_ns == pytest.approx(before.server_ns, rel=0.03)


def test_where_there_is_little_room_fewer_intervals_are_kept(
    results: ResultsFolder, file: Path, tmp_path: Path
) -> None:
    size = file.stat().st_size
    path = tmp_path / "small.jsonl.xz"
    path.write_bytes(kept_trials.pack(results, most_bytes=size - 1))
    assert path.stat().st_size < size
    fewer, whole = kept.read(path).trials[0], kept.read(file).trials[0]
    assert len(fewer.intervals) < len(whole.intervals)
    tries: list[int] = []
    with pytest.raises(StoreError, match=r"35 trials take more than 1,000 bytes"):
        kept_trials.pack(results, most_bytes=1000, told=tries.append)
    assert tries == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_where_there_is_less_room_quantiles_are_kept_and_tell_the_same(
    results: ResultsFolder, tmp_path: Path
) -> None:
    *_, fewest, pictures, figures, bare, least = (
        kept_trials.packed(results, tried) for tried in kept_trials.smaller(results)
    )
    assert len(fewest) > len(pictures) > len(figures) > len(bare) > len(least)
    whole = found.of_report(reports.whole(results))
    for name, wanted in (("pictures", pictures), ("bare", bare)):
        path = tmp_path / f"{name}.jsonl.xz"
        path.write_bytes(kept_trials.pack(results, most_bytes=len(wanted)))
        assert path.read_bytes() == wanted
        again = kept.unpack(path, tmp_path)
        assert found.of_report(reports.whole(again)) == whole


def test_with_the_least_room_figures_keep_what_tables_show(results: ResultsFolder) -> None:
    *_, bare, least = kept_trials.smaller(results)
    for some, few in zip(*map(table.rows, (bare.trials, least.trials)), strict=True):
        assert few == near(some, 2e-5)
    for trial in least.trials:
        assert len(trial.intervals) <= 3


OBJECTIVES = {f"{subject}: knee": OBJECTIVE for subject in SUBJECTS}


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> ResultsFolder:
    """Three searches, of which one was cut short."""
    base = tmp_path_factory.mktemp("searched")
    made = ResultsFolder.create(base, STUDY.name, STUDY.document())
    for trial in searches()[:-1]:
        made.add(trial)
    return made


def knees_of(results: ResultsFolder) -> tuple[Knee, ...]:
    colours = dict.fromkeys(OBJECTIVES, 0)
    return knees.knees(results.trials(), OBJECTIVES, colours, on_record.read(results))


def test_a_search_that_has_ended_can_keep_one_trial_and_tells_the_same(
    searched: ResultsFolder, tmp_path: Path
) -> None:
    *_, least = kept_trials.smaller(searched, OBJECTIVES)
    open_, *ended = sorted(knees_of(searched), key=lambda knee: knee.is_confirmed)
    assert [knee.has_ended for knee in (open_, *ended)] == [False, True, True]
    stay = Counter(trial.scenario.search for trial in least.trials)
    assert stay == {open_.name: len(open_.steps), **{knee.name: 1 for knee in ended}}
    at = {trial.scenario.search: offered.rate(trial) for trial in least.trials}
    assert [at[knee.name] for knee in ended] == [knee.sustained for knee in ended]

    file = tmp_path / "least.jsonl.xz"
    file.write_bytes(kept_trials.packed(searched, least))
    again = kept.unpack(file, tmp_path)
    assert knees_of(again) == knees_of(searched)
    model = [
        build(
            one.trials(),
            question="Q?",
            title="T",
            command="again",
            objectives=OBJECTIVES,
            searched=on_record.read(one),
        )
        for one in (searched, again)
    ]
    whole, fewer = (one.trials_measured for one in model)
    assert whole == fewer == len(searched.paths()) > len(again.paths())
    left = whole - len(again.paths())
    assert dict(sent.rows(model[1]))["Result"].endswith(f", and {left} steps of searches")
    # A second time nothing is lost either.
    *_, once_more = kept_trials.smaller(again, OBJECTIVES)
    assert once_more == least


def test_all_trials_of_a_search_are_kept_where_there_is_room(searched: ResultsFolder) -> None:
    first, *_, fewest = islice(kept_trials.smaller(searched, OBJECTIVES), 5)
    assert len(first.trials) == len(fewest.trials) == len(searched.paths())
    # Its rows tell how the line grew, so that its trials can have fewer intervals.
    name = first.searches[0].scenario
    before, after = (
        max(len(trial.intervals) for trial in tried.trials if trial.scenario.search == name)
        for tried in (first, fewest)
    )
    assert after <= 3 < before


def test_a_search_without_a_row_keeps_all_of_its_intervals(searched: ResultsFolder) -> None:
    *_, least = kept_trials.smaller(searched)
    assert [len(trial.intervals) for trial in least.trials] == [
        len(trial.intervals) for trial in searched.trials()
    ]


def test_what_holds_no_kept_trials_is_told(file: Path, tmp_path: Path) -> None:
    head, *lines = lines_of(file)
    path = tmp_path / "broken.jsonl.xz"
    for data, words in (
        (b"", "it is not whole"),
        (file.read_bytes()[:-20], "holds no kept trials"),
        (b"nonsense", "holds no kept trials"),
        (lzma.compress(b""), "holds no kept trials"),
        (lzma.compress(b'{"schema": "other"}\n'), "holds no kept trials"),
        (lzma.compress("\n".join([head, *lines[:-1]]).encode()), "34 of 35 trials"),
        (lzma.compress(f"{head}\n[]".encode()), "holds no kept trials"),
    ):
        path.write_bytes(data)
        with pytest.raises(StoreError, match=words):
            kept.read(path)


def test_the_pages_of_a_study_are_made_from_its_kept_trials(file: Path, tmp_path: Path) -> None:
    study = tmp_path / "mine"
    (study / kept.FILE).parent.mkdir(parents=True)
    (study / kept.FILE).write_bytes(file.read_bytes())
    text = (ROOT / "studies" / "game-bots" / document.DOCUMENT).read_text(encoding="utf-8")
    head, _, rest = text.partition("[[workload]]")
    head, _, _ = head.partition("[pictures]")
    # These trials have no picture over a factor.
    pictures = '[pictures]\n"best.svg" = "ranking-1"\n"none.svg" = "levels-1-idle"\n\n'
    (study / document.DOCUMENT).write_text(f"{head}{pictures}[[workload]]{rest}", encoding="utf-8")
    assert list(remade.with_trials(tmp_path)) == [study]
    made = remade.made(study)
    assert made.keys() == {"results/found.json", "RESULTS.md", "results/best.svg"}
    assert made["results/best.svg"].startswith("<svg")
    assert "35 trials" in made["RESULTS.md"]
    assert remade.made(study) == made


def example_of_the_docs() -> str:
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    return str(example)


def printed_by(example: str) -> str:
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(example, {})
    return told.getvalue().strip()


def test_a_reader_recomputes_a_published_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    figure = printed_by(example_of_the_docs())
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    assert f"in its native server, {figure}:" in page
    published = (ROOT / "studies" / "game-bots" / "RESULTS.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"\| JSON over WebSocket \| .* \| ✓ survives \|", published)
    assert f"| {figure} (" in row


def test_the_example_of_the_docs_gives_the_ratio_of_the_report(file: Path, tmp_path: Path) -> None:
    example = example_of_the_docs()
    for old, new in (
        ("studies/game-bots/results/trials.jsonl.xz", str(file)),
        (
            "table-native, JSON over WebSocket: bots, charged apart, over loopback",
            "WebSocket on Node",
        ),
        (
            "table-native, binary over TCP: bots, charged apart, over loopback",
            "HTTP keep-alive on Node",
        ),
        ('"server"', '"throughput"'),
    ):
        assert old in example
        example = example.replace(old, new)
    pairs = contest.run(
        [tuple(s for s in reports.whole(kept.unpack(file, tmp_path)).scenarios if s.group == NODE)]
    )[0].pairs["throughput"]
    assert pairs[0].comparison is not None
    assert float(printed_by(example)) == pytest.approx(1 / pairs[0].comparison.ratio, abs=0.006)


@pytest.mark.parametrize("study", list(remade.with_trials(ROOT / "studies")), ids=lambda p: p.name)
def test_no_kept_page_is_older_than_the_code_that_makes_it(study: Path) -> None:
    for name, text in remade.made(study).items():
        assert (study / name).read_text(encoding="utf-8") == text, "write it: make results"


def test_figures_are_kept_with_as_many_digits_as_every_processor_gives(
    results: ResultsFolder,
) -> None:
    kept = json.loads(found.of_report(reports.whole(results)).to_json())
    figures = list(floats(kept))
    assert figures
    assert all(float(f"{one:.9g}") == one for one in figures)


def floats(kept: object) -> Iterator[float]:
    """Every figure of what is kept."""
    match kept:
        case float():
            yield kept
        case dict() | list():
            for one in kept.values() if isinstance(kept, dict) else kept:
                yield from floats(one)


def test_the_page_of_claims_says_what_is_kept() -> None:
    assert claims.PAGE.read_text("utf-8") == claims.page(), "run `make results`"
