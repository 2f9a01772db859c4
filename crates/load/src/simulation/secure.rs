//! The server's side of TLS, for peers whose bytes travel in records.
//!
//! Knows rustls' sessions. Must not know what the plaintext means, nor sockets.
//!
//! Keys, and so the bytes of records, differ from run to run. Their lengths do not: the certificate is
//! Ed25519, and nothing else of a handshake varies in length. What comes of a seed is the same each time.

use std::fmt;
use std::io::{Read as _, Write as _};
use std::sync::{Arc, LazyLock};

use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, ServerConnection, SupportedProtocolVersion};

/// The certificate of all peers. No client looks for whom it is.
static CERTIFIED: LazyLock<Arc<SingleCertAndKey>> = LazyLock::new(|| {
    let key = KeyPair::generate_for(&PKCS_ED25519).expect("a key");
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    // One that is drawn may begin with zeros, and be shorter by them.
    params.serial_number = Some(7.into());
    let certificate = params.self_signed(&key).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let key = ring::sign::any_supported_type(&key).expect("a key of a known kind");
    let certified = CertifiedKey::new(vec![certificate.der().clone()], key);
    Arc::new(SingleCertAndKey::from(certified))
});

/// What the peers of one world share: the sessions that may be resumed.
#[derive(Clone)]
pub(super) struct Secrets {
    config: Arc<ServerConfig>,
    version: &'static SupportedProtocolVersion,
}

/// One connection's session.
#[derive(Debug)]
pub(super) struct Secure(ServerConnection);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.version.version)
    }
}

impl Secrets {
    /// Of servers that speak TLS 1.3, or 1.2 alone.
    pub(super) fn new(is_old: bool) -> Self {
        let version = if is_old { &TLS12 } else { &TLS13 };
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[version])
            .expect("a version that the provider has")
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&*CERTIFIED) as _);
        Self { config: Arc::new(config), version }
    }

    pub(super) fn session(&self) -> Secure {
        let mut session = ServerConnection::new(Arc::clone(&self.config)).expect("a session");
        session.set_buffer_limit(None);
        Secure(session)
    }
}

impl Secure {
    /// The plaintext of these records; none: the client gave up. What TLS itself answers is appended to
    /// `out`.
    ///
    /// # Errors
    /// They are none.
    pub(super) fn open(
        &mut self,
        mut records: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Vec<u8>>, rustls::Error> {
        let Self(session) = self;
        let mut plain = Vec::new();
        while !records.is_empty() {
            session.read_tls(&mut records).expect("memory can be read");
            let state = session.process_new_packets();
            while session.wants_write() {
                session.write_tls(out).expect("memory can be written");
            }
            let state = match state {
                Err(rustls::Error::AlertReceived(_)) => return Ok(None),
                state => state?,
            };
            let (begin, more) = (plain.len(), state.plaintext_bytes_to_read());
            plain.resize(begin + more, 0);
            session.reader().read_exact(&mut plain[begin..]).expect("that much is there");
        }
        Ok(Some(plain))
    }

    /// The records of this plaintext.
    pub(super) fn seal(&mut self, plain: &[u8]) -> Vec<u8> {
        self.0.writer().write_all(plain).expect("memory can be written");
        self.records()
    }

    /// What says that no more plaintext comes.
    pub(super) fn close(&mut self) -> Vec<u8> {
        self.0.send_close_notify();
        self.records()
    }

    fn records(&mut self) -> Vec<u8> {
        let mut records = Vec::new();
        while self.0.wants_write() {
            self.0.write_tls(&mut records).expect("memory can be written");
        }
        records
    }
}
