//! Whose certificates a client believes, beside what rustls offers.
//!
//! Knows certificates. Must not know files or sockets.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::fault::is_authority_as_server;

/// Believes the given authorities, and a server that presents one of their certificates as its own.
///
/// `openssl req -x509` makes certificates that may sign others, and webpki takes none of these for
/// a server's. As in OpenSSL, one that was given byte for byte needs nobody to vouch for it.
#[derive(Debug)]
pub(super) struct Given {
    chains: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl Given {
    pub(super) fn new(
        roots: RootCertStore,
        given: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, VerifierBuilderError> {
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        Ok(Self { chains: chains.build()?, given })
    }
}

impl ServerCertVerifier for Given {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let chains = &self.chains;
        match chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        {
            // webpki looks at the dates before it looks at what the certificate may do, so they
            // are good here; at names it has not looked.
            Err(Error::InvalidCertificate(reason))
                if is_authority_as_server(&reason) && self.given.contains(end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, cert, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// Accepts every certificate, but still wants proof that the peer holds its
/// key, so that the cost of a handshake is the same as with trust.
#[derive(Debug)]
pub(super) struct TrustAnyone(pub(super) Arc<CryptoProvider>);

impl ServerCertVerifier for TrustAnyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
    use rustls::crypto::ring;
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::sign::{CertifiedKey, SingleCertAndKey};
    use rustls::version::{TLS12, TLS13};
    use rustls::{
        ClientConfig, ClientConnection, ServerConfig, ServerConnection, SupportedProtocolVersion,
    };

    use super::*;

    #[test]
    fn a_server_that_presents_a_given_certificate_must_hold_its_key() {
        for version in [&TLS12, &TLS13] {
            let (own, other) = (key(), key());
            let cert = may_sign_others(&own);
            assert_eq!(handshake(&cert, &own, version), Ok(()), "{version:?}");
            let refused = handshake(&cert, &other, version).expect_err("another's key");
            assert!(matches!(refused, Error::InvalidCertificate(_)), "{version:?}: {refused}");
        }
    }

    fn key() -> KeyPair {
        KeyPair::generate().expect("a key")
    }

    fn may_sign_others(key: &KeyPair) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(["localhost".to_owned()]).expect("names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.self_signed(key).expect("self-signed").into()
    }

    /// The client's verdict on a server with this certificate, which is given, and this key.
    fn handshake(
        cert: &CertificateDer<'static>,
        key: &KeyPair,
        version: &'static SupportedProtocolVersion,
    ) -> Result<(), Error> {
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(cert.clone()).expect("an authority");
        let given = Given::new(roots, vec![cert.clone()], Arc::clone(&provider)).expect("a root");
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[version])
            .expect("a version")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(given))
            .with_no_client_auth();
        let secret = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let secret = provider.key_provider.load_private_key(secret).expect("a key");
        // Unlike the usual way, this one does not look whether they belong together.
        let presented = SingleCertAndKey::from(CertifiedKey::new(vec![cert.clone()], secret));
        let server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .expect("a version")
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(presented));
        let name = ServerName::try_from("localhost").expect("a name");
        let mut client = ClientConnection::new(Arc::new(client), name).expect("a session");
        let mut server = ServerConnection::new(Arc::new(server)).expect("a session");
        while client.is_handshaking() || server.is_handshaking() {
            let mut records = Vec::new();
            client.write_tls(&mut records).expect("written");
            server.read_tls(&mut records.as_slice()).expect("read");
            server.process_new_packets().expect("a sound client");
            let mut records = Vec::new();
            server.write_tls(&mut records).expect("written");
            client.read_tls(&mut records.as_slice()).expect("read");
            client.process_new_packets()?;
        }
        Ok(())
    }
}
