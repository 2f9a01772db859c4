//! Starts a server, runs a plan against it, and hands over all that was emitted.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde_json::{Value, json};
use wiretrial_load::emit::Emit;
use wiretrial_load::measure::snapshot::{Interval, Snapshot, Summary};
use wiretrial_load::plan::Plan;
use wiretrial_load::{Control, RunError};
use wiretrial_respond::{Script, Server, ServerPlan};

/// Protocols that every test of a kind goes through.
pub(crate) const PROTOCOLS: [&str; 3] = ["http", "ws", "tcp"];

/// A server on free loopback ports, with TLS beside each plain one.
pub(crate) struct Rig {
    server: Server,
    authority: PathBuf,
    _folder: tempfile::TempDir,
}

/// What a run emitted.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) intervals: Vec<Interval>,
    pub(crate) summary: Summary,
}

impl Rig {
    pub(crate) fn new(script: Script) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("made");
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        std::fs::write(&cert, made.cert.pem()).expect("written");
        std::fs::write(&key, made.signing_key.serialize_pem()).expect("written");
        let anywhere: SocketAddr = "127.0.0.1:0".parse().expect("an address");
        let plan = ServerPlan {
            http: vec![anywhere],
            https: vec![anywhere],
            tcp: vec![anywhere],
            tls: vec![anywhere],
            cert: Some(cert.clone()),
            key: Some(key),
            script,
            ..ServerPlan::default()
        };
        let server = wiretrial_respond::start(plan).expect("the server starts");
        Self { server, authority: cert, _folder: folder }
    }

    /// A plan for a protocol: 20-byte echoes, one connection, closed loop.
    pub(crate) fn plan(&self, scheme: &str) -> Value {
        let addresses = self.server.addresses();
        let (port, path) = match scheme {
            "http" => (addresses.http[0].port(), "/echo"),
            "https" => (addresses.https[0].port(), "/echo"),
            "ws" => (addresses.http[0].port(), "/"),
            "wss" => (addresses.https[0].port(), "/"),
            "tcp" => (addresses.tcp[0].port(), ""),
            _ => (addresses.tls[0].port(), ""),
        };
        json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": format!("{scheme}://127.0.0.1:{port}{path}"),
                "message": {"source": {"from": "sequence", "bytes": 20}},
                "expect": {"content": {"is": "echo"}},
                "tls": {"ca_file": self.authority, "server_name": "localhost"},
            },
            "load": {"connections": 1},
            "stop": {"requests": 100},
            "phases": {"timeout_ns": 2_000_000_000_u64, "drain_ns": 500_000_000},
        })
    }
}

/// Runs a plan to its end.
pub(crate) fn run(plan: &Value) -> Result<Outcome, RunError> {
    run_with(plan, &Arc::default())
}

/// Runs a plan that somebody may stop.
pub(crate) fn run_with(plan: &Value, control: &Arc<Control>) -> Result<Outcome, RunError> {
    let plan = Plan::from_json(&plan.to_string()).expect("a right plan");
    let mut kept = Kept::default();
    let summary = wiretrial_load::run(plan, control, &mut kept)?;
    Ok(Outcome { intervals: kept.intervals, summary })
}

#[derive(Default)]
struct Kept {
    intervals: Vec<Interval>,
}

impl Emit for Kept {
    fn emit(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        if let Snapshot::Interval(interval) = snapshot {
            self.intervals.push(interval.clone());
        }
        Ok(())
    }
}

impl Outcome {
    /// Sent = ok + each error class + in flight, in the summary and over the intervals.
    pub(crate) fn check_sums(&self) {
        let counters = &self.summary.counters;
        let errors: u64 = counters.errors.values().sum();
        assert_eq!(counters.sent, counters.ok + errors + counters.in_flight, "{counters:?}");

        let sum = |field: fn(&Interval) -> u64| self.intervals.iter().map(field).sum::<u64>();
        assert_eq!(sum(|interval| interval.counters.sent), counters.sent);
        assert_eq!(sum(|interval| interval.counters.ok), counters.ok);
        assert_eq!(sum(|interval| interval.counters.errors.values().sum()), errors);
        assert_eq!(sum(|interval| interval.connections.opened), self.summary.connections.opened);
        let mut sent = 0;
        let mut done = 0;
        for Interval { index, counters, .. } in &self.intervals {
            sent += counters.sent;
            done += counters.ok + counters.errors.values().sum::<u64>();
            assert_eq!(sent, done + counters.in_flight, "interval {index}");
        }
        let times = self.histogram("service_time").map_or(0, |times| times.len());
        assert_eq!(times, counters.ok, "each right reply was timed once");
    }

    /// A histogram of the whole run.
    pub(crate) fn histogram(&self, name: &str) -> Option<Histogram<u64>> {
        let bytes = BASE64_STANDARD.decode(self.summary.histograms.get(name)?).expect("base64");
        Some(Deserializer::new().deserialize(&mut bytes.as_slice()).expect("a histogram"))
    }

    pub(crate) fn errors(&self) -> &BTreeMap<String, u64> {
        &self.summary.counters.errors
    }
}
