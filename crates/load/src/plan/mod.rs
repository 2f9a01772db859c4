//! The typed plan: what a document becomes once everything in it is known to make sense.
//!
//! Knows what a runnable plan is. Must not know sockets or time: names are resolved
//! and files are read by the run.

pub mod calls;
pub mod document;
mod expect;
mod generator;
pub mod grpc;
mod json_text;
mod message;
mod parse;
mod pattern;
pub mod profile;
pub mod publish;
mod published;
pub mod redaction;
mod rule;
pub mod shape;
mod target;
pub mod traffic;
mod version;
pub mod wire;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

pub use document::{PacingDocument, PlanDocument, PollerDocument};
use grpc::GrpcPlan;
pub use json_text::JsonPart;
use profile::Profile;
pub use publish::Publish;
pub use rule::{JsonPath, Rule, Step};
use shape::Shape;
pub use target::{Carrier, Scheme, TargetUrl};
use traffic::Traffic;
pub use version::{Congestion, Windows};
use wiretrial_proto::websocket::DeflateConfig;

use crate::clock::Nanos;

/// What to send where, how, and for how long.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Address and request.
    pub target: Target,
    /// Requests to many routes in sessions; none: the target's one message.
    pub traffic: Option<Arc<Traffic>>,
    /// How many connections, and who sends next.
    pub load: Load,
    /// When the run stops.
    pub stop: Stop,
    /// Durations around the measure phase.
    pub phases: Phases,
    /// What the generator itself may use.
    pub generator: GeneratorPlan,
    /// Which part of a load that several engines make together this is.
    pub share: SharePlan,
    /// Who publishes what the streams of the load tell; none: nobody.
    pub publish: Option<Box<Publish>>,
}

/// Address and request.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a target")]
pub struct Target {
    /// The parsed URL.
    pub url: TargetUrl,
    /// Literal addresses; empty: to be resolved.
    pub addresses: Vec<SocketAddr>,
    /// Local addresses to connect from, in turn; empty: the kernel's choice.
    pub sources: Vec<IpAddr>,
    /// HTTP method.
    pub method: String,
    /// Further header fields.
    pub headers: Vec<(String, String)>,
    /// Those that it has beside them; none: none.
    pub profile: Option<Profile>,
    /// HTTP/2 is spoken; where it [is agreed on](Self::agrees), as of the preflight.
    pub http2: bool,
    /// HTTP/3 is spoken, over QUIC.
    pub http3: bool,
    /// Each reply is a stream of events.
    pub sse: bool,
    /// The server picks the version of HTTP (ALPN).
    pub agrees: bool,
    /// Windows of HTTP/2.
    pub windows: Windows,
    /// Who decides how much may be on its way; none: over TCP the kernel's default, over HTTP/3 Cubic.
    pub congestion: Option<Congestion>,
    /// Requests go before the handshake's end over HTTP/3, where that can be.
    pub early_data: bool,
    /// TLS settings; none for plain schemes.
    pub tls: Option<TlsPlan>,
    /// WebSocket frames are text.
    pub text: bool,
    /// Players and tables; none for other protocols.
    pub styx: Option<StyxPlan>,
    /// Calls of gRPC; none for other protocols.
    pub grpc: Option<GrpcPlan>,
    /// Compression of WebSocket messages to ask for.
    pub deflate: Option<DeflateConfig>,
    /// Messages of the server's own with which each connection begins.
    pub greetings: u8,
    /// Payloads of the requests.
    pub payload: PayloadPlan,
    /// What a right reply is.
    pub expect: Expect,
}

/// TLS settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsPlan {
    /// Accept any certificate.
    pub insecure: bool,
    /// PEM file with the authorities to trust.
    pub ca_file: Option<PathBuf>,
    /// Name to verify and to send as SNI.
    pub server_name: String,
    /// Resume sessions on reconnect.
    pub resumption: bool,
}

/// Messages of a player whose copies are told apart at a time.
pub(crate) const DELIVERY_WINDOW: u32 = 64;

/// What stands for a message's number in a text.
pub(crate) const PLACEHOLDER: &str = "{seq}";

/// Hexadecimal digits of a message's number, of which a whole one is told from all others.
pub(crate) const NUMBER_BYTES: usize = 16;

/// Players and tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyxPlan {
    /// Players at each table, at least 1.
    pub table_size: u32,
    /// Number of the first table.
    pub first_table: i32,
    /// Name of the players, without the number.
    pub user: String,
    /// Number of the first player.
    pub first_player: u32,
    /// Their password.
    pub password: String,
    /// How long a table shall wait, milliseconds.
    pub delay_ms: i32,
    /// Each player looks at the lobby.
    pub lobby: bool,
}

/// Payloads of the requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayloadPlan {
    /// None.
    None,
    /// So many bytes, different from message to message.
    Sequence(usize),
    /// An event of so many bytes, which says its number and when it was due.
    Event(usize),
    /// The same each time.
    Fixed(Vec<u8>),
    /// In turn; never empty.
    List(Vec<Vec<u8>>),
    /// Text with `{seq}` in it.
    Template(String),
    /// Text of JSON in which the number stands by itself, so that its length varies.
    Json(Vec<JsonPart>),
    /// Bytes with the number at these places, each so many digits wide, 16 at most.
    Placed {
        /// With any digits there.
        bytes: Vec<u8>,
        /// Begin and width of each, behind one another.
        places: Vec<(usize, usize)>,
    },
}

/// What a right reply is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// HTTP status; of gRPC, that of the call.
    pub status: u16,
    /// Content.
    pub content: ContentRule,
}

/// Content of a right reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentRule {
    /// The request's own payload.
    Echo,
    /// What the preflight exchange's reply carried.
    Learned,
    /// Each message comes to all connections.
    Broadcast,
    /// These bytes.
    Fixed(Vec<u8>),
    /// Anything that the protocol allows.
    Any,
    /// Content in which each of these rules holds; never empty.
    Matching(Vec<Rule>),
    /// JSON of this shape.
    Shaped(Box<Shape>),
    /// Messages of gRPC like these.
    Messages(wire::Messages),
}

/// How many connections, and who sends next.
#[derive(Debug, Clone)]
pub struct Load {
    /// Connections over all workers, at least one per worker.
    pub connections: u32,
    /// Users of traffic who share them as a pool; none: each connection is one user's.
    pub users: Option<u32>,
    /// Requests in flight per connection at most.
    pub depth: u32,
    /// Messages per send; divides `depth`.
    pub pack: u32,
    /// Requests after which a connection is closed and opened anew.
    pub requests_per_connection: Option<u64>,
    /// Who sends next.
    pub loop_: LoopPlan,
    /// Which share of the connections send, or of the rate is sent, over time; empty: all, all the time.
    pub stages: Vec<Stage>,
    /// Seed of every random choice.
    pub seed: u64,
}

/// A time in which a share changes evenly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// How long.
    pub time: Nanos,
    /// At its begin, 0 to 1.
    pub from: f64,
    /// At its end.
    pub to: f64,
}

/// Who sends next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoopPlan {
    /// The next message goes when a reply has come.
    Closed,
    /// Messages are due at instants that no reply moves.
    Open {
        /// Messages per second over all workers; above 0.
        rate: f64,
        /// The gaps.
        pacing: PacingDocument,
        /// A due message without a free slot.
        overflow: Overflow,
    },
    /// A message on each connection, then samples.
    Hold {
        /// Of the samples, messages per second over all workers; 0 for none.
        rate: f64,
        /// How long nothing is sent first.
        idle: Nanos,
    },
    /// A pack for each connection, on connections drawn at random; then the next burst.
    RandomBurst,
    /// The next message goes so long after a reply has come.
    AfterResponse {
        /// From the reply to the message.
        pause: Nanos,
    },
}

/// What happens to a due message that finds no free slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// It waits.
    Wait,
    /// It is given up.
    Drop,
}

/// When the run stops: whatever comes first; at least one is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// Length of the measure phase.
    pub duration: Option<Nanos>,
    /// Messages sent in the whole run.
    pub requests: Option<u64>,
    /// Messages that each connection sends before it is closed for good.
    pub requests_each: Option<u64>,
    /// Sessions begun in the whole run.
    pub sessions: Option<u64>,
}

/// Durations around the measure phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phases {
    /// Until all connections stand.
    pub connect: Nanos,
    /// Warm-up.
    pub warmup: Nanos,
    /// Replies are awaited after the last send.
    pub drain: Nanos,
    /// Deadline of one exchange.
    pub timeout: Nanos,
    /// Length of a snapshot's interval.
    pub interval: Nanos,
}

/// What the generator itself may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratorPlan {
    /// Worker threads.
    pub threads: u32,
    /// CPUs to pin them to, in turn.
    pub cpus: Vec<u32>,
    /// How readiness is learned.
    pub poller: PollerDocument,
    /// Poll without sleeping while a message is due soon.
    pub spin: bool,
}

/// One engine's part of a load that several make together; where it is alone, the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharePlan {
    /// Number of its first worker among all.
    pub first_worker: u32,
    /// Workers of all engines.
    pub workers: u32,
    /// Number of its first connection among all.
    pub first_connection: u32,
    /// Connections of all engines.
    pub connections: u32,
    /// Offset 0 of the run on the machine's monotonic clock, nanoseconds; none: the engine's start.
    pub start: Option<u64>,
    /// The load begins when that is said, not when the connections stand.
    pub awaits_begin: bool,
}

/// A plan that can't be run: one line with what is wrong and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub String);

impl Target {
    /// Are requests in flight side by side on streams of a connection?
    pub(crate) const fn has_streams(&self) -> bool {
        self.http2 || self.http3
    }

    /// The same, whose requests say what a profile adds as they say their own, and all say the same.
    pub(crate) fn without_profile(&self) -> Self {
        let mut target = self.clone();
        if let Some(profile) = target.profile.take() {
            target.headers.extend(profile.as_constant());
        }
        target
    }

    /// Names and values of a request's fields as HTTP/2 has them, with those of a profile and but for its length: bytes
    /// before any compression.
    pub(crate) fn field_bytes(&self, profile: &Profile) -> u64 {
        let url = &self.url;
        let begin = [
            (":method", self.method.as_str()),
            (":scheme", url.http_scheme()),
            (":authority", url.authority.as_str()),
            (":path", url.path.as_str()),
        ];
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let both = begin.into_iter().chain(own).map(|(name, value)| name.len() + value.len());
        (both.sum::<usize>() + profile.bytes()) as u64
    }
}

impl Plan {
    /// Whether due times count: in an open loop, and where a step may wait for a connection of a pool.
    pub fn tells_response_times(&self) -> bool {
        matches!(self.load.loop_, LoopPlan::Open { .. }) || self.load.users.is_some()
    }

    /// Whether its messages are what streams and WebSockets tell by themselves, which nobody answers.
    pub fn hears_events(&self) -> bool {
        self.target.sse || self.publish.is_some()
    }

    /// Whether its receivers ask for each event.
    pub(crate) fn polls(&self) -> bool {
        self.publish.as_ref().is_some_and(|publish| publish.long_poll())
    }

    /// Connections that belong together, so that one worker must have them.
    pub fn together(&self) -> u32 {
        self.audience().unwrap_or(1)
    }

    /// To how many connections each message comes: those at its table, or all. None: it is answered,
    /// and nobody else hears of it.
    pub fn audience(&self) -> Option<u32> {
        let table = self.target.styx.as_ref().map(|styx| styx.table_size);
        let all = self.target.expect.content == ContentRule::Broadcast;
        table.or(all.then_some(self.load.connections))
    }

    /// Reads the JSON of a plan.
    ///
    /// # Errors
    /// One line that names the member that is wrong, and the remedy.
    pub fn from_json(json: &str) -> Result<Self, PlanError> {
        let document: PlanDocument = serde_json::from_str(json)
            .map_err(|error| PlanError(format!("the plan is not readable: {error}")))?;
        Self::parse(document)
    }
}
