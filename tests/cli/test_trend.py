"""`wiretrial trend` and `gate --trend`, over results as they are stored.

The thirty commits are records of the real form with made-up figures, whose scatter is drawn from
kept trials of a real machine. Those of `commits.jsonl.xz` are real: `python -m bench.trend --keep`.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cli.conftest import Run
from tests.report import synthetic_trend
from wiretrial.live.server import LiveServer
from wiretrial.live.site import Site
from wiretrial.report import load_text
from wiretrial.results import kept
from wiretrial.results.store import ResultsFolder

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty commits, of which the 18th and all after it cost 5 % more."""
    base = tmp_path_factory.mktemp("slower")
    synthetic_trend.store(base, step=0.05, at=17)
    return base


@pytest.fixture(scope="module")
def equal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty commits that are equal."""
    base = tmp_path_factory.mktemp("equal")
    synthetic_trend.store(base)
    return base


def names(base: Path) -> list[str]:
    return sorted(path.name for path in base.iterdir() if path.is_dir())


def test_the_regression_of_one_of_thirty_commits_is_found(wiretrial: Run, slower: Path) -> None:
    done = wiretrial("trend", "--results", str(slower), "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = json.loads(done.stdout)["lines"]
    (step,) = line["steps"]
    assert step["kind"] == "worse"
    assert abs(int(step["after"]["revision"][1:]) - 17) <= 1
    assert -0.07 < step["ratio"] - 1 < -0.03
    shown = wiretrial("trend", "--results", str(slower)).stdout
    assert "WebSocket: Throughput, 30 results" in shown
    assert "worse since 2026-01-" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_none_is_found_in_thirty_equal_commits(wiretrial: Run, equal: Path) -> None:
    for metric in ("throughput", "cpu", "p50"):
        done = wiretrial("trend", "--results", str(equal), "--metric", metric)
        assert done.returncode == 0
        assert "no change shown" in done.stdout
        assert "worse" not in done.stdout


def test_a_gate_breaks_for_a_regression_of_late(wiretrial: Run, slower: Path, equal: Path) -> None:
    newest = str(slower / names(slower)[-1])
    broken = wiretrial("gate", newest, "--trend", "20")
    assert broken.returncode == 3
    assert broken.stdout.startswith("broken ")
    assert "worse since" in broken.stdout
    assert wiretrial("gate", newest, "--trend", "5").returncode == 0
    kept_ = wiretrial("gate", str(equal / names(equal)[-1]), "--trend", "20", "--format", "json")
    assert kept_.returncode == 0
    assert json.loads(kept_.stdout)["bounds"][0]["outcome"] == "kept"
    early = wiretrial("gate", str(slower / names(slower)[4]), "--trend", "20")
    assert early.returncode == 4
    assert "too few to tell" in early.stdout


def test_days_commits_and_patterns(wiretrial: Run, slower: Path, tmp_path: Path) -> None:
    for words in (
        ("--by", "day"),
        ("--by", "commit"),
        ("Web*",),
        ("compare", "--since", "2025-12-31"),
    ):
        done = wiretrial("trend", "--results", str(slower), *words)
        assert "worse since" in done.stdout, words
    order = tmp_path / "commits"
    order.write_text("".join(f"c{n:06} message\n" for n in range(30)), encoding="utf-8")
    done = wiretrial("trend", "--results", str(slower), "--commits", str(order))
    assert "worse since" in done.stdout
    only = wiretrial("trend", "--results", str(slower), "--where", "commit=c000003")
    assert "1 result" in only.stdout
    assert "too few to tell" in only.stdout
    table = wiretrial("trend", "--results", str(slower), "--format", "markdown")
    assert table.stdout.startswith("| scenario | figure | results | found |")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--results", "none"), "there is no folder none"),
        (("--results", "."), "holds no result: measure something first"),
        (("nothing",), "no result in {base} is what was asked for: there are compare"),
        (("--since", "soon"), "--since 'soon' is no date"),
        (("--since", "2099-01-01"), "is what was asked for"),
        (("--where", "commit"), "--where 'commit' is not KEY=VALUE"),
        (("--commits", "none"), "--commits none can't be read"),
        (("--metric", "memory"), "has the figure"),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line(
    wiretrial: Run, equal: Path, words: tuple[str, ...], told: str
) -> None:
    given = words if "--results" in words else ("--results", str(equal), *words)
    done = wiretrial("trend", *given)
    assert (done.returncode, done.stdout) == (2, "")
    assert told.format(base=equal) in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_gate_over_time_refuses_what_it_cannot_follow(wiretrial: Run, equal: Path) -> None:
    newest = str(equal / names(equal)[-1])
    for words, told in (
        ((newest, "--metric", "p50"), "--metric is of --trend"),
        ((newest, "--trend", "0"), "--trend"),
        (("none", "--trend", "5"), "there is no result none"),
    ):
        done = wiretrial("gate", *words)
        assert done.returncode == 2, words
        assert told in done.stderr


def test_a_damaged_result_is_told_and_the_others_stand(wiretrial: Run, tmp_path: Path) -> None:
    synthetic_trend.store(tmp_path)
    first = next((tmp_path / names(tmp_path)[0] / "trials").iterdir())
    first.write_bytes(b"no gzip")
    done = wiretrial("trend", "--results", str(tmp_path))
    assert done.returncode == 0
    assert "is damaged" in done.stdout
    assert "30 results" in done.stdout


def test_histories_of_other_tools_are_followed(wiretrial: Run, tmp_path: Path) -> None:
    entries = [
        {
            "commit": {"id": f"{number:040x}"},
            "date": 1769860800000 + number * 86_400_000,
            "tool": "cargo",
            "benches": [{"name": "cart", "value": 100 + number % 3 + 10 * (number > 14)}],
        }
        for number in range(30)
    ]
    data = tmp_path / "data.js"
    data.write_text(f"window.BENCHMARK_DATA = {json.dumps({'entries': {'Shop': entries}})}")
    taken = wiretrial("results", "import", "data.js")
    assert taken.returncode == 0
    assert "1 figure with 30 values of github-action-benchmark" in taken.stdout
    done = wiretrial("trend")
    assert "Shop: cart: Value, 30 results, imported from github-action-benchmark" in " ".join(
        done.stdout.split()
    )
    assert "worse since" in done.stdout
    for number in range(2):
        summary = {"metrics": {"http_req_duration": {"med": 10 + number}}}
        (tmp_path / "k6.json").write_text(json.dumps(summary), encoding="utf-8")
        words = ("--at", f"2026-01-0{number + 1}", "--label", f"commit=c{number}", "--name", "shop")
        assert wiretrial("results", "import", "k6.json", *words).returncode == 0
    (line,) = json.loads(wiretrial("trend", "k6", "--format", "json").stdout)["lines"]
    assert [point["revision"] for point in line["points"]] == ["c0", "c1"]
    assert [point["value"] for point in line["points"]] == [10e6, 11e6]
    bad = wiretrial("results", "import", "k6.json", "--at", "soon")
    assert bad.returncode == 2
    assert "--at 'soon' is no time" in bad.stderr


def test_the_site_shows_trends_with_links_to_both_sides(slower: Path) -> None:
    site = Site(slower, lambda folder: folder.folder.name, str)
    with LiveServer("127.0.0.1", 0, site, None) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            base = f"http://127.0.0.1:{server.server_address[1]}"
            with urlopen(f"{base}/", timeout=10) as answer:
                assert 'href="trend"' in answer.read().decode()
            with urlopen(f"{base}/trend?q=websocket&metric=throughput", timeout=60) as answer:
                page = answer.read().decode()
        finally:
            server.shutdown()
            thread.join()
    assert "worse since" in page
    assert '<svg class="picture"' in page
    before, after = sorted(name for name in names(slower) if f'<a href="{name}">' in page)
    assert abs(int(after.split("-")[1]) - 17) <= 1
    assert int(after.split("-")[1]) - int(before.split("-")[1]) == 1
    assert site.trends("", "nothing") is None
    assert "Nothing of this" in (site.trends("no such thing", "") or "")


def test_a_published_site_has_a_page_per_scenario(
    wiretrial: Run, slower: Path, tmp_path: Path
) -> None:
    done = wiretrial("site", "public", "--trend", str(slower))
    assert done.returncode == 0
    assert "0 scenarios, 1 over time: " in done.stderr
    (page,) = (tmp_path / "public" / "trends").iterdir()
    told = page.read_text()
    assert "Worse since 2026-01-" in told
    assert "points.csv</a>" in told
    bad = wiretrial("site", "public", "--trend", "none")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "there is no folder none: measure something first" in bad.stderr
    assert "(--trend)" in bad.stderr


def test_a_history_with_secrets_is_not_published(wiretrial: Run, tmp_path: Path) -> None:
    folder = ResultsFolder.create(tmp_path / "kept", "compare", "{}")
    trial = synthetic_trend.trial(0, 1.0, day=0)
    folder.add(trial.model_copy(update={"keeps_secrets": True}))
    done = wiretrial("site", "public", "--trend", "kept")
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds secrets: it was measured with --keep-secrets" in done.stderr


@pytest.mark.parametrize(("name", "is_found"), [("commits", True), ("equal", False)])
def test_real_loads_of_a_real_server(
    wiretrial: Run, tmp_path: Path, name: str, *, is_found: bool
) -> None:
    """Thirty loads each of a server that works for a set length; one set has a step of 5 %."""
    order = []
    for place, trial in enumerate(kept.read(DATA / f"{name}.jsonl.xz").trials):
        (tmp_path / f"{place:02}.json").write_text(load_text(trial), encoding="utf-8")
        order.append(trial.labels["commit"])
    (tmp_path / "order").write_text("\n".join(sorted(order)), encoding="utf-8")
    words = ("--results", ".", "--metric", "cpu", "--commits", "order", "--format", "json")
    (line,) = json.loads(wiretrial("trend", *words).stdout)["lines"]
    assert len(line["points"]) == 30
    found = [step for step in line["steps"] if step["kind"] in ("worse", "better")]
    if not is_found:
        assert found == []
        return
    (step,) = found
    assert step["kind"] == "worse"
    assert abs(int(step["after"]["revision"][1:]) - 18) <= 1
    assert 0.03 < step["ratio"] - 1 < 0.07
