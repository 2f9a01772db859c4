//! Truth on real sockets: the load generator against the reference server, in one process, with
//! delays, stalls and faults that are known. Only lower bounds and counts are asserted of times.

mod broadcast;
mod bursts;
#[path = "../common/certificates.rs"]
mod certificates;
mod congestion;
mod content;
mod deflate;
mod delays;
mod deliveries;
mod due;
mod errors;
#[path = "../common/exchanges.rs"]
mod exchanges;
mod grpc;
mod grpc_gzip;
mod grpc_sessions;
mod grpc_talks;
mod header_profiles;
mod http2;
mod http2_auto;
mod http2_websockets;
mod http2_windows;
mod http3;
mod http3_calls;
#[path = "../common/http3_host.rs"]
mod http3_host;
mod http3_traffic;
mod http3_websockets;
mod lifecycle;
mod long;
mod order;
#[path = "../common/outcome.rs"]
mod outcome;
mod posted;
mod published;
#[path = "../common/rig.rs"]
mod rig;
mod socketio;
mod sse;
#[path = "../common/streams.rs"]
mod streams;
mod sums;
