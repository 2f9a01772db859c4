//! Traffic of many routes in sessions, against a small application: what a session sends, what is right,
//! and what is counted of it.

mod application;
mod asked;
#[path = "../common/certificates.rs"]
mod certificates;
#[path = "../common/exchanges.rs"]
mod exchanges;
#[path = "../common/outcome.rs"]
#[allow(dead_code, reason = "each test binary uses its own part of this")]
mod outcome;
mod right;
mod shared;
mod wrong;

use serde_json::{Value, json};
use wiretrial_load::measure::figures::{FlowFigures, RouteFigures, TrafficFigures};

use application::Application;
use outcome::{Outcome, histogram_of};

/// A check that something equals a value.
fn equals(of: &Value, value: &Value) -> Value {
    json!({"of": of, "test": {"is": "compared", "how": "==", "with": {"json": value}}})
}

/// The routes of the application: login, a list that needs its token and its cookie, and a page.
fn routes() -> Value {
    json!([
        {
            "name": "POST /login",
            "method": "POST",
            "target": [{"text": "/login"}],
            "headers": [["Content-Type", [{"text": "application/json"}]]],
            "body": [
                {"text": "{\"user\":\""}, {"json": "user"}, {"text": "\",\"n\":"}, {"make": "seq"}, {"text": "}"},
            ],
            "expect": {"checks": [equals(&json!({"json": "$.welcome"}), &json!(true))]},
            "captures": [{"name": "token", "of": {"json": "$.token"}}],
        },
        {
            "name": "GET /items",
            "method": "GET",
            "target": [{"text": "/items?of="}, {"url": "user"}],
            "headers": [["Authorization", [{"text": "Bearer "}, {"value": "token"}]]],
            "expect": {
                "status": {"in": [200]},
                "checks": [
                    {"of": {"json": "$.items[*].id"}, "count": true,
                     "test": {"is": "compared", "how": "==", "with": {"json": 20}}},
                    {"of": {"json": "$.of"},
                     "test": {"is": "compared", "how": "==", "with": {"text": [{"value": "user"}]}}},
                    {"of": {"header": "content-type"}, "test": {"is": "contains", "with": {"json": "json"}}},
                ],
            },
        },
        {
            "name": "GET /page",
            "method": "GET",
            "target": [{"text": "/page"}],
            "expect": {"body": [{"text": "a page"}]},
        },
    ])
}

/// Three users.
fn feeds(order: &str) -> Value {
    json!([{"name": "users", "columns": ["user"], "rows": [["ann"], ["b\"b &"], ["cy"]], "order": order}])
}

/// One who shops, three times as often as one who looks.
fn flows() -> Value {
    let think = json!({"kind": "exponential", "mean_ns": 1_000_000});
    json!([
        {
            "name": "shop", "weight": 3, "feed": "users",
            "steps": [{"route": 0}, {"route": 1, "think": think}, {"route": 1}],
        },
        {"name": "look", "weight": 1, "steps": [{"route": 2}]},
    ])
}

/// A plan of so many sessions.
fn plan(application: &Application, sessions: u64) -> Value {
    let poller = std::env::var("WIRETRIAL_TEST_POLLER").unwrap_or_else(|_| "auto".to_owned());
    json!({
        "schema": "wiretrial-plan",
        "version": 1,
        "target": {"url": application.url(), "tls": {"insecure": true}},
        "load": {"connections": 4, "seed": 7},
        "stop": {"sessions": sessions},
        "phases": {"connect_ns": 5_000_000_000_u64, "timeout_ns": 2_000_000_000_u64},
        "generator": {"poller": poller},
        "traffic": {"routes": routes(), "feeds": feeds("sequential"), "flows": flows()},
    })
}

/// Runs a plan of traffic: its sums are right in each interval, and those of routes and flows.
fn checked(plan: &Value) -> (Outcome, TrafficFigures) {
    let outcome = outcome::checked(plan);
    let all = outcome.summary.traffic.clone().expect("figures of traffic");
    let counters = &outcome.summary.counters;
    let sum = |of: fn(&RouteFigures) -> u64| all.routes.iter().map(of).sum::<u64>();
    assert_eq!(sum(|route| route.sent), counters.sent);
    assert_eq!(sum(|route| route.ok), counters.ok);
    assert_eq!(sum(|route| route.in_flight), counters.in_flight);
    assert_eq!(sum(|route| route.errors.values().sum()), counters.errors.values().sum::<u64>());
    assert_eq!(sum(|route| route.bytes_sent), outcome.summary.bytes.application_sent);
    for (index, route) in all.routes.iter().enumerate() {
        assert_eq!(route.sent, route.ok + route.errors.values().sum::<u64>() + route.in_flight);
        let times = route.histograms.get("service_time").map_or(0, |it| histogram_of(it).len());
        assert_eq!(times, route.ok, "each right reply was timed once");
        let of = |it: &TrafficFigures| it.routes[index].sent;
        let intervals = outcome.intervals.iter().filter_map(|it| it.traffic.as_ref());
        assert_eq!(intervals.map(of).sum::<u64>(), route.sent);
    }
    for (index, flow) in all.flows.iter().enumerate() {
        assert_eq!(flow.begun, ended(flow) + flow.open, "{flow:?}");
        let times = flow.histograms.get("iteration_time").map_or(0, |it| histogram_of(it).len());
        assert_eq!(times, flow.done, "each right session was timed once");
        let mut so_far = 0;
        for interval in &outcome.intervals {
            let flow = &interval.traffic.as_ref().expect("figures of traffic").flows[index];
            so_far = so_far + flow.begun - ended(flow);
            assert_eq!(so_far, flow.open, "interval {}", interval.index);
        }
    }
    (outcome, all)
}

fn ended(flow: &FlowFigures) -> u64 {
    flow.done + flow.failed.values().sum::<u64>()
}
