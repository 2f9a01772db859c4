//! Certificates made for each test, so that no key lies in the tree.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, PKCS_ED25519,
    date_time_ymd,
};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// An authority, and a certificate that it issued for a server.
pub(crate) struct Issued {
    pub(crate) ca: PathBuf,
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
}

/// Good for `names` from 2020 to 2120.
pub(crate) fn issued(names: &[&str]) -> Issued {
    issue(names, |_| {})
}

/// Good in 2020 only.
pub(crate) fn expired(names: &[&str]) -> Issued {
    issue(names, |params| params.not_after = date_time_ymd(2021, 1, 1))
}

/// Good from 2100 on.
pub(crate) fn not_yet_valid(names: &[&str]) -> Issued {
    issue(names, |params| params.not_before = date_time_ymd(2100, 1, 1))
}

/// An authority's certificate in a server's place.
pub(crate) fn authority(names: &[&str]) -> Issued {
    issue(names, |params| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained))
}

/// A certificate that vouches for itself and may sign others, in a server's place: what
/// `openssl req -x509` makes. It is its own authority.
pub(crate) fn self_signed(names: &[&str]) -> Issued {
    self_made(names, |_| {})
}

/// A certificate of itself that has the same size each time, and whose signatures do.
pub(crate) fn of_one_size(name: &str) -> Issued {
    let mut params = params(&[name]);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.serial_number = Some(1_u64.into());
    let key = KeyPair::generate_for(&PKCS_ED25519).expect("a key");
    let cert = params.self_signed(&key).expect("self-signed");
    let path = file("cert.pem", &cert.pem());
    Issued { ca: path.clone(), cert: path, key: file("key.pem", &key.serialize_pem()) }
}

/// The same, good in 2020 only.
pub(crate) fn self_signed_and_expired(names: &[&str]) -> Issued {
    self_made(names, |params| params.not_after = date_time_ymd(2021, 1, 1))
}

fn self_made(names: &[&str], change: impl Fn(&mut CertificateParams)) -> Issued {
    let mut params = params(names);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    change(&mut params);
    let key = key_pair();
    let cert = params.self_signed(&key).expect("self-signed");
    let path = file("cert.pem", &cert.pem());
    Issued { ca: path.clone(), cert: path, key: file("key.pem", &key.serialize_pem()) }
}

/// A file of this content in a place of its own.
pub(crate) fn file(name: &str, content: &str) -> PathBuf {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("certificates-{}-{number}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join(name);
    fs::write(&path, content).expect("written");
    path
}

fn issue(names: &[&str], change: impl Fn(&mut CertificateParams)) -> Issued {
    let mut params = params(&[]);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    params.distinguished_name.push(DnType::CommonName, format!("authority {number}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, key_pair()).expect("an authority");
    let mut params = self::params(names);
    change(&mut params);
    let key = key_pair();
    let cert = params.signed_by(&key, &issuer).expect("issued");
    Issued {
        ca: file("ca.pem", &issuer.pem()),
        cert: file("cert.pem", &cert.pem()),
        key: file("key.pem", &key.serialize_pem()),
    }
}

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut params = CertificateParams::new(names).expect("names");
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2120, 1, 1);
    params
}

fn key_pair() -> KeyPair {
    KeyPair::generate().expect("a key")
}
