//! A server that speaks as soon as TLS lets it: what it says comes with the last bytes of the handshake.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::version::TLS12;
use rustls::{ServerConfig, ServerConnection};
use serde_json::json;

use crate::certificates::Certificate;
use crate::outcome::run;
use crate::scene::{pollers, server_config_of};

/// How HTTP/2 begins (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// An empty SETTINGS frame.
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn http_2_begins_with_its_preface_even_where_the_server_has_spoken_before() {
    let certificate = Certificate::new("localhost", |_| {});
    let config = server_config_of(&certificate, &["h2"], &[&TLS12]);
    for poller in pollers() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let config = Arc::clone(&config);
        let server = std::thread::spawn(move || {
            let (stream, _) = listener.accept().expect("a client");
            beginning(stream, config)
        });
        let plan = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": format!("https://{address}/"),
                "http": {"version": "2"},
                "tls": {"ca_file": certificate.cert, "server_name": "localhost"},
                "message": {"source": {"from": "none"}},
            },
            "load": {"connections": 1},
            "stop": {"requests": 1},
            "generator": {"poller": poller},
        });
        // The server ends when it has heard enough.
        run(&plan).expect_err("no reply came");
        let heard = server.join().expect("a whole preface");
        assert_eq!(
            heard.escape_ascii().to_string(),
            PREFACE.escape_ascii().to_string(),
            "{poller}"
        );
    }
}

/// The first bytes that the client says inside TLS, to a server whose SETTINGS come in one write with
/// the end of its handshake.
fn beginning(mut stream: TcpStream, config: Arc<ServerConfig>) -> Vec<u8> {
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    let mut session = ServerConnection::new(config).expect("a session");
    let (mut heard, mut has_spoken) = (Vec::new(), false);
    while heard.len() < PREFACE.len() {
        if session.read_tls(&mut stream).expect("records") == 0 {
            break;
        }
        session.process_new_packets().expect("TLS");
        if !session.is_handshaking() && !has_spoken {
            session.writer().write_all(SETTINGS).expect("room");
            has_spoken = true;
        }
        let mut records = Vec::new();
        while session.wants_write() {
            session.write_tls(&mut records).expect("memory");
        }
        stream.write_all(&records).expect("a client that listens");
        match session.reader().read_to_end(&mut heard) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => panic!("{error}"),
            _ => {}
        }
    }
    heard.truncate(PREFACE.len());
    heard
}
