//! Which HTTP is spoken where the server picks it (ALPN), and what is said of servers that differ.

use serde_json::{Value, json};
use wiretrial_load::measure::http2::{By, Version};
use wiretrial_respond::Script;

use crate::outcome::{checked, run};
use crate::rig::Rig;

fn plan(rig: &Rig, scheme: &str, version: &str) -> Value {
    let mut plan = rig.plan(scheme);
    plan["target"]["http"] = json!({"version": version});
    plan["load"] = json!({"connections": 4, "depth": 4});
    plan["stop"] = json!({"requests": 400});
    plan
}

#[test]
fn the_server_picks_the_version_and_the_result_says_which_and_how() {
    let (both, one) = (Rig::new(Script::default()), Rig::without_http2(Script::default()));
    for (rig, version, is_http2) in [(&both, Version::Two, true), (&one, Version::One, false)] {
        let outcome = checked(&plan(rig, "https", "auto"));
        assert_eq!(outcome.summary.counters.ok, 400, "{:?}", outcome.errors());
        let spoken = outcome.start.http.expect("it is told");
        assert_eq!((spoken.version, spoken.by), (version, By::Alpn));
        let text = if is_http2 { "HTTP/2" } else { "HTTP/1.1" };
        assert_eq!(spoken.to_string(), format!("{text}, agreed on by ALPN"));
        assert_eq!(outcome.summary.http2.is_some(), is_http2);
        assert!(outcome.summary.connections.failed.is_empty());
    }
}

#[test]
fn without_tls_it_is_http_1_1_and_nothing_is_said() {
    let outcome = checked(&plan(&Rig::new(Script::default()), "http", "auto"));
    assert_eq!((outcome.start.http, outcome.summary.http2), (None, None));
}

#[test]
fn a_server_that_does_not_agree_on_http_2_is_refused_in_one_line() {
    let rig = Rig::without_http2(Script::default());
    let error = run(&plan(&rig, "https", "2")).expect_err("it is refused").to_string();
    assert!(error.contains("HTTP/2") && !error.contains('\n'), "{error}");
}

/// Connections go to two addresses in turn, of which one does not know HTTP/2.
#[test]
fn servers_behind_one_name_that_differ_are_told_and_not_hidden() {
    let (both, one) = (Rig::new(Script::default()), Rig::without_http2(Script::default()));
    let address = |rig: &Rig| {
        let url = rig.plan("https")["target"]["url"].as_str().expect("a URL").to_owned();
        url.trim_start_matches("https://").split('/').next().expect("an authority").to_owned()
    };
    let mut plan = plan(&both, "https", "auto");
    plan["target"]["addresses"] = json!([address(&both), address(&one)]);
    plan["target"]["tls"] = json!({"insecure": true});
    plan["phases"]["connect_ns"] = json!(500_000_000);
    let error = run(&plan).expect_err("half of the connections don't stand").to_string();
    assert!(error.contains("2 of 4 connections stood"), "{error}");
    let told = "picked HTTP/1.1 on this connection (ALPN) and HTTP/2 before";
    assert!(error.contains(told) && !error.contains('\n'), "{error}");
}
