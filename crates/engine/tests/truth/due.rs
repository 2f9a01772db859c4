//! Open loops: whatever was due was sent, waits, or was dropped, and nothing else happened to it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use wiretrial_respond::Script;

use crate::outcome::{Outcome, checked};
use crate::rig::Rig;

/// More than the kernel takes of what nobody reads: 4 MiB to be sent, and less than that to be read.
const LENGTH: usize = 16 << 20;
/// Messages per second.
const RATE: u64 = 100;
const SECOND: u64 = 1_000_000_000;

/// Echoes one message to whoever comes first, which is the preflight, and reads nothing from all who
/// follow.
struct Stalled {
    address: SocketAddr,
    release: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Stalled {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let (release, released) = channel();
        let thread = std::thread::spawn(move || stall(&listener, &released));
        Self { address, release: Some(release), thread: Some(thread) }
    }
}

impl Drop for Stalled {
    fn drop(&mut self) {
        drop(self.release.take());
        // It looks whether it is released when somebody connects.
        let _ = TcpStream::connect(self.address);
        let joined = self.thread.take().map(JoinHandle::join);
        assert!(matches!(joined, Some(Ok(()))) || std::thread::panicking());
    }
}

fn stall(listener: &TcpListener, released: &Receiver<()>) {
    let (mut first, _) = listener.accept().expect("the preflight");
    let mut message = vec![0; LENGTH];
    first.read_exact(&mut message).expect("its message");
    first.write_all(&message).expect("echoed");
    let mut held = Vec::new();
    while matches!(released.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty)) {
        held.push(listener.accept().expect("a client"));
    }
}

/// A second of load on a server that reads nothing.
fn stalled(change: impl Fn(&mut Value)) -> Outcome {
    let server = Stalled::start();
    let mut plan = Rig::new(Script::default()).plan("tcp");
    plan["target"]["url"] = json!(format!("tcp://{}", server.address));
    plan["target"]["message"]["source"]["bytes"] = json!(LENGTH);
    plan["load"] = json!({
        "connections": 1, "depth": 8, "executor": {"kind": "open", "rate": RATE},
    });
    plan["stop"] = json!({"duration_ns": SECOND});
    plan["phases"] = json!({
        "timeout_ns": 30 * SECOND, "connect_ns": 30 * SECOND, "drain_ns": SECOND / 10,
    });
    change(&mut plan);
    checked(&plan)
}

/// All that was due by the end of each interval is there, and by the end of the run nothing else.
fn check(outcome: &Outcome, due: u64, what: &str) {
    let summary = &outcome.summary;
    let counters = &summary.counters;
    assert_eq!(counters.sent + counters.waiting + counters.dropped, due, "{what}: {counters:?}");
    assert_eq!(counters.waiting, 0, "{what}: nothing is to be sent any more");
    let (mut sent, mut dropped) = (0, 0);
    for interval in &outcome.intervals {
        sent += interval.counters.sent;
        dropped += interval.counters.dropped;
        let elapsed = interval.end_ns.saturating_sub(summary.measure_start_ns);
        let by_then = (elapsed * RATE).div_ceil(SECOND).min(due);
        let found = sent + interval.counters.waiting + dropped;
        // A late worker's interval may have more: what fell due before it was closed.
        assert!((by_then..=due).contains(&found), "{what}: {found} of {by_then}, {interval:?}");
    }
    assert_eq!((sent, dropped), (counters.sent, counters.dropped), "{what}");
}

#[test]
fn what_a_stalled_connection_was_given_and_never_sent_is_dropped() {
    let outcome = stalled(|_| {});
    check(&outcome, RATE, "one connection");
    // Seven of eight slots were given out, and the connection had no room for them.
    assert_eq!(outcome.summary.counters.sent, 1);
}

#[test]
fn what_is_due_adds_up_whoever_sends_it_where() {
    let executor = |plan: &mut Value, name: &str, value: &str| {
        plan["load"]["executor"][name] = json!(value);
    };
    check(&stalled(|plan| executor(plan, "overflow", "drop")), RATE, "overflow is dropped");
    let phased = stalled(|plan| {
        executor(plan, "pacing", "phased");
        plan["load"]["connections"] = json!(3);
    });
    check(&phased, RATE, "phased");
    check(&stalled(|plan| plan["load"]["pack"] = json!(4)), RATE, "packs");
    let shares = stalled(|plan| {
        plan["load"]["depth"] = json!(3);
        plan["load"]["requests_per_connection"] = json!(3);
    });
    check(&shares, RATE, "a share of requests");
    let counted = stalled(|plan| {
        plan["stop"]["requests"] = json!(20);
        plan["phases"]["timeout_ns"] = json!(SECOND / 5);
    });
    check(&counted, 20, "so many requests, on connections that time out");
}
