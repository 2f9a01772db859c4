//! The codecs against well-kept ones, on generated and mutated input.
//!
//! A difference is a finding: the RFC decides who is right. Where both may do as they do, or
//! the other one is wrong, the case is a row of `known.rs` with its reason; everything else
//! fails. `DIFFERENTIAL_CASES` says how many cases each test draws (20,000), and
//! `DIFFERENTIAL_SEED` from which seed (1).

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "../common/mod.rs"]
mod common;

mod frames;
mod generate;
mod handshakes;
mod heads;
mod known;
mod model;

use generate::Draw;

/// Calls `check` with many inputs of one kind.
fn on_many(kind: fn(&mut Draw) -> Vec<u8>, check: fn(&[u8])) {
    let number = |name: &str, default| {
        let given = std::env::var(name).ok();
        given.map_or(default, |text| text.parse().expect("a whole number"))
    };
    let mut draw = Draw::new(number("DIFFERENTIAL_SEED", 1));
    for _ in 0..number("DIFFERENTIAL_CASES", 20_000) {
        check(&kind(&mut draw));
    }
}

#[test]
fn requests_read_as_httparse_reads_them() {
    on_many(generate::request, heads::compare_request);
}

#[test]
fn responses_read_as_httparse_reads_them() {
    on_many(generate::response, heads::compare_response);
}

#[test]
fn frames_from_a_server_read_as_tungstenite_reads_them() {
    on_many(generate::server_frames, frames::compare_client);
}

#[test]
fn frames_from_a_client_read_as_tungstenite_reads_them() {
    on_many(generate::client_frames, frames::compare_server);
}

#[test]
fn upgrades_are_granted_as_tungstenite_grants_them() {
    on_many(generate::upgrade, handshakes::compare_upgrade);
}

/// A row that no longer differs explains nothing and must go.
#[test]
fn known_differences_are_still_there() {
    for row in known::IN_REQUESTS {
        assert!(heads::request_differs(row.example), "{}: {:?}", row.section, row.reason);
        assert!((row.applies)(row.example), "{}: {:?}", row.section, row.reason);
    }
    for row in known::IN_RESPONSES {
        assert!(heads::response_differs(row.example), "{}: {:?}", row.section, row.reason);
        assert!((row.applies)(row.example), "{}: {:?}", row.section, row.reason);
    }
    for row in known::IN_UPGRADES {
        assert!(handshakes::upgrade_differs(row.example), "{}: {:?}", row.section, row.reason);
        assert!((row.applies)(row.example), "{}: {:?}", row.section, row.reason);
    }
    for row in known::IN_FRAMES {
        assert!(frames::client_differs(row.example), "{}: {:?}", row.section, row.reason);
        assert!((row.applies)(row.example), "{}: {:?}", row.section, row.reason);
    }
}
