//! From a seed to a scenario.
//!
//! Knows which combinations are allowed. Must not know how they are played.

use serde_json::{Value, json};
use wiretrial_net::simulation::{Nature, Random};
use wiretrial_proto::styx::Encoding;
use wiretrial_proto::websocket::DeflateConfig;

use super::scenario::{MS, Manners, Scenario, US};
use super::secure::Secrets;
use super::spoken::{Over, Right, Spoken};
use crate::plan::Plan;

/// The content of right replies where it is always the same.
const CONSTANT: &[u8] = b"the same every time, whatever is asked";
/// The same of acknowledgements.
const ACKNOWLEDGED: &[u8] = br#"[null,{"id":"testing"}]"#;
/// Longest payload that goes through the smallest send buffers in reasonable time.
const LONG_PAYLOAD: u64 = 70_000;
/// So many messages are about what one world sends.
const MESSAGES: u64 = 120;
/// The same where each has several receivers.
const MESSAGES_IN_COMPANY: u64 = 50;

/// Protocols whose replies have no numbers.
const IN_ORDER: &[Spoken] = &[Spoken::Raw, Spoken::Http, Spoken::WebSocket];
/// Those whose replies have, and WebSocket with compression.
const LATER: &[Spoken] = &[
    Spoken::WebSocket,
    Spoken::Broadcast,
    Spoken::Broadcast,
    Spoken::SocketIo,
    Spoken::SocketIo,
    Spoken::Styx(Encoding::Binary, Over::Stream),
    Spoken::Styx(Encoding::Json, Over::Stream),
    Spoken::Styx(Encoding::Binary, Over::WebSocket),
    Spoken::Styx(Encoding::Json, Over::WebSocket),
];

impl Scenario {
    /// What this seed says.
    pub(super) fn of(seed: u64) -> Self {
        // Two seeds in five are for the protocols that came later, and one in 25 for TLS below the
        // first ones: what the others say stays as it was.
        let later = matches!(seed % 5, 1 | 4);
        // Three in 25 are for the protocol whose replies interleave.
        let interleaves = matches!(seed % 25, 7 | 12 | 18);
        Draw { random: Random::new(seed), seed, later, interleaves }.scenario()
    }
}

/// Draws one scenario.
struct Draw {
    random: Random,
    seed: u64,
    later: bool,
    interleaves: bool,
}

/// What is sent, and what is right.
struct Message {
    document: Value,
    right: Right,
    text: bool,
    /// Bytes of its payload; 0: they are few and always the same.
    bytes: u64,
    /// No two carry the same.
    differ: bool,
}

/// Who sends how much.
struct Load {
    document: Value,
    stop: Value,
    /// Longest time that a reply takes, nanoseconds.
    service: u64,
}

impl Draw {
    fn scenario(mut self) -> Scenario {
        let good = self.random.once_in(6);
        let spoken = match (self.later, self.interleaves) {
            (_, true) => Spoken::Multiplexed,
            (true, _) => self.random.of(LATER),
            (false, _) => self.random.of(IN_ORDER),
        };
        let mild = self.interleaves && !good && self.random.once_in(3);
        let calm_at = if good || mild { 0 } else { self.random.between(300, 1_500) * MS };
        let timeout = match (good, mild) {
            (true, _) => 8_000 * MS,
            // A machine that stands still is no reason to give a message up.
            (_, true) => 1_500 * MS,
            _ => self.random.between(60, 400) * MS,
        };
        let Message { document: message, right, text, bytes, differ } = self.message(spoken);
        // All worlds carry about as much.
        let messages = if spoken.has_company() { MESSAGES_IN_COMPANY } else { MESSAGES };
        let messages = if bytes > 2_000 { messages / 5 } else { messages };
        let settled = calm_at + 2 * timeout + 1_500 * MS;
        let Load { document: load, stop, service } = self.load(spoken, settled, good, messages);
        let may_greet = matches!(spoken, Spoken::WebSocket | Spoken::Broadcast);
        let greetings = if may_greet && self.random.once_in(4) { 2_u8 } else { 0 };
        let several = load["connections"].as_u64() > Some(1) && self.random.once_in(5);
        let threads = if several && spoken != Spoken::Broadcast { 2_u64 } else { 1 };
        let connect = if self.random.once_in(2) { 50 * US } else { 3 * MS };
        let mut document = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": spoken.url(false),
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
        let most = self.random.of(&[1, 3, 40, 1_000_000]);
        let mut manners = Manners {
            redirects: false,
            seed: self.random.any(),
            spoken,
            right,
            good,
            mild,
            calm_at,
            bad_once_in: self.random.between(1, 3),
            lies: self.random.once_in(2) && !mild,
            service,
            piece: most,
            gap: if most == 1 { 0 } else { self.random.of(&[0, 0, 20 * US]) },
            connect,
            greetings,
            text,
            differ,
            deflate: None,
            reorders: false,
            scattered: false,
            secrets: None,
        };
        let stop_at = self.random.once_in(8).then(|| self.random.between(1, 3_000) * MS);
        let mut nature = self.nature(bytes as usize);
        let target = &mut document["target"];
        if self.later {
            self.refine(target, &mut manners, threads);
        }
        let may_be_secure = (self.later || self.interleaves) && spoken.may_be_secure();
        if self.seed % 25 == 20 || may_be_secure && self.random.once_in(6) {
            target["url"] = json!(spoken.url(true));
            target["tls"] = json!({"insecure": true, "resumption": self.random.once_in(2)});
            manners.secrets = Some(Secrets::new(self.random.once_in(3)));
            // A handshake is long: byte by byte it takes too many turns.
            nature.piece_bytes = nature.piece_bytes.max(16);
        }
        let plan = Plan::from_json(&document.to_string());
        let plan = plan.unwrap_or_else(|error| panic!("seed {}: {error}: {document}", self.seed));
        Scenario { plan, nature, manners, stop_at, judges_once_in: 0 }
    }

    /// What only some protocols have.
    fn refine(&mut self, target: &mut Value, manners: &mut Manners, threads: u64) {
        // Each piece that comes by itself is a turn, and a company has many copies.
        if manners.spoken.has_company() && manners.gap > 0 {
            manners.piece = manners.piece.max(20);
        }
        match manners.spoken {
            Spoken::Broadcast if self.random.once_in(2) => {}
            Spoken::WebSocket | Spoken::Broadcast => {
                manners.deflate = Some(self.deflate());
                let wishes = self.deflate();
                target["websocket"]["deflate"] = json!({
                    "server_no_context_takeover": wishes.server_no_context_takeover,
                    "client_no_context_takeover": wishes.client_no_context_takeover,
                    "server_max_window_bits": wishes.server_max_window_bits,
                    "client_max_window_bits": wishes.client_max_window_bits,
                    "level": wishes.level,
                });
            }
            Spoken::SocketIo => manners.reorders = self.random.once_in(2),
            Spoken::Styx(..) => {
                manners.scattered = self.random.once_in(2);
                // There is a table for each thread.
                let largest = if threads > 1 { 1 } else { 8 };
                target["styx"] = json!({
                    "table_size": self.random.between(1, largest),
                    "first_table": self.random.of(&[1, -2, 70_000]),
                    "lobby": self.random.once_in(3),
                });
            }
            _ => {}
        }
    }

    fn deflate(&mut self) -> DeflateConfig {
        DeflateConfig {
            server_no_context_takeover: self.random.once_in(3),
            client_no_context_takeover: self.random.once_in(3),
            server_max_window_bits: self.random.between(9, 15) as u8,
            client_max_window_bits: self.random.between(9, 15) as u8,
            level: self.random.between(1, 9) as u8,
        }
    }

    /// Who sends when, when that ends, and how long a reply may take at most.
    fn load(&mut self, spoken: Spoken, settled: u64, good: bool, messages: u64) -> Load {
        let connections = self.random.between(1, 8);
        let loop_ = self.random.of(&["closed", "closed", "open", "open", "after", "burst", "hold"]);
        // A company stays, and each of it sends for itself.
        let stays = spoken.has_company();
        let loop_ = if stays && loop_ == "burst" { "closed" } else { loop_ };
        let pack = self.random.of(&[1, 1, 1, 2, 5]);
        let depths = if self.interleaves { [2, 4, 4, 8] } else { [1, 1, 2, 4] };
        let depth = pack * self.random.of(&depths);
        let (pack, depth) = match loop_ {
            "hold" => (1, 1),
            "burst" => (pack, pack),
            _ => (pack, depth),
        };
        // No more in flight than can be answered: each takes its part of the time.
        let most = if messages < MESSAGES && !stays { 8 } else { 30 };
        let depth = if connections * depth > most { pack } else { depth };
        let connections = connections.min((most / depth).max(1));
        let each = pack * self.random.between(depth / pack, 6.max(depth / pack));
        let renews = !matches!(loop_, "hold" | "burst") && self.random.once_in(3) && !stays;
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
        let may_change = match loop_ {
            "open" => pacing != "phased",
            _ => loop_ == "closed" && !stays,
        };
        let stages =
            if may_change { stages(&mut self.random, duration, counted) } else { json!([]) };
        let is_whole = stages == json!([]);
        let document = json!({
            "connections": connections,
            "depth": depth,
            "pack": pack,
            "requests_per_connection": renews.then_some(each),
            "executor": executor,
            "stages": stages,
            "seed": self.random.any() >> 12,
        });
        let stop = match self.random.up_to(3) {
            0 if loop_ == "closed" && is_whole => {
                json!({"requests_each": pack * self.random.between(1, 20)})
            }
            _ if counted => json!({"requests": self.random.between(1, messages)}),
            1 => json!({"requests": 2 * messages, "duration_ns": duration}),
            _ => json!({"duration_ns": duration}),
        };
        Load { document, stop, service }
    }

    /// The message of a plan, and what is right.
    fn message(&mut self, spoken: Spoken) -> Message {
        match spoken {
            Spoken::SocketIo => self.event(),
            Spoken::Styx(..) => Message {
                document: json!({}),
                right: Right::Packets,
                text: false,
                bytes: 0,
                differ: true,
            },
            Spoken::Broadcast => {
                let bytes = match self.random.up_to(9) {
                    0 => self.random.between(2_000, 20_000),
                    _ => self.random.between(16, 200),
                };
                let text = self.random.once_in(2);
                let source = json!({"from": "sequence", "bytes": bytes});
                Message {
                    document: json!({"kind": kind(text), "source": source}),
                    right: Right::Copies,
                    text,
                    bytes,
                    differ: true,
                }
            }
            Spoken::Raw | Spoken::Http | Spoken::WebSocket | Spoken::Multiplexed => {
                self.payload(spoken)
            }
        }
    }

    /// An event with an acknowledgement.
    fn event(&mut self) -> Message {
        let fill = "x".repeat(match self.random.up_to(9) {
            0 => self.random.between(2_000, 9_000) as usize,
            _ => self.random.up_to(100) as usize,
        });
        let bytes = fill.len() as u64 + 30;
        let source = match self.random.up_to(3) {
            0 => json!({"from": "none"}),
            1 => json!({"from": "template", "text": format!(r#"["echo",{{seq}},"{fill}"]"#)}),
            _ => json!({"from": "template", "text": format!(r#"["echo","{{seq}}","{fill}"]"#)}),
        };
        let differ = source["from"] == "template";
        let right = match self.random.up_to(5) {
            0 => Right::Constant(ACKNOWLEDGED),
            1 => Right::Learned(ACKNOWLEDGED),
            _ if differ => Right::Echo { length: 0 },
            _ => Right::Constant(ACKNOWLEDGED),
        };
        Message { document: json!({"source": source}), right, text: true, bytes, differ }
    }

    /// A payload that flows through as it is.
    fn payload(&mut self, spoken: Spoken) -> Message {
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
        let document = json!({"kind": kind(text), "source": source});
        let sent = if fixed { 0 } else { bytes };
        let mut message = Message {
            document,
            right: Right::Echo { length: if fixed { 15 } else { bytes as usize } },
            text,
            bytes: sent,
            differ: sent >= 16,
        };
        if spoken == Spoken::Raw {
            return message;
        }
        message.right = match self.random.up_to(5) {
            0 => Right::Constant(CONSTANT),
            1 => Right::Json,
            2 if spoken == Spoken::Http => Right::Anything,
            3 if spoken == Spoken::Http => Right::Learned(CONSTANT),
            _ => Right::Echo { length: 0 },
        };
        let is_echo = matches!(message.right, Right::Echo { .. });
        if spoken == Spoken::Http && !is_echo && self.random.once_in(2) {
            message.document = json!({"source": {"from": "none"}});
            (message.bytes, message.differ) = (0, false);
        }
        message
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

fn kind(text: bool) -> &'static str {
    if text { "text" } else { "binary" }
}

/// Mostly none; and else all are there at last, or the time is over before.
pub(super) fn stages(random: &mut Random, duration: u64, is_counted: bool) -> Value {
    if !random.once_in(4) {
        return json!([]);
    }
    let share = |random: &mut Random| random.up_to(4) as f64 / 4.0;
    let mut stages = Vec::new();
    for _ in 0..random.between(1, 3) {
        let time = random.of(&[0, duration / 8, duration / 4]);
        let (from, to) = (share(random), share(random));
        stages.push(json!({"for_ns": time, "from": from, "to": to}));
    }
    if is_counted {
        stages.push(json!({"for_ns": 10 * MS, "from": 0.5, "to": 1.0}));
    }
    json!(stages)
}
