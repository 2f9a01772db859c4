//! Traffic of an application that does something wrong: what is said, and where it is counted.

use serde_json::{Value, json};
use wiretrial_load::{Refusal, RunError};

use crate::application::Application;
use crate::{checked, outcome, plan};

/// A plan with this route and then another, in one flow.
fn with(application: &Application, route: &Value) -> Value {
    let mut plan = plan(application, 40);
    let mut route = route.clone();
    route["method"] = json!("GET");
    plan["traffic"]["routes"][0] = route;
    plan["traffic"]["routes"][1] =
        json!({"name": "next", "method": "GET", "target": [{"text": "/page"}]});
    plan["traffic"]["flows"] =
        json!([{"name": "f", "steps": [{"route": 0}, {"route": 1}, {"route": 2}]}]);
    plan
}

#[test]
fn a_file_that_is_wrong_is_refused_before_the_load_with_its_route() {
    let application = Application::start(false);
    let get = |target: &str| json!({"name": "it", "target": [{"text": target}]});
    let mut checked = get("/empty");
    checked["expect"] = json!({"checks": [{"of": {"json": "$.n"}, "test": {"is": "exists"}}]});
    let mut captured = get("/empty");
    captured["captures"] = json!([{"name": "token", "of": {"json": "$.token"}}]);
    let rows = [
        (get("/error"), "status", "it: status 500, not 2xx: '{\"error\":\"out of order\"}'"),
        (get("/gone"), "status", "it: status 404, not 2xx"),
        (checked, "mismatch", "it: there is no $.n: '{}'"),
        (captured, "capture", "it: $.token can't be captured: it is not there, in '{}'"),
    ];
    for (route, class, says) in rows {
        let told = outcome::run(&with(&application, &route)).expect_err(says);
        let RunError::Refused(Refusal::Target { class: found, message }) = told else {
            panic!("{told}")
        };
        assert_eq!(found.name(), class, "{message}");
        assert!(message.contains(says) && message.contains("before the load"), "{message}");
    }
    assert_eq!(application.requests(), 4, "nothing more was asked");
}

#[test]
fn after_a_step_that_fails_the_session_ends_and_the_next_one_begins() {
    let application = Application::start(false);
    let route = json!({"name": "it", "target": [{"text": "/sometimes"}]});
    let (outcome, all) = checked(&with(&application, &route));
    let [it, next, last] = &all.routes[..] else { panic!("three routes") };
    let failed = outcome.errors()["status"];
    assert!(failed > 2, "{failed}");
    assert_eq!((it.sent, it.errors["status"], it.ok), (40, failed, 40 - failed));
    assert_eq!((next.sent, last.sent, next.errors.len()), (it.ok, it.ok, 0));
    assert!(it.examples["status"].starts_with("status 503, not 2xx: '{\"error\""), "{it:?}");
    assert!(outcome.summary.examples["status"].starts_with("it: status 503"));
    let flow = &all.flows[0];
    assert_eq!((flow.begun, flow.done, flow.failed["status"]), (40, it.ok, failed));
}

#[test]
fn a_reply_that_never_comes_fails_its_session_alone() {
    let application = Application::start(false);
    let mut plan = with(&application, &json!({"name": "it", "target": [{"text": "/slow"}]}));
    plan["stop"]["sessions"] = json!(8);
    plan["phases"]["timeout_ns"] = json!(1_000_000_000);
    let (outcome, all) = checked(&plan);
    assert_eq!((outcome.errors().len(), all.flows[0].done), (0, 8));
    // The rehearsal waits as long as any exchange.
    plan["phases"]["timeout_ns"] = json!(5_000_000);
    let told = outcome::run(&plan).expect_err("it is too slow").to_string();
    assert!(told.contains("it: no whole reply before the deadline"), "{told}");
}

#[test]
fn what_a_server_sends_back_of_a_secret_is_not_shown() {
    let application = Application::start(false);
    let mut route = json!({"name": "it", "target": [{"text": "/echo?of="}, {"url": "password"}]});
    let mut plan = with(&application, &route);
    plan["traffic"]["feeds"] =
        json!([{"name": "f", "columns": ["password"], "rows": [["correct horse"]]}]);
    plan["traffic"]["flows"][0]["feed"] = json!("f");
    route["method"] = json!("GET");
    route["expect"] = json!({"body": [{"text": "other"}]});
    plan["traffic"]["routes"][0] = route;
    let told = outcome::run(&plan).expect_err("it is no other").to_string();
    assert!(told.contains("it: from byte 0 on the body was '***'"), "{told}");
}
