//! Certificates made for each test, so that no key lies in the tree.

use std::path::PathBuf;

use rcgen::{CertificateParams, KeyPair};

/// A certificate that signs itself, in files; they go with it.
pub(crate) struct Certificate {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
    _folder: tempfile::TempDir,
}

impl Certificate {
    /// For this name, changed as asked for.
    pub(crate) fn new(name: &str, change: impl FnOnce(&mut CertificateParams)) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        change(&mut params);
        let signing = KeyPair::generate().expect("a key");
        let made = params.self_signed(&signing).expect("made");
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        std::fs::write(&cert, made.pem()).expect("written");
        std::fs::write(&key, signing.serialize_pem()).expect("written");
        Self { cert, key, _folder: folder }
    }
}
