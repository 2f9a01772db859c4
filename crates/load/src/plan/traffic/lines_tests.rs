//! What is refused of conversations, and how that is said.

use serde_json::{Value, json};

use super::Think;
use super::tests::{changed, refused_in};
use crate::clock::Nanos;
use crate::plan::{Plan, PlanError};

/// A plan that is right.
fn right() -> Value {
    let is = |kind: &str| json!([{"of": {"json": "$.type"}, "test": {"is": "compared", "how": "==", "with": {"json": kind}}}]);
    json!({
        "schema": "wiretrial-plan",
        "version": 1,
        "target": {"url": "ws://h:80", "http": {"headers": [["Accept", "a"]]}},
        "load": {"connections": 2},
        "stop": {"duration_ns": 5_000_000},
        "traffic": {
            "routes": [],
            "lines": [
                {"name": "open", "does": "open", "target": [{"text": "/chat"}], "headers": [["T", []]]},
                {"name": "hello", "does": "await", "awaits": is("hello"),
                 "captures": [{"name": "token", "of": {"json": "$.t"}}]},
                {"name": "say", "does": "send", "text": [{"value": "token"}], "awaits": is("ack"),
                 "checks": [{"of": "body", "test": {"is": "exists"}}]},
                {"name": "tell", "does": "send", "text": [{"text": "x"}]},
                {"name": "close", "does": "close"},
            ],
            "flows": [{"name": "f", "unasked": "fail", "steps": [
                {"route": 0}, {"route": 1}, {"route": 2}, {"route": 3, "back": {"to": 2}}, {"route": 4},
            ]}],
        },
    })
}

/// The same with another value at this place.
fn with(pointer: &str, value: Value) -> Result<Plan, PlanError> {
    changed(right(), pointer, value)
}

#[test]
fn a_conversation_opens_first_and_closes_last() {
    let plan = Plan::from_json(&right().to_string()).expect("a plan");
    let traffic = plan.traffic.expect("traffic");
    assert!(traffic.is_conversation());
    let names: Vec<_> = traffic.routes[0].headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Accept", "T"]);
    assert!(traffic.routes[1..].iter().all(|route| route.headers.is_empty()));
    let flow = &traffic.flows[0];
    assert!(flow.fails_unasked && flow.is_endless());
    assert_eq!(
        [flow.after(0, 0), flow.after(2, 7), flow.after(3, 7)],
        [Some((1, 0)), Some((3, 7)), Some((2, 8)),]
    );
    assert_eq!((flow.behind(3), flow.after(4, 0)), (Some((4, 0)), None));
    let back = json!({"to": 2, "times": 3, "think": {"kind": "constant", "ns": 9}});
    let plan = with("/traffic/flows/0/steps/3/back", back).expect("a plan");
    let flow = &plan.traffic.expect("traffic").flows[0];
    assert!(!flow.is_endless());
    assert_eq!((flow.after(3, 1), flow.after(3, 2)), (Some((2, 2)), Some((4, 0))));
    assert_eq!(*flow.think_between(3, 2), Think::Constant(Nanos(9)));
    assert_eq!(*flow.think_between(3, 4), Think::None);
}

#[test]
fn table_of_what_is_refused() {
    let check = json!([{"of": "body", "test": {"is": "exists"}}]);
    let rows = [
        ("/target/url", json!("http://h"), "lines are of conversations over ws or socketio+ws"),
        ("/target/websocket", json!({"greetings": 1}), "a conversation says what it awaits"),
        ("/traffic/lines", json!([]), "there is no route"),
        (
            "/traffic/routes",
            json!([{"name": "r", "method": "GET", "target": [{"text": "/"}]}]),
            "give routes or lines",
        ),
        ("/traffic/lines/1/name", json!("open"), "traffic.lines 'open': there are two"),
        ("/traffic/lines/0/target", json!([]), "give '/' at least"),
        ("/traffic/lines/1/target", json!([{"text": "/"}]), "only what opens a connection"),
        ("/traffic/lines/3/text", json!([]), "give its text"),
        ("/traffic/lines/1/text", json!([{"text": "x"}]), "a message is what 'send' has"),
        ("/traffic/lines/1/awaits", json!([]), "does not say which"),
        ("/traffic/lines/3/checks", check.clone(), "of a message that is awaited"),
        ("/traffic/lines/4/awaits", check, "of a message that is awaited"),
        ("/traffic/lines/1/acknowledged", json!(true), "only what is sent is acknowledged"),
        ("/traffic/lines/3/acknowledged", json!(true), "'tell': only an event of Socket.IO"),
        ("/target/url", json!("socketio+ws://h"), "'say': an event of Socket.IO is an array"),
        ("/target/url", json!("socketio+ws://h/x"), "is no origin of traffic"),
        (
            "/traffic/lines/1/checks",
            json!([{"of": "status", "test": {"is": "exists"}}]),
            "no status, header or cookie",
        ),
        ("/traffic/lines/1/captures", json!([]), "'say' needs 'token'"),
        ("/traffic/flows/0/steps/0/route", json!(1), "'hello' stands at place 0"),
        ("/traffic/flows/0/steps/4/route", json!(1), "'hello' stands at place 4"),
        ("/traffic/flows/0/steps/2/route", json!(4), "'close' stands at place 2"),
        ("/traffic/flows/0/steps/3/back", json!({"to": 0}), "goes back to step 0"),
        ("/traffic/flows/0/steps/3/back", json!({"to": 4}), "goes back to step 4"),
        ("/traffic/flows/0/steps/3/back", json!({"to": 2, "times": 0}), "once at least"),
        ("/traffic/flows/0/steps/2/back", json!({"to": 2}), "behind others that go back"),
        ("/traffic/flows/0/steps/3/back", json!({"to": 3}), "nothing is awaited in between"),
        ("/load/executor", json!({"kind": "open", "rate": 1.0}), "do not end by themselves"),
        ("/stop", json!({"sessions": 5}), "do not end by themselves"),
    ];
    refused_in(&right(), rows);
    let think = json!({"kind": "constant", "ns": 1});
    let back = json!({"to": 3, "think": think});
    assert!(with("/traffic/flows/0/steps/3/back", back).is_ok(), "it thinks");
}
