//! A small application: logins with tokens and cookies, lists, pages, and things that go wrong.
//!
//! One thread per connection, blocking sockets, and nothing of the code under test. It says nothing that is
//! right to a user whose token is not that of its cookie.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};

use crate::certificates::Certificate;

/// Longest wait of any one read or write.
const PATIENCE: Duration = Duration::from_secs(20);

/// The application.
pub(crate) struct Application {
    address: SocketAddr,
    tls: bool,
    state: Arc<State>,
}

#[derive(Default)]
pub(crate) struct State {
    stop: AtomicBool,
    /// Requests so far.
    requests: AtomicU64,
    /// Connections so far.
    accepted: AtomicU64,
    /// A connection ends with each reply whose number this divides; 0: never.
    closes_every: AtomicU64,
    /// What comes to `/once` a second time is refused.
    seen: std::sync::Mutex<Vec<String>>,
}

/// A request.
struct Request {
    method: String,
    target: String,
    head: String,
    body: Vec<u8>,
}

impl Request {
    fn field(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.clone().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl Application {
    pub(crate) fn start(tls: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let state = Arc::<State>::default();
        let config = tls.then(config);
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                if shared.stop.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(stream), state, config) = (stream, Arc::clone(&shared), config.clone())
                else {
                    return;
                };
                std::thread::spawn(move || {
                    let timeouts = stream
                        .set_read_timeout(Some(PATIENCE))
                        .and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
                    let _ = timeouts.and_then(|()| stream.set_nodelay(true));
                    state.accepted.fetch_add(1, Ordering::Relaxed);
                    // Whoever closes first is no fault of the application.
                    let _ = match config {
                        None => serve(stream, &state, number),
                        Some(config) => {
                            let session = rustls::ServerConnection::new(config).expect("a session");
                            serve(rustls::StreamOwned::new(session, stream), &state, number)
                        }
                    };
                });
            }
        });
        Self { address, tls, state }
    }

    /// Connections end with each reply whose number this divides.
    pub(crate) fn closing_every(self, requests: u64) -> Self {
        self.state.closes_every.store(requests, Ordering::Relaxed);
        self
    }

    pub(crate) fn url(&self) -> String {
        format!("{}://{}", if self.tls { "https" } else { "http" }, self.address)
    }

    /// Connections so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.state.accepted.load(Ordering::Relaxed)
    }

    /// Requests so far.
    pub(crate) fn requests(&self) -> u64 {
        self.state.requests.load(Ordering::Relaxed)
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

fn config() -> Arc<rustls::ServerConfig> {
    let certificate = Certificate::new("localhost", |_| {});
    let cert = CertificateDer::from_pem_file(&certificate.cert).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(&certificate.key).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![cert], key);
    Arc::new(config.expect("a pair"))
}

fn serve(mut stream: impl Read + Write, state: &State, number: usize) -> io::Result<()> {
    let mut carry = Vec::new();
    while let Some(request) = read(&mut stream, &mut carry)? {
        let count = state.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let (status, fields, body) = answer(&request, state, count);
        let closes_every = state.closes_every.load(Ordering::Relaxed);
        let closes = closes_every > 0 && count.is_multiple_of(closes_every);
        let close = if closes { "Connection: close\r\n" } else { "" };
        let head = format!("HTTP/1.1 {status} X\r\n{close}{fields}");
        let reply = match count % 3 {
            // Chunked, or of a known length; each in pieces of another size.
            0 => {
                let (one, two) = body.split_at(body.len() / 2);
                let mut reply = format!("{head}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
                for piece in [one, two].into_iter().filter(|piece| !piece.is_empty()) {
                    reply.extend(format!("{:x}\r\n", piece.len()).bytes());
                    reply.extend([piece, b"\r\n"].concat());
                }
                [reply.as_slice(), b"0\r\n\r\n"].concat()
            }
            _ => {
                [format!("{head}Content-Length: {}\r\n\r\n", body.len()).as_bytes(), &body].concat()
            }
        };
        let piece = [usize::MAX, 1, 7, 64, 200][number % 5];
        for piece in reply.chunks(piece.min(reply.len())) {
            stream.write_all(piece)?;
            stream.flush()?;
        }
        if closes {
            return Ok(());
        }
    }
    Ok(())
}

fn read(stream: &mut impl Read, carry: &mut Vec<u8>) -> io::Result<Option<Request>> {
    loop {
        if let Some(end) = carry.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&carry[..end]).into_owned();
            let (line, head) = head.split_once("\r\n").unwrap_or((&head, ""));
            let mut words = line.split(' ').map(str::to_owned);
            let mut word = || words.next().unwrap_or_default();
            let mut request =
                Request { method: word(), target: word(), head: head.to_owned(), body: Vec::new() };
            let length =
                request.field("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
            if carry.len() >= end + 4 + length {
                request.body = carry[end + 4..end + 4 + length].to_vec();
                carry.drain(..end + 4 + length);
                return Ok(Some(request));
            }
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(count) => carry.extend_from_slice(&piece[..count]),
            // A read with a limit ends when a stopped machine goes on (signal(7)).
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn answer(request: &Request, state: &State, count: u64) -> (u16, String, Vec<u8>) {
    let json = |status, fields: &str, body: Value| {
        let fields = format!("Content-Type: application/json\r\n{fields}");
        (status, fields, body.to_string().into_bytes())
    };
    let path = request.target.split('?').next().unwrap_or_default();
    match (request.method.as_str(), path) {
        ("POST", "/login") => {
            let Ok(asked) = serde_json::from_slice::<Value>(&request.body) else {
                return json(400, "", json!({"error": "no JSON"}));
            };
            let user = hex(asked["user"].as_str().unwrap_or_default().as_bytes());
            let cookie = format!("Set-Cookie: sid={user}; Path=/; HttpOnly\r\n");
            let at = format!("2024-02-29T12:00:00.{count:06}Z");
            let token = format!("t-{user}-{count}");
            json(200, &cookie, json!({"at": at, "welcome": true, "token": token}))
        }
        ("GET", "/items") => {
            let sid = request.field("cookie").and_then(|it| it.strip_prefix("sid="));
            let token = request.field("authorization").and_then(|it| it.strip_prefix("Bearer t-"));
            let owner = token.and_then(|token| token.rsplit_once('-')).map(|(user, _)| user);
            if sid.is_none() || owner != sid {
                return json(403, "", json!({"error": "another's token"}));
            }
            let user = unhex(sid.unwrap_or_default());
            let items: Vec<_> = (0..20).map(|id| json!({"id": id + count, "tags": [id]})).collect();
            json(200, "", json!({"items": items, "of": user}))
        }
        ("GET", "/page") => (200, String::new(), b"a page".to_vec()),
        ("GET", "/empty") => json(200, "", json!({})),
        ("GET", "/error") => json(500, "", json!({"error": "out of order"})),
        ("GET", "/sometimes") if count.is_multiple_of(4) => json(503, "", json!({"error": "full"})),
        ("GET", "/sometimes") => json(200, "", json!({"n": count})),
        ("GET", "/echo") => {
            let of = request.target.split_once("of=").map_or("", |(_, of)| of);
            (200, String::new(), of.replace("%20", " ").into_bytes())
        }
        ("GET", "/slow") => {
            std::thread::park_timeout(Duration::from_millis(50));
            (200, String::new(), b"at last".to_vec())
        }
        ("GET", "/once") => {
            let mut seen = state.seen.lock().expect("a list");
            let is_new = !seen.contains(&request.target);
            seen.push(request.target.clone());
            if is_new { json(200, "", json!({})) } else { json(409, "", json!({"error": "again"})) }
        }
        _ => json(404, "", json!({"error": "no such thing"})),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

fn unhex(text: &str) -> String {
    let byte = |place| u8::from_str_radix(&text[place..place + 2], 16).unwrap_or_default();
    let bytes = (0..text.len() / 2).map(|place| byte(place * 2)).collect();
    String::from_utf8(bytes).unwrap_or_default()
}
