//! Traffic of users who share a pool of connections, as the application sees it.

use serde_json::json;

use crate::application::Application;
use crate::outcome::histogram_of;
use crate::{checked, plan};

#[test]
fn users_share_a_pool_and_keep_their_tokens_and_cookies() {
    for tls in [false, true] {
        let application = Application::start(tls);
        let mut plan = plan(&application, 200);
        (plan["load"]["connections"], plan["load"]["users"]) = (json!(2), json!(12));
        let (outcome, all) = checked(&plan);
        assert_eq!(outcome.errors().len(), 0, "{:?}", outcome.summary.examples);
        assert_eq!(all.flows.iter().map(|flow| flow.done).collect::<Vec<_>>(), [150, 50]);
        let connections = &outcome.summary.connections;
        // Beside the pool's: that of the preflight and that of the rehearsal.
        assert_eq!((connections.opened, application.accepted()), (2, 4));
        for route in &all.routes {
            let of = |name: &str| histogram_of(&route.histograms[name]);
            assert_eq!((of("blocked_time").len(), route.blocked), (route.sent, 0));
            // Each step waits for its connection before it is sent, and is due before that.
            assert_eq!(of("response_time").len(), route.ok);
            assert!(of("response_time").max() >= of("service_time").min());
        }
        let blocked = histogram_of(&outcome.summary.histograms["blocked_time"]);
        assert_eq!(blocked.len(), 500);
        assert!(blocked.max() > 0, "twelve users, of whom two at a time have a connection");
    }
}

#[test]
fn a_pool_opens_another_connection_for_one_that_ends() {
    let application = Application::start(false).closing_every(7);
    let mut plan = plan(&application, 100);
    (plan["load"]["connections"], plan["load"]["users"]) = (json!(2), json!(9));
    let (outcome, all) = checked(&plan);
    assert_eq!(outcome.errors().len(), 0, "{:?}", outcome.summary.examples);
    assert_eq!(all.flows.iter().map(|flow| flow.done).collect::<Vec<_>>(), [75, 25]);
    let connections = &outcome.summary.connections;
    assert!(connections.closed["server"] >= 10 && connections.opened >= 12, "{connections:?}");
}

#[test]
fn what_waits_for_a_connection_is_blocked_and_not_served() {
    let application = Application::start(false);
    let mut plan = plan(&application, 20);
    (plan["load"]["connections"], plan["load"]["users"]) = (json!(1), json!(20));
    plan["load"]["executor"] = json!({"kind": "open", "rate": 1000.0, "pacing": "constant"});
    plan["traffic"]["routes"] = json!([{
        "name": "GET /slow", "method": "GET", "target": [{"text": "/slow"}],
    }]);
    plan["traffic"]["flows"] = json!([{"name": "slow", "steps": [{"route": 0}]}]);
    let (_, all) = checked(&plan);
    let of = |name: &str| histogram_of(&all.routes[0].histograms[name]);
    // All are due within 20 ms, and each takes 50 ms of the only connection.
    assert_eq!((of("blocked_time").len(), of("blocked_time").min()), (20, 0));
    assert!(of("blocked_time").max() > 900_000_000, "{}", of("blocked_time").max());
    assert!(of("response_time").max() >= of("blocked_time").max() + 49_000_000);
    // Each has a user at once: nobody waits for one.
    let waited = histogram_of(&all.flows[0].histograms["session_wait"]);
    assert!(waited.max() < of("blocked_time").max() / 2, "{}", waited.max());
    // Who ends by the time tells what was never sent.
    plan["stop"] = json!({"duration_ns": 300_000_000});
    let (outcome, all) = checked(&plan);
    let never = all.routes[0].blocked;
    assert!(never > 5 && never <= all.dropped, "{never} of {all:?}");
    assert_eq!(all.dropped, outcome.summary.counters.dropped);
    let steps = outcome.intervals.iter().filter_map(|it| it.traffic.as_ref());
    assert!(steps.map(|it| it.routes[0].blocked).max() >= Some(never));
}
