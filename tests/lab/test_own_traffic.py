"""Servers of one's own as subjects: what they keep stands in a traffic file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, wiretrial
from tests.cli.test_load_traffic import HURL, ROUTES, TOML
from tests.cli.test_runs import MEASURED, results_of
from tests.lab.own_servers import described
from tests.lab.test_verify import cache_for_own, examined
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, EXIT_USAGE, UsageProblem
from wiretrial.plan import Load
from wiretrial.studies import admission
from wiretrial.studies.contracts import JSON_MESSAGE, case
from wiretrial.studies.spec import Case
from wiretrial.subjects import build, checks_traffic, registry, spec, verification
from wiretrial.subjects.spec import Subject

__all__ = ["cache_for_own", "wiretrial"]

SHOP = Path(__file__).parent / "programs" / "shop.py"
CONVERSATION = """\
[[flow]]
url = "{{base}}/chat?user=ann"
headers = {X-User = "ann"}
[[flow.step]]
await = {json = {"$.type" = "hello"}}
capture = {token = "$.token"}
[[flow.step]]
send = '{"type": "say", "id": {{seq}}, "user": "ann", "token": "{{token}}", "text": "hi"}'
reply = {json = {"$.type" = "ack", "$.id" = "{{seq}}"}}
[[flow.step]]
repeat = "from 2"
"""
UNTOLD = """
[[limits]]
part = "entry"
why = "prices are wrong on purpose"
"""


def write(folder: Path, rest: str = "[load]\nusers = 2\n") -> None:
    (folder / "shop.hurl").write_text(HURL, encoding="utf-8")
    (folder / "users.csv").write_text("user\nann\nbob\ncat\n", encoding="utf-8")
    (folder / "shop.toml").write_text(TOML % (1, rest), encoding="utf-8")


def _described(*flags: str) -> str:
    command = (sys.executable, str(SHOP), "{host}", "{port}", *flags)
    return described("mine", command, traffic="../shop.toml")


def mine(folder: Path, *flags: str, more: str = "", name: str = "mine") -> Subject:
    """The application as a subject, beside its traffic file."""
    write(folder)
    (folder / name).mkdir()
    (folder / name / spec.SPEC_FILE).write_text(_described(*flags) + more, encoding="utf-8")
    return registry.find(f"{folder}/{name}")


def echo(folder: Path) -> Case:
    """A case that asks the subject for what it does not claim."""
    return case(
        name="echo",
        subject=str(folder / "mine"),
        configuration="default",
        protocol="http",
        contract="http-echo",
        payload=JSON_MESSAGE,
        load=Load(connections=1),
        workload="x",
    )


def test_each_entry_is_verified_then_many_in_turn_and_at_once(
    engine: Engine, tmp_path: Path
) -> None:
    subject = mine(tmp_path)
    found = examined(subject, engine)
    assert [(one.part, one.check) for one in found.outcomes] == [
        *(("entry", route) for route in ROUTES),
        ("many", "100 requests on one connection"),
        ("concurrency", "50 sessions of 10 users at once"),
    ]
    assert {(one.contract, one.protocol) for one in found.outcomes} == {("traffic", "http")}
    assert found.problems(subject) == []
    built = build.install(subject, engine.binary)
    assert verification.verified(subject, built, "default", engine.binary) == found
    hurl = (tmp_path / "shop.hurl").read_text(encoding="utf-8").replace("== 24", "== 25")
    (tmp_path / "shop.hurl").write_text(hurl, encoding="utf-8")
    assert verification.verified(subject, built, "default", engine.binary) is None


def talking(folder: Path, *flags: str) -> Subject:
    """A chat as a subject; its traffic file has one conversation."""
    subject = mine(folder, *flags)
    (folder / "shop.toml").write_text(CONVERSATION, encoding="utf-8")
    described = subject.folder / spec.SPEC_FILE
    text = described.read_text(encoding="utf-8").replace('["http"]', '["ws"]')
    text = text.replace(str(SHOP), str(SHOP.with_name("chat.py")))
    described.write_text(text.replace('"{host}", "{port}"', '"--port", "{port}"'), encoding="utf-8")
    return registry.find(str(subject.folder))


def test_each_step_of_a_conversation_is_verified(engine: Engine, tmp_path: Path) -> None:
    found = examined(talking(tmp_path), engine)
    assert [(one.part, one.check, one.problem) for one in found.outcomes] == [
        ("entry", "open /chat", None),
        ("entry", "hello", None),
        ("entry", "say", None),
        ("entry", "close", None),
        ("many", "100 steps, one session after the other", None),
        ("concurrency", "50 sessions of 10 users at once", None),
    ]


def test_a_step_that_fails_among_many_users_is_told(engine: Engine, tmp_path: Path) -> None:
    # One is said alone, 25 in turn, 100 at once.
    found = examined(talking(tmp_path, "--fault", "leave", "--every", "30"), engine)
    (wrong,) = found.failed()
    assert wrong.part == "concurrency"
    assert wrong.problem is not None
    assert "requests of say wrong: " in wrong.problem


def test_a_conversation_with_a_subject_that_speaks_http_is_refused(
    engine: Engine, tmp_path: Path
) -> None:
    subject = mine(tmp_path)
    (tmp_path / "shop.toml").write_text(CONVERSATION, encoding="utf-8")
    with pytest.raises(UsageProblem) as problem:
        examined(subject, engine)
    told = "mine speaks http, and ../shop.toml goes over ws and wss: write speaks = "
    assert told in problem.value.line()


@pytest.mark.parametrize("talks", [False, True])
def test_where_nothing_was_asked_in_time_nothing_is_right(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, talks: bool
) -> None:
    monkeypatch.setattr(checks_traffic, "ASKING_LIMIT_S", 1e-6)
    found = examined(talking(tmp_path) if talks else mine(tmp_path), engine)
    first = "open /chat" if talks else ROUTES[0]
    assert [(one.part, one.check, one.problem) for one in found.outcomes] == [
        ("entry", first, "it was not asked within 1e-06 s")
    ]


def test_a_wrong_entry_is_told_and_nothing_is_measured(engine: Engine, tmp_path: Path) -> None:
    subject = mine(tmp_path, "--wrong-every", "1")
    found = examined(subject, engine)
    assert [one.check for one in found.outcomes] == ["login", "list", "item"]
    (problem,) = found.problems(subject)
    assert problem.startswith("traffic over http, item: $.price was -1")
    refused = admission.refusal(echo(tmp_path).model_copy(update={"contract": "traffic"}), found)
    assert refused is not None
    assert "answers its own traffic wrongly (item: $.price was -1" in refused


def test_a_limit_is_of_an_own_subject_too(engine: Engine, tmp_path: Path) -> None:
    subject = mine(tmp_path, "--wrong-every", "1", more=UNTOLD)
    found = examined(subject, engine)
    assert [one.known for one in found.failed()] == ["prices are wrong on purpose"]
    assert found.problems(subject) == []


def test_a_rare_fault_is_found_among_many(engine: Engine, tmp_path: Path) -> None:
    found = examined(mine(tmp_path, "--wrong-every", "20"), engine)
    (wrong, *_) = found.failed()
    assert wrong.part == "many"
    assert wrong.problem is not None
    assert wrong.problem.startswith("1 of them wrong, the first: item: $.price was -1")


def test_what_it_does_not_claim_is_refused_with_the_remedy(tmp_path: Path) -> None:
    subject = mine(tmp_path)
    asked = echo(tmp_path)
    refused = admission.unclaimed(asked, subject.spec)
    assert refused is not None
    assert 'name a traffic file in the workload, such as its own (traffic = "../shop.toml")' in (
        refused
    )
    played = asked.model_copy(update={"contract": "traffic"})
    assert admission.unclaimed(played, subject.spec) is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('traffic = "../shop.toml"', 'contracts = ["traffic"]', 'traffic = "shop.toml"'),
        ('traffic = "../shop.toml"', "", "or names a file that says what it answers"),
        ('speaks = ["http"]', 'speaks = ["http", "tcp"]', "speaks tcp, but no contract"),
        ('speaks = ["http"]', 'speaks = ["tcp"]', "speaks tcp, but no contract"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    (tmp_path / spec.SPEC_FILE).write_text(_described().replace(old, new), encoding="utf-8")
    with pytest.raises(UsageProblem) as refused:
        spec.load(tmp_path)
    assert words in refused.value.line()


def test_a_folder_is_written_filled_in_verified_and_compared(
    wiretrial: Run, tmp_path: Path
) -> None:
    write(tmp_path)
    cache = {build.ENVIRONMENT: str(tmp_path / "cache")}
    for name in ("v1", "v2"):
        made = wiretrial("subject", "new", name, "--traffic", "shop.toml")
        assert made.returncode == EXIT_GOOD, made.stderr
        assert f"put the command that starts it into {name}/subject.toml" in made.stdout
    unfilled = wiretrial("subject", "verify", "./v1", **cache)
    assert unfilled.returncode == EXIT_FAILED
    assert "PUT-YOUR-COMMAND-HERE: No such file" in unfilled.stderr
    for name in ("v1", "v2"):
        file = tmp_path / name / spec.SPEC_FILE
        text = file.read_text(encoding="utf-8")
        own = f'"{sys.executable}", "{SHOP}"'
        file.write_text(text.replace('"PUT-YOUR-COMMAND-HERE"', own), encoding="utf-8")
    verified = wiretrial("subject", "verify", "./v1", **cache)
    assert verified.returncode == EXIT_GOOD, verified.stderr
    assert verified.stdout.splitlines() == [
        "v1 (default): 6 of 6 checks passed",
        *(f"  http  {route}: right" for route in ROUTES),
        "  http  100 requests on one connection: right",
        "  http  50 sessions of 10 users at once: right",
    ]
    without = wiretrial("compare", "./v1", "./v2", **cache)
    assert without.returncode == EXIT_USAGE
    assert "v1 and v2 have no contract in common: name the requests: --traffic FILE" in (
        without.stderr
    )
    briefly = ("--traffic", "shop.toml", "--trials", "1", "-d", "300ms", "--warmup", "100ms")
    done = wiretrial("compare", "./v1", "./v2", *briefly, "-c", "2", **cache)
    assert done.returncode in MEASURED, done.stderr
    trials = results_of(tmp_path).trials()
    assert {trial.scenario.subject for trial in trials} == {"./v1", "./v2"}
    assert not any(error for trial in trials for error in trial.summary.counters.errors.values())


def test_a_broken_file_makes_no_folder(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path, "[laod]\n")
    done = wiretrial("subject", "new", "v1", "--traffic", "shop.toml")
    assert done.returncode == EXIT_USAGE
    assert "shop.toml:5:1: there is no key laod: did you mean load?" in done.stderr
    assert not (tmp_path / "v1").exists()
