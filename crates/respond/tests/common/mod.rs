//! A running server and a client of plain sockets.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

pub(crate) mod quic;
pub(crate) mod session;

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use wiretrial_respond::{Fault, PollerKind, Script, Server, ServerPlan, start};

/// Longer than anything here takes; only a broken server waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server on ports of its own choice, HTTP and raw.
pub(crate) fn server(script: Script) -> Server {
    start(plan(script)).unwrap()
}

pub(crate) fn plan(script: Script) -> ServerPlan {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let poller = match std::env::var("WIRETRIAL_TEST_POLLER").as_deref() {
        Err(_) => PollerKind::Auto,
        Ok("uring") => PollerKind::Uring,
        Ok("epoll") => PollerKind::Epoll,
        Ok(other) => panic!("no poller is called {other}"),
    };
    ServerPlan {
        http: vec![any],
        tcp: vec![any],
        styx: vec![any],
        script,
        poller,
        ..ServerPlan::default()
    }
}

pub(crate) fn faulty(fault: &str) -> Server {
    server(Script { faults: vec![fault.parse::<Fault>().unwrap()], ..Script::default() })
}

/// Waits until the server has accepted so many connections and let go of all of them.
#[track_caller]
pub(crate) fn await_all_gone(server: &Server, accepted: u64) {
    for _ in 0..2000 {
        let stats = server.stats();
        if (stats.accepted, stats.open) == (accepted, 0) {
            return;
        }
        std::thread::park_timeout(PATIENCE / 2000);
    }
    panic!("{:?}", server.stats());
}

pub(crate) struct Client(pub(crate) TcpStream);

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    Fin,
    Reset,
    /// It has not: nothing came for a while.
    Open,
}

impl Client {
    pub(crate) fn http(server: &Server) -> Self {
        Self::connect(server.addresses().http[0])
    }

    pub(crate) fn tcp(server: &Server) -> Self {
        Self::connect(server.addresses().tcp[0])
    }

    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(stream)
    }

    /// After the upgrade.
    pub(crate) fn websocket(server: &Server) -> Self {
        let mut client = Self::http(server);
        client.send(UPGRADE);
        client.expect(SWITCHED);
        client
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    /// Exactly these bytes come next.
    #[track_caller]
    pub(crate) fn expect(&mut self, expected: impl AsRef<[u8]>) {
        let expected = expected.as_ref();
        let got = self.take(expected.len());
        assert!(got == expected, "got {:?}, expected {:?}", text(&got), text(expected));
    }

    #[track_caller]
    pub(crate) fn take(&mut self, count: usize) -> Vec<u8> {
        let mut got = vec![0; count];
        self.0.read_exact(&mut got).unwrap();
        undate(&mut got);
        got
    }

    /// Of what comes next, at most as much as fits. A machine that was stopped and goes on ends a read that has a
    /// limit, though no signal has a handler (signal(7)): it is no end of the conversation.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                came => return came,
            }
        }
    }

    /// Everything until the end, and which end that is.
    pub(crate) fn rest(&mut self) -> (Vec<u8>, End) {
        self.rest_within(PATIENCE)
    }

    /// Nothing comes for as long as one can wait to be sure of it, and no end.
    #[track_caller]
    pub(crate) fn expect_silence(&mut self) {
        assert_eq!(self.rest_within(Duration::from_millis(200)), (Vec::new(), End::Open));
    }

    #[track_caller]
    pub(crate) fn expect_end(&mut self, end: End) {
        assert_eq!(self.rest(), (Vec::new(), end));
    }

    fn rest_within(&mut self, patience: Duration) -> (Vec<u8>, End) {
        self.0.set_read_timeout(Some(patience)).unwrap();
        let mut got = Vec::new();
        let mut buffer = [0; 4096];
        let end = loop {
            match self.read(&mut buffer) {
                Ok(0) => break End::Fin,
                Ok(count) => got.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => break End::Reset,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break End::Open,
                Err(error) => panic!("{error}"),
            }
        };
        self.0.set_read_timeout(Some(PATIENCE)).unwrap();
        undate(&mut got);
        (got, end)
    }
}

/// The handshake of RFC 6455 section 1.3.
pub(crate) const UPGRADE: &str = "GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\
    Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
    Sec-WebSocket-Version: 13\r\n\r\n";
pub(crate) const SWITCHED: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
    Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

pub(crate) const GET_MESSAGE: &str = "GET /message HTTP/1.1\r\nHost: a\r\n\r\n";

/// What every answer's date is for these tests.
pub(crate) const DATE: &str = "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n";

/// Puts that date in the place of each that was sent, if only in part.
pub(crate) fn undate(bytes: &mut [u8]) {
    let begin = b"\r\nDate: ";
    let places: Vec<usize> =
        (0..bytes.len()).filter(|at| bytes[*at..].starts_with(begin)).collect();
    for at in places {
        let date = bytes[at + 2..].iter_mut().zip(DATE.bytes());
        date.for_each(|(byte, instead)| *byte = instead);
    }
}

/// The whole answer to [`GET_MESSAGE`].
pub(crate) fn message_answer() -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\n{DATE}Content-Type: application/json\r\nContent-Length: 64\r\n\r\n"
    );
    [head.as_bytes(), wiretrial_respond::MESSAGE].concat()
}

/// The head of an answer with a body of bytes.
pub(crate) fn bytes_head(length: usize) -> String {
    format!(
        "HTTP/1.1 200 OK\r\n{DATE}Content-Type: application/octet-stream\r\n\
         Content-Length: {length}\r\n\r\n"
    )
}

pub(crate) fn post_to(target: &str, body: &str) -> String {
    let length = body.len();
    format!("POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// A request that wants its body back.
pub(crate) fn post(body: &str) -> String {
    post_to("/echo", body)
}

/// The answer to it.
pub(crate) fn posted(body: &str) -> String {
    bytes_head(body.len()) + body
}

/// A request of each kind: its method, its target and its content.
pub(crate) const WANTED: [(&str, &str, &[u8]); 11] = [
    ("POST", "/echo", b"hello"),
    ("POST", "/test", b"hello"),
    ("GET", "/message", b""),
    ("GET", "/messages/a%20b", b""),
    ("GET", "/bytes/100000", b""),
    ("GET", "/chunked/300000", b""),
    ("HEAD", "/bytes/1000", b""),
    ("GET", "/status/404", b""),
    ("GET", "/status/204", b""),
    ("GET", "/nowhere", b""),
    ("PUT", "/message", b""),
];

/// These are the statuses and the contents of the answers to [`WANTED`].
#[track_caller]
pub(crate) fn assert_answered(replies: &[(u16, Vec<u8>)]) {
    assert_eq!(replies[0], (200, b"hello".to_vec()));
    assert_eq!(replies[1], (200, b"received: hello".to_vec()));
    assert_eq!(replies[2], (200, wiretrial_respond::MESSAGE.to_vec()));
    assert_eq!(replies[3], (200, br#"{"id":"a b"}"#.to_vec()));
    assert!(replies[4] == (200, pattern(100_000)));
    assert!(replies[5] == (200, pattern(300_000)));
    assert_eq!(replies[6], (200, Vec::new()));
    let statuses: Vec<_> = replies[7..].iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [404, 204, 404, 405]);
}

/// The beginning of the pattern.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    (0..length as u64).map(wiretrial_respond::pattern_at).collect()
}

/// A masked frame as clients send it: `first` is the frame's first byte.
pub(crate) fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
    let mut frame = vec![first];
    frame.extend(length(payload.len(), 0x80));
    frame.extend(MASK);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// The same frame as servers send it.
pub(crate) fn unmasked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    frame.extend(length(payload.len(), 0));
    frame.extend(payload);
    frame
}

fn length(length: usize, mask: u8) -> Vec<u8> {
    match length {
        0..126 => vec![mask | length as u8],
        126..0x1_0000 => [&[mask | 0x7e], &(length as u16).to_be_bytes()[..]].concat(),
        _ => [&[mask | 0x7f], &(length as u64).to_be_bytes()[..]].concat(),
    }
}

fn text(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(400)];
    String::from_utf8_lossy(shown).into_owned()
}
