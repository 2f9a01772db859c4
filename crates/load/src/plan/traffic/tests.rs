//! What is refused of traffic, and how that is said.

use serde_json::{Value, json};

use super::{Part, Place, Think, Written};
use crate::plan::{Plan, PlanError};

/// A plan that is right.
fn right() -> Value {
    json!({
        "schema": "wiretrial-plan",
        "version": 1,
        "target": {"url": "http://h:80", "http": {"headers": [["Accept", "a"]]}},
        "load": {"connections": 2},
        "stop": {"sessions": 5},
        "traffic": {
            "feeds": [{"name": "users", "columns": ["user"], "rows": [["ann"], ["bob"]]}],
            "routes": [
                {
                    "name": "login", "method": "POST", "target": [{"text": "/l?u="}, {"url": "user"}],
                    "captures": [{"name": "token", "of": {"json": "$.t[0]"}}],
                },
                {
                    "name": "use", "method": "GET", "target": [{"text": ""}, {"text": "/"}, {"text": "u"}],
                    "headers": [["T", [{"value": "token"}]]],
                },
            ],
            "flows": [{"name": "f", "feed": "users", "steps": [{"route": 0}, {"route": 1}]}],
        },
    })
}

/// The same with another value at this place.
fn with(pointer: &str, value: Value) -> Result<Plan, PlanError> {
    changed(right(), pointer, value)
}

/// A plan with another value at this place.
pub(super) fn changed(mut plan: Value, pointer: &str, value: Value) -> Result<Plan, PlanError> {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = plan.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer}"));
    match name.parse::<usize>() {
        Ok(index) if parent.is_array() => parent[index] = value,
        _ => parent[name] = value,
    }
    Plan::from_json(&plan.to_string())
}

#[test]
fn names_are_resolved_and_texts_joined() {
    let plan = Plan::from_json(&right().to_string()).expect("a plan");
    let traffic = plan.traffic.expect("traffic");
    assert_eq!(traffic.values, ["user", "token"]);
    let [login, used] = &traffic.routes[..] else { panic!("two routes") };
    assert_eq!(login.target[1], Part::Value(0, Written::Url));
    assert_eq!(used.target, [Part::Text("/u".to_owned())]);
    assert_eq!(used.headers[0], ("Accept".to_owned(), vec![Part::Text("a".to_owned())]));
    assert_eq!(used.headers[1], ("T".to_owned(), vec![Part::Value(1, Written::Plain)]));
    assert_eq!((login.statuses.as_slice(), login.captures[0].in_head), (&[(200, 299)][..], true));
    let super::Found::Json(path) = &login.captures[0].of else { panic!("a path") };
    assert_eq!(path.places, [Place::Member("t".to_owned()), Place::Element(0)]);
    assert_eq!((traffic.flows[0].feed, traffic.flows[0].steps[1].think), (Some(0), Think::None));
}

type Row = (&'static str, Value, &'static str);

fn row(pointer: &'static str, value: Value, says: &'static str) -> Row {
    (pointer, value, says)
}

/// Each value at its place is refused so, on one line.
fn refused(rows: impl IntoIterator<Item = Row>) {
    refused_in(&right(), rows);
}

/// The same of another plan.
pub(super) fn refused_in(plan: &Value, rows: impl IntoIterator<Item = Row>) {
    for (pointer, value, says) in rows {
        let error = changed(plan.clone(), pointer, value.clone()).expect_err(says).to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{pointer} {value}: {error}");
    }
}

#[test]
fn how_it_is_sent_must_fit() {
    refused([
        row("/target/url", json!("ws://h"), "routes are asked over http"),
        row("/target/url", json!("ws://h/path"), "is no origin of traffic"),
        row("/target/url", json!("tcp://h:1"), "is no origin of traffic"),
        row("/target/url", json!("http://h/path"), "is no origin of traffic"),
        row("/target/http", json!({"method": "GET"}), "leave those of the target out"),
        row("/target/expect", json!({"status": 201}), "leave those of the target out"),
        row("/load/depth", json!(2), "sends one request after the other"),
        row("/load/requests_per_connection", json!(5), "sends one request after the other"),
        row("/load/executor", json!({"kind": "hold"}), "load.executor: sessions of traffic begin"),
        row(
            "/load/executor",
            json!({"kind": "open", "rate": 1.0, "pacing": "phased"}),
            "load.executor",
        ),
        row(
            "/load/executor",
            json!({"kind": "open", "rate": 1.0, "overflow": "drop"}),
            "load.executor",
        ),
        row("/stop", json!({"requests": 5}), "use stop.sessions"),
        row("/stop", json!({}), "neither a duration"),
        row("/stop/sessions", json!(0), "stop.sessions starts at 1"),
        row("/traffic", json!(null), "only traffic has sessions"),
    ]);
}

#[test]
fn what_a_sample_is_asked_must_be_right() {
    refused([
        row("/traffic/sample", json!(1.5), "traffic.sample: 1.5 is no share from 0 to 1"),
        row(
            "/traffic/routes/0/expect",
            json!({"checks": [{"of": "body", "filters": [{"jsonpath": "$["}],
                               "test": {"is": "exists"}}]}),
            "'login': expect.checks[0]: '$[' is no path of RFC 9535",
        ),
        row(
            "/traffic/routes/0/expect",
            json!({"checks": [{"of": "body", "filters": [{"replace": {"old": "", "new": "b"}}],
                               "test": {"is": "exists"}}]}),
            "nothing can't be replaced",
        ),
    ]);
}

#[test]
fn a_pool_is_of_users_of_traffic_on_one_thread() {
    let plan = with("/load/users", json!(1000)).expect("a plan");
    assert_eq!((plan.load.users, plan.tells_response_times()), (Some(1000), true));
    let whole = json!({"first_worker": 0, "workers": 2, "first_connection": 0, "connections": 9});
    let mut shared = right();
    shared["load"]["users"] = json!(9);
    refused_in(
        &shared,
        [
            row("/load/users", json!(0), "load.users: 0 is outside 1 to"),
            row("/share", whole, "belongs to one thread of one engine"),
            row("/load/depth", json!(2), "sends one request after the other"),
        ],
    );
    shared["load"]["connections"] = json!(2);
    refused_in(&shared, [row("/generator", json!({"threads": 2}), "use --threads 1")]);
    (shared["traffic"], shared["stop"]) = (json!(null), json!({"requests": 5}));
    refused_in(&shared, [row("/load/seed", json!(1), "only users of traffic share connections")]);
}

#[test]
fn table_of_what_is_refused() {
    let constant = json!({"kind": "constant", "ns": 5});
    refused([
        row("/traffic/routes", json!([]), "there is no route"),
        row("/traffic/flows", json!([]), "there is no route, or no flow"),
        row("/traffic/routes/1/name", json!("login"), "traffic.routes 'login': there are two"),
        row("/traffic/routes/1/name", json!("x".repeat(201)), "a name has 1 to 200 bytes"),
        row(
            "/traffic/routes/1/target",
            json!([{"value": "none"}]),
            "'use' needs 'none', which is no",
        ),
        row("/traffic/routes/0/body", json!([{"value": "token"}]), "'login' needs 'token'"),
        row("/traffic/flows/0/feed", json!(null), "'login' needs 'user'"),
        row("/traffic/flows/0/feed", json!("none"), "there is no feed 'none'"),
        row("/traffic/flows/0/steps", json!([]), "it has no steps"),
        row("/traffic/flows/0/steps", json!([{"route": 2}]), "there is no route or line 2"),
        row("/traffic/flows/0/weight", json!(0), "a weight begins at 1"),
        row("/traffic/flows/0/weight", json!(70_000), "are over 65536"),
        row(
            "/traffic/flows/0/steps/1/think",
            json!({"kind": "uniform", "low_ns": 2, "high_ns": 1}),
            "exchange them",
        ),
        row(
            "/traffic/flows/0/steps/1/think",
            json!({"kind": "lognormal", "median_ns": 1, "sigma": -1.0}),
            "sigma",
        ),
        row(
            "/traffic/flows/0/steps/1/think",
            json!({"kind": "constant", "ns": 90_000_000_000_000_u64}),
            "over a day",
        ),
        row("/traffic/feeds/0/rows", json!([]), "traffic.feeds 'users': it has no rows"),
        row("/traffic/feeds/0/rows", json!([["a"], []]), "row 2 has 0 values for 1 columns"),
        row("/traffic/feeds/0/columns", json!(["a", "a"]), "row 1 has 1 values for 2 columns"),
        row("/traffic/routes/0/headers", json!([["Cookie", []]]), "cookies are kept by the flow"),
        row(
            "/traffic/routes/0/captures",
            json!([{"name": "token", "of": {"json": "t"}}]),
            "a path begins with $",
        ),
        row(
            "/traffic/routes/0/captures",
            json!([{"name": "token", "of": {"json": "$..t"}}]),
            "descendants",
        ),
        row(
            "/traffic/routes/0/captures",
            json!([{"name": "token", "of": {"regex": "("}}]),
            "unclosed group",
        ),
        row(
            "/traffic/routes/0/captures",
            json!([{"name": "token", "of": "body", "most": 0}]),
            "most is 1 to",
        ),
        row("/traffic/routes/0/expect", json!({"status": {"in": []}}), "no status is right"),
        row("/traffic/routes/0/expect", json!({"status": {"in": [99]}}), "99 is no HTTP status"),
        row(
            "/traffic/routes/0/expect",
            json!({"checks": [{"of": "body", "test": {"is": "matches", "pattern": "["}}]}),
            "expect.checks[0]: '['",
        ),
        row(
            "/traffic/routes/0/expect",
            json!({"checks": [{"of": "body", "test": {"is": "shape", "shape": {"pattern": "["}}}]}),
            "expect.checks[0]: shape of $: pattern '[': unclosed character class",
        ),
        row(
            "/traffic/routes/0/expect",
            json!({"checks": [{"of": {"header": "A"}, "test": {"is": "shape", "shape": {}}}]}),
            "expect.checks[0]: only the body, and what is at a place of it, has a shape",
        ),
        row("/load/stages", json!([{"for_ns": 1, "from": 0.0, "to": 1.5}]), "1.5 is no share"),
        row(
            "/load/stages",
            json!([{"for_ns": 1, "from": 1.0, "to": 0.0}]),
            "give stop.duration_ns",
        ),
        row("/traffic/routes/0/nothing", json!(1), "unknown field `nothing`"),
    ]);
    assert!(with("/traffic/flows/0/steps/0/think", constant.clone()).is_ok(), "closed loop");
    let mut open = right();
    open["load"]["executor"] = json!({"kind": "open", "rate": 5.0});
    assert!(Plan::from_json(&open.to_string()).is_ok());
    open["traffic"]["flows"][0]["steps"][0]["think"] = constant;
    let error = Plan::from_json(&open.to_string()).expect_err("who arrives does not think");
    assert!(error.to_string().contains("leave that one's think time out"), "{error}");
}

#[test]
fn what_stands_in_heads_and_whose_rows_are_theirs_is_looked_at() {
    let mut plan = right();
    plan["traffic"]["feeds"][0]["order"] = json!("unique");
    assert!(Plan::from_json(&plan.to_string()).is_ok());
    plan["load"]["connections"] = json!(3);
    let error = Plan::from_json(&plan.to_string()).expect_err("three users").to_string();
    assert!(error.contains("its feed has 2 rows for 3 users"), "{error}");
    plan["load"]["executor"] = json!({"kind": "open", "rate": 5.0});
    assert!(Plan::from_json(&plan.to_string()).is_ok(), "each session takes another");
    for (pointer, value) in [
        ("/traffic/routes/0/headers", json!([["U", [{"value": "user"}]]])),
        ("/traffic/routes/0/target", json!([{"value": "user"}])),
    ] {
        let mut plan = right();
        plan["traffic"]["feeds"][0]["rows"] = json!([["/ann"], ["b\nob"]]);
        *plan.pointer_mut(pointer.trim_end_matches("/headers")).expect("a place") = match pointer {
            "/traffic/routes/0/headers" => {
                let mut route = right()["traffic"]["routes"][0].clone();
                route["headers"] = value;
                route
            }
            _ => value,
        };
        let error = Plan::from_json(&plan.to_string()).expect_err(pointer).to_string();
        assert!(error.contains("'user' of row 2 can't stand"), "{error}");
    }
}
