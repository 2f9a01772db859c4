//! Traffic of an application that does all right.

use serde_json::json;

use crate::application::Application;
use crate::outcome::histogram_of;
use crate::{checked, plan};

#[test]
fn sessions_log_in_and_use_what_they_were_given() {
    for tls in [false, true] {
        let application = Application::start(tls);
        let (outcome, all) = checked(&plan(&application, 200));
        assert_eq!(outcome.errors().len(), 0, "{:?}", outcome.summary.examples);
        let names = outcome.start.traffic.expect("names");
        assert_eq!(names.routes, ["POST /login", "GET /items", "GET /page"]);
        assert_eq!(names.flows, ["shop", "look"]);
        // 3 of 4 sessions, exactly.
        let sent: Vec<_> = all.routes.iter().map(|route| route.sent).collect();
        assert_eq!(sent, [150, 300, 50]);
        let done: Vec<_> = all.flows.iter().map(|flow| (flow.begun, flow.done)).collect();
        assert_eq!(done, [(150, 150), (50, 50)]);
        // And before the load one session of each flow.
        assert_eq!(application.requests(), 500 + 4);
        let body: u64 = all.routes.iter().map(|route| route.bytes_received).sum();
        assert!(body > 300 * 500, "{body} bytes of replies");
        if !tls {
            let bytes = &outcome.summary.bytes;
            assert!(body <= bytes.application_received, "{body}, {bytes:?}");
        }
    }
}

#[test]
fn a_connection_that_ends_loses_no_session() {
    for tls in [false, true] {
        let application = Application::start(tls).closing_every(7);
        let (outcome, all) = checked(&plan(&application, 100));
        assert_eq!(outcome.errors().len(), 0, "{:?}", outcome.summary.examples);
        assert_eq!(all.flows.iter().map(|flow| flow.done).collect::<Vec<_>>(), [75, 25]);
        assert!(outcome.summary.connections.closed["server"] >= 10);
    }
}

#[test]
fn open_arrivals_are_due_whoever_is_free() {
    let application = Application::start(false);
    let mut plan = plan(&application, 60);
    plan["load"]["connections"] = json!(2);
    plan["load"]["executor"] = json!({"kind": "open", "rate": 200.0, "pacing": "constant"});
    plan["traffic"]["routes"] = json!([{
        "name": "GET /slow", "method": "GET", "target": [{"text": "/slow"}],
    }]);
    plan["traffic"]["flows"] = json!([{"name": "slow", "steps": [{"route": 0}]}]);
    let (outcome, all) = checked(&plan);
    let of = |name: &str| histogram_of(&all.flows[0].histograms[name]);
    // 60 sessions of 50 ms for two users take 1.5 s, and were due within 0.3 s: the last ones have waited.
    assert_eq!((all.flows[0].done, of("session_wait").len()), (60, 60));
    assert!(of("session_wait").max() > 1_000_000_000, "{}", of("session_wait").max());
    // A reply takes 50 ms; histograms have three digits, of which the last is 1 ms here.
    assert!(of("iteration_time").max() >= of("session_wait").max() + 48_000_000);
    let response = histogram_of(&all.routes[0].histograms["response_time"]);
    assert!(response.max() >= of("session_wait").max() + 48_000_000);
    assert_eq!(outcome.summary.counters.dropped, 0);
    // Who ends by the time gives up what is due then.
    plan["stop"] = json!({"duration_ns": 300_000_000});
    let (outcome, all) = checked(&plan);
    assert!(all.dropped > 20 && all.dropped == outcome.summary.counters.dropped, "{all:?}");
    let waiting =
        outcome.intervals.iter().filter_map(|it| it.traffic.as_ref()).map(|it| it.waiting);
    assert!(waiting.max() > Some(5));
}

#[test]
fn several_workers_share_sessions_and_rows() {
    let application = Application::start(false);
    let mut plan = plan(&application, 90);
    plan["generator"]["threads"] = json!(2);
    let rows: Vec<_> = (0..100).map(|row| json!([row.to_string()])).collect();
    plan["load"]["executor"] = json!({"kind": "open", "rate": 1000.0, "pacing": "poisson"});
    plan["traffic"]["feeds"] =
        json!([{"name": "f", "columns": ["id"], "rows": rows, "order": "unique"}]);
    plan["traffic"]["routes"] = json!([{
        "name": "GET /once", "method": "GET", "target": [{"text": "/once?"}, {"url": "id"}],
    }]);
    plan["traffic"]["flows"] = json!([{"name": "f", "feed": "f", "steps": [{"route": 0}]}]);
    let (outcome, all) = checked(&plan);
    assert_eq!(outcome.errors().len(), 0, "no row is anybody else's");
    assert_eq!((all.flows[0].begun, all.flows[0].done), (90, 90));
    // There are rows for nine more, and the last one was the rehearsal's.
    plan["stop"]["sessions"] = json!(12);
    let rows: Vec<_> = (200..210).map(|row| json!([row.to_string()])).collect();
    plan["traffic"]["feeds"][0]["rows"] = json!(rows);
    let (outcome, all) = checked(&plan);
    assert_eq!(all.flows[0].failed["feed"] + all.flows[0].done, 12);
    assert_eq!((all.flows[0].done, outcome.summary.counters.sent), (9, 9));
    assert!(outcome.summary.examples["feed"].contains("ran out"));
}
