//! The plan as it crosses the seam: one JSON object, all durations in nanoseconds.
//!
//! Knows the names and defaults of the JSON; must not know what makes a plan
//! runnable (that is [`super::Plan::parse`]). `wiretrial-engine schema plan`
//! prints the JSON Schema of these types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calls::{GrpcDocument, WireDocument};
pub use super::generator::{GeneratorDocument, PollerDocument};
pub use super::published::PublishDocument;
use super::shape::document::ShapeDocument;
use super::traffic::document::TrafficDocument;
pub use super::version::{HttpDocument, HttpVersionDocument, WindowsDocument};

/// The `schema` member of every plan.
pub const PLAN_SCHEMA: &str = "wiretrial-plan";
/// The version of the plan that this engine reads.
pub const PLAN_VERSION: u32 = 1;

/// One load plan: what to send where, how, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanDocument {
    /// Always `wiretrial-plan`.
    pub schema: String,
    /// Version of this document's form.
    pub version: u32,
    /// Address and request.
    pub target: TargetDocument,
    /// Requests to many routes in sessions (http, https); null: the one message of the target.
    #[serde(default)]
    pub traffic: Option<TrafficDocument>,
    /// How many connections, and who sends next.
    pub load: LoadDocument,
    /// When the run stops.
    pub stop: StopDocument,
    /// Durations of the phases around the measurement.
    #[serde(default)]
    pub phases: PhasesDocument,
    /// What the generator itself may use.
    #[serde(default)]
    pub generator: GeneratorDocument,
    /// Which part this engine has of a load that several make together; null: all of it.
    #[serde(default)]
    pub share: Option<ShareDocument>,
    /// Events that are published during the load, each of which each of its streams has to tell; null: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publish: Option<PublishDocument>,
}

/// One engine's part of a load that several make together: with the workers of all, they send what one engine
/// would. `load` and `stop` are those of this part alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShareDocument {
    /// Number of this engine's first worker among all workers, from 0.
    pub first_worker: u32,
    /// Workers of all engines.
    pub workers: u32,
    /// Number of this engine's first connection among all connections, from 0.
    pub first_connection: u32,
    /// Connections of all engines.
    pub connections: u32,
    /// Where offset 0 of the run lies on this machine's monotonic clock, nanoseconds; null: where the engine starts.
    #[serde(default)]
    pub start_monotonic_ns: Option<u64>,
    /// When its connections stand, the engine says `connected`, and waits for the line `begin OFFSET_NS`.
    #[serde(default)]
    pub awaits_begin: bool,
}

/// Address and request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetDocument {
    /// `http`, `https`, `ws`, `wss`, `tcp` or `tls` URL; `styx`, `styx+json`, `styx+ws`, `styx+json+ws` (`…+wss`);
    /// `socketio+ws`, `socketio+wss`; `grpc`, `grpcs`.
    pub url: String,
    /// Literal addresses to use in turn, `IP:PORT`; empty: the URL's host is resolved once, before the run.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// Local IP addresses to connect from, in turn; empty: the kernel chooses.
    #[serde(default)]
    pub sources: Vec<String>,
    /// HTTP method and headers (http, https; headers also for the upgrade of ws, wss).
    #[serde(default)]
    pub http: HttpDocument,
    /// TLS settings (https, wss, tls).
    #[serde(default)]
    pub tls: TlsDocument,
    /// WebSocket settings (ws, wss).
    #[serde(default)]
    pub websocket: WebSocketDocument,
    /// Players and tables (styx).
    #[serde(default)]
    pub styx: StyxDocument,
    /// Calls (grpc, grpcs).
    #[serde(default, skip_serializing_if = "GrpcDocument::is_default")]
    pub grpc: GrpcDocument,
    /// What each request carries.
    #[serde(default)]
    pub message: MessageDocument,
    /// What a right reply is.
    #[serde(default)]
    pub expect: ExpectDocument,
}

/// TLS settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TlsDocument {
    /// Accept any certificate. Recorded in the result.
    pub insecure: bool,
    /// PEM file with the authorities to trust instead of the built-in ones.
    pub ca_file: Option<String>,
    /// Name to verify and to send as SNI; null: the URL's host.
    pub server_name: Option<String>,
    /// Resume sessions on reconnect.
    pub resumption: bool,
}

impl Default for TlsDocument {
    fn default() -> Self {
        Self { insecure: false, ca_file: None, server_name: None, resumption: true }
    }
}

/// WebSocket settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WebSocketDocument {
    /// Compress messages (permessage-deflate, RFC 7692) as far as the server agrees; null: don't.
    /// A server that does not turn it on at all is refused.
    pub deflate: Option<DeflateDocument>,
    /// Messages that the server sends by itself on each connection, before it is asked: they are awaited, read
    /// and counted, and are no replies.
    pub greetings: u8,
}

/// What to ask for with permessage-deflate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DeflateDocument {
    /// The server shall compress each message on its own.
    pub server_no_context_takeover: bool,
    /// The generator compresses each message on its own; costs bytes, and saves some 300 KB of
    /// memory per connection.
    pub client_no_context_takeover: bool,
    /// The server shall refer back by at most 2 to the power of this, bytes; 8 to 15.
    pub server_max_window_bits: u8,
    /// The generator refers back by at most 2 to the power of this, bytes; 8 to 15. The server may
    /// ask for less.
    pub client_max_window_bits: u8,
    /// Effort of the generator's own compression: 1 (fast) to 9 (small).
    pub level: u8,
}

impl Default for DeflateDocument {
    fn default() -> Self {
        Self {
            server_no_context_takeover: false,
            client_no_context_takeover: false,
            server_max_window_bits: 15,
            client_max_window_bits: 15,
            level: 6,
        }
    }
}

/// Players and tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StyxDocument {
    /// Players at each table: so many connections, one after the other, sit together.
    pub table_size: u32,
    /// Number of the first table; the others follow.
    pub first_table: i32,
    /// Name of the players; the number of each follows.
    pub user: String,
    /// Number of the first player; the others follow.
    pub first_player: u32,
    /// Password of all of them.
    pub password: String,
    /// How long a table shall wait before it responds, milliseconds.
    pub delay_ms: u32,
    /// Each player looks at the lobby: it is sent snapshots of it, which are verified and counted apart.
    pub lobby: bool,
}

impl Default for StyxDocument {
    fn default() -> Self {
        Self {
            table_size: 1,
            first_table: 1,
            user: "bot".to_owned(),
            first_player: 1001,
            password: "bot".to_owned(),
            delay_ms: 0,
            lobby: false,
        }
    }
}

/// What each request carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MessageDocument {
    /// WebSocket frame type; ignored by the other protocols.
    pub kind: MessageKind,
    /// The payload is JSON, and refused where it is not. In a template, a `{seq}` outside of strings becomes a
    /// number without leading zeros, from 1 on. Events of socketio always are.
    pub is_json: bool,
    /// Where the payload comes from.
    pub source: SourceDocument,
}

impl Default for MessageDocument {
    fn default() -> Self {
        Self { kind: MessageKind::Binary, is_json: false, source: SourceDocument::None }
    }
}

/// WebSocket frame type of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MessageKind {
    /// Text frames; the payload must be UTF-8.
    Text,
    /// Binary frames.
    Binary,
}

/// Where the payload of each request comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "from", deny_unknown_fields)]
pub enum SourceDocument {
    /// No payload (a GET; an action of styx). Of socketio: `["get","messages","testing"]`.
    None,
    /// `bytes` bytes that differ from message to message: a sequence number in
    /// 16 hexadecimal digits (as far as it fits), then a fixed printable pattern.
    Sequence {
        /// Payload size in bytes.
        bytes: u64,
    },
    /// The same bytes each time.
    Fixed {
        /// The payload, base64.
        base64: String,
    },
    /// The given payloads in turn.
    List {
        /// The payloads, base64.
        base64: Vec<String>,
    },
    /// Text in which each `{seq}` becomes the message's sequence number in 16 hexadecimal digits; see also `is_json`.
    Template {
        /// The text.
        text: String,
    },
    /// Bytes in which the message's sequence number stands, in 16 hexadecimal digits.
    Numbered {
        /// The bytes, base64.
        base64: String,
        /// Where the numbers begin, bytes.
        places: Vec<u64>,
    },
}

/// What a right reply is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectDocument {
    /// Content of a right reply.
    pub content: ContentDocument,
    /// HTTP status of a right reply.
    pub status: u16,
}

impl Default for ExpectDocument {
    fn default() -> Self {
        Self { content: ContentDocument::Auto, status: 200 }
    }
}

/// Content of a right reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "is", deny_unknown_fields)]
pub enum ContentDocument {
    /// `echo` for ws, wss, tcp, tls; `learned` for http, https, socketio; of styx each copy is checked.
    Auto,
    /// The request's own payload.
    Echo,
    /// What the first reply of the run, before any load, carried.
    Learned,
    /// The server sends each message to all connections (ws, wss; a sequence of 16 bytes or more): every
    /// copy is checked.
    Broadcast,
    /// These bytes.
    Fixed {
        /// The content, base64.
        base64: String,
    },
    /// Anything that the protocol allows; of http and https, with the right status.
    Status,
    /// Content that varies, and in which each of these rules holds.
    Matching {
        /// `json:PATH=VALUE`, `json:PATH` (it is there) or `regex:PATTERN`; at least one. A path is `a.b[0].c`, with
        /// `["…"]` for a name that has a dot; a value that is no JSON is text.
        rules: Vec<String>,
    },
    /// JSON of this shape (http, https, ws, wss, socketio).
    Shaped {
        /// What it is like.
        shape: ShapeDocument,
    },
    /// These messages, in this order (grpc).
    Messages {
        /// The messages, base64.
        base64: Vec<String>,
    },
    /// Messages in the wire format of Protocol Buffers, each of this form (grpc).
    Fields {
        /// What each is like.
        shape: WireDocument,
    },
}

/// How many connections, and who sends next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadDocument {
    /// Connections over all workers.
    pub connections: u32,
    /// Users of traffic who share these connections as a pool; null: each connection is one user's.
    #[serde(default)]
    pub users: Option<u32>,
    /// Requests in flight per connection at most.
    #[serde(default = "one")]
    pub depth: u32,
    /// Messages encoded into each send; `depth` must be a multiple of it.
    #[serde(default = "one")]
    pub pack: u32,
    /// Requests after which a connection is closed and opened anew; null: kept.
    #[serde(default)]
    pub requests_per_connection: Option<u64>,
    /// Who sends next.
    #[serde(default)]
    pub executor: ExecutorDocument,
    /// Load over time, from its begin on; behind the last stage it stays as it is. Of a closed loop: how many of
    /// the connections send, which all stand from the begin on; of an open loop: its rate. Empty: all of it, all the time.
    #[serde(default)]
    pub stages: Vec<StageDocument>,
    /// Seed of every random choice of the run (masks excepted, which are always fresh).
    #[serde(default)]
    pub seed: u64,
}

fn one() -> u32 {
    1
}

/// A time in which the load changes evenly, or stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageDocument {
    /// How long, nanoseconds; 0: at once.
    pub for_ns: u64,
    /// At its begin, 0 to 1: open loop, of the executor's rate; closed loop, of the connections.
    pub from: f64,
    /// At its end, likewise.
    pub to: f64,
}

/// Who sends next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "kind", deny_unknown_fields)]
pub enum ExecutorDocument {
    /// The next message goes when a reply has come.
    #[default]
    Closed,
    /// Messages are due at instants that no reply moves.
    Open {
        /// Messages per second over all workers.
        rate: f64,
        /// The gaps between due instants.
        #[serde(default)]
        pacing: PacingDocument,
        /// What happens to a due message that finds no free slot.
        #[serde(default)]
        overflow: OverflowDocument,
    },
    /// Every connection is held, carries one message, and is held on; some are asked again in turn,
    /// as a sample.
    Hold {
        /// Of the samples, messages per second over all workers; 0 for none.
        #[serde(default)]
        rate: f64,
        /// How long nothing is sent when all stand, nanoseconds.
        #[serde(default)]
        idle_ns: u64,
    },
    /// As many packs as there are connections go at once, each on a connection drawn at random; when
    /// all are answered, the next ones go. Each worker draws from its own connections.
    #[serde(rename = "random-burst")]
    RandomBurst,
    /// The next message goes so long after a reply has come: its rate falls as replies take longer.
    #[serde(rename = "after-response")]
    AfterResponse {
        /// From a reply to the next message of its connection, nanoseconds.
        pause_ns: u64,
    },
}

/// The gaps between due instants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PacingDocument {
    /// Equal gaps.
    #[default]
    Constant,
    /// Exponential gaps (a Poisson process).
    Poisson,
    /// Equal gaps, and each connection has its own of them, in turn: all send at the same rate,
    /// each at a phase of its own.
    Phased,
}

/// What happens to a due message that finds no free slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OverflowDocument {
    /// It waits, and stays due when it was.
    #[default]
    Wait,
    /// It is counted `dropped`.
    Drop,
}

/// When the run stops: whatever comes first of the members that are set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StopDocument {
    /// Length of the measure phase, nanoseconds.
    pub duration_ns: Option<u64>,
    /// Messages sent in the whole run.
    pub requests: Option<u64>,
    /// Messages that each connection sends before it is closed for good (closed loop).
    pub requests_each: Option<u64>,
    /// Sessions begun in the whole run (traffic); each is carried to its end.
    pub sessions: Option<u64>,
}

/// Durations around the measure phase, nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PhasesDocument {
    /// How long all connections may take to stand, the wait for a refusing server included.
    pub connect_ns: u64,
    /// Length of the warm-up phase. It is recorded like everything else; only its intervals are marked.
    pub warmup_ns: u64,
    /// How long replies are awaited after the last send.
    pub drain_ns: u64,
    /// Deadline of one exchange, from its send to its last byte.
    pub timeout_ns: u64,
    /// Length of a snapshot's interval.
    pub interval_ns: u64,
}

impl Default for PhasesDocument {
    fn default() -> Self {
        Self {
            connect_ns: 10_000_000_000,
            warmup_ns: 0,
            drain_ns: 2_000_000_000,
            timeout_ns: 10_000_000_000,
            interval_ns: 100_000_000,
        }
    }
}
