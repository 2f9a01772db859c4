//! TLS faults in one line each, with the remedy where there is one.
//!
//! Knows rustls' errors. Must not know sockets.

use std::path::Path;

use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, Error, PeerMisbehaved};

use super::alpn::{Alpn, listed};
use super::noting::refused;
use crate::NetError;

/// A session that broke, or could not be agreed on, with these application protocols.
pub(super) fn session(error: &Error, ours: &[Alpn]) -> NetError {
    NetError::Tls(describe(error, ours).into())
}

/// A handshake inside QUIC that failed with this alert, sent by the peer or by this side.
pub(crate) fn in_quic(alert: u8, is_peers: bool, reason: &str, ours: &[Alpn]) -> Box<str> {
    let alert = AlertDescription::from(alert);
    let text = match (is_peers, refused(), alert) {
        (true, _, alert) => describe(&Error::AlertReceived(alert), ours),
        (false, Some(error), _) => describe(&error, ours),
        (false, None, AlertDescription::NoApplicationProtocol) => {
            describe(&Error::NoApplicationProtocol, ours)
        }
        (false, None, _) => format!("TLS failed: {reason}"),
    };
    text.into()
}

/// A connection that ended before it was one.
pub(super) fn closed_in_handshake() -> NetError {
    NetError::Tls("the peer closed the connection during the TLS handshake".into())
}

/// Settings that rustls refuses.
pub(super) fn setup(error: &Error) -> NetError {
    NetError::Tls(format!("TLS cannot be set up: {error}").into())
}

/// A chain and a key that do not go together.
pub(super) fn key_pair(cert: &Path, key: &Path, error: &Error) -> NetError {
    let text = match error {
        Error::InconsistentKeys(_) => {
            format!("{} is not the key of the certificate in {}", key.display(), cert.display())
        }
        error => format!("{} with {} cannot be used: {error}", cert.display(), key.display()),
    };
    NetError::Tls(text.into())
}

fn describe(error: &Error, ours: &[Alpn]) -> String {
    match error {
        Error::InvalidCertificate(reason) => certificate(reason),
        Error::AlertReceived(AlertDescription::NoApplicationProtocol) => format!(
            "the peer speaks none of the application protocols that were offered to it{}",
            listed(ours)
        ),
        Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedApplicationProtocol) => format!(
            "the peer chose an application protocol that was not offered to it{}",
            listed(ours)
        ),
        Error::NoApplicationProtocol => format!(
            "the peer offers only application protocols that are not supported here{}",
            listed(ours)
        ),
        Error::AlertReceived(alert) => format!("the peer refused TLS with alert {alert:?}"),
        Error::InvalidMessage(_) => {
            "what the peer sent is not TLS: is this a port for plain connections?".to_owned()
        }
        Error::PeerIncompatible(reason) => {
            format!(
                "no common ground with the peer's TLS (1.2 and 1.3 are spoken here): {reason:?}"
            )
        }
        Error::DecryptError => "a TLS record was altered on its way".to_owned(),
        error => format!("TLS failed: {error}"),
    }
}

fn certificate(reason: &CertificateError) -> String {
    match reason {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired: renew it, or use --insecure".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet: check both clocks, or use --insecure"
                .to_owned()
        }
        CertificateError::UnknownIssuer => {
            "the server's certificate is from an unknown issuer: trust it with --cacert FILE, or \
             use --insecure"
                .to_owned()
        }
        CertificateError::BadSignature => {
            "the server's certificate is not signed by the authority that it names: trust the \
             right one with --cacert FILE, or use --insecure"
                .to_owned()
        }
        CertificateError::NotValidForName => {
            "the server's certificate is for another host: ask for a name it holds, or use \
             --insecure"
                .to_owned()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            wrong_host(expected, presented)
        }
        CertificateError::BadEncoding => {
            "the server's certificate is garbled; --insecure skips the check".to_owned()
        }
        reason if is_authority_as_server(reason) => {
            "the server's certificate is an authority's own, as `openssl req -x509` makes them, \
             and not among the trusted ones: trust this very one with --cacert FILE, or use \
             --insecure"
                .to_owned()
        }
        reason => format!("the server's certificate is refused: {reason}; see --insecure"),
    }
}

/// The certificate may sign others, and a server presents it as its own. webpki has a name for that
/// and rustls has none.
pub(super) fn is_authority_as_server(reason: &CertificateError) -> bool {
    matches!(reason, CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity"))
}

fn wrong_host(expected: &ServerName<'_>, presented: &[String]) -> String {
    let host = expected.to_str();
    if presented.is_empty() {
        let kind = if matches!(expected, ServerName::IpAddress(_)) { "IP" } else { "DNS" };
        return format!(
            "the server's certificate names no host (it has no subjectAltName, and a common name \
             does not count): use --insecure, or make one that does with `openssl req -x509 \
             -newkey rsa:2048 -nodes -days 365 -keyout key.pem -out cert.pem -subj /CN={host} \
             -addext subjectAltName={kind}:{host}`"
        );
    }
    format!(
        "the server's certificate is not for '{host}' (it names: {}): ask for a name it holds, or \
         use --insecure",
        presented.join(", ")
    )
}
