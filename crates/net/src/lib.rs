//! Bytes and readiness: sockets, the poller, timers, TLS.
//!
//! Knows file descriptors and how the kernel tells that one is ready. Must not
//! know any protocol, nor what is measured.
//!
//! A [`Driver`] belongs to one thread and owns what its sockets share: the
//! poller and the receive buffers. A [`Transport`] is one connection, plain or
//! TLS. Calls go down and values come back: [`Driver::wait`], then
//! [`Driver::next`] until there is no more. [`quic`] is a transport of many
//! streams, on sockets of its own.

pub mod clock;
mod congestion;
mod driver;
mod epoll;
mod error;
mod local_server;
pub mod machine;
pub mod quic;
#[cfg_attr(
    not(feature = "simulation"),
    allow(dead_code, unreachable_pub, reason = "simulated worlds draw more")
)]
mod random;
mod ready;
#[cfg(feature = "simulation")]
pub mod simulation;
mod socket;
#[allow(unsafe_code, reason = "calls that rustix has no safe face for")]
mod sys;
mod tls;
mod transfer;
mod transport;
mod uring;

pub use clock::{monotonic_ns, realtime_ns};
pub use congestion::Congestion;
pub use driver::{Driver, DriverConfig, PollerKind};
pub use error::{NetError, NetErrorClass};
pub use local_server::{LocalServer, local_server};
pub use machine::{
    DescriptorLimit, descriptor_limit, peak_rss_bytes, pin_current_thread, process_cpu,
    raise_descriptor_limit, resolve, set_timer_slack_min, set_turns_min, thread_run_queue_ns,
};
pub use ready::{Key, Ready, Waker};
pub use socket::{ConnectSpec, Listener, Socket, TcpInfo};
pub use tls::{Alpn, ClientTls, ClientTlsSettings, ServerTls};
pub use transfer::{Fill, Flush};
pub use transport::Transport;
