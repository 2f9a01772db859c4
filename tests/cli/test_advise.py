"""`wiretrial advise`: a real server is measured, the advice is confirmed, nonsense is refused."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.advise.synthetic import limit
from tests.cli import checkouts
from tests.cli.conftest import Run
from wiretrial.catalogues import STUDIES
from wiretrial.cli import advise, limiting
from wiretrial.cli.limiting import Searched
from wiretrial.cli.output import Format
from wiretrial.errors import (
    EXIT_GATE,
    EXIT_GOOD,
    EXIT_INVALID,
    EXIT_SIGNAL,
    EXIT_USAGE,
    EngineFailed,
)
from wiretrial.results.advice import Advice, Measurement, Together
from wiretrial.results.limits import End

GENERATOR = ("--poller", "epoll", "-c", "2")
QUICK = ("-d", "100ms", "--warmup", "0", "--searches", "1", "--tolerance", "30%", *GENERATOR)
NOT_KEPT = (EXIT_GATE, EXIT_INVALID)
"""What a busy machine may come to: a time is no test's pass or fail."""


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "limit.json"
    path.write_text(limit().to_json(), encoding="utf-8")
    return path


def test_a_server_is_measured_and_the_advice_confirmed(
    wiretrial: Run, reference_url: str, tmp_path: Path
) -> None:
    sized = ("--users", "50k", "--think", "5s", "--goal", "p50 < 2s", "--goal", "errors < 1%")
    flags = (*sized, *QUICK, "--report", "page.html", "--format", "json", "-o", "advice.json")
    done = wiretrial("advise", reference_url, *flags)
    if done.returncode in NOT_KEPT:
        pytest.skip(f"this machine was too busy: {done.stderr}")
    assert done.returncode == EXIT_GOOD, done.stderr
    made = Advice.model_validate_json((tmp_path / "advice.json").read_text(encoding="utf-8"))
    assert made.demand.users == 50_000
    assert made.demand.rate <= 10_000
    (use,) = made.uses
    assert use.name == "server"
    assert use.high_ns > use.slope_ns >= 0
    assert len(made.beside) == 4
    assert "<title>http://127.0.0.1" in (tmp_path / "page.html").read_text(encoding="utf-8")

    program, *rest = shlex.split(made.command)
    assert program == "wiretrial"
    confirmed = wiretrial(*rest)
    assert confirmed.returncode in (EXIT_GOOD, *NOT_KEPT), confirmed.stderr
    told = confirmed.stdout.partition("\n")[0]
    assert "keeps" in told or confirmed.returncode != EXIT_GOOD

    again = wiretrial("advise", "--from", "advice.json", "--rate", f"{2 * made.demand.rate}")
    assert again.returncode == EXIT_GOOD, again.stderr
    assert "confirm: wiretrial limit" in again.stdout


@pytest.mark.alone
def test_a_server_is_started_twice_for_what_does_not_divide(wiretrial: Run, tmp_path: Path) -> None:
    checkouts.write(tmp_path / "shop")
    flags = ("--rate", "20", "--instances", "2", *QUICK, "--format", "json", "-o", "advice.json")
    done = wiretrial("advise", "./shop", *flags)
    assert checkouts.running(tmp_path) == []
    if done.returncode in NOT_KEPT:
        pytest.skip(f"this machine was too busy: {done.stderr}")
    assert done.returncode == EXIT_GOOD, done.stderr
    made = Advice.model_validate_json((tmp_path / "advice.json").read_text(encoding="utf-8"))
    assert made.limit.target == "./shop"
    assert made.command.startswith("wiretrial limit ./shop ")
    assert "--instances" not in made.command
    (use,) = made.uses
    assert (use.descriptors or 0) >= 2
    assert (use.descriptor_limit or 0) > 0
    assert "2 instances together:" in done.stderr
    if not made.together:
        pytest.skip(f"this machine was too busy: {made.division_lacks}")
    (several,) = made.together
    assert several.limit.target == "2 of ./shop"
    assert {level.connections for level in several.limit.levels} == {4}
    assert made.scaling is not None
    assert [size.instances for size in made.scaling.sizes] == [1, 2]

    again = wiretrial("advise", "--from", "advice.json", "--rate", "20", "--format", "json")
    assert again.returncode == EXIT_GOOD, again.stderr
    assert Advice.model_validate_json(again.stdout).scaling == made.scaling


def test_a_limit_starts_the_server_too(wiretrial: Run, tmp_path: Path) -> None:
    checkouts.write(tmp_path / "shop")
    flags = ("--from", "20", "--to", "20", *QUICK)
    done = wiretrial("limit", "--command", "python3 shop/server.py {port}", *flags)
    assert checkouts.running(tmp_path) == []
    assert done.returncode in (EXIT_GOOD, *NOT_KEPT), done.stderr
    assert done.stdout.startswith("python3 shop/server.py {port} ")


def test_a_kept_limit_is_enough(wiretrial: Run, kept: Path) -> None:
    priced = ("--machine", "small=0.17/h,4,16GiB", "--machine", "big=0.8/h,16,64GiB")
    done = wiretrial("advise", "--from", str(kept), "--rate", "20k", "--growth", "5%", *priced)
    assert (done.returncode, done.stderr) == (EXIT_GOOD, "")
    first, *_ = done.stdout.splitlines()
    assert first == "3 instances meet the goal for 20,000 requests/s; 4 if one may fail."
    told = " ".join(done.stdout.split())
    assert "small: 2 machines of 4 instances each, 0.34 per hour, one of them to spare" in told
    assert done.stdout.splitlines()[-1].startswith("confirm: wiretrial limit http://h/")


def test_several_that_shared_cpus_can_be_left_out(wiretrial: Run, tmp_path: Path) -> None:
    several = Together(instances=2, limit=limit(rate=5000.0), is_spread=True, shared_cpus=2)
    seen = Measurement(limit=limit(), together=(several,))
    (tmp_path / "seen.json").write_text(seen.to_json(), encoding="utf-8")
    asked = ("advise", "--from", "seen.json", "--rate", "20k")
    done = wiretrial(*asked)
    assert done.returncode == EXIT_INVALID, done.stderr
    assert "They shared 2 CPUs with the load generator" in done.stderr
    assert "--instances 1" in done.stderr
    done = wiretrial(*asked, "--instances", "1")
    assert done.returncode == EXIT_GOOD, done.stderr
    assert done.stdout.startswith("3 instances meet the goal for 20,000 requests/s")
    assert "not measured: one instance was asked for (--instances 1)" in done.stdout


def test_kept_studies_tell_which_server(
    wiretrial: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (study,) = [one for one in STUDIES.members() if one.name == "http-vs-websocket"]
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / study.name).symlink_to(study)
    monkeypatch.setenv("WIRETRIAL_STUDIES", str(tmp_path / "studies"))
    asked = ("--catalogue", "--users", "50k", "--think", "5s", "--payload", "64")
    done = wiretrial("advise", *asked, "--report", "page.html")
    assert (done.returncode, done.stderr) == (EXIT_GOOD, "page: page.html\n")
    told = " ".join(done.stdout.split())
    assert told.startswith("1 core of feathers over socketio+ws carries 50,000 users")
    assert "http: 4 instead of 1 (feathers, " in told
    assert "nothing was measured now" in told
    assert "wiretrial-choice" in (tmp_path / "page.html").read_text(encoding="utf-8")

    (tmp_path / "none").mkdir()
    monkeypatch.setenv("WIRETRIAL_STUDIES", str(tmp_path / "none"))
    done = wiretrial("advise", *asked)
    assert done.returncode == EXIT_USAGE
    assert "no kept trials are installed" in done.stderr


@pytest.mark.parametrize("ended", ["failed", "interrupted"])
def test_what_was_measured_outlives_an_early_end(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    ended: End,
) -> None:
    levels: Any = SimpleNamespace(signal=None, failure=None)
    if ended == "failed":
        levels.failure = EngineFailed("the engine was killed")
    else:
        levels.signal = 2
    own = limit(end=ended)
    seen = Searched(own, levels, beside=own.levels[:2], crowded=own.levels[2:3])
    monkeypatch.setattr(limiting, "searched", lambda *_, **__: seen)

    def end(**how: Any) -> object:
        try:
            return advise.advise("http://h/", rate="20k", **how)
        except EngineFailed as error:
            return error

    file = tmp_path / "measured.json"
    assert end(format_=Format.JSON, file=file) == (levels.failure or EXIT_SIGNAL + 2)
    made = Measurement.model_validate_json(file.read_text(encoding="utf-8"))
    assert made == Measurement(limit=own, beside=own.levels[:2], crowded=own.levels[2:3])
    assert capsys.readouterr().out == ""
    end()
    # Without a file it is told as `limit` would.
    assert capsys.readouterr().out.startswith("http://h/ keeps p99 < 200 ms up to 8,400 requests/s")


def test_a_measurement_without_an_advice_is_kept(
    wiretrial: Run, reference_url: str, tmp_path: Path
) -> None:
    flags = (
        "--rate",
        "9",
        "--machine",
        "tiny=0.01",
        *QUICK,
        "--format",
        "json",
        "-o",
        "measured.json",
    )
    done = wiretrial("advise", reference_url, *flags)
    if done.returncode in NOT_KEPT:
        pytest.skip(f"this machine was too busy: {done.stderr}")
    assert done.returncode == EXIT_USAGE
    *_, kept, refused = done.stderr.splitlines()
    assert kept == ("no advice; what was measured: measured.json (ask again: --from measured.json)")
    assert "no --machine holds a single instance" in refused
    whole = (tmp_path / "measured.json").read_text(encoding="utf-8")
    made = Measurement.model_validate_json(whole)
    assert (len(made.beside), len(made.crowded)) == (4, 2)

    again = wiretrial("advise", "--from", "measured.json", "--rate", "9")
    assert again.returncode == EXIT_GOOD, again.stderr


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("--catalogue", "http://h/", "--rate", "5"), "http://h/ with --catalogue"),
        (("--catalogue", "--rate", "5", "--goal", "p99 < 1s"), "--goal with --catalogue"),
        (("--catalogue", "--rate", "5", "--from", "limit.json"), "--from with --catalogue"),
        (("--catalogue", "--rate", "5", "--growth", "5%"), "--shared and --growth are about"),
        (("--catalogue", "--users", "5"), "--users without --think"),
        (
            ("--from", "limit.json", "--from", "limit.json", "--rate", "5"),
            "the same occasion twice",
        ),
        (("--from", "limit.json", "--rate", "5", "--size", "two.json"), "names no kept result"),
        (
            ("--from", "limit.json", "--rate", "5", "--size", "1=x"),
            "one instance is what the advice",
        ),
        (("--from", "limit.json", "--rate", "5", "--size", "2=none"), "none: No such file"),
        (("--from", "limit.json", "--rate", "5", "--instead", "ws"), "names no kept result"),
        (("--from", "limit.json", "--rate", "5", "--instead", "ws=none"), "none: No such file"),
        ((), "neither what to measure nor a kept result is named"),
        (("http://h/", "--rate", "5", "--instances", "2"), "--instances is of a server that is"),
        (("http://h/", "--rate", "5", "--command", "x"), "--command with http://h/: the one"),
        (("--from", "x.json", "--rate", "5", "--command", "x"), "--command with --from"),
        (("--from", "x.json", "--rate", "5", "--instances", "2"), "--instances with --from"),
        (("--catalogue", "--rate", "5", "--command", "x"), "--command with --catalogue"),
        (("http://h/",), "how much is to be carried is not said"),
        (("http://h/", "--users", "5", "--rate", "5"), "exclude each other"),
        (("http://h/", "--users", "5"), "--users without --think"),
        (("http://h/", "--rate", "5", "--think", "1s"), "--think is how long users wait"),
        (("http://h/", "--rate", "5", "--peak", "0"), "--peak 0: not a number above zero"),
        (("http://h/", "--rate", "5", "--machine", "4"), "names no machine"),
        (("http://h/", "--rate", "5", "--machine", "a=1,2"), "stand there twice"),
        (("http://h/", "--rate", "5", "--growth", "1"), "--growth 1: not a share"),
        (("http://h/", "--from", "x.json", "--rate", "5"), "http://h/ with --from"),
        (("--from", "none.json", "--rate", "5"), "none.json: No such file"),
        (("--from", "text.json", "--rate", "5"), "text.json is not JSON"),
        (("--from", "other.json", "--rate", "5"), "is no result of a search"),
        (("--from", "limit.json", "--users", "5"), "--users without --think"),
        (("--from", "limit.json", "--rate", "5", "--shared", "db"), "nothing of that name"),
    ],
)
def test_nonsense_is_refused_in_one_line(
    wiretrial: Run, kept: Path, typed: tuple[str, ...], says: str
) -> None:
    kept.with_name("text.json").write_text("no", encoding="utf-8")
    kept.with_name("other.json").write_text("{}", encoding="utf-8")
    done = wiretrial("advise", *typed)
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    (line,) = done.stderr.splitlines()
    assert says in line
    assert ": " in line
