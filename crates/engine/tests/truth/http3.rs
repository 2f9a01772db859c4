//! HTTP/3: many messages in flight on a connection of QUIC, each on a stream of its own.

use std::time::Duration;

use serde_json::{Value, json};
use wiretrial_load::measure::http2::{By, Version};
use wiretrial_load::plan::Plan;

use crate::http3_host::{Http3Host, Manner};
use crate::outcome::{Outcome, checked, run};

const MS: u64 = 1_000_000;

/// What comes of a load on a server like this.
fn loaded(manner: Manner, plan: impl FnOnce(&Http3Host) -> Value) -> Outcome {
    let host = Http3Host::new(manner);
    checked(&plan(&host))
}

fn closed(outcome: &Outcome, reason: &str) -> u64 {
    outcome.summary.connections.closed.get(reason).copied().unwrap_or_default()
}

#[test]
fn every_stream_gets_its_own_reply_and_the_result_says_what_is_spoken() {
    let outcome = loaded(Manner::default(), |host| host.plan(4, 8, 4_000));
    assert_eq!(outcome.summary.counters.ok, 4_000, "{:?}", outcome.summary.examples);
    assert!(outcome.errors().is_empty(), "{:?}", outcome.errors());
    let spoken = outcome.start.http.expect("it is told");
    assert_eq!((spoken.version, spoken.by), (Version::Three, By::Alpn));
    assert_eq!(spoken.to_string(), "HTTP/3, agreed on by ALPN");
    assert_eq!(outcome.start.tls.as_deref(), Some("TLSv1.3 in QUIC, ALPN h3"));
    let connections = &outcome.summary.connections;
    assert_eq!((connections.opened, connections.failed.len()), (4, 0));
    assert_eq!(outcome.histogram("connect_time").map(|it| it.len()), Some(4));
    assert!(outcome.histogram("tls_time").is_none() && outcome.summary.http2.is_none());
    let bytes = outcome.summary.bytes;
    // A request is a frame of fields, which are few, and one of 20 bytes; and so is its reply.
    let least = 4_000 * 20;
    assert!(bytes.payload_sent == least && bytes.payload_received == least, "{bytes:?}");
    assert!(bytes.application_sent > least && bytes.sent > bytes.application_sent, "{bytes:?}");
    assert!(bytes.application_received > least, "{bytes:?}");
    assert!(bytes.received > bytes.application_received, "{bytes:?}");
    let figures = outcome.summary.http3.expect("it is told");
    assert_eq!((figures.goaways, figures.refused), (0, 0));
    assert!(figures.datagrams_sent >= figures.sends && figures.sends > 0, "{figures:?}");
    assert!(figures.datagrams_received >= figures.receives && figures.receives > 0, "{figures:?}");
    assert!(figures.packets_sent >= figures.datagrams_sent, "{figures:?}");
}

#[test]
fn a_get_has_no_content_and_its_reply_is_learned() {
    let outcome = loaded(Manner::default(), |host| {
        let mut plan = host.plan(1, 1, 50);
        let target = plan["target"].as_object_mut().expect("a target");
        target.remove("message");
        target.remove("expect");
        plan
    });
    assert_eq!(outcome.summary.counters.ok, 50, "{:?}", outcome.summary.examples);
}

#[test]
fn long_content_is_verified_to_its_last_byte() {
    let outcome = loaded(Manner::default(), |host| {
        let mut plan = host.plan(2, 3, 24);
        plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": 1 << 20}});
        plan
    });
    assert_eq!(outcome.summary.counters.ok, 24, "{:?}", outcome.summary.examples);
}

#[test]
fn wrong_replies_are_found_among_right_ones() {
    let manner = Manner { wrong: 7, ..Manner::default() };
    let outcome = loaded(manner, |host| host.plan(4, 8, 700));
    assert_eq!(outcome.errors().get("mismatch"), Some(&100), "{:?}", outcome.errors());
    assert_eq!(outcome.summary.counters.ok, 600);
}

#[test]
fn a_rejected_request_goes_again_and_one_whose_stream_is_reset_has_failed() {
    let manner = Manner { refuse: 7, ..Manner::default() };
    let outcome = loaded(manner, |host| host.plan(4, 8, 700));
    assert_eq!(outcome.summary.counters.ok, 700, "{:?}", outcome.summary.examples);
    assert!(outcome.errors().is_empty(), "{:?}", outcome.errors());
    // Of the 701 that were answered at last, the preflight's is the first.
    assert_eq!(outcome.summary.http3.map(|it| it.refused), Some(116));

    let manner = Manner { reset: 7, ..Manner::default() };
    let outcome = loaded(manner, |host| host.plan(4, 8, 700));
    assert_eq!(outcome.errors().get("reset"), Some(&100), "{:?}", outcome.errors());
    assert_eq!(outcome.summary.counters.ok, 600);
    let said = format!("{:?}", outcome.summary.examples);
    assert!(said.contains("H3_INTERNAL_ERROR"), "{said}");
}

/// Each connection ends after ten replies, in the middle of what is in flight on it.
#[test]
fn what_a_server_did_not_process_before_it_left_goes_again() {
    let manner = Manner { leave_after: 10, ..Manner::default() };
    let outcome = loaded(manner, |host| host.plan(4, 8, 600));
    assert_eq!(outcome.summary.counters.ok, 600, "{:?}", outcome.summary.examples);
    assert!(outcome.errors().is_empty() && closed(&outcome, "server") > 20, "{outcome:?}");
    let goaways = outcome.summary.http3.map(|it| it.goaways);
    assert!(goaways >= Some(closed(&outcome, "server")), "each said so before");
}

#[test]
fn a_connection_that_is_closed_fails_what_was_in_flight_on_it_and_the_others_go_on() {
    let manner = Manner { close_after: 50, ..Manner::default() };
    let outcome = loaded(manner, |host| host.plan(4, 8, 2_000));
    let failed: u64 = outcome.errors().values().sum();
    assert!(failed > 0 && failed < 1_000, "{:?}", outcome.errors());
    assert_eq!(outcome.errors().keys().collect::<Vec<_>>(), ["closed"]);
    assert_eq!(outcome.summary.counters.ok + failed, 2_000);
    let said = format!("{:?}", outcome.summary.examples);
    assert!(said.contains("closed by the peer with code 0x102: as the test says"), "{said}");
}

#[test]
fn no_more_streams_are_open_than_the_server_allows() {
    let manner = Manner { streams: Some(3), delay: Duration::from_millis(1), ..Manner::default() };
    let outcome = loaded(manner, |host| host.plan(2, 16, 300));
    assert_eq!(outcome.summary.counters.ok, 300, "{:?}", outcome.summary.examples);
    assert!(outcome.errors().is_empty(), "{:?}", outcome.errors());
}

#[test]
fn connections_are_renewed_after_so_many_requests() {
    for (each, streams) in [(1, 1), (5, 5)] {
        let outcome = loaded(Manner::default(), |host| {
            let mut plan = host.plan(2, streams, 60);
            plan["load"]["requests_per_connection"] = json!(each);
            plan
        });
        assert_eq!(outcome.summary.counters.ok, 60, "{:?}", outcome.summary.examples);
        assert!(outcome.summary.connections.opened >= 60 / each, "{each}");
    }
}

#[test]
fn handshakes_that_resume_a_session_have_times_of_their_own() {
    for resumption in [true, false] {
        let outcome = loaded(Manner::default(), |host| {
            let mut plan = host.plan(1, 1, 20);
            plan["load"]["requests_per_connection"] = json!(1);
            plan["target"]["tls"]["resumption"] = json!(resumption);
            plan
        });
        let count = |name: &str| outcome.histogram(name).map_or(0, |times| times.len());
        assert_eq!(outcome.summary.counters.ok, 20, "{:?}", outcome.summary.examples);
        // Each has the one before it to resume, and the first that of the preflight.
        let resumed = if resumption { count("connect_time") } else { 0 };
        assert_eq!((count("resumed_time"), resumed > 0), (resumed, resumption));
    }
}

#[test]
fn requests_go_before_the_handshake_where_the_server_takes_them() {
    for early_data in [true, false] {
        let manner = Manner { early_data, ..Manner::default() };
        let outcome = loaded(manner, |host| {
            let mut plan = host.plan(1, 1, 20);
            plan["load"]["requests_per_connection"] = json!(1);
            plan["target"]["http"]["early_data"] = json!(true);
            plan
        });
        assert_eq!(outcome.summary.counters.ok, 20, "{:?}", outcome.summary.examples);
        let figures = outcome.summary.http3.expect("it is told");
        // The first has the session of the preflight. A reply to a request that is so early may come before the next
        // session does, so that not all have one.
        let (early, refused) = (figures.early_accepted, figures.early_refused);
        assert_eq!((early > 0, refused), (early_data, 0), "{figures:?}");
        let resumed = outcome.histogram("resumed_time").map_or(0, |times| times.len());
        assert!(resumed > 0 && resumed >= early, "{resumed} {figures:?}");
    }
}

/// Two servers behind one name, which don't know each other's sessions.
#[test]
fn what_was_sent_too_early_goes_again_behind_the_handshake() {
    let manner = Manner { early_data: true, ..Manner::default() };
    let (one, other) = (Http3Host::new(manner), Http3Host::new(manner));
    let mut plan = one.plan(2, 4, 200);
    plan["load"]["requests_per_connection"] = json!(4);
    plan["target"]["http"]["early_data"] = json!(true);
    plan["target"]["addresses"] = json!([one.address().to_string(), other.address().to_string()]);
    plan["target"]["tls"] = json!({"insecure": true});
    let outcome = checked(&plan);
    assert_eq!(outcome.summary.counters.ok, 200, "{:?}", outcome.summary.examples);
    assert!(outcome.errors().is_empty(), "{:?}", outcome.errors());
    let figures = outcome.summary.http3.expect("it is told");
    // Both have sessions of the first server, from the preflight.
    assert!(figures.early_accepted > 0 && figures.early_refused > 0, "{figures:?}");
    assert!(figures.refused >= figures.early_refused, "{figures:?}");
}

#[test]
fn the_path_is_told_with_any_congestion_control() {
    for congestion in ["cubic", "new-reno", "bbr"] {
        let outcome = loaded(Manner::default(), |host| {
            let mut plan = host.plan(2, 4, 400);
            plan["target"]["http"]["congestion"] = json!(congestion);
            plan
        });
        assert_eq!(outcome.summary.counters.ok, 400, "{:?}", outcome.summary.examples);
        let figures = outcome.summary.http3.expect("it is told");
        assert_eq!(figures.ended, 2, "{congestion}");
        assert!(figures.round_trips_ns > 0, "{congestion}: {figures:?}");
        // Each has at least what a path of QUIC carries (RFC 9000, section 14).
        assert!(figures.largest_datagrams >= 2 * 1200, "{congestion}: {figures:?}");
        assert!(figures.congestion_windows >= 2 * 2 * 1200, "{congestion}: {figures:?}");
    }
}

#[test]
fn a_reply_is_no_faster_than_its_delay_in_an_open_loop() {
    let manner = Manner { delay: Duration::from_millis(20), ..Manner::default() };
    let outcome = loaded(manner, |host| {
        let mut plan = host.plan(2, 8, 100);
        plan["load"]["executor"] = json!({"kind": "open", "rate": 400.0});
        plan
    });
    assert_eq!(outcome.summary.counters.ok, 100, "{:?}", outcome.summary.examples);
    for name in ["response_time", "service_time"] {
        let times = outcome.histogram(name).expect("recorded");
        assert_eq!(times.len(), 100, "{name}");
        assert!(times.min() >= times.lowest_equivalent(20 * MS), "{name}: {} ns", times.min());
    }
}

#[test]
fn a_message_that_is_not_answered_fails_at_its_deadline() {
    let manner = Manner { silent: 7, ..Manner::default() };
    let outcome = loaded(manner, |host| {
        let mut plan = host.plan(1, 4, 60);
        plan["phases"] = json!({"timeout_ns": 200 * MS, "drain_ns": 2_000 * MS});
        plan
    });
    let counters = &outcome.summary.counters;
    let failed: u64 = outcome.errors().values().sum();
    assert!(failed >= 4, "{:?}", outcome.errors());
    assert_eq!(outcome.errors().keys().collect::<Vec<_>>(), ["timeout"]);
    assert_eq!(counters.ok + failed, 60);
}

#[test]
fn where_nobody_listens_or_the_certificate_is_of_another_name_one_line_says_so() {
    let unused = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = unused.local_addr().expect("an address");
    drop(unused);
    let host = Http3Host::new(Manner::default());
    let mut plan = host.plan(1, 1, 1);
    plan["phases"]["connect_ns"] = json!(200 * MS);
    let mut nobody = plan.clone();
    nobody["target"]["url"] = json!(format!("https://{address}/"));
    let error = run(&nobody).expect_err("nobody is there").to_string();
    assert!(error.contains("nothing listens there on UDP") && !error.contains('\n'), "{error}");
    plan["target"]["tls"]["server_name"] = json!("other.example");
    let error = run(&plan).expect_err("another name").to_string();
    assert!(error.contains("certificate") && !error.contains('\n'), "{error}");
}

#[test]
fn what_does_not_go_over_http_3_is_refused_in_one_line_with_the_remedy() {
    let host = Http3Host::new(Manner::default());
    let message = json!({"source": {"from": "sequence", "bytes": 20}});
    for (change, remedy) in [
        (json!({"url": "http://127.0.0.1:1/"}), "use https:// with --http 3"),
        (json!({"url": "ws://127.0.0.1:1/", "message": message}), "use wss:// with --http 3"),
        (json!({"url": "grpc://127.0.0.1:1/a.B/C"}), "use grpcs:// with --http 3"),
        (json!({"url": "tls://127.0.0.1:1", "message": message}), "leave --http out"),
        (json!({"http": {"version": "3", "windows": {}}}), "use --http 2"),
    ] {
        let mut plan = host.plan(1, 1, 1);
        let target = plan["target"].as_object_mut().expect("a target");
        target.retain(|name, _| ["url", "http"].contains(&name.as_str()));
        for (name, value) in change.as_object().expect("members") {
            target.insert(name.clone(), value.clone());
        }
        let error = Plan::from_json(&plan.to_string()).expect_err("it is refused").to_string();
        assert!(error.contains(remedy) && !error.contains('\n'), "{error}");
    }
}
