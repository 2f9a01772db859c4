//! What a person is told when TLS does not come about.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use crate::common::certificates::{
    Issued, authority, expired, file, issued, not_yet_valid, self_signed, self_signed_and_expired,
};
use crate::common::{CLIENT, await_ready, driver, exchange, pair, spec};
use wiretrial_net::{
    ClientTls, ClientTlsSettings, Fill, NetError, NetErrorClass, ServerTls, Transport,
};

#[test]
fn a_certificate_that_does_not_hold_is_refused_with_the_reason() {
    let unknown = Issued { ca: issued(&[]).ca, ..issued(&["localhost"]) };
    let cases: [(Issued, &[&str]); 5] = [
        (expired(&["localhost"]), &["expired", "--insecure"]),
        (not_yet_valid(&["localhost"]), &["not valid yet", "--insecure"]),
        (issued(&["other.example"]), &["'localhost'", "other.example", "--insecure"]),
        (unknown, &["unknown issuer", "--cacert FILE", "--insecure"]),
        (authority(&["localhost"]), &["an authority's own", "--cacert FILE", "--insecure"]),
    ];
    for (certificates, wanted) in cases {
        let settings = settings(Some(certificates.ca.clone()), false);
        let (at_client, at_server) = handshake(&certificates, &settings);
        let error = at_client.expect("refused");
        assert_eq!(error.class(), NetErrorClass::Tls);
        one_line_with(&error, wanted);
        // The server is told by an alert.
        one_line_with(&at_server.expect("refused"), &["alert"]);
    }
}

#[test]
fn a_self_signed_certificate_is_good_where_it_is_the_very_one_that_was_given() {
    let certificates = self_signed(&["localhost"]);
    let given = settings(Some(certificates.ca.clone()), false);
    assert_eq!(handshake(&certificates, &given), (None, None));

    let cases: [(Issued, PathBuf, &[&str]); 4] = [
        // Its name, its dates and its bytes still count.
        refused(self_signed(&["other.example"]), &["'localhost'", "other.example"]),
        refused(self_signed(&[]), &["names no host", "subjectAltName=DNS:localhost"]),
        refused(self_signed_and_expired(&["localhost"]), &["expired"]),
        (
            self_signed(&["localhost"]),
            self_signed(&["localhost"]).ca,
            &["an authority's own", "--cacert FILE", "--insecure"],
        ),
    ];
    for (presented, ca, wanted) in cases {
        let (at_client, _) = handshake(&presented, &settings(Some(ca), false));
        one_line_with(&at_client.expect("refused"), wanted);
    }
}

/// The tool that people make them with, where it is there.
#[test]
fn what_openssl_makes_is_good_where_it_was_given() {
    let names = ["DNS:localhost", "DNS:other.example"];
    let [made, other] = names.map(|name| openssl(&["-addext", &format!("subjectAltName={name}")]));
    let [Some(made), Some(other), Some(nameless)] = [made, other, openssl(&[])] else {
        eprintln!("skipped: no openssl with -addext here");
        return;
    };
    let given = |it: &Issued| settings(Some(it.ca.clone()), false);
    assert_eq!(handshake(&made, &given(&made)), (None, None));
    for (presented, settings, wanted) in [
        (&made, given(&other), "an authority's own"),
        (&other, given(&other), "is not for 'localhost'"),
        (&nameless, given(&nameless), "-addext subjectAltName=DNS:localhost"),
    ] {
        let (at_client, _) = handshake(presented, &settings);
        one_line_with(&at_client.expect("refused"), &[wanted]);
    }
}

#[test]
fn the_built_in_authorities_do_not_know_ours() {
    let (at_client, _) = handshake(&issued(&["localhost"]), &settings(None, false));
    one_line_with(&at_client.expect("refused"), &["unknown issuer", "--cacert FILE"]);
}

#[test]
fn insecure_takes_them_all() {
    for certificates in [expired(&["localhost"]), issued(&["other.example"]), authority(&["x.y"])] {
        assert_eq!(handshake(&certificates, &settings(None, true)), (None, None));
    }
}

#[test]
fn a_peer_that_does_not_speak_tls_is_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
    let peer = listener.local_addr().expect("an address");
    let server = thread::spawn(move || {
        let (mut tcp, _) = listener.accept().expect("accept");
        let mut hello = [0; 64];
        tcp.read_exact(&mut hello).expect("a hello");
        tcp.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").expect("written");
        // Held open until the client has seen it.
        let _ = tcp.read_to_end(&mut Vec::new());
    });
    let mut driver = driver();
    let mut socket = driver.connect(CLIENT, &spec(peer)).expect("connect");
    await_ready(&mut driver, |ready| ready.connected);
    driver.connect_result(&mut socket).expect("connected");
    let tls = ClientTls::new(&settings(None, true)).expect("settings");
    let mut client = Transport::tls_client(socket, &tls, &mut driver).expect("a session");
    client.flush(&mut driver).expect("flush");
    await_ready(&mut driver, |ready| ready.readable);
    match client.fill(&mut driver, &mut Vec::new()) {
        Fill::Failed(error) => one_line_with(&error, &["not TLS"]),
        other => panic!("{other:?}"),
    }
    client.close(&mut driver);
    server.join().expect("the server");
}

#[test]
fn a_peer_that_leaves_during_the_handshake_is_told() {
    let mut driver = driver();
    let (near, far) = pair(&mut driver);
    let tls = ClientTls::new(&settings(None, true)).expect("settings");
    let mut client = Transport::tls_client(near, &tls, &mut driver).expect("a session");
    let mut server = Transport::plain(far);
    server.shutdown_write(&mut driver);
    let (at_client, _) =
        exchange(&mut driver, &mut client, &mut server, |c, _, _, _| c.failed.is_some());
    one_line_with(&at_client.failed.expect("it failed"), &["closed", "handshake"]);
}

#[test]
fn files_that_do_not_serve_are_named_with_the_reason() {
    let good = issued(&["localhost"]);
    let other = issued(&["localhost"]);
    let missing = PathBuf::from("/nonexistent/ca.pem");
    let empty = file("empty.pem", "");
    let text = file("text.pem", "not a certificate\n");
    let torn = file("torn.pem", "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n");
    let as_ca: [(&PathBuf, &[&str]); 5] = [
        (&missing, &["/nonexistent/ca.pem", "cannot be read", "No such file"]),
        (&empty, &["empty.pem", "holds no certificate"]),
        (&text, &["text.pem", "holds no certificate"]),
        (&torn, &["torn.pem", "not sound PEM"]),
        (&good.key, &["key.pem", "holds no certificate"]),
    ];
    for (path, wanted) in as_ca {
        let error = ClientTls::new(&settings(Some(path.clone()), false)).expect_err("refused");
        one_line_with(&error, wanted);
        let error = ServerTls::new(path, &good.key, &[]).expect_err("refused");
        one_line_with(&error, wanted);
    }
    let as_key: [(&PathBuf, &[&str]); 4] = [
        (&missing, &["cannot be read"]),
        (&empty, &["empty.pem", "holds no private key"]),
        (&good.cert, &["cert.pem", "holds no private key"]),
        (&other.key, &["key.pem is not the key of the certificate in", "cert.pem"]),
    ];
    for (path, wanted) in as_key {
        let error = ServerTls::new(&good.cert, path, &[]).expect_err("refused");
        one_line_with(&error, wanted);
    }
}

#[test]
fn a_name_that_is_none_is_refused() {
    for name in ["", "two words", "-"] {
        let settings = ClientTlsSettings { server_name: name.to_owned(), ..settings(None, false) };
        let error = ClientTls::new(&settings).expect_err("refused");
        one_line_with(&error, &["no host name"]);
    }
}

/// A certificate that is given to the client as its authority, and what it hears.
fn refused<'t>(issued: Issued, wanted: &'t [&'t str]) -> (Issued, PathBuf, &'t [&'t str]) {
    let ca = issued.ca.clone();
    (issued, ca, wanted)
}

/// As its manual says; none where there is no such program, or too old a one.
fn openssl(more: &[&str]) -> Option<Issued> {
    let (cert, key) = (file("cert.pem", ""), file("key.pem", ""));
    let status = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "365"])
        .args(["-subj", "/CN=localhost", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&cert)
        .args(more)
        .stderr(Stdio::null())
        .status();
    status.ok()?.success().then(|| Issued { ca: cert.clone(), cert, key })
}

fn settings(ca_file: Option<PathBuf>, insecure: bool) -> ClientTlsSettings {
    ClientTlsSettings {
        ca_file,
        insecure,
        server_name: "localhost".to_owned(),
        ..ClientTlsSettings::default()
    }
}

/// Runs one handshake; how it failed at the client and at the server.
fn handshake(
    certificates: &Issued,
    settings: &ClientTlsSettings,
) -> (Option<NetError>, Option<NetError>) {
    let server = ServerTls::new(&certificates.cert, &certificates.key, &[]).expect("settings");
    handshake_with(&server, settings)
}

fn handshake_with(
    server: &ServerTls,
    settings: &ClientTlsSettings,
) -> (Option<NetError>, Option<NetError>) {
    let mut driver = driver();
    let (near, far) = pair(&mut driver);
    let client = ClientTls::new(settings).expect("settings");
    let mut client = Transport::tls_client(near, &client, &mut driver).expect("a session");
    let mut server = Transport::tls_server(far, server, &mut driver).expect("a session");
    let (at_client, at_server) =
        exchange(&mut driver, &mut client, &mut server, |c, s, client, server| {
            (c.failed.is_some() && s.failed.is_some())
                || (client.is_established() && server.is_established())
        });
    (at_client.failed, at_server.failed)
}

fn one_line_with(error: &NetError, wanted: &[&str]) {
    let text = error.to_string();
    assert!(!text.contains('\n') && !text.is_empty());
    for part in wanted {
        assert!(text.contains(part), "no '{part}' in: {text}");
    }
}
