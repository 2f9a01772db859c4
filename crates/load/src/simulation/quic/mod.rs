//! Worlds over QUIC: the whole worker, with HTTP/3, among servers whose datagrams are lost, late, doubled and garbled.
//!
//! Knows what a seed says of them, and what must come of it. Must not know what a datagram is.

mod host;
mod path;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, PoisonError};

use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use serde_json::{Value, json};
use wiretrial_net::Alpn;
use wiretrial_net::quic::{QuicServerConfig, QuicServerSettings, ResetKey};
use wiretrial_net::simulation::{Nature, Random};

use super::checks::sums;
use super::facts::{Facts, Witness};
use super::scenario::{MS, Scenario, US};
use super::scripted::{manners, nature, recorded};
use super::world::{Played, play_among};
use crate::plan::Plan;
use host::Host;
use path::Path;

/// So many seeds are played in each `cargo test`.
const SEEDS: u64 = 300;
/// One in so many is played twice, to see that the same comes of it.
const TWICE: u64 = 7;
/// Classes of failures that no wire makes of a right reply.
const NEVER: [&str; 3] = ["mismatch", "protocol", "status"];

/// The certificate of all servers and its key, which have the same size each time.
static CERTIFIED: LazyLock<(String, String)> = LazyLock::new(|| {
    let key = KeyPair::generate_for(&PKCS_ED25519).expect("a key");
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    params.serial_number = Some(7.into());
    let certificate = params.self_signed(&key).expect("a certificate");
    (certificate.pem(), key.serialize_pem())
});

/// One world.
#[derive(Debug, Clone)]
struct World {
    seed: u64,
    nature: Nature,
    path: Path,
    /// Clients have to prove their addresses first.
    retry: bool,
    early_data: bool,
    /// Then all servers are started anew, and tell clients that they know nobody.
    restarts_at: Option<u64>,
    /// The run is asked to stop.
    stop_at: Option<u64>,
    load: Value,
    requests: u64,
    /// Bytes of each request and its reply.
    bytes: u64,
    timeout: u64,
}

impl World {
    /// A client that sends one message after the other to a server ten milliseconds away.
    fn quiet(receives_in_wait: bool) -> Self {
        Self {
            seed: 1,
            nature: nature(receives_in_wait),
            path: Path::quiet(10 * MS),
            retry: false,
            early_data: false,
            restarts_at: None,
            stop_at: None,
            load: json!({"connections": 1}),
            requests: 3,
            bytes: 100,
            timeout: 5_000 * MS,
        }
    }

    /// What this seed says.
    fn of(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let latency = random.of(&[100 * US, MS, 10 * MS, 50 * MS]);
        let dark_from = random.of(&[20 * MS, 600 * MS, 1_000 * MS]);
        let is_dark = random.once_in(4);
        let path = Path {
            loses: random.of(&[0, 0, 64, 16]),
            doubles: random.of(&[0, 32, 8]),
            garbles: random.of(&[0, 0, 64, 16]),
            latency,
            jitter: latency * random.of(&[0, 1, 4]),
            dark: if is_dark { dark_from..dark_from + 2_000 * MS } else { 0..0 },
            // Who moves in the middle of a handshake is a stranger, who is never let in.
            moves_after: random.once_in(4).then(|| random.between(1_000, 3_000) * MS),
        };
        let (connections, depth) = (random.between(1, 3), random.between(1, 8));
        let mut load = json!({"connections": connections, "depth": depth});
        if random.once_in(3) {
            load["requests_per_connection"] = json!(depth * random.between(1, 3));
        }
        if random.once_in(3) {
            load["executor"] = json!({"kind": "open", "rate": random.of(&[50.0, 400.0])});
        }
        let nature = Nature {
            seed,
            clock_step: random.of(&[0, 200, 2_000]),
            lateness: random.of(&[0, 60 * US]),
            pauses_once_in: random.of(&[0, 0, 400]),
            ..nature(random.once_in(2))
        };
        Self {
            seed,
            nature,
            path,
            retry: random.once_in(3),
            early_data: random.once_in(4),
            restarts_at: random.once_in(6).then(|| random.between(50, 2_000) * MS),
            stop_at: None,
            load,
            requests: random.between(1, 60),
            bytes: random.of(&[20, 100, 1_000, 20_000]),
            timeout: random.of(&[2_000 * MS, 4_000 * MS]),
        }
    }

    fn plan(&self) -> Plan {
        let document = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": "https://127.0.0.1:9/echo",
                "http": {"version": "3", "early_data": self.early_data},
                "message": {"source": {"from": "sequence", "bytes": self.bytes}},
                "expect": {"content": {"is": "echo"}},
                "tls": {"insecure": true, "server_name": "localhost"},
            },
            "load": self.load,
            "stop": {"requests": self.requests},
            "phases": {
                "timeout_ns": self.timeout,
                "interval_ns": 500 * MS,
                "drain_ns": 6_000 * MS,
            },
        });
        let plan = Plan::from_json(&document.to_string());
        plan.unwrap_or_else(|error| panic!("{error}: {document}"))
    }

    /// Plays it to its end, which must come.
    fn play(&self) -> Result<(Played, Facts), String> {
        let scenario = Scenario {
            plan: self.plan(),
            nature: self.nature.clone(),
            manners: manners(),
            stop_at: self.stop_at,
            judges_once_in: 0,
        };
        let (witness, path) = (Witness::default(), self.path.clone());
        let config = self.servers();
        let host = Host::new(config, path, !self.seed, self.restarts_at, Arc::clone(&witness));
        let played = play_among(&scenario, Box::new(host), &witness)?;
        let facts = witness.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok((played, facts))
    }

    fn servers(&self) -> QuicServerConfig {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("wiretrial-load-quic-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
        fs::write(&cert, &CERTIFIED.0).expect("written");
        fs::write(&key, &CERTIFIED.1).expect("written");
        let config = QuicServerConfig::new(&QuicServerSettings {
            cert,
            key,
            alpn: vec![Alpn::Http3],
            early_data: self.early_data,
            retry: self.retry,
            reset: Some(ResetKey([7; 32])),
            seed: Some(!self.seed),
            ..QuicServerSettings::default()
        });
        // Both files were read. A folder that stays behind is no failure.
        let _ = fs::remove_dir_all(&folder);
        config.expect("settings")
    }

    /// Everything that must hold.
    fn check(&self, played: &Played, facts: &Facts) -> Result<(), String> {
        sums(played)?;
        let counters = &played.summary.counters;
        let failed: u64 = counters.errors.values().sum();
        if counters.ok > facts.right {
            return Err(format!("{} replies were right, {} were sent", counters.ok, facts.right));
        }
        let all = counters.sent + counters.waiting + counters.dropped;
        if all != self.requests || counters.in_flight > 0 {
            return Err(format!("{} messages were to be sent: {counters:?}", self.requests));
        }
        // A client that is doubled before the handshake's end is two.
        if facts.misunderstood > 0 && !self.early_data {
            return Err(format!("{} messages came twice", facts.misunderstood));
        }
        if let Some(class) = NEVER.iter().find(|class| counters.errors.contains_key(**class)) {
            return Err(format!("no wire does that: {class}, {:?}", played.summary.examples));
        }
        // What begins early may end without having stood.
        let ended = played.summary.http3.map_or(0, |it| it.ended);
        let opened = played.summary.connections.opened;
        if ended > opened || (ended < opened && !self.early_data) {
            return Err(format!("{opened} connections stood, the paths of {ended} are told"));
        }
        let is_quiet = self.path.is_quiet() && self.restarts_at.is_none();
        if is_quiet && failed > 0 {
            return Err(format!("nothing happened, and yet {:?}", counters.errors));
        }
        if played.open_sockets > 0 {
            return Err(format!("{} sockets were left open", played.open_sockets));
        }
        Ok(())
    }

    fn hold(&self) -> Result<Played, String> {
        let played = catch_unwind(AssertUnwindSafe(|| self.play()));
        let (played, facts) = played.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map_or("", String::as_str);
            Err(format!("panicked: {text}"))
        })?;
        self.check(&played, &facts)?;
        Ok(played)
    }
}

#[test]
fn whatever_a_wire_does_each_message_is_answered_rightly_or_fails_once() {
    let seed = std::env::var("WIRETRIAL_SEED").ok().map(|it| it.parse().expect("a number"));
    let (mut ok, mut sent, mut resumed) = (0, 0, 0);
    for seed in seed.map_or(0..SEEDS, |seed| seed..seed + 1) {
        let world = World::of(seed);
        let played = world.hold().unwrap_or_else(|what| {
            let repeat = "cargo test -p wiretrial-load --lib whatever_a_wire";
            panic!("WIRETRIAL_SEED={seed} {repeat}: {what}: {world:?}")
        });
        if seed.is_multiple_of(TWICE) {
            let again = world.hold().expect("it held once");
            assert!(again.bytes == played.bytes, "seed {seed} gave other snapshots");
        }
        let counters = &played.summary.counters;
        (ok, sent) = (ok + counters.ok, sent + counters.sent);
        resumed += played.summary.http3.map_or(0, |it| it.early_accepted);
    }
    println!("{ok} of {sent} messages were answered, {resumed} connections began early");
    if seed.is_none() {
        assert!(ok * 100 >= sent * 75, "{ok} of {sent}");
        assert!(resumed > 0);
    }
}

/// A round trip for the handshake, two where the address has to be proved; and one for each message.
#[test]
fn times_are_those_of_the_way() {
    for (receives_in_wait, retry) in [(true, false), (false, false), (true, true)] {
        let world = World { retry, ..World::quiet(receives_in_wait) };
        let summary = world.hold().expect("a quiet world").summary;
        assert_eq!(summary.counters.ok, 3);
        assert_eq!(recorded(&summary, "connect_time"), [if retry { 40_000 } else { 20_000 }]);
        assert_eq!(recorded(&summary, "service_time"), [20_000; 3]);
        let figures = summary.http3.expect("it is told");
        assert_eq!((figures.ended, figures.packets_lost, figures.goaways), (1, 0, 0));
    }
}

/// Each message has a connection of its own, which is a part of its time. The first brings two sessions to resume, and a reply
/// that is so early comes before any other does.
#[test]
fn a_message_that_goes_with_the_handshake_takes_one_round_trip() {
    let load = json!({"connections": 1, "requests_per_connection": 1});
    let world = World { early_data: true, load, requests: 4, ..World::quiet(true) };
    let summary = world.hold().expect("a quiet world").summary;
    assert_eq!(recorded(&summary, "service_time"), [20_000, 20_000, 40_000, 40_000]);
    let figures = summary.http3.expect("it is told");
    assert_eq!((figures.early_accepted, figures.early_refused), (2, 0));
}

/// A server is started anew while nothing is asked. Its client finds that by the next message, which fails, and connects
/// again with a session to resume and nothing to send.
#[test]
fn a_connection_that_begins_early_and_sends_nothing_is_not_counted_as_early() {
    let load = json!({"connections": 1, "executor": {"kind": "open", "rate": 1.0}});
    let restarts_at = Some(300 * MS);
    let world = World { early_data: true, load, restarts_at, ..World::quiet(true) };
    let summary = world.hold().expect("it holds").summary;
    assert_eq!((summary.counters.ok, summary.connections.opened), (2, 2));
    assert_eq!(recorded(&summary, "resumed_time"), [20_000]);
    let figures = summary.http3.expect("it is told");
    assert_eq!((figures.early_accepted, figures.early_refused), (0, 0));
}

#[test]
fn a_blackout_of_two_seconds_fails_nothing_where_the_time_allows() {
    let path = Path { dark: 575 * MS..2_575 * MS, ..Path::quiet(10 * MS) };
    let load = json!({"connections": 2, "depth": 4});
    let world = World { path, load, requests: 200, ..World::quiet(true) };
    let summary = world.hold().expect("it holds").summary;
    assert_eq!((summary.counters.ok, summary.counters.errors.len()), (200, 0));
    assert!(recorded(&summary, "service_time").last() >= Some(&2_000_000));
}

#[test]
fn what_is_in_flight_when_servers_are_started_anew_fails_and_what_follows_does_not() {
    let load = json!({"connections": 2, "depth": 4});
    let world = World { load, requests: 200, restarts_at: Some(705 * MS), ..World::quiet(false) };
    let summary = world.hold().expect("it holds").summary;
    let failed: u64 = summary.counters.errors.values().sum();
    assert!((1..=8).contains(&failed), "{:?}", summary.counters.errors);
    assert_eq!(summary.counters.ok + failed, 200);
    assert_eq!(summary.counters.errors.keys().collect::<Vec<_>>(), ["reset"]);
    assert_eq!(summary.connections.opened, 4);
}

#[test]
fn silence_for_good_ends_in_bounded_time() {
    let path = Path { dark: 605 * MS..u64::MAX, ..Path::quiet(10 * MS) };
    let load = json!({"connections": 2, "depth": 4});
    let (timeout, stop_at) = (500 * MS, Some(3_000 * MS));
    let world = World { path, load, requests: 400, timeout, stop_at, ..World::quiet(true) };
    let (played, facts) = world.play().expect("it ends");
    let counters = &played.summary.counters;
    assert!(counters.ok > 0 && counters.ok <= facts.right, "{counters:?}, {}", facts.right);
    assert!(counters.errors.contains_key("timeout"), "{:?}", counters.errors);
    // Those that were tried in vain afterwards have no path to tell of.
    let ended = played.summary.http3.expect("it is told").ended;
    assert_eq!((ended, played.summary.connections.opened), (2, 2));
    assert_eq!(played.open_sockets, 0);
}
