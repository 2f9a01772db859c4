//! TLS connections: handshake, bytes, resumption, how they end.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use crate::common::certificates::{Issued, issued};
use crate::common::{
    self, CLIENT, await_ready, driver, exchange, pair, pattern, small_driver, spec,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use wiretrial_net::{
    ClientTls, ClientTlsSettings, Driver, Fill, NetErrorClass, ServerTls, Transport,
};

#[test]
fn bytes_arrive_and_come_back_at_each_size() {
    let (client_tls, server_tls) = both(&issued(&["localhost"]), true);
    for (there, back) in [(1, 1), (64, 16_384), (16_385, 5), (0, 100_000), (3_000_000, 2_000_000)] {
        for mut driver in [driver(), small_driver()] {
            let (mut client, mut server) = connected(&mut driver, &client_tls, &server_tls);
            // Before the handshake: it waits and is sent by itself.
            client.out().extend_from_slice(&pattern(there));
            server.out().extend_from_slice(&pattern(back));
            let (at_client, at_server) =
                exchange(&mut driver, &mut client, &mut server, |c, s, _, _| {
                    c.bytes.len() == back && s.bytes.len() == there
                });
            assert!(at_client.bytes == pattern(back) && at_server.bytes == pattern(there));
            assert!(client.bytes().0 > there as u64, "records and handshake count");
            assert!(client.out().is_empty() && client.out().capacity() <= 64 * 1024);
        }
    }
}

#[test]
fn an_established_session_describes_itself() {
    let (client_tls, server_tls) = both(&issued(&["localhost"]), true);
    let mut driver = driver();
    let (mut client, mut server) = connected(&mut driver, &client_tls, &server_tls);
    assert!(!client.is_established());
    assert_eq!((client.tls_description(), client.resumed()), (None, None));
    establish(&mut driver, &mut client, &mut server);
    for end in [&client, &server] {
        assert_eq!(end.tls_description().as_deref(), Some("TLSv1.3 TLS13_AES_256_GCM_SHA384"));
        assert_eq!(end.resumed(), Some(false));
    }
}

#[test]
fn literal_addresses_are_names_too() {
    let certificates = issued(&["127.0.0.1", "::1"]);
    for name in ["127.0.0.1", "::1", "[::1]"] {
        let settings = ClientTlsSettings {
            ca_file: Some(certificates.ca.clone()),
            server_name: name.to_owned(),
            ..ClientTlsSettings::default()
        };
        let client_tls = ClientTls::new(&settings).expect("settings");
        let mut driver = driver();
        let (mut client, mut server) =
            connected(&mut driver, &client_tls, &server_tls(&certificates));
        establish(&mut driver, &mut client, &mut server);
    }
}

#[test]
fn the_second_handshake_resumes_when_asked_to() {
    let certificates = issued(&["localhost"]);
    for resumption in [true, false] {
        let (client_tls, server_tls) = both(&certificates, resumption);
        for round in 0..4 {
            let mut driver = driver();
            let (mut client, mut server) = connected(&mut driver, &client_tls, &server_tls);
            // A reply brings the tickets along.
            server.out().push(1);
            exchange(&mut driver, &mut client, &mut server, |c, _, _, _| c.bytes.len() == 1);
            assert_eq!(client.resumed(), Some(resumption && round > 0), "round {round}");
        }
    }
}

#[test]
fn a_kept_rest_is_put_before_what_comes() {
    let (client_tls, server_tls) = both(&issued(&["localhost"]), true);
    let mut driver = driver();
    let (mut client, mut server) = connected(&mut driver, &client_tls, &server_tls);
    establish(&mut driver, &mut client, &mut server);
    client.out().extend_from_slice(b"llo");
    assert!(client.flush(&mut driver).expect("flush").done);
    await_ready(&mut driver, |ready| ready.key == common::SERVER && ready.readable);
    let mut carry = b"he".to_vec();
    let Fill::Data(data, 3, true) = server.fill(&mut driver, &mut carry) else {
        panic!("three bytes wait");
    };
    assert_eq!(data, b"hello");
    assert!(carry.is_empty());
}

#[test]
fn a_close_is_told_after_the_bytes_before_it() {
    let (client_tls, server_tls) = both(&issued(&["localhost"]), true);
    let mut driver = driver();
    let (mut client, mut server) = connected(&mut driver, &client_tls, &server_tls);
    establish(&mut driver, &mut client, &mut server);
    client.out().extend_from_slice(b"last words");
    client.close(&mut driver);
    await_ready(&mut driver, |ready| ready.key == common::SERVER && ready.readable);
    match server.fill(&mut driver, &mut Vec::new()) {
        // Not drained, as the end is known to be there.
        Fill::Data(data, 10, false) => assert_eq!(data, b"last words"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(server.fill(&mut driver, &mut Vec::new()), Fill::End));
    assert!(!common::comes(&mut driver, |ready| ready.key == common::SERVER));
}

#[test]
fn one_direction_closes_and_the_other_goes_on() {
    let (client_tls, server_tls) = both(&issued(&["localhost"]), true);
    let mut driver = driver();
    let (mut client, mut server) = connected(&mut driver, &client_tls, &server_tls);
    let message = pattern(16 * 1024 * 1024);
    client.out().extend_from_slice(&message);
    client.shutdown_write(&mut driver);
    let (_, at_server) = exchange(&mut driver, &mut client, &mut server, |_, s, _, _| s.ended);
    assert!(at_server.bytes == message);
    server.out().extend_from_slice(b"still here");
    let (at_client, _) =
        exchange(&mut driver, &mut client, &mut server, |c, _, _, _| c.bytes.len() == 10);
    assert!(at_client.bytes == b"still here" && !at_client.ended);
}

#[test]
fn what_the_kernel_does_not_take_stays_plain() {
    let (client_tls, server_tls) = both(&issued(&["localhost"]), true);
    let mut driver = driver();
    let (mut client, mut server) = connected(&mut driver, &client_tls, &server_tls);
    establish(&mut driver, &mut client, &mut server);
    let message = pattern(32 * 1024 * 1024);
    client.out().extend_from_slice(&message);
    for _ in 0..200 {
        assert!(!client.flush(&mut driver).expect("flush").done, "the peer does not read");
    }
    assert!(client.socket().pending() < 1024 * 1024, "{}", client.socket().pending());
    let (_, at_server) = exchange(&mut driver, &mut client, &mut server, |_, s, _, _| {
        s.bytes.len() == message.len()
    });
    assert!(at_server.bytes == message);
}

#[test]
fn an_end_without_close_notify_is_an_end() {
    let (client_tls, server_tls) = both(&issued(&["localhost"]), true);
    let mut driver = driver();
    let (mut client, mut server) = connected(&mut driver, &client_tls, &server_tls);
    establish(&mut driver, &mut client, &mut server);
    driver.shutdown_write(client.socket_mut());
    let (_, at_server) = exchange(&mut driver, &mut client, &mut server, |_, s, _, _| s.ended);
    assert!(at_server.bytes.is_empty());
}

#[test]
fn a_reset_is_a_reset_under_tls_too() {
    let (client_tls, server_tls) = both(&issued(&["localhost"]), true);
    let mut driver = driver();
    let (mut client, mut server) = connected(&mut driver, &client_tls, &server_tls);
    establish(&mut driver, &mut client, &mut server);
    client.abort(&mut driver);
    await_ready(&mut driver, |ready| ready.key == common::SERVER && ready.hangup);
    match server.fill(&mut driver, &mut Vec::new()) {
        Fill::Failed(error) => assert_eq!(error.class(), NetErrorClass::Reset),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_broken_record_fails_after_the_sound_ones_before_it() {
    let (client_tls, server_tls) = both(&issued(&["localhost"]), true);
    let mut driver = driver();
    let (mut client, mut server) = connected(&mut driver, &client_tls, &server_tls);
    establish(&mut driver, &mut client, &mut server);
    client.out().extend_from_slice(b"sound");
    client.flush(&mut driver).expect("flush");
    // A record header for 16 bytes that no key made.
    let socket = client.socket_mut();
    socket.out.extend_from_slice(&[23, 3, 3, 0, 32]);
    socket.out.extend_from_slice(&[0; 32]);
    driver.flush(socket).expect("flush");
    let (_, at_server) =
        exchange(&mut driver, &mut client, &mut server, |_, s, _, _| s.failed.is_some());
    assert_eq!(at_server.bytes, b"sound");
    let error = at_server.failed.expect("it failed");
    assert_eq!(error.class(), NetErrorClass::Tls);
    assert!(error.to_string().contains("altered"), "{error}");
}

/// Another implementation's sockets, and the older version.
#[test]
fn a_server_that_speaks_tls_1_2_only_is_understood() {
    let certificates = issued(&["localhost"]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
    let peer = listener.local_addr().expect("an address");
    let config = blocking_tls_1_2(&certificates);
    let server = thread::spawn(move || {
        let (mut tcp, _) = listener.accept().expect("accept");
        let mut session = rustls::ServerConnection::new(config).expect("a session");
        let mut stream = rustls::Stream::new(&mut session, &mut tcp);
        let mut got = [0; 5];
        stream.read_exact(&mut got).expect("five bytes");
        stream.write_all(&got).expect("written");
        stream.conn.send_close_notify();
        stream.flush().expect("flushed");
    });
    let mut driver = driver();
    let (client_tls, _) = both(&certificates, true);
    let mut socket = driver.connect(CLIENT, &spec(peer)).expect("connect");
    await_ready(&mut driver, |ready| ready.connected);
    driver.connect_result(&mut socket).expect("connected");
    let mut client = Transport::tls_client(socket, &client_tls, &mut driver).expect("a session");
    client.out().extend_from_slice(b"older");
    client.flush(&mut driver).expect("flush");
    let mut got = Vec::new();
    loop {
        await_ready(&mut driver, |ready| ready.key == CLIENT && ready.readable);
        match client.fill(&mut driver, &mut Vec::new()) {
            Fill::Data(data, ..) => got.extend_from_slice(data),
            Fill::WouldBlock => {}
            Fill::End => break,
            Fill::Failed(error) => panic!("{error}"),
        }
    }
    assert_eq!(got, b"older");
    assert!(client.tls_description().expect("agreed").starts_with("TLSv1.2 "));
    server.join().expect("the server");
}

fn both(certificates: &Issued, resumption: bool) -> (ClientTls, ServerTls) {
    let settings = ClientTlsSettings {
        ca_file: Some(certificates.ca.clone()),
        server_name: "localhost".to_owned(),
        resumption,
        ..ClientTlsSettings::default()
    };
    (ClientTls::new(&settings).expect("settings"), server_tls(certificates))
}

fn server_tls(certificates: &Issued) -> ServerTls {
    ServerTls::new(&certificates.cert, &certificates.key, &[]).expect("settings")
}

fn connected(
    driver: &mut Driver,
    client: &ClientTls,
    server: &ServerTls,
) -> (Transport, Transport) {
    let (near, far) = pair(driver);
    let near = Transport::tls_client(near, client, driver).expect("a session");
    (near, Transport::tls_server(far, server, driver).expect("a session"))
}

fn establish(driver: &mut Driver, client: &mut Transport, server: &mut Transport) {
    exchange(driver, client, server, |_, _, client, server| {
        client.is_established() && server.is_established()
    });
    // The client reads the tickets too, so that nothing waits.
    while common::comes(driver, |ready| ready.key == CLIENT && ready.readable) {
        assert!(matches!(client.fill(driver, &mut Vec::new()), Fill::WouldBlock));
    }
}

fn blocking_tls_1_2(certificates: &Issued) -> Arc<rustls::ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = CertificateDer::from_pem_file(&certificates.cert).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(&certificates.key).expect("a key");
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS12])
        .expect("a version")
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .expect("a chain");
    Arc::new(config)
}
