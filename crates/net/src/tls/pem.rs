//! Reads PEM files and says what is wrong with them.
//!
//! Knows files. Must not know whom a certificate is for.

use std::fs;
use std::path::Path;

use rustls::pki_types::pem::{Error, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::NetError;

/// All certificates of a file, at least one.
pub(super) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, NetError> {
    let text = read(file)?;
    let found = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| broken(file, &error))?;
    if found.is_empty() {
        return Err(fault(file, "holds no certificate; wanted PEM with 'BEGIN CERTIFICATE'"));
    }
    Ok(found)
}

/// The first private key of a file.
pub(super) fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, NetError> {
    let text = read(file)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| match error {
        Error::NoItemsFound => {
            fault(file, "holds no private key; wanted PEM with 'BEGIN PRIVATE KEY', not encrypted")
        }
        error => broken(file, &error),
    })
}

fn read(file: &Path) -> Result<Vec<u8>, NetError> {
    fs::read(file).map_err(|error| fault(file, &format!("cannot be read: {error}")))
}

fn broken(file: &Path, error: &Error) -> NetError {
    fault(file, &format!("is not sound PEM: {error}"))
}

fn fault(file: &Path, what: &str) -> NetError {
    NetError::Tls(format!("{}: {what}", file.display()).into())
}
