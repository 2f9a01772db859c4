//! The client's side: whom to trust and whether to resume.
//!
//! Knows roots and which verifier goes with them. Must not know sockets.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::NetError;
use crate::tls::noting::Noting;
use crate::tls::verifiers::{Given, TrustAnyone};
use crate::tls::{Alpn, alpn, fault, pem};

/// Sessions kept for resumption. One server name needs one entry; within it
/// rustls keeps several tickets.
const KEPT_SESSIONS: usize = 256;

/// How a client trusts and names its server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientTlsSettings {
    /// PEM file of the authorities to trust in place of the built-in ones.
    pub ca_file: Option<PathBuf>,
    /// Trusts any certificate. For tests only, and never by default.
    pub insecure: bool,
    /// The name (or literal address) that the certificate must be for.
    pub server_name: String,
    /// Resumes earlier sessions of the same `ClientTls`.
    pub resumption: bool,
    /// Application protocols to offer, best first; empty offers none.
    pub alpn: Vec<Alpn>,
}

/// Settings made ready. Clones share the sessions kept for resumption.
#[derive(Debug, Clone)]
pub struct ClientTls {
    pub(super) config: Arc<ClientConfig>,
    pub(super) alpn: Arc<[Alpn]>,
    name: ServerName<'static>,
}

impl ClientTls {
    /// Reads the authorities and checks the name.
    ///
    /// # Errors
    /// When the file is missing or holds no certificate, or the name is none.
    pub fn new(settings: &ClientTlsSettings) -> Result<Self, NetError> {
        let name = server_name(&settings.server_name)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = config(settings, verifier(settings, &provider)?, provider)?;
        Ok(Self { config: Arc::new(config), alpn: settings.alpn.as_slice().into(), name })
    }

    pub(crate) fn session(&self) -> Result<ClientConnection, NetError> {
        ClientConnection::new(Arc::clone(&self.config), self.name.clone())
            .map_err(|error| fault::setup(&error))
    }
}

/// The same settings for QUIC, which brings its own records; and whether what is
/// sent before the handshake's end may go out (0-RTT), where a session is
/// resumed.
///
/// # Errors
/// As [`ClientTls::new`].
pub(crate) fn for_quic(
    settings: &ClientTlsSettings,
    early_data: bool,
) -> Result<ClientConfig, NetError> {
    server_name(&settings.server_name)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let noting = Arc::new(Noting(verifier(settings, &provider)?));
    let mut config = config(settings, noting, provider)?;
    config.enable_early_data = early_data;
    Ok(config)
}

fn config(
    settings: &ClientTlsSettings,
    verifier: Arc<dyn ServerCertVerifier>,
    provider: Arc<CryptoProvider>,
) -> Result<ClientConfig, NetError> {
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| fault::setup(&error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = alpn::names(&settings.alpn);
    config.resumption = if settings.resumption {
        Resumption::in_memory_sessions(KEPT_SESSIONS)
    } else {
        Resumption::disabled()
    };
    Ok(config)
}

fn verifier(
    settings: &ClientTlsSettings,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, NetError> {
    let provider = Arc::clone(provider);
    Ok(match (settings.insecure, &settings.ca_file) {
        (true, _) => Arc::new(TrustAnyone(provider)),
        (false, Some(file)) => Arc::new(given(file, provider)?),
        (false, None) => {
            let roots = webpki_roots::TLS_SERVER_ROOTS.to_vec();
            let roots = Arc::new(RootCertStore { roots });
            WebPkiServerVerifier::builder_with_provider(roots, provider)
                .build()
                .map_err(|error| NetError::Tls(format!("TLS cannot be set up: {error}").into()))?
        }
    })
}

fn given(file: &Path, provider: Arc<CryptoProvider>) -> Result<Given, NetError> {
    let unusable = |error: &dyn Display| {
        let text = format!("{}: a certificate in it cannot be used: {error}", file.display());
        NetError::Tls(text.into())
    };
    let given = pem::certificates(file)?;
    let mut roots = RootCertStore::empty();
    for certificate in &given {
        roots.add(certificate.clone()).map_err(|error| unusable(&error))?;
    }
    Given::new(roots, given, provider).map_err(|error| unusable(&error))
}

fn server_name(name: &str) -> Result<ServerName<'static>, NetError> {
    let literal = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    ServerName::try_from(literal.to_owned()).map_err(|_| {
        NetError::Tls(format!("'{name}' is no host name that a certificate can be for").into())
    })
}
