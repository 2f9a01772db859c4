//! Calls of gRPC in sessions: messages that are made for each, fields that later calls need, and requests of HTTP
//! beside them on the same connections.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use wiretrial_load::plan::Plan;
use wiretrial_respond::Script;

use crate::outcome::{checked, run};
use crate::rig::Rig;

/// The tag of field 1, and of field 2, a number.
const TEXT: &str = "Cg==";
const NUMBER: [u8; 1] = [0x10];

/// A text in field 1 and a number in field 2.
fn message(text: &Value, number: &Value) -> Value {
    let tag = BASE64_STANDARD.encode(NUMBER);
    json!([
        {"bytes": TEXT}, {"sized": [{"text": [text]}]},
        {"bytes": tag}, {"number": {"of": number, "as": "signed"}},
    ])
}

fn field(number: u32, name: &str, scalar: &str) -> Value {
    json!({"field": {"name": name, "path": [[number, null]], "as": scalar, "has_usual": true}})
}

fn equals(of: &Value, part: &Value) -> Value {
    json!({"of": of, "test": {"is": "compared", "how": "==", "with": {"text": [part]}}})
}

fn call(method: &str, messages: &Value, replies: u32) -> Value {
    json!({"path": format!("/wiretrial.Echo/{method}"), "messages": messages, "replies": [replies, replies]})
}

fn plan(rig: &Rig, sessions: u64) -> Value {
    over(rig, ("http", "2"), sessions)
}

/// The same with this scheme and version of HTTP.
pub(super) fn over(rig: &Rig, (scheme, version): (&str, &str), sessions: u64) -> Value {
    let mut plan = rig.plan(scheme);
    let url = plan["target"]["url"].as_str().expect("a URL").trim_end_matches("echo").to_owned();
    let tls = plan["target"]["tls"].clone();
    plan["target"] = json!({"url": url, "http": {"version": version}, "tls": tls});
    plan["load"] = json!({"connections": 4});
    plan["stop"] = json!({"sessions": sessions});
    let (item, kept) = (json!({"value": "item"}), json!({"value": "kept"}));
    plan["traffic"] = json!({
        "feeds": [{"name": "items", "columns": ["item"], "rows": [["tea"], ["x".repeat(200)]]}],
        "routes": [
            {
                "name": "one", "method": "POST", "target": [],
                "headers": [["tenant", [{"make": "user"}]]],
                "expect": {
                    "status": {"in": [0]},
                    "checks": [equals(&field(1, "$.text", "text"), &item)],
                },
                "captures": [{"name": "kept", "of": field(2, "$.number", "signed")}],
                "call": call("Unary", &json!([message(&item, &json!({"make": "seq"}))]), 1),
            },
            {
                "name": "several", "method": "POST", "target": [],
                "expect": {
                    "status": {"in": [0]},
                    "checks": [equals(&field(2, "$.number", "signed"), &kept)],
                },
                "call": call("Bidi", &json!([message(&item, &kept), message(&kept, &kept)]), 2),
            },
            {
                "name": "page", "method": "POST", "target": [{"text": "/echo"}],
                "body": [{"text": "a page"}], "expect": {"body": [{"text": "a page"}]},
            },
        ],
        "flows": [{"name": "all", "feed": "items", "steps": [{"route": 0}, {"route": 1}, {"route": 2}]}],
    });
    plan
}

#[test]
fn calls_use_what_earlier_ones_said_beside_requests_of_http() {
    let rig = Rig::new(Script::default());
    let outcome = checked(&plan(&rig, 300));
    let counters = &outcome.summary.counters;
    assert_eq!(counters.ok, 900, "{:?}", outcome.summary.examples);
    assert_eq!(counters.statuses.get("OK"), Some(&600), "of calls alone");
}

#[test]
fn users_share_the_streams_of_a_connection() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, 300);
    plan["load"] = json!({"connections": 2, "users": 12, "depth": 6});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 900, "{:?}", outcome.summary.examples);
}

#[test]
fn what_is_wrong_is_told_of_the_call() {
    let rig = Rig::new(Script::default());
    let wrong = |change: &dyn Fn(&mut Value), says: &str| {
        let mut plan = plan(&rig, 10);
        change(&mut plan["traffic"]["routes"]);
        let refused = run(&plan).expect_err("a wrong reply before the load");
        let told = format!("{refused:?}");
        assert!(told.contains(says), "{told}");
    };
    wrong(&|routes| routes[0]["expect"]["status"]["in"] = json!([5]), "status OK, not NOT_FOUND");
    wrong(
        &|routes| {
            routes[0]["expect"]["checks"][0] =
                equals(&field(1, "$.text", "text"), &json!({"text": "no"}));
        },
        "$.text was 'tea', and is wanted 'no'",
    );
    wrong(
        &|routes| routes[1]["call"]["replies"] = json!([3, 3]),
        "messages of the reply: 2, not 3",
    );
    wrong(
        &|routes| routes[0]["call"]["shape"] = json!({"fields": [{"number": 1, "wire": "varint"}]}),
        "field 1 had wire type len, not varint",
    );
    wrong(
        &|routes| routes[0]["captures"][0]["of"] = field(1, "$.text", "signed"),
        "another type on the wire",
    );
}

#[test]
fn a_plan_that_makes_no_sense_is_refused() {
    let rig = Rig::new(Script::default());
    let refused = |change: &dyn Fn(&mut Value), says: &str| {
        let mut plan = plan(&rig, 10);
        change(&mut plan);
        let told = Plan::from_json(&plan.to_string()).expect_err(says).to_string();
        assert!(told.contains(says), "{told}");
    };
    let route = |index: usize, name: &'static str, value: Value| {
        move |plan: &mut Value| plan["traffic"]["routes"][index][name] = value.clone()
    };
    refused(&|plan| plan["target"]["http"]["version"] = json!("1.1"), "calls go over HTTP/2");
    refused(&route(0, "body", json!([{"text": "a"}])), "a call has no target and no body");
    refused(
        &route(2, "captures", json!([{"name": "a", "of": field(1, "$.a", "text")}])),
        "only the reply to a call",
    );
    refused(&route(0, "call", call("x/y", &json!([]), 1)), "is no /package.Service/Method");
    refused(&route(1, "expect", json!({"status": {"in": [17]}})), "17 is none of gRPC");
    let none = json!([[{"bytes": "!"}]]);
    refused(&route(0, "call", call("Unary", &none, 1)), "call.messages");
}
