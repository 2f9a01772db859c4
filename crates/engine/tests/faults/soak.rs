//! Churn: connections that come, break and come back at random, for [`seconds`]; whatever was
//! taken must be given back. Ten seconds among the tests, ten minutes by `make soak`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use fastrand::Rng;
use rustix::net::sockopt::set_socket_linger;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use wiretrial_net::monotonic_ns;

use crate::binary::Respond;
use crate::certificates::Certificate;
use crate::chaos;
use crate::child::{Engine, end_of};
use crate::scene::{pollers, server_config};
use crate::scripted::{Scripted, pause};
use crate::speech::Speech;

const SECOND: u64 = 1_000_000_000;
const CONNECTIONS: u64 = 16;
/// Sockets that a process has beside its connections: a pair to hear of signals, listeners.
const OWN_SOCKETS: usize = 4;
/// Memory that may come between an early and a late look: allocators keep what they freed.
const SLACK_BYTES: u64 = 8 << 20;
/// In its first half minute, a load generator still touches its histograms' pages for the first
/// time: a short soak bounds memory, and only a long one tells a small leak.
const SETTLING_BYTES: u64 = 32 << 20;
const SETTLED_SECONDS: u64 = 60;
/// Threads that pester the reference server.
const PESTS: u64 = 8;

/// How long it churns: `SOAK_SECONDS`, ten without.
fn seconds() -> u64 {
    let given = std::env::var("SOAK_SECONDS").ok();
    given.map_or(10, |text| text.parse().expect("SOAK_SECONDS is a number"))
}

/// The seed of everything random: `SOAK_SEED`, fixed without.
fn seed() -> u64 {
    let given = std::env::var("SOAK_SEED").ok();
    given.map_or(20_260_101, |text| text.parse().expect("SOAK_SEED is a number"))
}

/// What a process holds.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    sockets: usize,
    others: usize,
    resident: u64,
}

fn held(pid: Pid) -> Held {
    let folder = format!("/proc/{}", pid.as_raw_nonzero());
    let mut held = Held::default();
    for entry in fs::read_dir(format!("{folder}/fd")).expect("its descriptors") {
        // A descriptor that was closed since the folder was read is not held.
        let Ok(target) = entry.and_then(|entry| fs::read_link(entry.path())) else { continue };
        let is_socket = target.to_string_lossy().starts_with("socket:");
        *if is_socket { &mut held.sockets } else { &mut held.others } += 1;
    }
    let status = fs::read_to_string(format!("{folder}/status")).expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its size");
    let kibibytes = line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
    held.resident = kibibytes.expect("a number") << 10;
    held
}

/// Looks at a process ten times a second: early and late must be alike.
struct Watch {
    pid: Pid,
    begin: u64,
    early: Held,
    late: Held,
    most_sockets: usize,
}

impl Watch {
    fn new(pid: Pid) -> Self {
        let now = held(pid);
        Self { pid, begin: monotonic_ns(), early: now, late: now, most_sockets: 0 }
    }

    fn look(&mut self) {
        let now = held(self.pid);
        let elapsed = (monotonic_ns() - self.begin) * 10 / (seconds() * SECOND);
        self.most_sockets = self.most_sockets.max(now.sockets);
        // What is open for a moment only, as a file of /proc is while it is read, is not held: the
        // least of several looks counts.
        let least = |before: Held, settled: bool| {
            if settled { now.others.min(before.others) } else { now.others }
        };
        if elapsed < 4 {
            let resident = self.early.resident.max(now.resident);
            self.early = Held { resident, others: least(self.early, elapsed >= 2), ..now };
        }
        self.late = Held { others: least(self.late, elapsed >= 7), ..now };
    }

    fn check(&self, sockets: usize) {
        let Self { early, late, most_sockets, .. } = self;
        assert!(*most_sockets <= sockets, "{most_sockets} sockets, not {sockets} at most");
        assert_eq!(early.others, late.others, "descriptors that are no sockets");
        let slack = if seconds() < SETTLED_SECONDS { SETTLING_BYTES } else { SLACK_BYTES };
        assert!(late.resident <= early.resident + slack, "{early:?} became {late:?}");
    }
}

#[test]
fn the_load_generator_gives_back_what_it_took() {
    let certificate = Certificate::new("localhost", |_| {});
    std::thread::scope(|scope| {
        for poller in pollers() {
            for scheme in ["http", "ws", "tcp", "https", "wss", "tls"] {
                let (poller, certificate) = (poller.clone(), &certificate);
                scope.spawn(move || churn(scheme, &poller, certificate));
            }
        }
    });
}

fn churn(scheme: &str, poller: &str, certificate: &Certificate) {
    let speech = Speech::of(scheme);
    let tls = ["https", "wss", "tls"].contains(&scheme).then(|| server_config(certificate));
    let author = Box::new(move |number| chaos::script(speech, seed(), number));
    let server = Scripted::written_by(speech, tls, author);
    let plan = json!({
        "schema": "wiretrial-plan",
        "version": 1,
        "target": {
            "url": format!("{scheme}://{}/", server.address()),
            "message": {"source": {"from": "sequence", "bytes": 20}},
            "expect": {"content": {"is": "echo"}},
            "tls": {"ca_file": certificate.cert, "server_name": "localhost"},
        },
        "load": {
            "connections": CONNECTIONS, "depth": 4, "seed": seed(),
            "executor": {"kind": "open", "rate": 500.0},
        },
        "stop": {"duration_ns": (seconds() + 2) * SECOND},
        "phases": {"timeout_ns": 300_000_000, "interval_ns": SECOND},
        "generator": {"poller": poller, "threads": 2},
    });
    let mut engine = Engine::run(&plan);
    engine.await_line(|line| line["kind"] == "start");
    let mut watch = Watch::new(engine.pid());
    // Its last second, when it lets go of everything, is not looked at.
    while monotonic_ns() - watch.begin < seconds() * SECOND {
        pause(Duration::from_millis(100));
        watch.look();
    }
    let ended = engine.end();
    assert_eq!((ended.status.code(), ended.complaint.as_str()), (Some(0), ""), "{scheme}");
    watch.check(CONNECTIONS as usize + OWN_SOCKETS);
    let summary = ended.summary();
    let number = |name: &str| summary["connections"][name].as_u64().expect("a number");
    let failures = summary["counters"]["errors"].as_object().expect("an object");
    assert!(number("attempted") > 3 * CONNECTIONS && failures.len() >= 3, "{scheme}: {summary}");
    assert_eq!(summary["end"], "complete", "{scheme}");
    drop(server);
}

/// Only in a long soak: it sleeps for longer than the run waits for a worker to report.
#[test]
fn a_pause_of_half_a_minute_ends_no_run() {
    if seconds() < SETTLED_SECONDS {
        return;
    }
    let server = Respond::start(&[]);
    for poller in pollers() {
        let plan = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": format!("ws://{}/", server.http),
                "message": {"source": {"from": "sequence", "bytes": 20}},
            },
            "load": {"connections": 2, "executor": {"kind": "open", "rate": 100.0}},
            "stop": {"duration_ns": 36 * SECOND},
            "generator": {"poller": poller},
        });
        let mut engine = Engine::run(&plan);
        engine.await_load();
        engine.send(Signal::STOP);
        pause(Duration::from_secs(33));
        engine.send(Signal::CONT);
        let ended = engine.end();
        assert_eq!(ended.status.code(), Some(0), "{}", ended.complaint);
        assert!(ended.summary()["disturbed_intervals"].as_u64() >= Some(300));
    }
}

#[test]
fn the_reference_server_gives_back_what_it_took() {
    let mut server = Respond::start(&[]);
    let pid = Pid::from_child(&server.child);
    let idle = held(pid);
    let mut watch = Watch::new(pid);
    let end = monotonic_ns() + seconds() * SECOND;
    std::thread::scope(|scope| {
        for pest in 0..PESTS {
            let address = &server.http;
            scope.spawn(move || {
                let mut rng = Rng::with_seed(seed() ^ pest);
                while monotonic_ns() < end {
                    // Whatever comes of it, the server's state is what is looked at.
                    let _ = pester(address, &mut rng);
                }
            });
        }
        while monotonic_ns() < end {
            pause(Duration::from_millis(100));
            watch.look();
        }
    });
    for _ in 0..200 {
        watch.look();
        if watch.late.sockets == idle.sockets {
            break;
        }
        pause(Duration::from_millis(50));
    }
    assert_eq!(watch.late.sockets, idle.sockets, "connections that nobody holds any more");
    watch.check(PESTS as usize * 2 + OWN_SOCKETS + idle.sockets);
    let mut right = TcpStream::connect(&server.http).expect("it listens");
    right
        .write_all(b"GET /message HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        .expect("sent");
    let mut reply = String::new();
    right.read_to_string(&mut reply).expect("read");
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    kill_process(pid, Signal::TERM).expect("sent");
    assert_eq!(end_of(&mut server.child).code(), Some(143));
}

/// One connection that behaves as it likes.
fn pester(address: &str, rng: &mut Rng) -> std::io::Result<()> {
    const REQUEST: &[u8] =
        b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n01234567890123456789";
    const UPGRADE: &[u8] =
        b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    stream.set_write_timeout(Some(Duration::from_millis(200)))?;
    if rng.bool() {
        stream.write_all(UPGRADE)?;
    }
    for _ in 0..rng.usize(..8) {
        match rng.u8(..6) {
            0 => stream.write_all(REQUEST)?,
            1 => stream.write_all(&REQUEST[..rng.usize(..REQUEST.len())])?,
            2 => stream.write_all(&REQUEST.repeat(rng.usize(..200)))?,
            3 => {
                let noise: Vec<u8> = (0..rng.usize(..2000)).map(|_| rng.u8(..)).collect();
                stream.write_all(&noise)?;
            }
            4 => pause(Duration::from_millis(rng.u64(..30))),
            _ => {
                let _ = stream.read(&mut [0; 512])?;
            }
        }
    }
    match rng.u8(..3) {
        0 => set_socket_linger(&stream, Some(Duration::ZERO))?,
        1 => {
            stream.shutdown(Shutdown::Write)?;
            let _ = stream.read(&mut [0; 4096])?;
        }
        _ => {}
    }
    Ok(())
}
