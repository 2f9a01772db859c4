//! TLS by rustls: settings made once, one session per connection.
//!
//! Knows certificates and how to speak of their faults. Must not know which
//! poller moves the records.

mod alpn;
mod client;
mod fault;
mod noting;
mod pem;
mod server;
mod session;
mod verifiers;

pub use alpn::Alpn;
pub(crate) use client::for_quic as client_for_quic;
pub use client::{ClientTls, ClientTlsSettings};
pub(crate) use fault::in_quic as fault_in_quic;
pub(crate) use noting::certificate_was_shown;
pub use server::ServerTls;
pub(crate) use server::for_quic as server_for_quic;
pub(crate) use session::TlsSession;
