//! Traffic files over HTTP/3: sessions whose requests go on streams of QUIC, and are judged as those of any other version.

use std::num::NonZeroU32;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use wiretrial_load::Asking;
use wiretrial_load::clock::Nanos;
use wiretrial_load::exchange::{End, Exchange};
use wiretrial_load::measure::http2::Version;
use wiretrial_load::plan::Plan;
use wiretrial_respond::Script;

use crate::exchanges;
use crate::http3_host::{Http3Host, Manner};
use crate::outcome::{checked, run};
use crate::rig::Rig;

/// A check that something equals a text.
fn equals(of: &Value, part: &Value) -> Value {
    json!({"of": of, "test": {"is": "compared", "how": "==", "with": {"text": [part]}}})
}

/// A message by its id, which the next request sends back, and a page that is not there.
fn traffic() -> Value {
    let (item, kept) = (json!({"value": "item"}), json!({"value": "kept"}));
    json!({
        "feeds": [{"name": "items", "columns": ["item"], "rows": [["tea"], ["x".repeat(200)]]}],
        "routes": [
            {
                "name": "one", "method": "GET", "target": [{"text": "/messages/"}, {"url": "item"}],
                "headers": [["X-Request", [{"make": "seq"}]]],
                "expect": {"checks": [equals(&json!({"json": "$.id"}), &item)]},
                "captures": [{"name": "kept", "of": {"json": "$.id"}}],
            },
            {
                "name": "back", "method": "POST", "target": [{"text": "/echo"}],
                "body": [{"text": "{\"id\":\""}, {"json": "kept"}, {"text": "\",\"n\":"}, {"make": "seq"}, {"text": "}"}],
                "expect": {"checks": [equals(&json!({"json": "$.id"}), &kept)]},
            },
            {
                "name": "none", "method": "GET", "target": [{"text": "/none"}],
                "expect": {"status": {"in": [404]}},
            },
        ],
        "flows": [{"name": "all", "feed": "items", "steps": [{"route": 0}, {"route": 1}, {"route": 2}]}],
    })
}

fn plan(rig: &Rig, sessions: u64) -> Value {
    let mut plan = rig.plan("https");
    let url = plan["target"]["url"].as_str().expect("a URL").trim_end_matches("echo").to_owned();
    let tls = plan["target"]["tls"].clone();
    plan["target"] = json!({"url": url, "http": {"version": "3"}, "tls": tls});
    plan["load"] = json!({"connections": 4});
    plan["stop"] = json!({"sessions": sessions});
    plan["phases"] = json!({"timeout_ns": 20_000_000_000_u64});
    plan["traffic"] = traffic();
    plan
}

#[test]
fn sessions_use_what_earlier_replies_said() {
    let rig = Rig::with_http3(Script::default());
    let outcome = checked(&plan(&rig, 300));
    assert_eq!(outcome.summary.counters.ok, 900, "{:?}", outcome.summary.examples);
    let spoken = outcome.start.http.expect("it is told");
    assert_eq!((spoken.version, spoken.streams), (Version::Three, None));
    assert_eq!(outcome.summary.connections.opened, 4);
    let all = outcome.summary.traffic.as_ref().expect("figures of traffic");
    assert_eq!(all.routes.iter().map(|route| route.ok).collect::<Vec<_>>(), [300; 3]);
    assert_eq!((all.flows[0].begun, all.flows[0].done), (300, 300));
    let bytes = all.routes.iter().map(|route| route.bytes_sent).sum::<u64>();
    assert_eq!(bytes, outcome.summary.bytes.application_sent);
    assert!(outcome.summary.http3.expect("it is told").datagrams_sent > 0);
}

#[test]
fn users_share_the_streams_of_a_connection() {
    let rig = Rig::with_http3(Script::default());
    let mut plan = plan(&rig, 300);
    plan["load"] = json!({"connections": 2, "users": 12, "depth": 6});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 900, "{:?}", outcome.summary.examples);
    assert_eq!(outcome.summary.connections.opened, 2);
}

#[test]
fn a_session_keeps_its_cookies() {
    let host = Http3Host::new(Manner { cookies: true, ..Manner::default() });
    let mut plan = host.plan(2, 1, 1);
    let tls = plan["target"]["tls"].clone();
    let url = plan["target"]["url"].as_str().expect("a URL").trim_end_matches("echo").to_owned();
    plan["target"] = json!({"url": url, "http": {"version": "3"}, "tls": tls});
    plan["stop"] = json!({"sessions": 40});
    let says = |name: &str, content: &str| {
        json!({
            "name": name, "method": "POST", "target": [{"text": "/"}], "body": [{"text": "x"}],
            "expect": {"body": [{"text": content}]},
        })
    };
    plan["traffic"] = json!({
        "routes": [says("without", "x"), says("with", "sid=7x")],
        "flows": [{"name": "all", "cookies": true, "steps": [{"route": 0}, {"route": 1}]}],
    });
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 80, "{:?}", outcome.summary.examples);
}

/// Before the load each route is asked once.
#[test]
fn a_wrong_reply_is_found_and_its_session_has_failed() {
    let faults = vec!["wrong@51".parse().expect("a fault")];
    let rig = Rig::with_http3(Script { faults, ..Script::default() });
    let mut plan = plan(&rig, 100);
    plan["load"] = json!({"connections": 1});
    plan["traffic"]["routes"] = json!([{
        "name": "echo", "method": "POST", "target": [{"text": "/echo"}],
        "body": [{"text": "a page"}], "expect": {"body": [{"text": "a page"}]},
    }]);
    plan["traffic"]["flows"] = json!([{"name": "all", "steps": [{"route": 0}]}]);
    let outcome = checked(&plan);
    assert_eq!(outcome.errors().iter().collect::<Vec<_>>(), [(&"mismatch".to_owned(), &1)]);
    assert_eq!(outcome.summary.counters.ok, 99);
    let all = outcome.summary.traffic.expect("figures of traffic");
    assert_eq!(all.flows[0].failed.get("mismatch"), Some(&1));
}

#[test]
fn what_is_wrong_before_the_load_is_told_of_its_route() {
    let rig = Rig::with_http3(Script::default());
    let mut plan = plan(&rig, 10);
    plan["traffic"]["routes"][2]["expect"]["status"]["in"] = json!([200]);
    let told = format!("{:?}", run(&plan).expect_err("a wrong reply before the load"));
    assert!(told.contains("none") && told.contains("404"), "{told}");
}

#[test]
fn a_connection_that_the_server_leaves_loses_no_session() {
    let rig = Rig::with_http3(Script { close_after: NonZeroU32::new(7), ..Script::default() });
    let outcome = checked(&plan(&rig, 60));
    assert_eq!(outcome.summary.counters.ok, 180, "{:?}", outcome.summary.examples);
    assert!(outcome.errors().is_empty(), "{:?}", outcome.errors());
    assert!(outcome.summary.connections.closed["server"] >= 10);
}

#[test]
fn each_exchange_is_told_with_what_it_sent() {
    let rig = Rig::with_http3(Script::default());
    let asking = Asking {
        sessions: 2,
        connections: 1,
        most_body: 1 << 20,
        time_limit: Nanos::from_secs(60),
        is_patient: true,
    };
    let plan = plan(&rig, 1);
    let (exchanges, end) = exchanges::of(&plan, &asking);
    assert_eq!(end, End { asked: 6, failed: 0, left: 0 });
    let url = plan["target"]["url"].as_str().expect("a URL");
    let sent = |it: &Exchange| (it.method.clone(), it.url.clone(), it.status);
    let expected = [("GET", "messages/tea", 200), ("POST", "echo", 200), ("GET", "none", 404)];
    let expected = expected
        .map(|(method, path, status)| (method.to_owned(), format!("{url}{path}"), Some(status)));
    assert_eq!(exchanges[..3].iter().map(sent).collect::<Vec<_>>(), expected);
    let body = BASE64_STANDARD.decode(&exchanges[1].request_body).expect("base64");
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(body["id"], "tea");
    let field = |it: &Exchange, name: &str| {
        let mut fields = it.request_headers.iter();
        fields.find(|(field, _)| field == name).map(|(_, value)| value.clone())
    };
    assert!(field(&exchanges[0], "x-request").is_some_and(|number| number.parse::<u64>().is_ok()));
    assert_eq!(exchanges[0].captures["kept"], "tea");
}

#[test]
fn what_does_not_go_over_http_3_is_refused_in_one_line() {
    let rig = Rig::with_http3(Script::default());
    let refused = |change: &dyn Fn(&mut Value), says: &str| {
        let mut plan = plan(&rig, 10);
        change(&mut plan);
        let told = Plan::from_json(&plan.to_string()).expect_err(says).to_string();
        assert!(told.contains(says) && !told.contains('\n'), "{told}");
    };
    refused(&|plan| plan["load"]["depth"] = json!(2), "over HTTP/2 and HTTP/3 several users");
    refused(&|plan| plan["target"]["http"]["sse"] = json!(true), "http.sse");
    let url = json!("http://127.0.0.1:1/");
    refused(&|plan| plan["target"]["url"] = url.clone(), "use https:// with --http 3");
}
