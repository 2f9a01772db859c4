//! Header fields like those of a browser: which of them are another's in each request, as the server hears them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use wiretrial_load::plan::profile::HeaderProfile;
use wiretrial_proto::http2::Http2Limits;

use crate::outcome::{Outcome, checked};
use crate::rig::Rig;
use crate::streams::{Manners, Said, Streams};

const REQUESTS: u64 = 400;
/// How many of the ten fields are new in each request.
const PROFILES: [(&str, HeaderProfile, usize); 3] = [
    ("constant", HeaderProfile::Constant, 0),
    ("partly", HeaderProfile::Partly, 2),
    ("unique", HeaderProfile::Unique, 10),
];

/// So many requests of 4 streams on 2 connections, whose answers are learned.
fn plan(url: &str, http: Value) -> Value {
    let mut plan = Rig::new(wiretrial_respond::Script::default()).plan("http");
    plan["target"]["url"] = json!(url);
    plan["target"]["http"] = http;
    plan["target"]["message"] = json!({});
    plan["target"]["expect"] = json!({"content": {"is": "learned"}});
    plan["load"] = json!({"connections": 2, "depth": 4});
    plan["stop"] = json!({"requests": REQUESTS});
    plan
}

/// How many values each field had, over all requests.
fn values(server: &Streams) -> BTreeMap<String, usize> {
    let heard = server.heard.lock().expect("nobody panicked");
    // One more, of the preflight.
    assert_eq!(heard.len() as u64, REQUESTS + 1);
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, value) in heard.iter().flatten() {
        all.entry(name.clone()).or_default().insert(value.clone());
    }
    all.into_iter().map(|(name, values)| (name, values.len())).collect()
}

/// Names and values of each request as the server heard them, bytes: all have the same length.
fn heard_bytes(server: &Streams) -> u64 {
    let authority = server.address.to_string();
    let begin =
        [(":method", "GET"), (":scheme", "http"), (":authority", &authority), (":path", "/")];
    let begin: usize = begin.iter().map(|(name, value)| name.len() + value.len()).sum();
    let heard = server.heard.lock().expect("nobody panicked");
    let of = |said: &Said| said.iter().map(|(name, value)| name.len() + value.len()).sum();
    let lengths: BTreeSet<usize> = heard.iter().map(of).collect();
    assert_eq!(lengths.len(), 1, "{lengths:?}");
    lengths.into_iter().map(|fields| (begin + fields) as u64).sum()
}

/// Bytes of a request beside its payload, as they were sent.
fn head_bytes(outcome: &Outcome) -> u64 {
    let bytes = &outcome.summary.bytes;
    (bytes.application_sent - bytes.payload_sent) / outcome.summary.counters.sent
}

#[test]
fn a_server_hears_as_many_values_as_the_profile_has() {
    let mut sent = Vec::new();
    for (name, profile, new) in PROFILES {
        let server = Streams::start(Manners::default());
        let http = json!({"version": "2", "header_profile": name});
        let outcome = checked(&plan(&server.url(), http));
        assert_eq!(outcome.summary.counters.ok, REQUESTS, "{name}: {:?}", outcome.errors());
        let values = values(&server);
        let with = |wanted: usize| {
            let fields = values.iter().filter(move |(_, count)| **count == wanted);
            fields.map(|(name, _)| name.as_str()).collect::<Vec<_>>()
        };
        let (are_new, are_same) = (with(REQUESTS as usize + 1), with(1));
        assert_eq!((are_new.len(), are_same.len()), (new, 10 - new), "{name}: {values:?}");
        if profile == HeaderProfile::Partly {
            assert_eq!(are_new, ["cookie", "x-request-id"]);
        }
        let told = outcome.start.header_profile.expect("it is told");
        assert_eq!(told.profile, profile);
        assert_eq!(told.field_bytes, heard_bytes(&server));
        sent.push(head_bytes(&outcome));
    }
    // What is the same costs an index, a byte or two; what is new is sent in full.
    assert!(sent[0] < 50 && sent[1] > sent[0] + 50 && sent[2] > sent[1] + 300, "{sent:?}");
}

#[test]
fn a_server_that_keeps_no_table_hears_the_same() {
    let limits = Http2Limits { header_table_size: 0, ..Http2Limits::default() };
    let server = Streams::start(Manners { limits, ..Manners::default() });
    let http = json!({"version": "2", "header_profile": "constant"});
    let outcome = checked(&plan(&server.url(), http));
    assert_eq!(outcome.summary.counters.ok, REQUESTS, "{:?}", outcome.errors());
    assert_eq!(values(&server).into_values().collect::<BTreeSet<_>>(), BTreeSet::from([1]));
    assert!(head_bytes(&outcome) > 300, "each request says all of it");
}

/// Over HTTP/1.1 the requests of all profiles have the same length.
#[test]
fn requests_of_both_versions_are_right() {
    let rig = Rig::new(wiretrial_respond::Script::default());
    for (version, different) in [("1.1", 1), ("2", 3)] {
        let lengths = PROFILES.map(|(name, ..)| head_bytes(&echoed(&rig, version, name, 20)));
        assert_eq!(BTreeSet::from(lengths).len(), different, "{version}: {lengths:?}");
    }
}

/// What goes out in pieces elsewhere is whole where its head has holes.
#[test]
fn long_requests_are_right() {
    let rig = Rig::new(wiretrial_respond::Script::default());
    for version in ["1.1", "2"] {
        for (name, ..) in PROFILES {
            echoed(&rig, version, name, 2 << 20);
        }
    }
}

/// What comes of some requests of so many bytes, which are echoed.
fn echoed(rig: &Rig, version: &str, profile: &str, bytes: u64) -> Outcome {
    let mut plan = rig.plan("http");
    plan["target"]["http"] = json!({"version": version, "header_profile": profile});
    plan["target"]["message"] = json!({"source": {"from": "sequence", "bytes": bytes}});
    plan["stop"] = json!({"requests": 20});
    plan["phases"]["timeout_ns"] = json!(20_000_000_000_u64);
    let outcome = checked(&plan);
    let ok = outcome.summary.counters.ok;
    assert_eq!(ok, 20, "{version} {profile} {bytes}: {:?}", outcome.errors());
    outcome
}

#[test]
fn a_field_of_the_target_s_own_takes_the_place_of_the_profile_s() {
    let server = Streams::start(Manners::default());
    let headers = json!([["Cookie", "own=1"], ["X-Own", "yes"]]);
    let http = json!({"version": "2", "header_profile": "unique", "headers": headers});
    checked(&plan(&server.url(), http));
    let values = values(&server);
    let same: Vec<_> = values.iter().filter(|(_, count)| **count == 1).collect();
    assert_eq!(same, [(&"cookie".to_owned(), &1), (&"x-own".to_owned(), &1)]);
    assert_eq!(values.len(), 11);
}

/// A table is its connection's own, and a request that goes again says what it said.
#[test]
fn what_a_server_refuses_or_leaves_goes_again_with_its_own_fields() {
    let server = Streams::start(Manners { refuses: 10, leaves_after: 95, ..Manners::default() });
    let http = json!({"version": "2", "header_profile": "partly"});
    let outcome = checked(&plan(&server.url(), http));
    assert_eq!(outcome.summary.counters.ok, REQUESTS, "{:?}", outcome.errors());
    let heard = server.heard.lock().expect("nobody panicked");
    assert!(heard.iter().all(|said| said.len() == 10));
    let ids = heard.iter().flatten().filter(|(name, _)| name == "x-request-id");
    let ids: BTreeSet<_> = ids.map(|(_, value)| value).collect();
    assert_eq!(ids.len() as u64, REQUESTS + 1);
    assert!(heard.len() > ids.len(), "some were refused");
}
