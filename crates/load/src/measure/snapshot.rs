//! What leaves the engine: one JSON object per line, times in nanoseconds.
//!
//! Knows the names of the JSON; must not know how the figures were made.
//! `wiretrial-engine schema snapshot` prints the JSON Schema of [`Snapshot`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::{TrafficFigures, TrafficNames};
use super::http2::{Http2Figures, Spoken};
use super::http3::Http3Figures;
use crate::plan::profile::HeaderProfile;

/// The `schema` member of every snapshot.
pub const SNAPSHOT_SCHEMA: &str = "wiretrial-snapshot";
/// The version of the snapshots that this engine writes.
pub const SNAPSHOT_VERSION: u32 = 1;

/// One line of the engine's output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(clippy::large_enum_variant, reason = "one at a time, and written at once")]
pub enum Snapshot {
    /// The first line: what is about to run.
    Start(Start),
    /// Every connection stands, and the run waits for the word `begin`.
    Connected(Connected),
    /// One interval, all workers merged.
    Interval(Interval),
    /// The last line of a run that began, also of an interrupted one.
    Summary(Summary),
    /// The only or last line of a run that could not go on.
    Failure(Failure),
}

/// The first line: what is about to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// Always `wiretrial-snapshot`.
    pub schema: String,
    /// Version of this form.
    pub version: u32,
    /// Version of the engine.
    pub engine: String,
    /// Process id of the engine.
    pub pid: u32,
    /// The target's URL.
    pub url: String,
    /// The literal addresses in use.
    pub addresses: Vec<String>,
    /// Wall clock at offset 0 of this run, nanoseconds since 1970. For people only; every other time is monotonic.
    pub started_unix_ns: u64,
    /// Worker threads.
    pub threads: u32,
    /// The poller in use: `uring` or `epoll`.
    pub poller: String,
    /// Why it is `epoll` where the plan left the choice; null where it is not.
    #[serde(default)]
    pub poller_shortfall: Option<String>,
    /// Payload bytes of a request.
    pub request_payload_bytes: u64,
    /// Payload bytes of the reply that preflight got, null without one.
    pub reply_payload_bytes: Option<u64>,
    /// Agreed TLS version and cipher, and the application protocol (ALPN) where one was agreed on; null
    /// without TLS.
    pub tls: Option<String>,
    /// The congestion control of the generator's TCP by the kernel's name, as it told it of the first connection
    /// (`TCP_CONGESTION`); left out over QUIC, and where the kernel did not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Which version of HTTP is spoken, and who said so; left out where the plan says HTTP/1.1, and of other protocols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Spoken>,
    /// Which header fields requests have beside their own; left out where the plan says none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_profile: Option<Profiled>,
    /// True where any certificate was accepted, as the plan asked for.
    #[serde(default)]
    pub insecure: bool,
    /// Agreed compression of WebSocket messages, as the server would say it; of calls in gzip, whether the first reply was in
    /// it, too; null without.
    #[serde(default)]
    pub deflate: Option<String>,
    /// What the first reply carried, where that is what each one is to carry, and where replies may vary; null where
    /// the plan says each byte.
    #[serde(default)]
    pub learned: Option<Learned>,
    /// Names of routes and flows; null where there is one message.
    #[serde(default)]
    pub traffic: Option<TrafficNames>,
}

/// Header fields like those of a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Profiled {
    /// Which of them are another's in each request.
    pub profile: HeaderProfile,
    /// Names and values of all fields of a request as HTTP/2 has them, but for its length; bytes before any compression.
    pub field_bytes: u64,
}

impl std::fmt::Display for Profiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { profile, field_bytes } = self;
        let which = match profile {
            HeaderProfile::Constant => "constant, the same in each request",
            HeaderProfile::Partly => "partly, some are another's in each request",
            HeaderProfile::Unique => "unique, all are another's in each request",
        };
        write!(f, "{which}; {field_bytes} bytes of names and values")
    }
}

/// The content of the first reply, which was taken to be right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Learned {
    /// Its length.
    pub bytes: u64,
    /// Its first 120 bytes; what can't be printed is escaped.
    pub excerpt: String,
    /// It was the request's own payload: each reply is to be its own request's.
    pub echo: bool,
    /// Replies may vary, so that it is only an example.
    #[serde(default)]
    pub varies: bool,
}

impl std::fmt::Display for Learned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bytes, excerpt, echo, varies } = self;
        let begin = if *varies { "the first one" } else { "learned" };
        let echo = if *echo { " (an echo of the request)" } else { "" };
        match bytes {
            0 => write!(f, "{begin}: no content"),
            1 => write!(f, "{begin}: 1 byte{echo}, {excerpt}"),
            _ => write!(f, "{begin}: {bytes} bytes{echo}, {excerpt}"),
        }
    }
}

/// Phase of a run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Connections are being opened; no load yet.
    Connect,
    /// Load, before the measure phase.
    WarmUp,
    /// Load that counts.
    Measure,
    /// No more sends; replies are awaited.
    Drain,
}

/// Every connection stands, and the run waits for the word `begin`, as its plan says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connected {
    /// Since this instant.
    pub at_ns: u64,
}

/// One interval, all workers merged. Counters count what happened in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// 0, 1, 2, …
    pub index: u64,
    /// Begin, offset from the run's start.
    pub start_ns: u64,
    /// End, offset from the run's start.
    pub end_ns: u64,
    /// Phase at the begin.
    pub phase: Phase,
    /// Messages.
    pub counters: Counters,
    /// Connections.
    pub connections: Connections,
    /// Bytes.
    pub bytes: Bytes,
    /// The generator's own cost.
    pub generator: Generator,
    /// True where the generator itself was paused or late so much that the interval's times can't be trusted.
    pub disturbed: bool,
    /// Histograms by metric name, HdrHistogram V2 compressed, base64; empty ones are left out.
    pub histograms: BTreeMap<String, String>,
    /// What came in the way of messages over HTTP/2; left out where it is not spoken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2: Option<Http2Figures>,
    /// The same over HTTP/3, and how QUIC carried them; left out where it is not spoken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http3: Option<Http3Figures>,
    /// By route and flow; null where there is one message.
    #[serde(default)]
    pub traffic: Option<TrafficFigures>,
}

/// Messages. Over a whole run, `sent` = `ok` + the sum of `errors` + `in_flight`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Messages whose first byte was handed to the kernel, or whose connection was asked for on their behalf.
    pub sent: u64,
    /// Replies that came whole and were right.
    pub ok: u64,
    /// Messages that failed, by class.
    pub errors: BTreeMap<String, u64>,
    /// Messages sent and neither right nor failed, at the end of the interval or run.
    pub in_flight: u64,
    /// Open loop: messages that were due and are not sent, at the end of the interval or run.
    pub waiting: u64,
    /// Open loop: due messages that were given up, because no slot was free (overflow `drop`) or the run ended.
    pub dropped: u64,
    /// One send with many receivers: their copies.
    pub deliveries: Deliveries,
    /// What the server tells everybody who looks at its lobby; no copies of messages.
    #[serde(default)]
    pub lobby: Lobby,
    /// Messages with which the server began connections by itself, as the plan says; no replies.
    #[serde(default)]
    pub greetings: u64,
    /// Long polls that were answered without an event, the first of each receiver aside, which asks for the number of the
    /// last event alone; left out where nobody polls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_polls: Option<u64>,
    /// Replies of gRPC by the status of their call, right ones too.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub statuses: BTreeMap<String, u64>,
    /// Messages of replies of gRPC, where a reply has several.
    #[serde(default, skip_serializing_if = "is_none")]
    pub messages: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands references over")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Copies of messages of which one send has many receivers (styx), the sender's own included. Over a whole run,
/// `expected` = `ok` + `out_of_order` + `mismatch` + `missing` + `in_flight`; a duplicate is one more than was expected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deliveries {
    /// Copies that are owed for the messages sent.
    pub expected: u64,
    /// Came right, and in the order of their origin's messages.
    pub ok: u64,
    /// Came right, behind a later one of their origin.
    pub out_of_order: u64,
    /// Came with other content than their message's.
    pub mismatch: u64,
    /// Given up: their receiver left, their time is over, or a later one came and the run ended.
    pub missing: u64,
    /// Came again, or after they were given up.
    pub duplicate: u64,
    /// Owed and not come, at the end of the interval or run.
    pub in_flight: u64,
}

impl Deliveries {
    /// Adds what others were counted; what is in flight is no count, and stays.
    pub(crate) fn add(&mut self, other: &Self) {
        self.expected += other.expected;
        self.ok += other.ok;
        self.out_of_order += other.out_of_order;
        self.mismatch += other.mismatch;
        self.missing += other.missing;
        self.duplicate += other.duplicate;
    }
}

/// Snapshots of a lobby (styx), as they came to all connections together. They answer no message, and
/// are no deliveries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lobby {
    /// Came in their turn, and do not contradict themselves.
    pub ok: u64,
    /// Contradict themselves: a list that does not fit its sums, or is in no order.
    pub mismatch: u64,
    /// Came before, or behind a later one.
    pub out_of_order: u64,
    /// Left out: their numbers are missing between two that came.
    pub missing: u64,
}

impl Lobby {
    /// Adds what others were told.
    pub(crate) fn add(&mut self, other: &Self) {
        self.ok += other.ok;
        self.mismatch += other.mismatch;
        self.out_of_order += other.out_of_order;
        self.missing += other.missing;
    }
}

/// Connections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// Attempts to connect.
    pub attempted: u64,
    /// Connections that became ready for requests.
    pub opened: u64,
    /// Attempts that failed, by class.
    pub failed: BTreeMap<String, u64>,
    /// Connections that ended after they were ready, by reason (`plan`, `server`, or an error class).
    pub closed: BTreeMap<String, u64>,
    /// Connections that are ready, at the end of the interval or run.
    pub open: u64,
}

/// Bytes of the transport's payload (with TLS: ciphertext), and of the application.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bytes {
    /// Handed to the kernel.
    pub sent: u64,
    /// Got from the kernel.
    pub received: u64,
    /// Protocol bytes sent, before TLS.
    pub application_sent: u64,
    /// Protocol bytes received, after TLS.
    pub application_received: u64,
    /// Payload bytes of the messages sent: without heads and frames, before any compression.
    #[serde(default)]
    pub payload_sent: u64,
    /// Payload bytes of the replies received: without heads and frames, after any compression.
    #[serde(default)]
    pub payload_received: u64,
}

impl Bytes {
    /// Adds what others were counted.
    pub(crate) fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.received += other.received;
        self.application_sent += other.application_sent;
        self.application_received += other.application_received;
        self.payload_sent += other.payload_sent;
        self.payload_received += other.payload_received;
    }
}

/// The generator's own cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    /// User CPU time of the process, nanoseconds.
    pub cpu_user_ns: u64,
    /// System CPU time of the process, nanoseconds.
    pub cpu_system_ns: u64,
    /// Greatest resident size of the process so far, bytes.
    pub peak_rss_bytes: u64,
    /// Share of the time in which the busiest worker's loop had something to do, 0 to 1: it ran, spinning
    /// excepted, or waited for a CPU.
    pub loop_utilisation: f64,
    /// Time that the workers were runnable and not running (`/proc/thread-self/schedstat`), nanoseconds.
    pub run_queue_ns: u64,
}

/// What a stall kept a closed loop from sending.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blocked {
    /// Exchanges that took longer than `threshold_ns`.
    pub exchanges: u64,
    /// Sum of their service times: time in which their slots could send nothing.
    pub slot_ns: u64,
    /// Ten times the median service time, 10 ms at least.
    pub threshold_ns: u64,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// By its own stop rule.
    Complete,
    /// By SIGINT, SIGTERM or `stop` on standard input.
    Interrupted,
}

/// The whole run, from the first message to the end of the drain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// How the run ended.
    pub end: End,
    /// The signal that ended it, null for none.
    pub signal: Option<i32>,
    /// When the first connection was asked for, offset from the run's start; null where connections are
    /// not kept, or never stood.
    #[serde(default)]
    pub connect_start_ns: Option<u64>,
    /// When all connections stood; null likewise.
    #[serde(default)]
    pub connected_ns: Option<u64>,
    /// First send, offset from the run's start.
    pub first_send_ns: u64,
    /// Begin of the measure phase, offset from the run's start.
    pub measure_start_ns: u64,
    /// End of the measure phase, offset from the run's start; of so many messages, the last reply.
    pub measure_end_ns: u64,
    /// End of the drain, offset from the run's start.
    pub end_ns: u64,
    /// Messages of the whole run.
    pub counters: Counters,
    /// Connections of the whole run.
    pub connections: Connections,
    /// Bytes of the whole run.
    pub bytes: Bytes,
    /// The generator's own cost over the whole run.
    pub generator: Generator,
    /// What stalls kept a closed loop from sending, over the whole run.
    pub blocked: Blocked,
    /// Intervals marked as disturbed.
    pub disturbed_intervals: u64,
    /// The first excerpt per error class, for people; under `server`, how it took its leave first.
    pub examples: BTreeMap<String, String>,
    /// Histograms of the whole run by metric name, HdrHistogram V2 compressed, base64.
    pub histograms: BTreeMap<String, String>,
    /// What came in the way of messages over HTTP/2; left out where it is not spoken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2: Option<Http2Figures>,
    /// The same over HTTP/3, and how QUIC carried them; left out where it is not spoken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http3: Option<Http3Figures>,
    /// By route and flow over the whole run; null where there is one message.
    #[serde(default)]
    pub traffic: Option<TrafficFigures>,
    /// What was published beside a load of streams; left out where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
}

/// Events that were published while the streams of a load told them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Streams that had to tell each event.
    pub receivers: u64,
    /// Events as messages of who publishes; `ok` are those that the server has taken.
    pub counters: Counters,
    /// Copies of the events that the server has taken which did not come right: those that are counted as errors of the
    /// load, and those that had not come at its end.
    pub undelivered: u64,
    /// Copies that did not come right of the other events: their requests failed or were not answered, so that the server
    /// may have taken them or not. They are no errors of the load; left out where there are none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unconfirmed: u64,
    /// The first excerpt per error class of who publishes.
    pub examples: BTreeMap<String, String>,
    /// Histograms of who publishes by metric name, HdrHistogram V2 compressed, base64.
    pub histograms: BTreeMap<String, String>,
}

/// A run that could not begin or go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// Always `wiretrial-snapshot`.
    pub schema: String,
    /// Version of this form.
    pub version: u32,
    /// Class: an error class of the metrics table, or `plan`, `preflight`, `client`.
    pub class: String,
    /// What, and the remedy: one line, or one per limit where this machine is too small.
    pub message: String,
    /// The engine's exit code.
    pub exit_code: i32,
}
