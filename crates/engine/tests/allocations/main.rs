//! A message costs no allocation: of two runs that differ in their number of messages alone, the
//! longer one allocates no more but for its intervals. Over HTTP/3 QUIC has its share, which is bounded.
//!
//! Counts what the whole process allocates, so the server is a process of its own, and one test goes on at a time.

#[path = "../common/binary.rs"]
#[allow(dead_code, reason = "each test binary uses its own part of this")]
mod binary;
#[path = "../common/certificates.rs"]
mod certificates;
mod http3;

use std::alloc::System;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use binary::Respond;
use serde_json::{Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use wiretrial_load::Control;
use wiretrial_load::emit::Emit;
use wiretrial_load::measure::snapshot::Snapshot;
use wiretrial_load::plan::Plan;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const FEW: u64 = 2_000;
const MANY: u64 = 42_000;
/// An interval has histograms and names, however many messages are in it: no more than this.
const PER_INTERVAL: usize = 500;

struct Counted {
    intervals: usize,
}

impl Emit for Counted {
    fn emit(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        self.intervals += usize::from(matches!(snapshot, Snapshot::Interval(_)));
        Ok(())
    }
}

#[test]
fn a_message_allocates_nothing() {
    let _alone = alone();
    let server = Respond::start(&[]);
    for poller in ["uring", "epoll"] {
        for load in [
            json!({"connections": 10}),
            json!({"connections": 10, "executor": {"kind": "open", "rate": 20_000.0}}),
            json!({"connections": 4, "users": 10}),
        ] {
            let url = format!("http://{}", server.http);
            let of = |sessions| of_traffic(&url, "", poller, &load, sessions);
            grows_with_intervals(&format!("traffic with {poller}, {load}"), of);
        }
        let schemes = [
            "ws",
            "http",
            "http rules",
            "http 2",
            "http 2-rules",
            "http unique",
            "http 2-constant",
            "http 2-partly",
            "grpc",
            "grpc gzip",
            "grpc gzip-numbered",
            "grpc turns",
            "ws shape",
            "socketio+ws",
            "styx+ws",
            "styx+json+ws",
        ];
        for kind in schemes {
            let (scheme, of) = kind.split_once(' ').unwrap_or((kind, ""));
            let path = match (scheme, of) {
                ("http", _) => "/echo",
                ("grpc", "turns") => "/wiretrial.Echo/Bidi",
                ("grpc", _) => "/wiretrial.Echo/Unary",
                _ => "/",
            };
            for (depth, executor) in [(1, "closed"), (16, "closed"), (1, "random-burst")] {
                let is_plain = of.is_empty() && !scheme.starts_with("styx") && scheme != "grpc";
                if executor == "random-burst" && !is_plain {
                    continue;
                }
                let url = format!("{scheme}://{}{path}", server.http);
                let name = format!("{kind} at {url} with {poller}, {executor}, depth {depth}");
                let load = (depth, executor);
                grows_with_intervals(&name, |count| allocations(&url, of, poller, load, count));
            }
        }
    }
}

/// One test at a time: the process is counted.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Of many messages a run allocates no more than of few, but for its intervals.
fn grows_with_intervals(name: &str, of: impl Fn(u64) -> (usize, usize)) {
    // What is allocated once is allocated now.
    of(FEW);
    let (few, few_intervals) = of(FEW);
    let (many, many_intervals) = of(MANY);
    let allowed = many_intervals.saturating_sub(few_intervals) * PER_INTERVAL;
    let grown = many.saturating_sub(few).saturating_sub(allowed);
    assert!(
        grown < (MANY - FEW) as usize / 100,
        "{name}: {few} for {FEW} messages, {many} for {MANY}, of these {allowed} for intervals"
    );
}

/// What the bodies are like whose replies have one.
fn shape() -> Value {
    let texts = json!({"types": ["string"], "length": [1, 100], "pattern": "^[ -~]*$"});
    let part = json!({"types": ["object"], "others": false, "members": [
        {"name": "token", "shape": texts, "required": false},
        {"name": "ok", "shape": {"values": [true]}, "required": false},
        {"name": "none", "shape": {"values": [[]]}, "required": false},
    ]});
    json!({"types": ["object"], "members": [
        {"name": "id", "shape": {"types": ["integer"], "range": [0, null]}},
        {"name": "key", "shape": texts, "required": false},
        {"name": "parts", "shape": {"types": ["list"], "length": [1, 9], "items": part}},
        {"name": "all", "shape": {"values": [[{"n": 1}, {"n": 2}]]}, "required": false},
    ]})
}

/// The same of sessions of two steps, with a feed, a capture, cookies and all kinds of checks.
fn of_traffic(url: &str, of: &str, poller: &str, load: &Value, messages: u64) -> (usize, usize) {
    let compared = |of: Value, with: Value| json!({"of": of, "test": {"is": "compared", "how": "==", "with": with}});
    let token = json!({"name": "token", "of": {"json": "$.parts[0].token"}});
    let part = |name: &str| json!({"value": name});
    let echo = |name: &str, value: &str, captures: Value| {
        json!({
            "name": name, "method": "POST",
            "target": [{"text": "/echo?of="}, {"url": value}],
            "headers": [["X-Token", [part(value)]]],
            "body": [
                {"text": "{\"id\":"}, {"make": "seq"}, {"text": ",\"parts\":[{\"token\":\""}, {"json": value},
                {"text": "\"}],\"all\":[{\"n\":1},{\"n\":2}]}"},
            ],
            "expect": {"checks": [
                compared(json!({"json": "$.id"}), json!({"text": [{"make": "seq"}]})),
                compared(json!({"json": "$.all[1].n"}), json!({"json": 2})),
                {"of": {"json": "$.all[*].n"}, "count": true,
                 "test": {"is": "compared", "how": "==", "with": {"json": 2}}},
                {"of": {"regex": "token\":\"(.*?)\""}, "test": {"is": "exists"}},
                {"of": {"header": "Content-Length"}, "test": {"is": "matches", "pattern": "^\\d+$"}},
                compared(json!("status"), json!({"json": 200})),
                {"of": "body", "test": {"is": "shape", "shape": shape()}},
                {"of": {"json": "$.all[*]"}, "test": {"is": "shape", "shape":
                    {"length": [2, 2], "items": {"members": [{"name": "n", "shape": {"range": [1, 2]}}]}}}},
                {"of": "body", "filters": ["md5"], "test": {"is": "exists"}},
            ]},
            "captures": captures,
        })
    };
    let plan = json!({
        "schema": "wiretrial-plan",
        "version": 1,
        "target": {"url": url, "http": http(of), "tls": {"insecure": true}},
        "traffic": {
            "feeds": [{"name": "f", "columns": ["user"], "rows": [["ann"], ["bob"], ["a longer name"]]}],
            "routes": [echo("one", "user", json!([token])), echo("two", "token", json!([]))],
            "flows": [
                {"name": "both", "weight": 3, "feed": "f", "steps": [{"route": 0}, {"route": 1}]},
                {"name": "one", "feed": "f", "steps": [{"route": 0}, {"route": 0}]},
            ],
            // What is in no sample costs nothing, and the first replies are in both runs.
            "sample": 0.0,
        },
        "load": load,
        "stop": {"sessions": messages / 2},
        "generator": {"poller": poller},
    });
    counted(&plan, messages)
}

/// How often a run allocates, and how many intervals it has.
fn allocations(
    url: &str,
    of: &str,
    poller: &str,
    load: (u32, &str),
    messages: u64,
) -> (usize, usize) {
    let echo = url.starts_with("ws") || url.starts_with("http");
    let (message, expect) = if url.starts_with("grpc") {
        let fixed = json!({"from": "fixed", "base64": "CgNhYmM="});
        // Field 1, a text of 16 digits.
        let numbered =
            json!({"from": "numbered", "base64": "ChAwMDAwMDAwMDAwMDAwMDAw", "places": [2]});
        let source = match of {
            "gzip-numbered" => numbered,
            "turns" => json!({"from": "list", "base64": ["CgNhYmM=", "CgNhYmM=", "CgNhYmM="]}),
            _ => fixed,
        };
        (json!({"source": source}), json!({"content": {"is": "echo"}}))
    } else if of.ends_with("rules") {
        let text = r#"{"id":{seq},"parts":[{"ok":true}],"said":"yes"}"#;
        let rules = ["json:parts[0].ok=true", "json:said=yes", "regex:yes"];
        (
            json!({"is_json": true, "source": {"from": "template", "text": text}}),
            json!({"content": {"is": "matching", "rules": rules}}),
        )
    } else if of == "shape" {
        let text = r#"{"id":{seq},"key":"{seq}","parts":[{"ok":true,"none":[]}]}"#;
        (
            json!({"kind": "text", "is_json": true, "source": {"from": "template", "text": text}}),
            json!({"content": {"is": "shaped", "shape": shape()}}),
        )
    } else if echo {
        (json!({"source": {"from": "sequence", "bytes": 20}}), json!({"content": {"is": "echo"}}))
    } else {
        (json!({}), json!({}))
    };
    let plan = json!({
        "schema": "wiretrial-plan",
        "version": 1,
        "target": {
            "url": url,
            "http": http(of),
            "tls": {"insecure": true},
            "message": message,
            "expect": expect,
            "styx": {"table_size": 5},
            "grpc": match of {
                "gzip" | "gzip-numbered" => json!({"gzip": true}),
                "turns" => json!({"kind": "bidi", "turns": true}),
                _ => json!({}),
            },
        },
        "load": {"connections": 10, "depth": load.0, "executor": {"kind": load.1}},
        "stop": {"requests": messages},
        "generator": {"poller": poller},
    });
    counted(&plan, messages)
}

/// The version, and the header fields beside the target's own.
fn http(of: &str) -> Value {
    let mut http = json!({});
    let (version, name) = of.split_once('-').unwrap_or((of, of));
    if ["2", "3"].contains(&version) {
        http["version"] = json!(version);
    }
    if ["constant", "partly", "unique"].contains(&name) {
        http["header_profile"] = json!(name);
    }
    http
}

/// The same of this plan, of which so many messages are to be right.
fn counted(plan: &Value, messages: u64) -> (usize, usize) {
    let plan = Plan::from_json(&plan.to_string()).expect("a right plan");
    let mut counted = Counted { intervals: 0 };
    let region = Region::new(ALLOCATOR);
    let summary = wiretrial_load::run(plan, &Arc::new(Control::default()), &mut counted);
    let change = region.change();
    assert_eq!(summary.expect("it runs").counters.ok, messages);
    (change.allocations + change.reallocations, counted.intervals)
}
