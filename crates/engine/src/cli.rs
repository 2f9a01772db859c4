//! The command line, as clap reads it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use wiretrial_load::clock::Nanos;
use wiretrial_respond::{DeflateConfig, Delay, Fault, Stall, duration_of};

use crate::deflate::deflate;
use crate::link::{self, LinkFlags};
use crate::observe::{self, ObserveFlags};
use crate::quantity::{
    Addresses, Stages, addresses, count, duration, rate, size, small_count, stages, window,
};

/// Load generator and reference server for HTTP, WebSocket and sockets. Verifies every reply.
#[derive(Debug, Parser)]
#[command(name = "wiretrial-engine", version, term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read a plan (JSON) from standard input, write snapshots (newline-delimited JSON); a line `stop` ends it.
    Run {
        /// text for people, json for snapshots.
        #[arg(long, value_enum, default_value = "json")]
        format: Format,
    },
    /// Read plans (JSON) from standard input, and name the fault of the first that can't be run. Nothing is sent.
    Check,
    /// Read a plan (JSON) from standard input, send its messages one after the other without load, write each with its reply (newline-delimited JSON).
    #[command(after_help = ASK_EXAMPLES)]
    Ask(AskFlags),
    /// Load a URL.
    #[command(after_help = LOAD_EXAMPLES)]
    Load(Box<LoadFlags>),
    /// Serve as the reference server: http with WebSocket echo, tables and Socket.IO, TCP echo, both over TLS; tables over TCP; delays, stalls and faults by script.
    #[command(after_help = RESPOND_EXAMPLES)]
    Respond(Box<RespondFlags>),
    /// Carry a link between two network namespaces: delay, jitter, loss, rate. Needs root.
    #[command(after_help = link::EXAMPLES)]
    Link(Box<LinkFlags>),
    /// Print raw counters of this host, of process trees and of control groups (newline-delimited JSON), until standard input ends.
    #[command(after_help = observe::EXAMPLES)]
    Observe(Box<ObserveFlags>),
    /// Print the JSON Schema of one side of the seam.
    Schema {
        /// Which side.
        side: Side,
    },
    /// Print a completion script for a shell.
    Completion {
        /// Which shell.
        shell: Shell,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Side {
    /// What `run` reads.
    Plan,
    /// What `run` writes.
    Snapshot,
    /// What `ask` writes.
    Exchange,
    /// What `observe` writes.
    Observation,
}

const LOAD_DEFLATE: &str = "Compress WebSocket messages (permessage-deflate); refuse a server that does not. \
Parameters, comma-separated: server_no_context_takeover, client_no_context_takeover, \
server_max_window_bits=8..15, client_max_window_bits=8..15, level=1..9";

const ASK_EXAMPLES: &str = "\
Examples:
  wiretrial-engine ask < plan.json
  wiretrial-engine ask --sessions 30 --connections 2 < plan.json > exchanges.ndjson";

const LOAD_EXAMPLES: &str = "\
Examples:
  wiretrial-engine load http://127.0.0.1:8080/ -c 100 -d 10s
  wiretrial-engine load ws://127.0.0.1:9001/ -c 1000 --depth 10 --pack 10 --payload 20
  wiretrial-engine load ws://127.0.0.1:9001/ -c 1000000 --threads 51 --sources 127.1.0.0/25 --hold -d 60s
  wiretrial-engine load ws://127.0.0.1:9001/ --payload @chat.json --text --deflate=client_no_context_takeover,level=1
  wiretrial-engine load tcp://127.0.0.1:7000 --rate 20k --pacing poisson --format json > snapshots.ndjson
  wiretrial-engine load http://127.0.0.1:8080/ --stages 30s:1k/s,2m:5k/s,30s:0
  wiretrial-engine load styx+json+ws://127.0.0.1:8080 -c 600 --table-size 6 --rate 600 --pacing phased
  wiretrial-engine load socketio+ws://127.0.0.1:8080 --json '[\"get\",\"messages\",\"testing\"]'
  wiretrial-engine load http://127.0.0.1:8080/events --sse -c 1000
  wiretrial-engine load http://127.0.0.1:8080/subscribe --sse --hold -c 1000 --publish http://127.0.0.1:8080/publish
  wiretrial-engine load https://localhost:8443/echo --json '{\"id\":\"{seq}\"}' --expect echo --cacert ca.pem";

const RESPOND_EXAMPLES: &str = "\
Examples:
  wiretrial-engine respond --http 127.0.0.1:8080 --tcp 127.0.0.1:7000
  wiretrial-engine respond --http 127.0.0.1:8080 --delay 1ms,20ms@0.1      one reply in ten takes 20 ms
  wiretrial-engine respond --http 127.0.0.1:8080 --stall 5s/1s             freezes for 1 s in every 5 s
  wiretrial-engine respond --http 127.0.0.1:8080 --fault wrong@1000        every 1000th reply is altered
  wiretrial-engine respond --http 127.0.0.1:8080 --deflate=server_max_window_bits=10
  wiretrial-engine respond --http 127.0.0.1:8080 --styx 127.0.0.1:4123     tables, and /socket over WebSocket
  wiretrial-engine respond --https 127.0.0.1:8443 --cert cert.pem --key key.pem";

#[derive(Debug, Args)]
pub(crate) struct AskFlags {
    /// Sessions of each flow; of a plan with one message, how often it is sent.
    #[arg(long, default_value = "1", value_parser = small_count, value_name = "N")]
    pub(crate) sessions: u32,
    /// Connections. Sessions take turns on them.
    #[arg(long, default_value = "1", value_parser = small_count, value_name = "N")]
    pub(crate) connections: u32,
    /// Longest content that is written of each request and reply.
    #[arg(long, default_value = "1MiB", value_parser = size, value_name = "BYTES")]
    pub(crate) most_body: u64,
    /// End after this time, also while a reply is awaited.
    #[arg(long, default_value = "60s", value_parser = duration, value_name = "TIME")]
    pub(crate) time_limit: Nanos,
    /// Fail at once where the server refuses the first connection. Default: try again as long as the plan says.
    #[arg(long)]
    pub(crate) no_wait: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct LoadFlags {
    /// http, https, ws, wss, tcp or tls URL; styx, styx+json, styx+ws, styx+json+ws (players at tables); socketio+ws, socketio+wss.
    pub(crate) url: String,
    /// Connections [default: 10, or as many as --stages has at most].
    #[arg(short, long, value_parser = small_count, value_name = "N")]
    pub(crate) connections: Option<u32>,
    /// Length of the measurement [default: 10s, or that of --stages].
    #[arg(short, long, value_parser = duration, value_name = "TIME", conflicts_with = "requests")]
    pub(crate) duration: Option<Nanos>,
    /// Send so many messages in place of a duration.
    #[arg(short = 'n', long, value_parser = count, value_name = "N")]
    pub(crate) requests: Option<u64>,
    /// Hold the connections, over HTTP/2 and HTTP/3 --depth WebSockets on each: one message on each when all stand, then --rate messages per second in turn.
    #[arg(long, conflicts_with_all = ["requests", "pack", "requests_per_connection"])]
    pub(crate) hold: bool,
    /// Closed loop: each connection sends again when its reply has come, or all wait for the slowest.
    #[arg(long, value_enum, default_value = "steady", conflicts_with_all = ["hold", "rate", "requests_per_connection"])]
    pub(crate) pattern: Pattern,
    /// Open loop: messages per second over all connections.
    #[arg(long, value_parser = rate, value_name = "PER_SECOND")]
    pub(crate) rate: Option<f64>,
    /// Load over time, TIME:LEVEL,…: each stage ramps evenly from the last level, at first 0 or --rate, to its own; 0s: at once. Levels are connections that send (30s:100,2m:500,30s:0), or messages per second where --rate is given or they end in /s.
    #[arg(long, value_parser = stages, value_name = "STAGES", conflicts_with_all = ["hold", "pattern"])]
    pub(crate) stages: Option<Stages>,
    /// With --rate: when messages are due.
    #[arg(long, value_enum, default_value = "constant")]
    pub(crate) pacing: Pacing,
    /// Open loop: what happens to a due message that finds no free slot.
    #[arg(long, value_enum, default_value = "wait")]
    pub(crate) overflow: Overflow,
    /// Requests in flight per connection.
    #[arg(long, default_value = "1", value_parser = small_count, value_name = "N")]
    pub(crate) depth: u32,
    /// Messages per send; divides the depth.
    #[arg(long, default_value = "1", value_parser = small_count, value_name = "N")]
    pub(crate) pack: u32,
    /// Payload: a size (its content differs from message to message), or @FILE.
    #[arg(long, value_name = "BYTES|@FILE", conflicts_with = "json")]
    pub(crate) payload: Option<String>,
    /// Payload: JSON text; {seq} becomes the message's number, inside a string 16 hexadecimal digits. Of socketio: name and arguments of the event.
    #[arg(long, value_name = "TEXT")]
    pub(crate) json: Option<String>,
    /// Styx: players at each table, each of whom gets a copy of each message.
    #[arg(long, default_value = "1", value_parser = small_count, value_name = "N")]
    pub(crate) table_size: u32,
    /// Styx: how long the table shall wait before it responds, whole milliseconds.
    #[arg(long, default_value = "0ms", value_parser = duration, value_name = "TIME")]
    pub(crate) table_delay: Nanos,
    /// Styx: let each player look at the lobby, of which it is then sent snapshots; they are counted apart.
    #[arg(long)]
    pub(crate) lobby: bool,
    /// Send WebSocket text frames.
    #[arg(long)]
    pub(crate) text: bool,
    // The parameters' names are those of the RFC, for people and not for rustdoc.
    #[arg(long, help = LOAD_DEFLATE, value_parser = deflate, value_name = "PARAMETERS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) deflate: Option<DeflateConfig>,
    /// WebSocket: messages that the server sends by itself on each connection; read, counted and not taken for replies.
    #[arg(long, default_value = "0", value_name = "N")]
    pub(crate) greetings: u8,
    /// Version of HTTP. auto: over TLS the one that the server picks (ALPN), 2 or 1.1, else 1.1. 2: over TLS by ALPN, else from the first byte; its streams are --depth, of ws and wss a WebSocket each (RFC 8441). 3: over QUIC (https, wss, grpcs), where auto never goes; its streams are --depth, too.
    #[arg(long, value_enum, default_value = "auto", value_name = "VERSION")]
    pub(crate) http: HttpVersion,
    /// Hold a stream of events (text/event-stream) on each connection, over HTTP/2 and HTTP/3 on each of its streams (--depth). A message is an event; its delay is told where the server stamps it. With --hold streams may be silent.
    #[arg(long, conflicts_with_all = ["requests", "rate", "pattern", "stages", "pack", "requests_per_connection", "payload", "json"])]
    pub(crate) sse: bool,
    /// Publish numbered events by POST to this URL, over a connection of its own, while streams (--sse), WebSockets (ws, wss, socketio+ws) or polls (--long-poll) are held: each has to tell each event once and in order. Each copy is timed from the instant at which its event was due, and so is the last copy of each event.
    #[arg(long, value_name = "URL")]
    pub(crate) publish: Option<String>,
    /// Events to publish per second.
    #[arg(long, requires = "publish", default_value = "10", value_parser = rate, value_name = "RATE")]
    pub(crate) publish_rate: f64,
    /// Data of each event, bytes.
    #[arg(long, requires = "publish", default_value = "64", value_parser = size, value_name = "SIZE")]
    pub(crate) publish_size: u64,
    /// From the begin of the load to the first event; all streams have to be accepted by then.
    #[arg(long, requires = "publish", default_value = "1s", value_parser = duration, value_name = "TIME")]
    pub(crate) publish_after: Nanos,
    /// HTTP header field of each POST of an event, may be given again. To another origin than the URL's (scheme, host, port) it goes without those of --header; to the same origin those of other names go beside it.
    #[arg(long = "publish-header", requires = "publish", value_name = "NAME: VALUE")]
    pub(crate) publish_headers: Vec<String>,
    /// Receivers ask for each event (long polling): GET of the URL with `after=N` in its query, behind the number of what they had last.
    #[arg(long, requires = "publish")]
    pub(crate) long_poll: bool,
    /// HTTP/2: bytes that the server may send on a stream before it is allowed more. [4MiB]
    #[arg(long, value_parser = window, value_name = "SIZE")]
    pub(crate) window: Option<u32>,
    /// HTTP/2: the same on all streams of a connection together. [64MiB]
    #[arg(long, value_parser = window, value_name = "SIZE")]
    pub(crate) connection_window: Option<u32>,
    /// Which algorithm decides how much of what is sent may be on its way, over TCP and HTTP/3. [TCP: the kernel's default, HTTP/3: cubic]
    #[arg(long, value_enum, value_name = "ALGORITHM")]
    pub(crate) congestion: Option<Congestion>,
    /// HTTP/3: send requests on new connections before the handshake's end (0-RTT), where the server lets an earlier session do so.
    #[arg(long, conflicts_with = "no_resumption")]
    pub(crate) early_data: bool,
    /// Send ten header fields like those of a browser (http, https). Over HTTP/2 the server keeps in its table what is the same in each request.
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub(crate) header_profile: Option<HeaderProfile>,
    /// HTTP method.
    #[arg(long)]
    pub(crate) method: Option<String>,
    /// HTTP header field, may be given again.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// HTTP status of a right reply.
    #[arg(long, default_value = "200", value_name = "STATUS")]
    pub(crate) expect_status: u16,
    /// Content of a right reply: echo, learned (as the first one), broadcast (each message comes to all connections), @FILE. For replies that vary: status (any content), or rules that must all hold: json:PATH=VALUE, json:PATH, regex:PATTERN (repeatable). Default: learned for http and socketio, echo otherwise.
    #[arg(long, value_name = "RULE")]
    pub(crate) expect: Vec<String>,
    /// Close a connection after so many requests, and open a new one.
    #[arg(long, value_parser = count, value_name = "N")]
    pub(crate) requests_per_connection: Option<u64>,
    /// Worker threads.
    #[arg(short, long, default_value = "1", value_parser = small_count, value_name = "N")]
    pub(crate) threads: u32,
    /// CPUs to pin the workers to, e.g. 1,3.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) cpus: Vec<u32>,
    /// Local addresses to connect from, in turn.
    #[arg(long, value_delimiter = ',', value_parser = addresses, value_name = "IP|CIDR,…")]
    pub(crate) sources: Vec<Addresses>,
    /// Load before the measurement; marked in the snapshots.
    #[arg(long, value_parser = duration, value_name = "TIME", default_value = "1s")]
    pub(crate) warmup: Nanos,
    /// Deadline of one exchange.
    #[arg(long, value_parser = duration, value_name = "TIME", default_value = "10s")]
    pub(crate) timeout: Nanos,
    /// How long all connections may take to stand.
    #[arg(long, value_parser = duration, value_name = "TIME", default_value = "10s")]
    pub(crate) connect_timeout: Nanos,
    /// Accept any certificate.
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Trust these authorities, or exactly these self-signed certificates (PEM).
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub(crate) cacert: Option<PathBuf>,
    /// Do a full TLS handshake for every connection.
    #[arg(long)]
    pub(crate) no_resumption: bool,
    /// Poll without sleeping while a message is due soon.
    #[arg(long)]
    pub(crate) spin: bool,
    /// How readiness is learned.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) poller: Poller,
    /// Seed of the random choices.
    #[arg(long, default_value = "0")]
    pub(crate) seed: u64,
    /// text for people, json for snapshots.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pattern {
    /// Every connection has one pack in flight (or as many as the depth says).
    Steady,
    /// As many packs as there are connections go at once, each on a connection drawn at random; when all are answered, the next ones.
    RandomBurst,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pacing {
    /// Equal gaps.
    Constant,
    /// Exponential gaps.
    Poisson,
    /// Equal gaps, and each connection has its own instants: all send at one rate, at phases of their own.
    Phased,
    /// Closed loop: each connection sends so long after its reply that the rate is met if replies take no time.
    AfterResponse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Overflow {
    /// It waits, and stays due when it was.
    Wait,
    /// It is counted dropped.
    Drop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Poller {
    /// io_uring; epoll where there is none.
    Auto,
    /// io_uring, or none.
    Uring,
    /// epoll.
    Epoll,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HttpVersion {
    /// HTTP/1.1.
    #[value(name = "1.1")]
    One,
    /// HTTP/2.
    #[value(name = "2")]
    Two,
    /// HTTP/3, over QUIC.
    #[value(name = "3")]
    Three,
    /// Over TLS the one that the server picks, else HTTP/1.1.
    Auto,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Congestion {
    /// RFC 9438.
    Cubic,
    /// RFC 9002, appendix B; of TCP the kernel's reno.
    NewReno,
    /// BBR, version 1.
    Bbr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeaderProfile {
    /// All are the same in each request.
    Constant,
    /// Two are new in each request: the cookie and the request's id.
    Partly,
    /// All are new in each request.
    Unique,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A few lines.
    Text,
    /// Newline-delimited JSON.
    Json,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct RespondFlags {
    /// Serve HTTP and WebSocket here (/socket: Styx, /socket.io/: Socket.IO), e.g. 127.0.0.1:8080; may be given again. Port 0: a free one.
    #[arg(long, value_name = "IP:PORT")]
    pub(crate) http: Vec<SocketAddr>,
    /// The same over TLS.
    #[arg(long, value_name = "IP:PORT", requires = "cert")]
    pub(crate) https: Vec<SocketAddr>,
    /// Offer HTTP/2 over TLS, too (ALPN). Without TLS it is answered wherever a client begins with it.
    #[arg(long)]
    pub(crate) http2: bool,
    /// Answer HTTP/3, too: on the UDP port of the same number as each --https.
    #[arg(long, requires = "https")]
    pub(crate) http3: bool,
    /// HTTP/3: take requests of clients that come again before the handshake's end (0-RTT).
    #[arg(long, requires = "http3")]
    pub(crate) early_data: bool,
    /// Echo bytes here.
    #[arg(long, value_name = "IP:PORT")]
    pub(crate) tcp: Vec<SocketAddr>,
    /// The same over TLS.
    #[arg(long, value_name = "IP:PORT", requires = "cert")]
    pub(crate) tls: Vec<SocketAddr>,
    /// Serve tables (Styx) here, in binary or JSON, as the client begins.
    #[arg(long, value_name = "IP:PORT")]
    pub(crate) styx: Vec<SocketAddr>,
    /// Certificate chain (PEM).
    #[arg(long, requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// Its key (PEM).
    #[arg(long, requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Threads.
    #[arg(short, long, default_value = "1", value_parser = small_count, value_name = "N")]
    pub(crate) threads: u32,
    /// CPUs to pin the threads to, e.g. 0,2.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) cpus: Vec<u32>,
    /// How readiness is learned.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) poller: Poller,
    /// Give each thread a table of descriptors of its own: so many times more connections than one holds.
    #[arg(long)]
    pub(crate) own_descriptors: bool,
    /// Which algorithm decides how much of what is sent may be on its way, over TCP and HTTP/3. [TCP: the kernel's default, HTTP/3: cubic]
    #[arg(long, value_enum, value_name = "ALGORITHM")]
    pub(crate) congestion: Option<Congestion>,
    /// Delay of each reply: 5ms, or two modes: 1ms,20ms@0.1.
    #[arg(long, value_name = "TIME[,TIME@SHARE]")]
    pub(crate) delay: Option<Delay>,
    /// Delay of the answer to each upgrade to WebSocket, which is no reply.
    #[arg(long, default_value = "0s", value_parser = duration_of, value_name = "TIME")]
    pub(crate) upgrade_delay: u64,
    /// Freeze: EVERY/FOR such as 5s/1s, or once: at:3s/1s; counted from the first request.
    #[arg(long, value_name = "EVERY/FOR")]
    pub(crate) stall: Option<Stall>,
    /// Do wrong: KIND or KIND@EVERY; may be given again. Kinds: wrong, swap, repeat, truncate, reset, close, silent, garbage, slow, status; of HTTP/2 also refuse, cancel, goaway, length, pings, settings, headers, bomb, streams, window.
    #[arg(long, value_name = "KIND[@EVERY]")]
    pub(crate) fault: Vec<Fault>,
    /// Close a connection with its Nth reply.
    #[arg(long)]
    pub(crate) close_after: Option<std::num::NonZeroU32>,
    /// Seed of the two-mode delays.
    #[arg(long, default_value = "0")]
    pub(crate) seed: u64,
    /// Compress WebSocket messages (permessage-deflate) of clients that offer it and can meet the parameters: those of `load`.
    #[arg(long, value_parser = deflate, value_name = "PARAMETERS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) deflate: Option<DeflateConfig>,
    /// Largest WebSocket message.
    #[arg(long, value_parser = size, value_name = "BYTES", default_value = "1GiB")]
    pub(crate) max_message: u64,
}
