//! The reference server as a test's counterpart, and plans for it.

use std::net::SocketAddr;

use serde_json::{Value, json};
use wiretrial_respond::{DeflateConfig, Script, Server, ServerPlan};

use crate::certificates::Certificate;

/// Protocols that every test of a kind goes through.
pub(crate) const PROTOCOLS: [&str; 3] = ["http", "ws", "tcp"];

/// The poller of the plans: the best one, unless the environment names another.
fn poller() -> String {
    std::env::var("WIRETRIAL_TEST_POLLER").unwrap_or_else(|_| "auto".to_owned())
}

/// A server on free loopback ports, with TLS beside each plain one.
pub(crate) struct Rig {
    server: Server,
    pub(crate) certificate: Certificate,
}

impl Rig {
    pub(crate) fn new(script: Script) -> Self {
        Self::start(ServerPlan { script, ..ServerPlan::default() }, true)
    }

    /// One that does something wrong, as [`Script::faults`] are written.
    #[allow(dead_code, reason = "each test binary uses its own part of this")]
    pub(crate) fn faulty(fault: &str) -> Self {
        Self::new(Script { faults: vec![fault.parse().expect("a fault")], ..Script::default() })
    }

    /// One that compresses WebSocket messages.
    #[allow(dead_code, reason = "each test binary uses its own part of this")]
    pub(crate) fn with_deflate(deflate: DeflateConfig) -> Self {
        Self::start(ServerPlan { deflate: Some(deflate), ..ServerPlan::default() }, true)
    }

    /// One that does not offer HTTP/2 to TLS clients.
    #[allow(dead_code, reason = "each test binary uses its own part of this")]
    pub(crate) fn without_http2(script: Script) -> Self {
        Self::start(ServerPlan { script, ..ServerPlan::default() }, false)
    }

    /// One that answers HTTP/3, too.
    #[allow(dead_code, reason = "each test binary uses its own part of this")]
    pub(crate) fn with_http3(script: Script) -> Self {
        Self::start(ServerPlan { script, http3: true, ..ServerPlan::default() }, true)
    }

    /// The same, and it compresses WebSocket messages.
    #[allow(dead_code, reason = "each test binary uses its own part of this")]
    pub(crate) fn with_http3_and_deflate(deflate: DeflateConfig) -> Self {
        let plan = ServerPlan { deflate: Some(deflate), http3: true, ..ServerPlan::default() };
        Self::start(plan, true)
    }

    fn start(plan: ServerPlan, http2: bool) -> Self {
        let certificate = Certificate::new("localhost", |_| {});
        let anywhere: SocketAddr = "127.0.0.1:0".parse().expect("an address");
        let plan = ServerPlan {
            http: vec![anywhere],
            https: vec![anywhere],
            http2,
            tcp: vec![anywhere],
            tls: vec![anywhere],
            styx: vec![anywhere],
            cert: Some(certificate.cert.clone()),
            key: Some(certificate.key.clone()),
            ..plan
        };
        let server = wiretrial_respond::start(plan).expect("the server starts");
        Self { server, certificate }
    }

    /// A plan for a protocol: 20-byte echoes, one connection, closed loop.
    pub(crate) fn plan(&self, scheme: &str) -> Value {
        let addresses = self.server.addresses();
        let (port, path) = match scheme {
            "http" => (addresses.http[0].port(), "/echo"),
            "https" => (addresses.https[0].port(), "/echo"),
            "ws" | "styx+ws" | "styx+json+ws" | "socketio+ws" => (addresses.http[0].port(), "/"),
            "wss" | "styx+wss" | "styx+json+wss" | "socketio+wss" => {
                (addresses.https[0].port(), "/")
            }
            "tcp" => (addresses.tcp[0].port(), ""),
            "styx" | "styx+json" => (addresses.styx[0].port(), ""),
            _ => (addresses.tls[0].port(), ""),
        };
        let echo = !scheme.starts_with("styx") && !scheme.starts_with("socketio");
        let (message, expect) = if echo {
            (
                json!({"source": {"from": "sequence", "bytes": 20}}),
                json!({"content": {"is": "echo"}}),
            )
        } else {
            (json!({}), json!({}))
        };
        json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": format!("{scheme}://127.0.0.1:{port}{path}"),
                "message": message,
                "expect": expect,
                "tls": {"ca_file": self.certificate.cert, "server_name": "localhost"},
            },
            "load": {"connections": 1},
            "generator": {"poller": poller()},
            "stop": {"requests": 100},
            "phases": {"timeout_ns": 2_000_000_000_u64, "drain_ns": 500_000_000},
        })
    }
}
