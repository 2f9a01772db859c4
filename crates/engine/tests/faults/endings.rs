//! Each connection ends once, however often the kernel tells its end.

use std::time::Duration;

use serde_json::{Value, json};
use wiretrial_respond::Script;

use crate::outcome::{Outcome, checked};
use crate::rig::Rig;
use crate::scene::pollers;
use crate::scripted::Scripted;
use crate::scripted::Step::{self, Open, Pause, Read, Reply, ReplyAs, Reset};
use crate::speech::{Speech, http};

/// Messages of a run, each on a connection of its own.
const MESSAGES: u64 = 20;

/// A run against a server whose connections do right and wrong in turn. The preflight's is the first.
fn in_turn(
    (scheme, poller): (&str, &str),
    right: Vec<Step>,
    wrong: Vec<Step>,
    change: fn(&mut Value),
) -> Outcome {
    let author = move |number| if number % 2 == 0 { right.clone() } else { wrong.clone() };
    let server = Scripted::written_by(Speech::of(scheme), None, Box::new(author));
    let mut plan = Rig::new(Script::default()).plan(scheme);
    let url = plan["target"]["url"].as_str().expect("a URL");
    let path = url.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
    plan["target"]["url"] = json!(format!("{scheme}://{}/{path}", server.address()));
    plan["generator"] = json!({"poller": poller});
    plan["load"] = json!({"connections": 1, "requests_per_connection": 1});
    plan["stop"] = json!({"requests": MESSAGES});
    plan["phases"] = json!({"timeout_ns": 30_000_000_000_u64, "connect_ns": 30_000_000_000_u64});
    change(&mut plan);
    checked(&plan)
}

/// Half of the messages met a reset, the others were answered, and every connection ended once.
fn check(outcome: &Outcome, what: &str) {
    let summary = &outcome.summary;
    let (counters, connections) = (&summary.counters, &summary.connections);
    let what = format!("{what}: {counters:?}, {connections:?}, {:?}", summary.examples);
    assert_eq!((counters.sent, counters.ok), (MESSAGES, MESSAGES / 2), "{what}");
    assert_eq!(counters.errors.get("reset"), Some(&(MESSAGES / 2)), "{what}");
    assert_eq!((connections.attempted, connections.open), (MESSAGES, 0), "{what}");
    let ended = connections.closed.values().chain(connections.failed.values()).sum::<u64>();
    assert_eq!(ended, MESSAGES, "{what}");
}

/// Then the socket is told writable, readable and hung up at once: the flush finds its end first.
#[test]
fn a_reset_in_the_middle_of_an_upload_ends_its_connection_once() {
    // A short answer: what is tested is the way out.
    let right = vec![Read, ReplyAs(|_| http("200 OK", &[], b"stored"))];
    let wrong = vec![Pause(Duration::from_millis(30)), Reset];
    for poller in pollers() {
        let outcome = in_turn(("http", &poller), right.clone(), wrong.clone(), |plan| {
            plan["target"]["message"]["source"]["bytes"] = json!(8 << 20);
            plan["target"]["expect"] = json!({});
        });
        check(&outcome, &poller);
    }
}

/// The answer to the upgrade and the end come together: the first flush of what waited for the
/// upgrade finds the end.
#[test]
fn a_reset_behind_the_upgrade_ends_its_connection_once() {
    for poller in pollers() {
        let right = vec![Open, Read, Reply];
        let outcome = in_turn(("ws", &poller), right, vec![Open, Reset], |_| {});
        check(&outcome, &poller);
    }
}
