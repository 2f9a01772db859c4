//! The client's side: whom to trust and whether to resume.
//!
//! Knows roots and verifiers. Must not know sockets.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use crate::NetError;
use crate::tls::{fault, pem};

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
    /// Protocols to offer by ALPN, best first; empty offers none.
    pub alpn: Vec<Vec<u8>>,
}

/// Settings made ready. Clones share the sessions kept for resumption.
#[derive(Debug, Clone)]
pub struct ClientTls {
    config: Arc<ClientConfig>,
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
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| fault::setup(&error))?;
        let builder = if settings.insecure {
            let verifier = Arc::new(TrustAnyone(provider));
            builder.dangerous().with_custom_certificate_verifier(verifier)
        } else {
            builder.with_root_certificates(roots(settings)?)
        };
        let mut config = builder.with_no_client_auth();
        config.alpn_protocols.clone_from(&settings.alpn);
        config.resumption = if settings.resumption {
            Resumption::in_memory_sessions(KEPT_SESSIONS)
        } else {
            Resumption::disabled()
        };
        Ok(Self { config: Arc::new(config), name })
    }

    pub(crate) fn session(&self) -> Result<ClientConnection, NetError> {
        ClientConnection::new(Arc::clone(&self.config), self.name.clone())
            .map_err(|error| fault::setup(&error))
    }
}

/// Accepts every certificate, but still wants proof that the peer holds its
/// key, so that the cost of a handshake is the same as with trust.
#[derive(Debug)]
struct TrustAnyone(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustAnyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

fn roots(settings: &ClientTlsSettings) -> Result<RootCertStore, NetError> {
    let Some(file) = &settings.ca_file else {
        return Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() });
    };
    let mut store = RootCertStore::empty();
    for certificate in pem::certificates(file)? {
        store.add(certificate).map_err(|error| {
            let text = format!("{}: a certificate in it cannot be used: {error}", file.display());
            NetError::Tls(text.into())
        })?;
    }
    Ok(store)
}

fn server_name(name: &str) -> Result<ServerName<'static>, NetError> {
    let literal = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    ServerName::try_from(literal.to_owned()).map_err(|_| {
        NetError::Tls(format!("'{name}' is no host name that a certificate can be for").into())
    })
}
