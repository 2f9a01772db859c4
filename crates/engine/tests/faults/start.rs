//! Rows about the time before the load: what cannot work is refused, in time, with the reason.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rcgen::date_time_ymd;
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
use serde_json::{Value, json};
use wiretrial_load::{Refusal, RunError};
use wiretrial_net::monotonic_ns;
use wiretrial_respond::Script;

use crate::certificates::Certificate;
use crate::outcome::{checked, run};
use crate::rig::Rig;
use crate::scene::{pollers, server_config, server_config_with};
use crate::scripted::Scripted;
use crate::scripted::Step::{self, Flood, Open, Read, Send, Serve};
use crate::speech::Speech;

const MS: u64 = 1_000_000;
/// A deadline that is waited for.
const DEADLINE: u64 = 600 * MS;

/// A deadline that passes soon.
fn impatient(plan: &mut Value) {
    plan["phases"]["connect_ns"] = json!(DEADLINE);
}

/// For each poller, a plan for this URL with a deadline that nobody waits for.
fn plans(url: &str) -> Vec<Value> {
    let plan = |poller: &String| {
        json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": url,
                "message": {"source": {"from": "sequence", "bytes": 20}},
                "expect": {"content": {"is": "echo"}},
            },
            "load": {"connections": 1},
            "stop": {"requests": 10},
            "phases": {"connect_ns": 40_000 * MS},
            "generator": {"poller": poller},
        })
    };
    pollers().iter().map(plan).collect()
}

fn refused(plan: &Value) -> String {
    match run(plan) {
        Err(RunError::Refused(Refusal::Target { class, message })) => {
            assert!(!message.contains('\n'), "{message}");
            format!("{}: {message}", class.name())
        }
        other => panic!("not refused: {other:?}"),
    }
}

fn check_refused(url: &str, change: impl Fn(&mut Value), begin: &str, says: &[&str]) {
    for mut plan in plans(url) {
        change(&mut plan);
        let text = refused(&plan);
        assert!(text.starts_with(begin), "{text}");
        assert!(says.iter().all(|part| text.contains(part)), "{text}");
    }
}

/// Takes one connection that nobody accepts, and lets every other SYN go unanswered.
fn black_hole() -> (TcpListener, Vec<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    rustix::net::listen(&listener, 0).expect("a queue of one");
    let address = listener.local_addr().expect("its address");
    let knock = || TcpStream::connect_timeout(&address, Duration::from_millis(100)).ok();
    let held = std::iter::from_fn(knock).take(8).collect();
    (listener, held)
}

/// A port that is taken, so that no other test listens on it, and where nobody listens.
fn nobody() -> (OwnedFd, SocketAddr) {
    let held = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&held, &SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
    let address = getsockname(&held).expect("its address");
    (held, SocketAddr::try_from(address).expect("an address"))
}

#[test]
fn a_name_without_address_is_refused() {
    let url = "http://no-such-host.invalid:8080/";
    check_refused(url, |_| {}, "system: ", &["cannot find", "no-such-host.invalid"]);
}

#[test]
fn of_several_addresses_the_first_that_answers_is_used_and_named() {
    let server = Scripted::start(Speech::Stream, None, vec![vec![Serve]]);
    let url = format!("tcp://localhost:{}", server.address().port());
    for plan in plans(&url) {
        let outcome = checked(&plan);
        assert_eq!(outcome.start.addresses, [server.address().to_string()]);
        assert_eq!(outcome.summary.counters.ok, 10);
    }
}

#[test]
fn a_silent_address_leaves_time_for_the_next() {
    let (hole, _held) = black_hole();
    let server = Scripted::start(Speech::Stream, None, vec![vec![Serve]]);
    let addresses = [hole.local_addr().expect("its address"), server.address()];
    for mut plan in plans(&format!("tcp://{}", addresses[0])) {
        plan["target"]["addresses"] = json!(addresses.map(|address| address.to_string()));
        plan["load"]["requests_per_connection"] = json!(1);
        plan["load"]["connections"] = json!(2);
        plan["stop"]["requests"] = json!(20);
        plan["phases"] = json!({"connect_ns": 3000 * MS, "timeout_ns": 1000 * MS});
        let outcome = run(&plan).expect("preflight found the one that answers");
        outcome.check_sums();
        let errors: Vec<_> = outcome.errors().keys().collect();
        assert_eq!(errors, ["connect_timeout"], "what goes to the other one is counted");
        assert_eq!(
            outcome.summary.connections.failed["connect_timeout"],
            outcome.errors()["connect_timeout"]
        );
        assert!(outcome.summary.counters.ok >= 10, "the other connection goes on");
    }
}

#[test]
fn a_connect_that_nobody_answers_times_out() {
    let (hole, _held) = black_hole();
    let address = hole.local_addr().expect("its address");
    let says = ["no answer to the connect", "600 ms"];
    check_refused(&format!("ws://{address}/"), impatient, "connect_timeout: ", &says);
}

#[test]
fn connections_that_do_not_stand_in_time_end_the_run() {
    let (hole, _held) = black_hole();
    let rig = Rig::new(Script::default());
    for poller in pollers() {
        let mut plan = rig.plan("tcp");
        let healthy = plan["target"]["url"].as_str().expect("text").replace("tcp://", "");
        let hole = hole.local_addr().expect("its address").to_string();
        plan["target"]["addresses"] = json!([healthy, hole]);
        plan["generator"] = json!({"poller": poller});
        plan["load"]["connections"] = json!(2);
        plan["phases"]["connect_ns"] = json!(3000 * MS);
        match run(&plan) {
            Err(RunError::Worker { class, message }) => {
                assert_eq!(class.name(), "connect_timeout");
                assert!(message.starts_with("1 of 2 connections stood after 3000 ms"), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn nobody_listening_is_waited_for_up_to_the_deadline() {
    let (_held, address) = nobody();
    let url = format!("ws://{address}/");
    let begin = monotonic_ns();
    check_refused(&url, impatient, "refused: ", &["is the server running?"]);
    let waited = monotonic_ns() - begin;
    assert!(waited >= (DEADLINE - 60 * MS) * pollers().len() as u64, "{waited} ns");
}

#[test]
fn a_server_that_accepts_and_never_answers_is_refused_after_the_deadline() {
    // The kernel accepts for it.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = silent.local_addr().expect("its address");
    for scheme in ["http", "https", "ws", "wss", "tcp", "tls"] {
        let url = format!("{scheme}://{address}");
        let says = ["no whole reply", "within 600 ms"];
        check_refused(&url, impatient, "timeout: ", &says);
    }
}

#[test]
fn a_first_reply_without_end_is_not_kept() {
    let endless = vec![
        Read,
        Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        Flood(vec![b'x'; 64 << 10], 80 << 20),
    ];
    let server = Scripted::start(Speech::Http, None, vec![endless]);
    let url = format!("http://{}/", server.address());
    let learn = |plan: &mut Value| {
        plan["target"]["expect"] = json!({"content": {"is": "learned"}});
    };
    check_refused(&url, learn, "too_big: ", &["over 64 MiB"]);
}

#[test]
fn garbage_as_the_first_reply_is_refused() {
    for scheme in ["http", "ws"] {
        let script = vec![Open, Read, Send(vec![0xff; 64])];
        let server = Scripted::start(Speech::of(scheme), None, vec![script]);
        let url = format!("{scheme}://{}/", server.address());
        check_refused(&url, |_| {}, "protocol: ", &[]);
    }
}

#[test]
fn tls_that_is_not_right_is_refused_with_its_reason() {
    let good = Certificate::new("localhost", |_| {});
    let expired = Certificate::new("localhost", |params| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    });
    for scheme in ["https", "wss", "tls"] {
        let secure = |certificate: &Certificate| {
            let script = vec![Open, Serve];
            let config = Some(server_config(certificate));
            Scripted::start(Speech::of(scheme), config, vec![script])
        };
        let check = |server: &Scripted, trusted: &Certificate, name: &str, says: &[&str]| {
            let url = format!("{scheme}://{}/", server.address());
            let tls = json!({"ca_file": trusted.cert, "server_name": name});
            check_refused(&url, |plan| plan["target"]["tls"] = tls.clone(), "tls: ", says);
        };
        check(&secure(&expired), &expired, "localhost", &["expired", "--insecure"]);
        check(&secure(&good), &good, "other.example", &["not for 'other.example'", "localhost"]);
        check(&secure(&good), &expired, "localhost", &["--cacert"]);

        // A fatal alert: handshake_failure.
        let alert = vec![Send(vec![21, 3, 3, 0, 2, 2, 40])];
        let alerting = Scripted::start(Speech::Stream, None, vec![alert]);
        check(&alerting, &good, "localhost", &["alert HandshakeFailure"]);
        let closing = Scripted::start(Speech::Stream, None, vec![vec![Step::Finish]]);
        check(&closing, &good, "localhost", &["closed the connection during the TLS handshake"]);
        let plain = Scripted::start(Speech::Stream, None, vec![vec![Send(vec![b'x'; 64])]]);
        check(&plain, &good, "localhost", &["is not TLS"]);
    }
}

#[test]
fn the_application_protocol_is_agreed_on_or_refused() {
    let certificate = Certificate::new("localhost", |_| {});
    let tls = json!({"ca_file": certificate.cert, "server_name": "localhost"});
    let serve = |scheme: &str, supported: &[&str]| {
        let config = Some(server_config_with(&certificate, supported));
        let server = Scripted::start(Speech::of(scheme), config, vec![vec![Open, Serve]]);
        (format!("{scheme}://{}/", server.address()), server)
    };
    for (scheme, supported, agreed) in [
        ("https", &["h2", "http/1.1"][..], Some("ALPN http/1.1")),
        ("wss", &["http/1.1"], Some("ALPN http/1.1")),
        ("https", &[], None),
        // A byte stream offers none.
        ("tls", &["h2"], None),
    ] {
        let (url, _server) = serve(scheme, supported);
        for mut plan in plans(&url) {
            plan["target"]["tls"] = tls.clone();
            let described = checked(&plan).start.tls.expect("described");
            let named = described.split(", ").nth(1);
            assert_eq!(named, agreed, "{scheme} {supported:?}: {described}");
        }
    }
    for scheme in ["https", "wss"] {
        let (url, _server) = serve(scheme, &["h2"]);
        let says = &["none of the application protocols", "(ALPN http/1.1)"];
        check_refused(&url, |plan| plan["target"]["tls"] = tls.clone(), "tls: ", says);
    }
}

#[test]
fn an_unproven_certificate_is_taken_only_where_asked_for_and_recorded() {
    let expired = Certificate::new("elsewhere.example", |params| {
        params.not_after = date_time_ymd(2021, 1, 1);
    });
    for scheme in ["https", "wss", "tls"] {
        let config = Some(server_config(&expired));
        let server = Scripted::start(Speech::of(scheme), config, vec![vec![Open, Serve]]);
        for mut plan in plans(&format!("{scheme}://{}/", server.address())) {
            plan["target"]["tls"] = json!({"insecure": true});
            let outcome = checked(&plan);
            assert!(outcome.start.insecure && outcome.start.tls.is_some());
            assert_eq!(outcome.summary.counters.ok, 10, "{scheme}: {:?}", outcome.errors());
        }
    }
}
