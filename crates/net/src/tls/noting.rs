//! Whether a certificate was shown, and why it was refused, kept for who is told of the alert alone.
//!
//! Knows one verdict at a time, in each thread. Must not know how it is reached.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

thread_local! {
    /// Why [`Noting`] refused, until it is asked for.
    static REFUSED: RefCell<Option<Error>> = const { RefCell::new(None) };
    /// [`Noting`] was shown a certificate, until it is asked for.
    static SHOWN: Cell<bool> = const { Cell::new(false) };
}

/// Judges as another one does, and notes why it refused: what drives QUIC hands on the alert alone.
#[derive(Debug)]
pub(super) struct Noting(pub(super) Arc<dyn ServerCertVerifier>);

/// Why the last certificate that was judged in this thread was refused; told once. The call that
/// judged it also reports the failure, so that no other handshake comes between.
pub(super) fn refused() -> Option<Error> {
    REFUSED.take()
}

/// Whether a certificate was judged in this thread since it was asked last. A handshake that resumes a
/// session shows none (RFC 8446, section 2.2).
pub(crate) fn certificate_was_shown() -> bool {
    SHOWN.replace(false)
}

fn noted<T>(verdict: Result<T, Error>) -> Result<T, Error> {
    REFUSED.set(verdict.as_ref().err().cloned());
    verdict
}

impl ServerCertVerifier for Noting {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        SHOWN.set(true);
        let (chain, name) = (intermediates, server_name);
        noted(self.0.verify_server_cert(end_entity, chain, name, ocsp_response, now))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        noted(self.0.verify_tls12_signature(message, cert, signed))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        noted(self.0.verify_tls13_signature(message, cert, signed))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
