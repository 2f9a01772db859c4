//! Which application protocol both ends of a TLS connection agree on, and what is said where they
//! do not.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::common::certificates::{Issued, issued};
use crate::common::{
    CLIENT, LISTENER, SERVER, await_ready, driver, exchange, loopback, pair, spec,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{SupportedProtocolVersion, version};
use wiretrial_net::{
    Alpn, ClientTls, ClientTlsSettings, Driver, Fill, NetError, NetErrorClass, ServerTls, Transport,
};

const SUITE: &str = "TLSv1.3 TLS13_AES_256_GCM_SHA384";

#[test]
fn both_ends_agree_on_what_one_offers_and_the_other_supports() {
    let certificates = issued(&["localhost"]);
    let (one, none): (&[Alpn], &[Alpn]) = (&[Alpn::Http11], &[]);
    for (offered, supported, agreed) in [
        (one, one, Some(Alpn::Http11)),
        // An end that names none accepts any.
        (one, none, None),
        (none, one, None),
        (none, none, None),
    ] {
        let mut driver = driver();
        let (near, far) = pair(&mut driver);
        let client_tls = client_tls(&certificates, offered);
        let server_tls =
            ServerTls::new(&certificates.cert, &certificates.key, supported).expect("settings");
        let mut client = Transport::tls_client(near, &client_tls, &mut driver).expect("a session");
        let mut server = Transport::tls_server(far, &server_tls, &mut driver).expect("a session");
        assert_eq!((client.agreed(), server.agreed()), (None, None), "nobody has spoken");
        exchange(&mut driver, &mut client, &mut server, |_, _, client, server| {
            client.is_established() && server.is_established()
        });
        let described = match agreed {
            Some(_) => format!("{SUITE}, ALPN http/1.1"),
            None => SUITE.to_owned(),
        };
        for end in [&client, &server] {
            assert_eq!(end.agreed(), agreed, "{offered:?} {supported:?}");
            assert_eq!(end.tls_description().as_ref(), Some(&described));
        }
    }
}

#[test]
fn a_plain_connection_agrees_on_nothing() {
    let mut driver = driver();
    let (near, _far) = pair(&mut driver);
    assert_eq!(Transport::plain(near).agreed(), None);
}

#[test]
fn of_several_protocols_a_server_picks_the_one_that_was_offered() {
    let certificates = issued(&["localhost"]);
    for version in [&version::TLS12, &version::TLS13] {
        let (peer, server) = foreign(&certificates, version, &["h2", "http/1.1"], |_| {});
        let met = meet(peer, &client_tls(&certificates, &[Alpn::Http11]));
        assert_eq!(met, Ok(Some(Alpn::Http11)), "{version:?}");
        server.join().expect("the server");
    }
}

#[test]
fn a_server_that_speaks_none_of_the_offered_protocols_is_told_apart() {
    let certificates = issued(&["localhost"]);
    for version in [&version::TLS12, &version::TLS13] {
        let (peer, server) = foreign(&certificates, version, &["h2"], |_| {});
        let met = meet(peer, &client_tls(&certificates, &[Alpn::Http11]));
        refused(met, "none of the application protocols that were offered");
        server.join().expect("the server");
    }
}

/// No library does so by itself: the answer is changed on its way, which TLS 1.2 sends in the clear.
#[test]
fn a_server_that_picks_what_was_not_offered_is_told_apart() {
    let certificates = issued(&["localhost"]);
    let (peer, server) = foreign(&certificates, &version::TLS12, &["http/1.1"], |answer| {
        let found = answer.windows(8).position(|name| name == b"http/1.1").expect("an answer");
        answer[found..found + 8].copy_from_slice(b"spdy/3.1");
    });
    let met = meet(peer, &client_tls(&certificates, &[Alpn::Http11]));
    refused(met, "an application protocol that was not offered");
    server.join().expect("the server");
}

#[test]
fn a_client_that_offers_nothing_we_support_is_told_so() {
    let certificates = issued(&["localhost"]);
    let mut driver = driver();
    let listener = driver.listen(LISTENER, loopback(), false).expect("listen");
    let address = listener.local_addr();
    let mut config = rustls::ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots(&certificates))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let client = thread::spawn(move || {
        let name = ServerName::try_from("localhost").expect("a name");
        let mut session = rustls::ClientConnection::new(Arc::new(config), name).expect("a session");
        let mut tcp = TcpStream::connect(address).expect("connect");
        session.complete_io(&mut tcp).expect_err("refused").to_string()
    });
    let met = accept(&mut driver, &listener, &server_tls(&certificates));
    refused(met, "only application protocols that are not supported here");
    let told = client.join().expect("the client");
    assert!(told.contains("NoApplicationProtocol"), "{told}");
}

/// Another implementation, where it is there.
#[test]
fn openssl_as_server_agrees_or_refuses() {
    let certificates = issued(&["localhost"]);
    let client_tls = client_tls(&certificates, &[Alpn::Http11]);
    for (supported, agreed) in [
        (Some("http/1.1"), Ok(Some(Alpn::Http11))),
        (Some("h2,http/1.1"), Ok(Some(Alpn::Http11))),
        (None, Ok(None)),
        (Some("h2"), Err("none of the application protocols that were offered")),
    ] {
        let Some((mut openssl, peer)) = s_server(&certificates, supported) else {
            eprintln!("skipped: no openssl here");
            return;
        };
        let met = meet(peer, &client_tls);
        openssl.kill().expect("killed");
        openssl.wait().expect("ended");
        match agreed {
            Ok(agreed) => assert_eq!(met, Ok(agreed)),
            Err(words) => refused(met, words),
        }
    }
}

/// Another implementation, where it is there.
#[test]
fn openssl_as_client_is_answered() {
    let certificates = issued(&["localhost"]);
    for (offered, agreed) in [
        ("http/1.1", Ok(Some(Alpn::Http11))),
        ("h2,http/1.1", Ok(Some(Alpn::Http11))),
        ("h2", Err("only application protocols that are not supported here")),
    ] {
        let mut driver = driver();
        let listener = driver.listen(LISTENER, loopback(), false).expect("listen");
        let openssl = Command::new("openssl")
            .args(["s_client", "-alpn", offered, "-connect"])
            .arg(listener.local_addr().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut openssl) = openssl else {
            eprintln!("skipped: no openssl here");
            return;
        };
        let met = accept(&mut driver, &listener, &server_tls(&certificates));
        drop(openssl.stdin.take());
        let output = openssl.wait_with_output().expect("ended");
        let told = String::from_utf8_lossy(&output.stdout);
        match agreed {
            Ok(agreed) => {
                assert_eq!(met, Ok(agreed));
                assert!(told.contains("ALPN protocol: http/1.1"), "{told}");
            }
            Err(words) => {
                refused(met, words);
                assert!(told.contains("No ALPN negotiated"), "{told}");
            }
        }
    }
}

fn refused(met: Result<Option<Alpn>, NetError>, words: &str) {
    let error = met.expect_err("refused");
    assert_eq!(error.class(), NetErrorClass::Tls);
    let text = error.to_string();
    assert!(text.contains(words) && text.contains("(ALPN http/1.1)"), "{text}");
    assert!(!text.contains('\n'));
}

fn client_tls(certificates: &Issued, offered: &[Alpn]) -> ClientTls {
    let settings = ClientTlsSettings {
        ca_file: Some(certificates.ca.clone()),
        server_name: "localhost".to_owned(),
        alpn: offered.to_vec(),
        ..ClientTlsSettings::default()
    };
    ClientTls::new(&settings).expect("settings")
}

fn server_tls(certificates: &Issued) -> ServerTls {
    ServerTls::new(&certificates.cert, &certificates.key, &[Alpn::Http11]).expect("settings")
}

/// Connects to a server and shakes hands with it.
fn meet(peer: SocketAddr, tls: &ClientTls) -> Result<Option<Alpn>, NetError> {
    let mut driver = driver();
    let mut socket = driver.connect(CLIENT, &spec(peer)).expect("connect");
    await_ready(&mut driver, |ready| ready.connected);
    driver.connect_result(&mut socket).expect("connected");
    let client = Transport::tls_client(socket, tls, &mut driver).expect("a session");
    shake(&mut driver, client)
}

/// Accepts a client and shakes hands with it.
fn accept(
    driver: &mut Driver,
    listener: &wiretrial_net::Listener,
    tls: &ServerTls,
) -> Result<Option<Alpn>, NetError> {
    await_ready(driver, |ready| ready.key == LISTENER);
    let (socket, _) = driver.accept(listener, SERVER).expect("accept").expect("it waits");
    let server = Transport::tls_server(socket, tls, driver).expect("a session");
    shake(driver, server)
}

fn shake(driver: &mut Driver, mut transport: Transport) -> Result<Option<Alpn>, NetError> {
    let key = transport.socket().key();
    let mut failed = None;
    while !transport.is_established() && failed.is_none() {
        failed = transport.flush(driver).err();
        await_ready(driver, |ready| ready.key == key && ready.readable);
        match transport.fill(driver, &mut Vec::new()) {
            Fill::WouldBlock => {}
            Fill::Failed(error) => failed = Some(error),
            other => panic!("{other:?}"),
        }
    }
    let agreed = transport.agreed();
    transport.close(driver);
    failed.map_or(Ok(agreed), Err)
}

/// A server of rustls' own that shakes hands with one client; `change` gets what it answers first.
fn foreign(
    certificates: &Issued,
    version: &'static SupportedProtocolVersion,
    supported: &[&str],
    change: impl FnOnce(&mut Vec<u8>) + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let chain = CertificateDer::from_pem_file(&certificates.cert).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(&certificates.key).expect("a key");
    let mut config = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[version])
        .expect("a version")
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .expect("a chain");
    config.alpn_protocols = supported.iter().map(|name| name.as_bytes().to_vec()).collect();
    let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
    let peer = listener.local_addr().expect("an address");
    let server = thread::spawn(move || {
        let (mut tcp, _) = listener.accept().expect("accept");
        let mut session = rustls::ServerConnection::new(Arc::new(config)).expect("a session");
        while !session.wants_write() {
            session.read_tls(&mut tcp).expect("read");
            // A refusal is an alert to write.
            let _ = session.process_new_packets();
        }
        let mut answer = Vec::new();
        while session.wants_write() {
            session.write_tls(&mut answer).expect("written");
        }
        change(&mut answer);
        tcp.write_all(&answer).expect("sent");
        // The client may have what it wants, and leave in the middle of it.
        let _ = session.complete_io(&mut tcp);
        // Open until the client has seen all of it.
        let _ = tcp.read_to_end(&mut Vec::new());
    });
    (peer, server)
}

/// `openssl s_server`, and where it listens; none where there is no such program.
fn s_server(certificates: &Issued, supported: Option<&str>) -> Option<(Child, SocketAddr)> {
    let mut openssl = Command::new("openssl")
        .args(["s_server", "-accept", "127.0.0.1:0", "-naccept", "1"])
        .arg("-cert")
        .arg(&certificates.cert)
        .arg("-key")
        .arg(&certificates.key)
        .args(supported.into_iter().flat_map(|names| ["-alpn", names]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut lines = BufReader::new(openssl.stdout.take().expect("piped")).lines();
    let address = lines.find_map(|line| {
        line.expect("text").strip_prefix("ACCEPT ").map(|address| address.parse().expect("parsed"))
    });
    Some((openssl, address.expect("it listens")))
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn roots(certificates: &Issued) -> rustls::RootCertStore {
    let mut roots = rustls::RootCertStore::empty();
    let ca = CertificateDer::from_pem_file(&certificates.ca).expect("a certificate");
    roots.add(ca).expect("an authority");
    roots
}
