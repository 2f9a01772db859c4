"""The bench of sessions: what generators print is read right, and each is asked for the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import sessions, shopping, table, traffic_table
from bench.measure import RunFailed
from bench.sessions import Artillery, Ask, Counted, EngineSessions
from wiretrial.plan import Plan

SAID = '{"right": 90, "wrong": {"create total_cents": 2}, "list_p99_ms": 301.5}'
CONSOLE = """
* POST /orders - create

  not ok statusCode 500
  expected: 201
  ok contentType json
  not ok equals undefined, u8
* GET /items/80 - item

  ok statusCode 200
  not ok equals u55, u54
  User variables:
    cents: 8700
* POST /orders - create

  ok statusCode 201
  not ok equals 701, 700
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As the bench lays it out."""
    laid_out = tmp_path_factory.mktemp("session")
    shopping.lay_out(laid_out)
    return laid_out


def asked(folder: Path, think_s: float = 0.0) -> Ask:
    return Ask("http://127.0.0.1:9", 7, 3, think_s, folder, 1)


def test_a_script_says_in_its_last_line_what_it_counted() -> None:
    text = f"warming up\n{SAID}\nType  Name  # reqs\n"
    assert Counted.last_line(text) == Counted(90, {"create total_cents": 2}, 301.5)
    with pytest.raises(RunFailed, match="how many replies"):
        Counted.last_line("killed\n")


def test_artillery_shows_each_wrong_reply_once(folder: Path) -> None:
    said = {
        "counters": {"http.responses": 50},
        "summaries": {"plugins.metrics-by-endpoint.response_time.list": {"p99": 320.6}},
    }
    (folder / Artillery.OUTPUT).write_text(json.dumps({"aggregate": said}), encoding="utf-8")
    counted = Artillery().counted(CONSOLE, folder)
    wrong = {"create statusCode": 1, "item equals": 1, "create equals": 1}
    assert counted == Counted(47, wrong, 320.6)
    assert set(Artillery.names.values()) == set(wrong)


def test_the_engine_is_asked_for_the_session(folder: Path) -> None:
    engine = EngineSessions(Path("engine"), "uring")
    plan = Plan.model_validate_json(engine.start(asked(folder)).told)
    assert plan.traffic is not None
    assert [route.name for route in plan.traffic.routes] == ["login", "list", "item", "create"]
    assert plan.load.connections == 7
    assert plan.generator.cpus == (1,)
    thinking = Plan.model_validate_json(engine.start(asked(folder, 4.0)).told)
    assert thinking.traffic is not None
    assert thinking.traffic.flows[0].steps[1].think != plan.traffic.flows[0].steps[1].think


@pytest.mark.parametrize("file", ["a.hurl", "five.toml", "capture.hurl"])
def test_what_the_engine_alone_is_asked_compiles(folder: Path, file: str) -> None:
    told = EngineSessions(Path("engine"), "uring", file).start(asked(folder)).told
    plan = Plan.model_validate_json(told)
    assert plan.traffic is not None
    assert len(plan.traffic.flows) == (5 if file == "five.toml" else 1)


def test_a_row_has_the_total_of_its_order(folder: Path) -> None:
    lines = (folder / "users.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == shopping.FIELDS
    assert len(lines) == 1 + shopping.ROWS
    # The first item of page 2 is item 40, and costs 700 + 13 * 40 cents.
    assert lines[3] == "u2,2,3,3660"


def test_hyperfoil_gets_no_word_that_stands_for_something(folder: Path) -> None:
    written = (folder / "hyperfoil.hf.yaml").read_text(encoding="utf-8")
    plain = sessions.filled(written, asked(folder))
    assert "users: 7\n" in plain
    assert "duration: 3s\n" in plain
    assert "thinkTime" not in plain
    thinking = sessions.filled(written, asked(folder, 4.0))
    assert thinking.count("min: 2000ms\n            max: 6000ms\n") == 4
    for word in ("HOST", "USERS", "SECONDS", "MOST", "THINK\n"):
        assert word not in plain.partition("name:")[2]


def test_every_generator_names_each_fault_but_the_slow_list() -> None:
    every = [EngineSessions(Path("engine"), "uring"), sessions.Whole(), *sessions.peers()]
    named = {one.name: set(one.names) | {"slow"} for one in every}
    assert named == {one.name: set(shopping.FAULTS) for one in every}


def test_memory_is_that_of_1000_more_users() -> None:
    def crowd(megabytes: int) -> traffic_table.Crowd:
        return traffic_table.Crowd(megabytes * 1_000_000, 5)

    found: dict[int, list[traffic_table.Crowd | None]] = {
        1_000: [crowd(10), crowd(12), None],
        10_000: [crowd(100), crowd(102), crowd(999)],
    }
    row = traffic_table.memory("one", found)
    assert row is not None
    assert (row.rounds, row.few_bytes, row.many_bytes) == (2, 11_000_000, 101_000_000)
    assert row.per_1000_bytes == 10_000_000
    assert "10.00" in traffic_table.memory_text([row])
    assert traffic_table.memory("one", {1_000: [None], 10_000: [None]}) is None


def test_parts_are_kept_beside_each_other(tmp_path: Path) -> None:
    sample = table.Sample(1_000, 1.0, 0.005, 0.005, 1, 0.5)
    half = table.Sample(500, 1.0, 0.005, 0.005, 1, 0.5)
    rows = table.rows({"engine": [sample] * 3, "other": [half] * 3}, 1)
    seen = traffic_table.Seen("engine", {"total": 4, "slow": 9}, {"total": 4}, 301.0)
    path = tmp_path / "traffic.json"
    head = {"machine": {"cpus": "2"}}
    traffic_table.write(path, head, "cost", rows)
    traffic_table.write(path, head, "faults", [seen])
    document = json.loads(path.read_text(encoding="utf-8"))
    assert list(document["parts"]) == ["cost", "faults"]
    assert document["parts"]["cost"]["rows"][1]["ratio"] == 0.5
    assert "4 of 4" in traffic_table.faults_text([seen])
    assert "2.00 [2.00, 2.00]" in traffic_table.cost_text("session", rows)
