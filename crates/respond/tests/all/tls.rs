//! The same over TLS, with a certificate made for the occasion.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use crate::common;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use wiretrial_respond::{RespondError, Script, Server, ServerPlan, start};

type Stream = StreamOwned<ClientConnection, TcpStream>;

struct Files {
    folder: PathBuf,
    root: CertificateDer<'static>,
}

impl Files {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("wiretrial-respond-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
        std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
        Self { folder, root: made.cert.der().clone() }
    }

    fn server(&self, script: Script) -> Server {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        start(ServerPlan {
            https: vec![any],
            tls: vec![any],
            cert: Some(self.folder.join("cert.pem")),
            key: Some(self.folder.join("key.pem")),
            script,
            ..ServerPlan::default()
        })
        .unwrap()
    }

    fn connect(&self, address: SocketAddr) -> Stream {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let session = ClientConnection::new(Arc::new(config), name).unwrap();
        let socket = common::Client::connect(address).0;
        StreamOwned::new(session, socket)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // A folder that stays behind is no failure.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[track_caller]
fn expect(stream: &mut Stream, expected: impl AsRef<[u8]>) {
    let mut got = vec![0; expected.as_ref().len()];
    stream.read_exact(&mut got).unwrap();
    common::undate(&mut got);
    assert!(got == expected.as_ref());
}

#[test]
fn http_and_websocket_over_tls() {
    let files = Files::new("https");
    let server = files.server(Script::default());
    let mut stream = files.connect(server.addresses().https[0]);
    stream.write_all(common::GET_MESSAGE.as_bytes()).unwrap();
    expect(&mut stream, common::message_answer());
    stream.write_all(b"GET /bytes/5000000 HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    expect(&mut stream, common::bytes_head(5_000_000));
    expect(&mut stream, common::pattern(5_000_000));
    stream.write_all(common::UPGRADE.as_bytes()).unwrap();
    expect(&mut stream, common::SWITCHED);
    for length in [5, 1000, 200_000] {
        let payload = common::pattern(length);
        stream.write_all(&common::masked(0x82, &payload)).unwrap();
        expect(&mut stream, common::unmasked(0x82, &payload));
    }
    stream.write_all(&common::masked(0x88, &[0x03, 0xe8])).unwrap();
    expect(&mut stream, common::unmasked(0x88, &[0x03, 0xe8]));
    // A proper end, with close_notify: otherwise this is an error.
    assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn raw_echo_over_tls() {
    let files = Files::new("tls");
    let server = files.server(Script::default());
    let mut stream = files.connect(server.addresses().tls[0]);
    for length in [1, 64, 100_000] {
        let bytes = common::pattern(length);
        stream.write_all(&bytes).unwrap();
        expect(&mut stream, &bytes);
    }
}

#[test]
fn the_script_holds_over_tls() {
    let files = Files::new("script");
    let faults = vec!["wrong@2".parse().unwrap()];
    let delay = Some("10ms".parse().unwrap());
    let server = files.server(Script { faults, delay, ..Script::default() });
    let mut stream = files.connect(server.addresses().tls[0]);
    let begin = wiretrial_net::clock::monotonic_ns();
    stream.write_all(b"one").unwrap();
    expect(&mut stream, "one");
    stream.write_all(b"two").unwrap();
    expect(&mut stream, "twn");
    assert!(wiretrial_net::clock::monotonic_ns() - begin >= 20_000_000);
}

#[test]
fn plain_bytes_at_a_tls_port_end_the_connection_only() {
    let files = Files::new("plain");
    let server = files.server(Script::default());
    let mut plain = common::Client::connect(server.addresses().https[0]);
    plain.send(common::GET_MESSAGE);
    let (_, end) = plain.rest();
    assert_ne!(end, common::End::Open);
    let mut stream = files.connect(server.addresses().https[0]);
    stream.write_all(common::GET_MESSAGE.as_bytes()).unwrap();
    expect(&mut stream, common::message_answer());
}

#[test]
fn a_missing_certificate_is_named() {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let missing = PathBuf::from("/nonexistent/cert.pem");
    let plan = ServerPlan {
        tls: vec![any],
        cert: Some(missing.clone()),
        key: Some(missing.clone()),
        ..ServerPlan::default()
    };
    let error = start(plan).unwrap_err();
    assert!(matches!(error, RespondError::Net(_)));
    assert!(error.to_string().contains("/nonexistent/cert.pem"), "{error}");
}
