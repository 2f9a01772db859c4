//! From a seed to a scenario: a plan, the peers' manners, the machine's nature.
//!
//! Knows which combinations are allowed. Must not know how they are played.

use serde_json::{Value, json};
use wiretrial_net::simulation::{Nature, Random};

use super::conversation::{Right, Spoken};
use crate::clock::Nanos;
use crate::plan::Plan;

/// One microsecond.
pub(super) const US: u64 = 1_000;
/// One millisecond.
pub(super) const MS: u64 = 1_000_000;

/// The content of right replies where it is always the same.
const CONSTANT: &[u8] = b"the same every time, whatever is asked";
/// Longest payload that goes through the smallest send buffers in reasonable time.
const LONG_PAYLOAD: u64 = 70_000;
/// So many messages are about what one world sends.
const MESSAGES: u64 = 120;

/// All that a seed says.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) plan: Plan,
    pub(super) nature: Nature,
    pub(super) manners: Manners,
    /// The run is asked to stop.
    pub(super) stop_at: Option<u64>,
}

/// How the peers behave.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a world")]
pub(super) struct Manners {
    pub(super) seed: u64,
    pub(super) spoken: Spoken,
    pub(super) right: Right,
    /// Nothing bad ever happens.
    pub(super) good: bool,
    /// From then on every new connection is served well, and those that are not end.
    pub(super) calm_at: u64,
    /// One connection in so many meets with something bad, until then.
    pub(super) bad_once_in: u64,
    /// Faults to draw from.
    pub(super) lies: bool,
    /// Longest time that a reply takes, nanoseconds.
    pub(super) service: u64,
    /// Longest pieces in which replies come, bytes.
    pub(super) piece: usize,
    /// Longest gap between two pieces, nanoseconds.
    pub(super) gap: u64,
    /// Longest time of a connect, nanoseconds.
    pub(super) connect: u64,
    /// Greetings on each connection.
    pub(super) greetings: u8,
    /// Text messages.
    pub(super) text: bool,
    /// No two requests carry the same.
    pub(super) differ: bool,
}

impl Manners {
    /// A right reply is right for one request only.
    pub(super) fn is_distinct(&self) -> bool {
        self.differ && matches!(self.right, Right::Echo { .. })
    }
}

impl Scenario {
    pub(super) fn of(seed: u64) -> Self {
        Draw { random: Random::new(seed), seed }.scenario()
    }
}

/// Draws one scenario.
struct Draw {
    random: Random,
    seed: u64,
}

impl Draw {
    fn scenario(mut self) -> Scenario {
        let good = self.random.once_in(6);
        let spoken = self.random.of(&[Spoken::Raw, Spoken::Http, Spoken::WebSocket]);
        let calm_at = if good { 0 } else { self.random.between(300, 1_500) * MS };
        let timeout = if good { 8_000 * MS } else { self.random.between(60, 400) * MS };
        let (message, right, text) = self.message(spoken);
        let bytes = message["source"]["bytes"].as_u64().unwrap_or_default();
        // All worlds carry about as much.
        let messages = if bytes > 2_000 { MESSAGES / 5 } else { MESSAGES };
        let (load, stop, service) = self.load(calm_at + 2 * timeout + 1_500 * MS, good, messages);
        let greetings =
            if spoken == Spoken::WebSocket && self.random.once_in(4) { 2_u8 } else { 0 };
        let several = load["connections"].as_u64() > Some(1) && self.random.once_in(5);
        let threads = if several { 2 } else { 1 };
        let connect = if self.random.once_in(2) { 50 * US } else { 3 * MS };
        let document = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": spoken.url(),
                "message": message,
                "expect": {"content": right.document()},
                "websocket": {"greetings": greetings},
            },
            "load": load,
            "stop": stop,
            "generator": {"threads": threads},
            "phases": {
                "connect_ns": 20_000 * MS,
                "warmup_ns": if self.random.once_in(4) { 100 * MS } else { 0 },
                "drain_ns": self.random.of(&[0, 50, 500, 2_000]) * MS,
                "timeout_ns": timeout,
                "interval_ns": self.random.of(&[100, 250, 250, 250]) * MS,
            },
        });
        let plan = Plan::from_json(&document.to_string());
        let plan = plan.unwrap_or_else(|error| panic!("seed {}: {error}: {document}", self.seed));
        let most = self.random.of(&[1, 3, 40, 1_000_000]);
        let manners = Manners {
            seed: self.random.any(),
            spoken,
            right,
            good,
            calm_at,
            bad_once_in: self.random.between(1, 3),
            lies: self.random.once_in(2),
            service,
            piece: most,
            gap: if most == 1 { 0 } else { self.random.of(&[0, 0, 20 * US]) },
            connect,
            greetings,
            text,
            differ: bytes >= 16,
        };
        let stop_at = self.random.once_in(8).then(|| self.random.between(1, 3_000) * MS);
        Scenario { plan, nature: self.nature(bytes as usize), manners, stop_at }
    }

    /// Who sends when, when that ends, and how long a reply may take at most.
    fn load(&mut self, settled: u64, good: bool, messages: u64) -> (Value, Value, u64) {
        let connections = self.random.between(1, 8);
        let loop_ = self.random.of(&["closed", "closed", "open", "open", "after", "burst", "hold"]);
        let pack = self.random.of(&[1, 1, 1, 2, 5]);
        let depth = pack * self.random.of(&[1, 1, 2, 4]);
        let (pack, depth) = match loop_ {
            "hold" => (1, 1),
            "burst" => (pack, pack),
            _ => (pack, depth),
        };
        // No more in flight than can be answered: each takes its part of the time.
        let most = if messages < MESSAGES { 8 } else { 30 };
        let depth = if connections * depth > most { pack } else { depth };
        let connections = connections.min((most / depth).max(1));
        let each = pack * self.random.between(depth / pack, 6);
        let renews = !matches!(loop_, "hold" | "burst") && self.random.once_in(3);
        let duration = if good { self.random.between(200, 1_500) * MS } else { settled + 700 * MS };
        // Good peers may be as quick as they like where messages are counted.
        let counted = self.random.once_in(3);
        let rate = messages as f64 / (duration as f64 / 1e9);
        let seconds = connections as f64 * depth as f64 / rate;
        let service = match loop_ {
            "open" | "hold" | "after" => self.random.of(&[0, 10 * US, MS, 20 * MS]),
            _ if counted => self.random.of(&[0, 0, 10 * US, MS, 20 * MS]),
            _ => ((2e9 * seconds) as u64).clamp(MS, 60 * MS),
        };
        let pacing = self.random.of(&["constant", "constant", "poisson", "phased"]);
        let executor = match loop_ {
            "open" => json!({
                "kind": "open",
                "rate": rate,
                "pacing": pacing,
                "overflow": self.random.of(&["wait", "wait", "drop"]),
            }),
            "after" => json!({"kind": "after-response", "pause_ns": (1e9 * seconds) as u64}),
            "burst" => json!({"kind": "random-burst"}),
            "hold" => json!({"kind": "hold", "rate": rate / 2.0, "idle_ns": 20 * MS}),
            _ => json!({"kind": "closed"}),
        };
        let load = json!({
            "connections": connections,
            "depth": depth,
            "pack": pack,
            "requests_per_connection": renews.then_some(each),
            "executor": executor,
            "seed": self.random.any() >> 12,
        });
        let stop = match self.random.up_to(3) {
            0 if loop_ == "closed" => json!({"requests_each": pack * self.random.between(1, 20)}),
            _ if counted => json!({"requests": self.random.between(1, messages)}),
            1 => json!({"requests": 2 * messages, "duration_ns": duration}),
            _ => json!({"duration_ns": duration}),
        };
        (load, stop, service)
    }

    /// The message of a plan, what is right, and whether it is text.
    fn message(&mut self, spoken: Spoken) -> (Value, Right, bool) {
        let bytes = match self.random.up_to(9) {
            0 => self.random.between(1, 8),
            1 => self.random.between(2_000, 9_000),
            2 => self.random.between(9_000, LONG_PAYLOAD),
            _ => self.random.between(16, 200),
        };
        let fixed = self.random.once_in(6);
        let source = if fixed {
            json!({"from": "fixed", "base64": "c29tZXRoaW5nIGZpeGVk"})
        } else {
            json!({"from": "sequence", "bytes": bytes})
        };
        let text = spoken == Spoken::WebSocket && self.random.once_in(2);
        let kind = if text { "text" } else { "binary" };
        let message = json!({"kind": kind, "source": source});
        let right = match spoken {
            Spoken::Raw => {
                let length = if fixed { 15 } else { bytes as usize };
                return (message, Right::Echo { length }, text);
            }
            _ => match self.random.up_to(5) {
                0 => Right::Constant(CONSTANT),
                1 => Right::Json,
                2 if spoken == Spoken::Http => Right::Anything,
                3 if spoken == Spoken::Http => Right::Learned(CONSTANT),
                _ => Right::Echo { length: 0 },
            },
        };
        let none = spoken == Spoken::Http && !matches!(right, Right::Echo { .. });
        if none && self.random.once_in(2) {
            return (json!({"source": {"from": "none"}}), right, text);
        }
        (message, right, text)
    }

    fn nature(&mut self, bytes: usize) -> Nature {
        Nature {
            seed: self.random.any(),
            receives_in_wait: self.random.once_in(2),
            buffer_bytes: self.random.of(&[64, 1_000, 64 * 1024]).max(bytes / 50),
            piece_bytes: self.random.of(&[1, 100, 8 * 1024]).max(bytes / 50),
            send_buffer: self.random.of(&[600, 5_000, 1 << 20]).max(bytes / 50),
            clock_step: self.random.of(&[0, 200, 5_000]),
            lateness: self.random.of(&[0, 1_000, 60 * US]),
            pauses_once_in: self.random.of(&[0, 0, 500]),
            short_writes_once_in: self.random.of(&[0, 2, 20]),
            submits_once_in: self.random.of(&[0, 3, 30]),
            latency: self.random.of(&[0, 0, 2_000, 100 * US]),
        }
    }
}

impl Scenario {
    /// What the plan needs at the latest, were it to run without a fault.
    pub(super) fn latest_end(&self) -> Nanos {
        let phases = self.plan.phases;
        let load = self.plan.stop.duration.unwrap_or(Nanos(60_000 * MS));
        let around = phases.connect + phases.warmup + phases.interval;
        around + load + phases.timeout.max(phases.drain) + Nanos(5_000 * MS)
    }
}
