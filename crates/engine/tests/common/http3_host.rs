//! A server of HTTP/3 that echoes, and does wrong as a test says, on a thread of its own.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use wiretrial_net::quic::{
    Event, Handle, QuicServer, QuicServerConfig, QuicServerSettings, Read, Scratch as Datagrams,
    TransportSettings, UdpSettings,
};
use wiretrial_net::{Alpn, Driver, DriverConfig, Key, PollerKind, monotonic_ns};
use wiretrial_proto::Scratch;
use wiretrial_proto::http3::{Action, ErrorCode, Http3Event, Http3Limits, Http3Server, Outgoing};

use crate::certificates::Certificate;

const KEY: Key = Key { slot: 0, generation: 1 };
/// How long it waits before it looks whether the test is over.
const IDLE: Duration = Duration::from_millis(5);
const MOST_READ: usize = 64 * 1024;
const MS: u64 = 1_000_000;

/// What it does. Of all requests each so many-th one is meant, or none where that is 0; the first of all
/// is the preflight's.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manner {
    /// Its content differs.
    pub(crate) wrong: u64,
    /// It is not looked at (`H3_REQUEST_REJECTED`).
    pub(crate) refuse: u64,
    /// Its stream is reset (`H3_INTERNAL_ERROR`).
    pub(crate) reset: u64,
    /// It is not answered.
    pub(crate) silent: u64,
    /// A connection is left in order after so many answers (GOAWAY); 0: never.
    pub(crate) leave_after: u64,
    /// A connection is closed at once after so many answers (`H3_INTERNAL_ERROR`); 0: never.
    pub(crate) close_after: u64,
    /// Streams of a client at once.
    pub(crate) streams: Option<u32>,
    /// Requests are taken before the handshake's end (0-RTT).
    pub(crate) early_data: bool,
    /// Each answer waits for so long.
    pub(crate) delay: Duration,
    /// Each answer sets a cookie, and begins with those that came.
    pub(crate) cookies: bool,
}

/// The server as tests see it; it ends with them.
pub(crate) struct Http3Host {
    address: SocketAddr,
    certificate: Certificate,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Http3Host {
    pub(crate) fn new(manner: Manner) -> Self {
        let certificate = Certificate::new("localhost", |_| {});
        let mut transport = TransportSettings::default();
        transport.peer_bidirectional = manner.streams.unwrap_or(transport.peer_bidirectional);
        let settings = QuicServerSettings {
            cert: certificate.cert.clone(),
            key: certificate.key.clone(),
            alpn: vec![Alpn::Http3],
            early_data: manner.early_data,
            transport,
            ..QuicServerSettings::default()
        };
        let config = QuicServerConfig::new(&settings).expect("settings");
        let anywhere = "127.0.0.1:0".parse().expect("an address");
        let udp = UdpSettings { receive_buffer: Some(4 << 20), ..UdpSettings::default() };
        let server = QuicServer::bind(&config, anywhere, false, &udp).expect("a socket");
        let address = server.local_addr().expect("an address");
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let mut host = Host::new(server, manner);
            while !over.load(Ordering::Relaxed) {
                host.turn();
            }
        });
        Self { address, certificate, is_over, thread: Some(thread) }
    }

    /// Where it is.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Echoes over HTTP/3 in a closed loop.
    pub(crate) fn plan(&self, connections: u32, streams: u32, requests: u64) -> Value {
        let poller = std::env::var("WIRETRIAL_TEST_POLLER").unwrap_or_else(|_| "auto".to_owned());
        json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": format!("https://{}/echo", self.address),
                "http": {"version": "3"},
                "message": {"source": {"from": "sequence", "bytes": 20}},
                "expect": {"content": {"is": "echo"}},
                "tls": {"ca_file": self.certificate.cert, "server_name": "localhost"},
            },
            "load": {"connections": connections, "depth": streams},
            "generator": {"poller": poller},
            "stop": {"requests": requests},
            "phases": {"timeout_ns": 20_000 * MS, "drain_ns": 20_000 * MS},
        })
    }
}

impl Drop for Http3Host {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(matches!(ended, Some(Ok(()))), "the server has failed");
        }
    }
}

/// The server itself.
struct Host {
    server: QuicServer,
    driver: Driver,
    datagrams: Datagrams,
    scratch: Scratch,
    manner: Manner,
    clients: BTreeMap<Handle, Client>,
    /// Requests that came whole, and when each is to be answered.
    due: VecDeque<(u64, Handle, u64)>,
    /// Requests whose turn has come.
    asked: u64,
}

struct Client {
    session: Http3Server,
    out: Outgoing,
    /// What came of requests that are not answered, by stream.
    bodies: BTreeMap<u64, Vec<u8>>,
    answered: u64,
}

impl Client {
    fn new() -> Self {
        let (mut session, mut out) = (Http3Server::new(Http3Limits::default()), Outgoing::new());
        session.start(&mut out);
        Self { session, out, bodies: BTreeMap::new(), answered: 0 }
    }
}

impl Host {
    fn new(server: QuicServer, manner: Manner) -> Self {
        let config = DriverConfig { poller: PollerKind::Epoll, ..DriverConfig::default() };
        let mut driver = Driver::new(&config).expect("a poller");
        driver.watch(KEY, server.as_fd(), false).expect("watched");
        Self {
            server,
            driver,
            datagrams: Datagrams::default(),
            scratch: Scratch::new(),
            manner,
            clients: BTreeMap::new(),
            due: VecDeque::new(),
            asked: 0,
        }
    }

    fn turn(&mut self) {
        let now = monotonic_ns();
        let first = self.due.front().map(|(at, ..)| *at);
        let next = [self.server.deadline(), first].into_iter().flatten().min();
        let wait = next.map_or(IDLE, |at| Duration::from_nanos(at.saturating_sub(now)).min(IDLE));
        self.driver.wait(Some(wait)).expect("a poller");
        while self.driver.next().is_some() {}
        let now = monotonic_ns();
        while self.server.receive(now, &mut self.datagrams).expect("a socket") {}
        self.server.on_deadline(now);
        while let Some((handle, event)) = self.server.event(now) {
            self.hear(handle, &event);
            self.perform(handle, now);
        }
        while let Some((at, handle, stream)) = self.due.front().copied()
            && at <= now
        {
            self.due.pop_front();
            self.answer(handle, stream, now);
            self.perform(handle, now);
        }
        let flush = self.server.flush(now, &mut self.datagrams).expect("a socket");
        self.driver.watch(KEY, self.server.as_fd(), !flush.done).expect("watched");
    }

    fn hear(&mut self, handle: Handle, event: &Event) {
        match *event {
            Event::Connected(_) => {
                self.clients.entry(handle).or_insert_with(Client::new);
            }
            Event::Readable(stream) => self.read(handle, stream),
            Event::Stopped(stream, code) => {
                let Some(client) = self.clients.get_mut(&handle) else { return };
                client.bodies.remove(&stream);
                let stopped = client.session.stop_sending(stream, code, &mut client.out);
                stopped.expect("a client that keeps the rules");
            }
            Event::Ended(_) => drop(self.clients.remove(&handle)),
            _ => {}
        }
    }

    fn read(&mut self, handle: Handle, stream: u64) {
        let Some(connection) = self.server.connection(handle) else { return };
        // Before the handshake's end, where that is allowed.
        let client = self.clients.entry(handle).or_insert_with(Client::new);
        let Client { session, out, bodies, .. } = client;
        loop {
            let mut bytes = Vec::new();
            let Ok(read) = connection.read(stream, &mut bytes, MOST_READ) else { return };
            let (fin, mut rest) = (read == Read::Finished, &bytes[..]);
            loop {
                let step = session.receive(stream, rest, fin, &mut self.scratch, out);
                let step = step.expect("a client that keeps the rules");
                rest = &rest[step.consumed..];
                match step.event {
                    None => break,
                    Some(Http3Event::Request { fields, .. }) => {
                        let came = fields.get("cookie").filter(|_| self.manner.cookies);
                        bodies.insert(stream, came.unwrap_or_default().to_vec());
                    }
                    Some(Http3Event::Chunk { piece, .. }) => {
                        bodies.entry(stream).or_default().extend_from_slice(piece);
                    }
                    Some(Http3Event::End { .. }) => {
                        let delay = self.manner.delay.as_nanos() as u64;
                        // Not `now`: this thread may have waited for a CPU since, and the request
                        // come meanwhile.
                        self.due.push_back((monotonic_ns() + delay, handle, stream));
                    }
                    Some(_) => {}
                }
            }
            match read {
                Read::More => {}
                Read::Reset(_) => {
                    bodies.remove(&stream);
                    session.reset(stream, out).expect("a client that keeps the rules");
                    return;
                }
                Read::Blocked | Read::Finished => return,
            }
        }
    }

    fn answer(&mut self, handle: Handle, stream: u64, now: u64) {
        let Some(client) = self.clients.get_mut(&handle) else { return };
        let Client { session, out, bodies, answered } = client;
        let Some(mut content) = bodies.remove(&stream) else { return };
        self.asked += 1;
        let (manner, asked) = (self.manner, self.asked);
        let is_meant = |every: u64| every > 0 && asked.is_multiple_of(every);
        if is_meant(manner.silent) {
            return;
        }
        if is_meant(manner.refuse) || is_meant(manner.reset) {
            let is_refused = is_meant(manner.refuse);
            let refused = [ErrorCode::InternalError, ErrorCode::RequestRejected];
            session.give_up(stream, refused[usize::from(is_refused)], out);
            return;
        }
        if let Some(first) = content.first_mut().filter(|_| is_meant(manner.wrong)) {
            *first ^= 1;
        }
        let length = content.len().to_string();
        let mut fields = vec![("content-length", length.as_bytes())];
        if manner.cookies {
            fields.push(("set-cookie", &b"sid=7; Path=/"[..]));
        }
        session.respond(stream, 200, &fields, content.is_empty(), out);
        if !content.is_empty() {
            session.content(stream, &content, true, out);
        }
        *answered += 1;
        if *answered == manner.leave_after {
            session.leave(out);
        }
        if *answered == manner.close_after
            && let Some(connection) = self.server.connection(handle)
        {
            connection.close(ErrorCode::InternalError as u64, "as the test says", now);
        }
    }

    fn perform(&mut self, handle: Handle, now: u64) {
        let Some(client) = self.clients.get_mut(&handle) else { return };
        if let Some(connection) = self.server.connection(handle) {
            for action in client.out.actions() {
                // A stream that is over wants nothing.
                let _ = match action {
                    Action::Write { stream, bytes, fin } => {
                        connection.send(stream, bytes, fin, now)
                    }
                    Action::Reset { stream, code } => connection.reset(stream, code, now),
                    Action::Stop { stream, code } => connection.stop(stream, code),
                    Action::Close { code } => {
                        connection.close(code, "", now);
                        Ok(())
                    }
                };
            }
        }
        client.out.clear();
    }
}
