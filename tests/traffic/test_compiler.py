"""What files are compiled to: routes, flows, feeds, load and goals."""

from __future__ import annotations

from typing import Any

import pytest

from tests.traffic.conftest import Compile
from tests.traffic.examples import FILES, GIVEN
from wiretrial.plan_traffic import Traffic, Words
from wiretrial.traffic.compiler import Scenario
from wiretrial.traffic.quantities import LoadShape, Stage

FLOW = '[[flow]]\nfile = "x.hurl"\n'
BASE = 'base = "http://h:8000"\n'


def dumped(scenario: Scenario) -> dict[str, Any]:
    found: dict[str, Any] = scenario.traffic.model_dump(mode="json", by_alias=True)
    return found


def route(scenario: Scenario, index: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = dumped(scenario)["routes"][index]
    return found


@pytest.mark.parametrize("name", FILES)
def test_example_compiles_to_what_the_engine_reads(compiled: Compile, name: str) -> None:
    scenario = compiled({"x.hurl": FILES[name], "content.txt": "text"}, **GIVEN)
    assert scenario.origin == "http://127.0.0.1:8000"
    crossed = scenario.traffic.model_dump_json(by_alias=True)
    assert Traffic.model_validate_json(crossed) == scenario.traffic


def test_a_request_has_what_hurl_would_send(compiled: Compile) -> None:
    scenario = compiled(
        {
            "x.hurl": "POST http://H:8000/é?x={{user}}\n"
            "X-A: {{user}}\n[Query]\nq: a&b c\nu: {{user}}\n[BasicAuth]\nann: x1\n"
            '{"u": "{{user}}", "n": {{n}}}\nHTTP 200\n'
        },
        user='a "b"',
        n="7",
    )
    assert scenario.origin == "http://h:8000"
    found = route(scenario)
    assert found["name"] == "POST /é?x={{user}}"
    assert found["target"] == [
        {"text": "/%C3%A9?x=a%20%22b%22&q=a%26b%20c&u=a%20%22b%22"},
    ]
    assert found["headers"] == [
        ["X-A", [{"text": 'a "b"'}]],
        ["Authorization", [{"text": "Basic YW5uOngx"}]],
        ["Content-Type", [{"text": "application/json"}]],
    ]
    assert found["body"] == [{"text": '{"u": "a \\"b\\"", "n": 7}'}]


def test_a_value_is_written_as_its_place_needs_it(compiled: Compile) -> None:
    scenario = compiled(
        {
            "t.toml": BASE + FLOW + 'feed = "u.csv"\n',
            "u.csv": "u\nann\n",
            "x.hurl": "POST {{base}}/{{u}}?a={{u}}\nA: {{u}}\n[Query]\nq: {{u}}\n"
            '{"u": "\\"{{u}}", "n": {{u}}, "i": "{{newUuid}}", "s": {{seq}}}\nHTTP 200\n',
        }
    )
    found = route(scenario)
    value = {"value": "u"}
    assert found["target"] == [
        {"text": "/"},
        value,
        {"text": "?a="},
        value,
        {"text": "&q="},
        {"url": "u"},
    ]
    assert found["headers"][0] == ["A", [value]]
    assert found["body"] == [
        {"text": '{"u": "\\"'},
        {"json": "u"},
        {"text": '", "n": '},
        value,
        {"text": ', "i": "'},
        {"make": "uuid"},
        {"text": '", "s": '},
        {"make": "seq"},
        {"text": "}"},
    ]


def test_a_form_is_a_body(compiled: Compile) -> None:
    found = route(compiled({"x.hurl": FILES["form-longer"]}, **GIVEN))
    assert found["body"] == [{"text": "user=a%26b"}]
    assert found["headers"] == [["Content-Type", [{"text": "application/x-www-form-urlencoded"}]]]


@pytest.mark.parametrize(
    ("line", "check"),
    [
        ("status < 300", {"of": "status", "test": ("<", 300)}),
        ('header "A" == "b"', {"of": {"header": "A"}, "test": ("==", "b")}),
        ('cookie "sid" exists', {"of": {"cookie": "sid"}, "test": {"is": "exists"}}),
        ("bytes count == 3", {"of": "bytes", "test": ("==", 3), "count": True}),
        ("body != `x`", {"of": "body", "test": ("!=", "x")}),
        (
            "jsonpath \"$['a'].b\" count > 1",
            {"of": {"json": "$.a.b"}, "count": True, "test": (">", 1)},
        ),
        ('jsonpath "$.a[*]" nth 1 isEmpty', {"of": {"json": "$.a[1]"}, "test": {"is": "empty"}}),
        (
            'jsonpath "$.a" not contains "x"',
            {
                "of": {"json": "$.a"},
                "not": True,
                "test": {"is": "contains", "with": {"json": "x"}},
            },
        ),
        (
            'body regex /a(b)/ startsWith "{{seq}}"',
            {
                "of": {"regex": "a(b)"},
                "test": {"is": "starts", "with": [{"make": "seq"}]},
            },
        ),
        (
            'jsonpath "$.a" == "{{user}}{{seq}}"',
            {
                "of": {"json": "$.a"},
                "test": {
                    "is": "compared",
                    "how": "==",
                    "with": {"text": [{"text": "ann"}, {"make": "seq"}]},
                },
            },
        ),
        ("body matches /a\\/b/", {"of": "body", "test": {"is": "matches", "pattern": "a/b"}}),
        ('jsonpath "$.a" isIsoDate', {"of": {"json": "$.a"}, "test": {"is": "type"}}),
        ("md5 == hex,00FF;", {"of": "body", "filters": ["md5"], "test": ("==", "00ff")}),
        (
            'jsonpath "$.a[?(@.b > 5)]" count == 2',
            {
                "of": "body",
                "filters": [{"jsonpath": "$.a[?(@.b > 5)]"}],
                "count": True,
                "test": ("==", 2),
            },
        ),
        (
            'jsonpath "$.a" replace /b+/ "c" split "," nth 0 toInt == 7',
            {
                "of": {"json": "$.a"},
                "filters": [
                    {"replace_regex": {"pattern": "b+", "new": "c"}},
                    {"split": ","},
                    {"nth": 0},
                    "to_int",
                ],
                "test": ("==", 7),
            },
        ),
    ],
)
def test_an_assert_is_a_check(compiled: Compile, line: str, check: dict[str, Any]) -> None:
    scenario = compiled({"x.hurl": f"GET http://h/\nHTTP *\n[Asserts]\n{line}\n"}, user="ann")
    (found,) = route(scenario)["expect"]["checks"]
    wanted = {"filters": [], "count": False, "not": False, **check}
    if isinstance(wanted["test"], tuple):
        how, value = wanted["test"]
        wanted["test"] = {"is": "compared", "how": how, "with": {"json": value}}
    if wanted["test"] == {"is": "type"}:
        wanted["test"] = {"is": "type", "name": "time"}
    if wanted["of"] == "bytes":
        wanted["count"] = False
    assert found == wanted


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ('jsonpath "$.a" includes 1', ["list", None]),
        ('jsonpath "$.a" not includes 1', ["list", None]),
        ('jsonpath "$.a[*]" includes 1', [None]),
        ('jsonpath "$.a" matches /a/', [None]),
        ('jsonpath "$.a" not startsWith "a"', ["string", None]),
        ("body not matches /a/", [None]),
    ],
)
def test_what_hurl_fails_for_its_type_fails_here(
    compiled: Compile, line: str, kinds: list[str | None]
) -> None:
    scenario = compiled({"x.hurl": f"GET http://h/\nHTTP *\n[Asserts]\n{line}\n"})
    found = route(scenario)["expect"]["checks"]
    assert [one["test"].get("name") for one in found] == kinds
    assert [one["not"] for one in found[:-1]] == [False] * (len(kinds) - 1)


@pytest.mark.parametrize(
    ("status", "wanted"), [("HTTP 200", {"in": [200]}), ("HTTP *", "any"), ("", "success")]
)
def test_the_status_that_is_right(compiled: Compile, status: str, wanted: object) -> None:
    scenario = compiled({"x.hurl": f"GET http://h/\n{status}\n"})
    assert route(scenario)["expect"]["status"] == wanted
    assert scenario.unchecked == (() if status else ("GET /",))


def test_headers_and_body_of_a_response_are_compared(compiled: Compile) -> None:
    scenario = compiled({"x.hurl": 'GET http://h/\nHTTP 200\nA: b\n{"u": "{{seq}}"}\n'})
    expect = route(scenario)["expect"]
    assert expect["body"] == [{"text": '{"u": "'}, {"make": "seq"}, {"text": '"}'}]
    assert expect["checks"][0]["of"] == {"header": "A"}


def test_names_are_unique_and_what_is_the_same_is_one(compiled: Compile) -> None:
    scenario = compiled(
        {
            "t.toml": BASE + FLOW + '[[flow]]\nfile = "y.hurl"\n',
            "x.hurl": "GET {{base}}/a\nHTTP 200\n\nGET {{base}}/a\nHTTP 200\nA: b\n",
            "y.hurl": "GET {{base}}/a\nHTTP 200\n\n# @name mine\nGET {{base}}/a\nHTTP 200\n",
        }
    )
    assert [one.name for one in scenario.traffic.routes] == ["GET /a", "GET /a (2)", "mine"]
    assert [[s.route for s in flow.steps] for flow in scenario.traffic.flows] == [[0, 1], [0, 2]]


def test_a_long_url_has_a_short_name(compiled: Compile) -> None:
    first, second = f"GET http://h/a?b={'c' * 300}", f"GET http://h/a?d={'é' * 300}"
    path = f"GET http://h/{'é' * 300}"
    scenario = compiled({"x.hurl": f"{first}\n\n{second}\n\n{path}\n"})
    names = [one.name for one in scenario.traffic.routes]
    assert names[:2] == ["GET /a?...", "GET /a?... (2)"]
    assert names[2].startswith("GET /éé")
    assert len(names[2].encode()) <= 190


def test_options_make_steps(compiled: Compile) -> None:
    scenario = compiled({"x.hurl": FILES["options"]}, base="http://h")
    (flow,) = dumped(scenario)["flows"]
    assert [step["think"] for step in flow["steps"]] == [
        {"kind": "constant", "ns": 500_000_000}
    ] * 3
    assert route(scenario)["target"] == [{"text": "/2"}]


def test_compressed_asks_for_the_codings_that_hurl_does(compiled: Compile) -> None:
    scenario = compiled({"x.hurl": FILES["options-as-is"]}, **GIVEN)
    one, two, three = (dict(route.headers) for route in scenario.traffic.routes)
    assert one == {"Accept-Encoding": (Words(text="gzip, deflate, br"),)}
    assert two == {"Accept-Encoding": (Words(text="br"),)}
    assert three == {}


def test_a_closed_loop_thinks_before_each_request_an_open_one_between_them(
    compiled: Compile,
) -> None:
    source = "GET http://h/a\nHTTP 200\n\nGET http://h/b\nHTTP 200\n"
    kinds = {}
    for load in ("users = 5", 'arrivals = "10/s"'):
        toml = FLOW + f'think = "uniform 1s 3s"\n[load]\n{load}\n'
        (flow,) = dumped(compiled({"t.toml": toml, "x.hurl": source}))["flows"]
        kinds[load] = [step["think"]["kind"] for step in flow["steps"]]
    assert kinds == {"users = 5": ["uniform"] * 2, 'arrivals = "10/s"': ["none", "uniform"]}


@pytest.mark.parametrize(
    ("text", "think"),
    [
        ("2s", {"kind": "constant", "ns": 2 * 10**9}),
        ("0s", {"kind": "none"}),
        ("constant 1500ms", {"kind": "constant", "ns": 1_500_000_000}),
        ("uniform 1s 3s", {"kind": "uniform", "low_ns": 10**9, "high_ns": 3 * 10**9}),
        ("exponential 2s", {"kind": "exponential", "mean_ns": 2 * 10**9}),
        ("lognormal 2s 0.6", {"kind": "lognormal", "median_ns": 2 * 10**9, "sigma": 0.6}),
    ],
)
def test_think_times(compiled: Compile, text: str, think: dict[str, Any]) -> None:
    scenario = compiled(
        {"t.toml": FLOW + f'think = "{text}"\n', "x.hurl": "GET http://h/\nHTTP 200\n"}
    )
    assert dumped(scenario)["flows"][0]["steps"][0]["think"] == think


@pytest.mark.parametrize(
    ("load", "shape"),
    [
        ("", LoadShape()),
        ("users = 500", LoadShape(users=500)),
        ('arrivals = "200/s"', LoadShape(rate=200)),
        ('arrivals = "120/min"\npacing = "poisson"', LoadShape(rate=2, pacing="poisson")),
        (
            'stages = [{for = "1m", to = "10/s"}, {for = "2m", from = "5/s", to = "0/s"}]',
            LoadShape(rate=10, stages=(Stage(60 * 10**9, 0, 10), Stage(120 * 10**9, 5, 0))),
        ),
        (
            'stages = [{for = "1s", from = 3, to = 3}, {for = "1s", to = 9}]',
            LoadShape(users=9, stages=(Stage(10**9, 3, 3), Stage(10**9, 3, 9))),
        ),
        ('users = 9\nconnections = "per-user"', LoadShape(users=9)),
        ("users = 9\nconnections = {pool = 2}", LoadShape(users=9, pool=2)),
        ('arrivals = "9/s"\nconnections = {pool = 50}', LoadShape(rate=9, pool=50)),
    ],
)
def test_the_load(compiled: Compile, load: str, shape: LoadShape) -> None:
    files = {"t.toml": f"{FLOW}[load]\n{load}\n", "x.hurl": "GET http://h/\nHTTP 200\n"}
    assert compiled(files).load == shape


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("u.csv", 'user,n\nann,1\n"b ""b""",2\n'),
        ("u.jsonl", '{"user": "ann", "n": 1}\n\n{"n": 2, "user": "b \\"b\\""}\n'),
    ],
)
def test_feeds(compiled: Compile, name: str, content: str) -> None:
    scenario = compiled(
        {
            "t.toml": BASE + FLOW + f'weight = 3\nfeed = {{file = "{name}", order = "shuffled"}}\n',
            name: content,
            "x.hurl": "GET {{base}}/{{user}}\nHTTP 200\n",
        }
    )
    assert dumped(scenario)["feeds"] == [
        {
            "name": name,
            "columns": ["user", "n"],
            "rows": [["ann", "1"], ['b "b"', "2"]],
            "order": "shuffled",
        }
    ]
    flow = scenario.traffic.flows[0]
    assert (flow.feed, flow.weight, flow.cookies) == (name, 3, True)


def test_variables_name_each_other_and_the_command_line_comes_first(compiled: Compile) -> None:
    toml = (
        'base = "http://{{host}}"\n[variables]\nhost = "{{name}}:80"\nname = "h"\nn = 2\n'
        + FLOW
        + '[headers]\nX-Name = "{{name}}"\n'
    )
    files = {"t.toml": toml, "x.hurl": "GET {{base}}/{{n}}\nHTTP 200\n"}
    scenario = compiled(files)
    assert scenario.origin == "http://h:80"
    assert route(scenario)["target"] == [{"text": "/2"}]
    assert scenario.headers == (("X-Name", "h"),)
    assert compiled(files, name="other").origin == "http://other:80"


def test_goals_are_of_routes_of_flows_and_of_the_whole(compiled: Compile) -> None:
    toml = FLOW + (
        '[goal]\n"login.p99" = "< 50ms"\nerrors = "<= 0.1%"\n"x.iteration.p50" = "< 2s"\n'
        'throughput = ">= 1k/s"\n"GET /a.b.max" = "< 1s"\n'
    )
    source = (
        "# @name login\nGET http://h/\nHTTP 200\n[Asserts]\nduration < 500\n\n"
        "GET http://h/a.b\nHTTP 200\n"
    )
    found = compiled({"t.toml": toml, "x.hurl": source}).goals
    assert [(goal.of, goal.figure, goal.relation, goal.value) for goal in found] == [
        ("login", "p99", "<", 50_000_000),
        (None, "errors", "<=", 0.001),
        ("x", "iteration.p50", "<", 2 * 10**9),
        (None, "throughput", ">=", 1000),
        ("GET /a.b", "max", "<", 10**9),
        ("login", "max", "<", 500_000_000),
    ]
