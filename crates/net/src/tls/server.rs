//! The server's side: one certificate chain and its key.
//!
//! Knows tickets. Must not know sockets.

use std::path::Path;
use std::sync::Arc;

use rustls::server::{ProducesTickets, ServerSessionMemoryCache};
use rustls::{ServerConfig, ServerConnection};

use crate::NetError;
use crate::tls::{Alpn, alpn, fault, pem};

/// Sessions kept for clients that come again with early data.
const KEPT_SESSIONS: usize = 4096;

/// Settings made ready. Clones share the ticket keys.
#[derive(Debug, Clone)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
    pub(super) alpn: Arc<[Alpn]>,
}

impl ServerTls {
    /// Reads the chain and the key, both PEM. Of the application protocols that
    /// a client offers, the first of `alpn` is agreed on; a client that offers
    /// others only is refused. Where either side names none, none is agreed on.
    ///
    /// # Errors
    /// When a file is missing or holds something else, or the key does not
    /// belong to the certificate.
    pub fn new(cert: &Path, key: &Path, alpn: &[Alpn]) -> Result<Self, NetError> {
        let mut config = config(cert, key, alpn)?;
        config.ticketer = ticketer()?;
        Ok(Self { config: Arc::new(config), alpn: alpn.into() })
    }

    pub(crate) fn session(&self) -> Result<ServerConnection, NetError> {
        ServerConnection::new(Arc::clone(&self.config)).map_err(|error| fault::setup(&error))
    }
}

/// The same settings for QUIC, which brings its own records; and whether what a
/// client sends before the handshake's end is taken (0-RTT).
///
/// # Errors
/// As [`ServerTls::new`].
pub(crate) fn for_quic(
    cert: &Path,
    key: &Path,
    alpn: &[Alpn],
    early_data: bool,
) -> Result<ServerConfig, NetError> {
    let mut config = config(cert, key, alpn)?;
    if early_data {
        // All or nothing, says QUIC (RFC 9001, section 4.6.1). Sessions are kept in memory: a ticket that
        // holds all could be used twice, so rustls takes no early data with one.
        config.max_early_data_size = u32::MAX;
        config.session_storage = ServerSessionMemoryCache::new(KEPT_SESSIONS);
    } else {
        config.ticketer = ticketer()?;
    }
    Ok(config)
}

fn config(cert: &Path, key: &Path, alpn: &[Alpn]) -> Result<ServerConfig, NetError> {
    let chain = pem::certificates(cert)?;
    let secret = pem::private_key(key)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| fault::setup(&error))?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| fault::key_pair(cert, key, &error))?;
    config.alpn_protocols = alpn::names(alpn);
    Ok(config)
}

/// Tickets need no memory here, whatever the number of clients.
fn ticketer() -> Result<Arc<dyn ProducesTickets>, NetError> {
    rustls::crypto::ring::Ticketer::new().map_err(|error| fault::setup(&error))
}
