//! TLS by rustls: settings made once, one session per connection.
//!
//! Knows certificates and how to speak of their faults. Must not know which
//! poller moves the records.

mod alpn;
mod client;
mod fault;
mod pem;
mod server;
mod session;
mod verifiers;

pub use alpn::Alpn;
pub use client::{ClientTls, ClientTlsSettings};
pub use server::ServerTls;
pub(crate) use session::TlsSession;
