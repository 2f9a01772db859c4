//! The rule of these tests: one connection meets a server that does wrong, another goes on with
//! one that does right, and everything is counted as what it was.
//!
//! Each case runs once for every poller that a plan can name, and over TLS where that applies.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, SupportedProtocolVersion};
use serde_json::{Value, json};
use wiretrial_load::measure::snapshot::Interval;
use wiretrial_respond::Script;

use crate::certificates::Certificate;
use crate::outcome::{Outcome, run_until};
use crate::rig::Rig;
use crate::scripted::{Asked, Scripted, Seen, Step};
use crate::speech::Speech;

/// Right replies that show that the healthy connection goes on.
const LEAST_RIGHT: u64 = 20;
/// Cases that run at one time: they mostly wait.
const AT_ONCE: usize = 4;

/// One fault, and what it must come to.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What the server does on its first connection. It does right on all that follow.
    pub(crate) script: Vec<Step>,
    /// Messages that fail, by class: these and no others.
    pub(crate) errors: Vec<(&'static str, u64)>,
    /// Why the first connection ends; none: it does not, before the run does.
    pub(crate) closed: Option<&'static str>,
    /// Attempts to connect that fail, by class.
    pub(crate) failed: Option<&'static str>,
    /// What the example of a class says.
    pub(crate) says: Option<(&'static str, &'static str)>,
    /// Changes of the plan.
    pub(crate) plan: fn(&mut Value),
    /// What the server must have seen on its first connection.
    pub(crate) seen: fn(&Seen),
}

impl Case {
    /// A fault that nothing is counted of: to be told what it comes to.
    pub(crate) fn new(name: &'static str, script: impl Into<Vec<Step>>) -> Self {
        Self {
            name,
            script: script.into(),
            errors: Vec::new(),
            closed: None,
            failed: None,
            says: None,
            plan: |_| {},
            seen: |_| {},
        }
    }

    /// One message fails, and its connection ends with it.
    pub(crate) fn fails(mut self, class: &'static str) -> Self {
        self.errors = vec![(class, 1)];
        self.closed = Some(class);
        self
    }

    /// One message fails, and its connection goes on.
    pub(crate) fn counts(mut self, class: &'static str) -> Self {
        self.errors = vec![(class, 1)];
        self
    }

    /// The connection ends for this reason.
    pub(crate) fn closes(mut self, reason: &'static str) -> Self {
        self.closed = Some(reason);
        self
    }

    /// Connections that are opened: the healthy one, the faulty one, and that again.
    fn opened(&self) -> u64 {
        2 + u64::from(self.closed.is_some())
    }

    /// The fault was counted, the other connection went on, and the faulty one goes on or is back.
    /// A run ends with it, however long it took on a busy machine.
    fn has_come_to_pass(&self, intervals: &[Interval], asked: &Asked) -> bool {
        let sum = |field: fn(&Interval) -> u64| intervals.iter().map(field).sum::<u64>();
        let failed = sum(|interval| interval.counters.errors.values().sum());
        let is_back = if self.closed.is_some() || self.failed.is_some() {
            asked.others.load(Ordering::Relaxed) > 0
        } else {
            asked.first.load(Ordering::Relaxed) > 4
        };
        is_back
            && failed >= self.errors.iter().map(|(_, count)| count).sum()
            && sum(|interval| interval.counters.ok) > LEAST_RIGHT
            && sum(|interval| interval.connections.opened) >= self.opened()
    }

    pub(crate) fn says(mut self, class: &'static str, text: &'static str) -> Self {
        self.says = Some((class, text));
        self
    }

    pub(crate) fn with(mut self, plan: fn(&mut Value)) -> Self {
        self.plan = plan;
        self
    }

    pub(crate) fn sees(mut self, seen: fn(&Seen)) -> Self {
        self.seen = seen;
        self
    }
}

/// Every poller that a plan can name; one that is added to the plan is tested from then on.
pub(crate) fn pollers() -> Vec<String> {
    let schema = wiretrial_load::schema::plan().to_value();
    let variants = &schema["$defs"]["PollerDocument"]["oneOf"];
    let variants = variants.as_array().expect("the variants of the poller");
    let names = variants.iter().filter_map(|variant| variant["const"].as_str());
    let pollers: Vec<String> = names.filter(|name| *name != "auto").map(str::to_owned).collect();
    assert!(!pollers.is_empty(), "no poller in {variants:?}");
    pollers
}

/// What a TLS server of the tests presents, which names no application protocol.
pub(crate) fn server_config(certificate: &Certificate) -> Arc<ServerConfig> {
    server_config_with(certificate, &[])
}

/// The same, for a server that supports these application protocols.
pub(crate) fn server_config_with(
    certificate: &Certificate,
    protocols: &[&str],
) -> Arc<ServerConfig> {
    server_config_of(certificate, protocols, rustls::DEFAULT_VERSIONS)
}

/// The same, for one that speaks these versions of TLS.
pub(crate) fn server_config_of(
    certificate: &Certificate,
    protocols: &[&str],
    versions: &[&'static SupportedProtocolVersion],
) -> Arc<ServerConfig> {
    let chain = CertificateDer::from_pem_file(&certificate.cert).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(&certificate.key).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![chain], key);
    let mut config = config.expect("a pair");
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}

/// Runs every case with every poller over every one of these schemes.
pub(crate) fn check_all(schemes: &[&str], cases: &[Case]) {
    let rig = Rig::new(Script::default());
    let pollers = pollers();
    let mut all = Vec::new();
    for scheme in schemes {
        for poller in &pollers {
            all.extend(cases.iter().map(|case| (*scheme, poller.as_str(), case)));
        }
    }
    for some in all.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            for (scheme, poller, case) in some {
                let rig = &rig;
                scope.spawn(move || check(rig, scheme, poller, case));
            }
        });
    }
}

fn check(rig: &Rig, scheme: &str, poller: &str, case: &Case) {
    let name = format!("{} over {scheme} with {poller}", case.name);
    let (outcome, seen) = meet(rig, scheme, poller, case);
    outcome.check_sums();

    let summary = &outcome.summary;
    let errors = counted(case.errors.iter().copied());
    assert_eq!(outcome.errors(), &errors, "{name}: {:?}", summary.examples);
    assert_eq!(summary.counters.in_flight, 0, "{name}: all is told");
    let closed = counted(case.closed.map(|reason| (reason, 1)));
    assert_eq!(summary.connections.closed, closed, "{name}: {:?}", summary.examples);
    let failed = counted(case.failed.map(|class| (class, 1)));
    assert_eq!(summary.connections.failed, failed, "{name}: {:?}", summary.examples);

    // The other connection goes on, and the broken one comes back.
    assert!(summary.counters.ok > LEAST_RIGHT, "{name}: {:?}", summary.counters);
    assert_eq!(summary.connections.opened, case.opened(), "{name}: {:?}", summary.connections);
    if case.closed.is_some() {
        assert!(seen.len() > 1 && seen[1].requests > 0, "{name}: not asked again: {seen:?}");
    }
    if let Some((class, text)) = case.says {
        let example = summary.examples.get(class).map_or("", String::as_str);
        assert!(example.contains(text), "{name}: {:?}", summary.examples);
    }
    (case.seen)(&seen[0]);
}

/// Connection 0 goes to the reference server, connection 1 to the scripted one.
fn meet(rig: &Rig, scheme: &str, poller: &str, case: &Case) -> (Outcome, Vec<Seen>) {
    let mut plan = rig.plan(scheme);
    let tls = ["https", "wss", "tls"].contains(&scheme);
    let config = tls.then(|| server_config(&rig.certificate));
    let scripts = vec![case.script.clone(), vec![Step::Open, Step::Serve]];
    let server = Scripted::start(Speech::of(scheme), config, scripts);
    let url = plan["target"]["url"].as_str().expect("a URL");
    let healthy = url.split('/').nth(2).expect("an address").to_owned();
    plan["target"]["addresses"] = json!([healthy, server.address().to_string()]);
    plan["generator"] = json!({"poller": poller});
    plan["load"] = json!({"connections": 2, "executor": {"kind": "open", "rate": 400.0}});
    plan["stop"] = json!({"duration_ns": 50_000_000_000_u64});
    plan["phases"] = json!({"timeout_ns": 20_000_000_000_u64, "drain_ns": 10_000_000_000_u64});
    (case.plan)(&mut plan);
    let (expected, asked) = (case.clone(), server.asked());
    let enough = move |intervals: &[Interval]| expected.has_come_to_pass(intervals, &asked);
    let outcome = run_until(&plan, &Arc::default(), enough);
    let outcome = outcome.unwrap_or_else(|error| panic!("{} over {scheme}: {error}", case.name));
    (outcome, server.end())
}

fn counted(counts: impl IntoIterator<Item = (&'static str, u64)>) -> BTreeMap<String, u64> {
    counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}
