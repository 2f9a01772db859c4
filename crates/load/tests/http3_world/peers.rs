//! What both ends say: a client that asks over HTTP/3 and knows the right answers, and a server that gives them.
//!
//! Knows what becomes of each message. Must not know what a datagram meets with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fastrand::Rng;
use wiretrial_net::quic::{Connection, Direction, Event, Read};
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http3::{
    Action, ErrorCode, Http3Client, Http3Event, Http3Limits, Http3Request, Http3Server, Outgoing,
};
use wiretrial_proto::{ErrorClass, Event as Told, Message, Scratch, Tag};

/// Read at a time: less than a window, so that reading takes several turns.
const MOST: usize = 4096;
/// Streams that a client learns of at a time.
const AHEAD: u64 = 8;
/// Bytes of a request's content that say what is asked for.
const HEAD: usize = 20;
/// The table that the server lets the client's encoder use, bytes.
const TABLE: usize = 4096;

/// The application's code of a client that is done.
pub(crate) const DONE: u64 = ErrorCode::NoError as u64;

/// A message, and what is to become of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errand {
    /// Bytes of its content, beside the head.
    request: usize,
    /// Bytes of its reply.
    reply: usize,
    pub(crate) ends: Ends,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// It is answered.
    Right,
    /// The server resets its stream.
    Reset,
    /// The server does not look at it when it comes first, and it goes again.
    Refused,
    /// The client gives it up.
    GivenUp,
}

/// All that can be, by the digit that says it.
const ENDS: [Ends; 4] = [Ends::Right, Ends::Reset, Ends::Refused, Ends::GivenUp];

impl Errand {
    fn content(self, number: u64) -> Vec<u8> {
        let Self { request, reply, ends } = self;
        let head = format!("{number:08} {reply:08} {} ", ends as u8);
        assert_eq!(head.len(), HEAD);
        [head.into_bytes(), bytes(number, request)].concat()
    }

    /// Which message this is the content of.
    fn read(content: &[u8]) -> (u64, Self) {
        let (head, rest) = content.split_at(HEAD);
        let words = std::str::from_utf8(head).expect("digits").split_whitespace();
        let words: Vec<usize> = words.map(|word| word.parse().expect("a number")).collect();
        (words[0] as u64, Self { request: rest.len(), reply: words[1], ends: ENDS[words[2]] })
    }
}

/// One that is answered with as much as it says.
pub(crate) fn small() -> Vec<Errand> {
    vec![Errand { request: 100, reply: 100, ends: Ends::Right }]
}

pub(crate) fn four() -> Vec<Errand> {
    let errand = |bytes| Errand { request: bytes, reply: bytes, ends: Ends::Right };
    [0, 1, 20_000, 50_000].map(errand).into()
}

/// Enough for some hundred milliseconds at a latency of ten.
pub(crate) fn large() -> Vec<Errand> {
    vec![Errand { request: 400_000, reply: 400_000, ends: Ends::Right }; 4]
}

/// What a seed draws.
pub(crate) fn drawn(random: &mut Rng) -> Errand {
    let length = |random: &mut Rng| [0, 1, 100, 1_000, 10_000, 60_000][random.usize(..6)];
    let (request, reply) = (length(random), length(random));
    Errand { request, reply, ends: *ENDS.get(random.usize(..8)).unwrap_or(&Ends::Right) }
}

/// Content: neighbours differ, and messages do.
fn bytes(number: u64, length: usize) -> Vec<u8> {
    let byte = |at: usize| (number as usize * 31).wrapping_add(at * 7).wrapping_add(at >> 8) as u8;
    (0..length).map(byte).collect()
}

/// The content of the reply to it.
fn reply(number: u64, length: usize) -> Vec<u8> {
    bytes(number + 1, length)
}

/// What both ends counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) right: usize,
    pub(crate) reset: usize,
    pub(crate) given_up: usize,
    /// Nothing has become of them.
    pub(crate) open: usize,
    /// How often messages went again.
    pub(crate) again: usize,
    /// Answers of the server, of the connections that it knows.
    pub(crate) answered: usize,
}

impl Tally {
    pub(crate) fn of<'a>(client: &Client, servers: impl Iterator<Item = &'a Server>) -> Self {
        let fates = |state| client.ledger.states.iter().filter(|it| **it == state).count();
        Self {
            right: fates(State::Right),
            reset: fates(State::Reset),
            given_up: fates(State::GivenUp),
            open: fates(State::Waiting) + fates(State::InFlight),
            again: client.ledger.again,
            answered: servers.map(|server| server.answered.len()).sum(),
        }
    }
}

/// How far a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    InFlight,
    Right,
    Reset,
    GivenUp,
}

/// A client's side of the connection.
pub(crate) struct Client {
    session: Http3Client,
    out: Outgoing,
    scratch: Scratch,
    ledger: Ledger,
    has_begun: bool,
    /// Bytes that wait for a window.
    unsent: usize,
    pub(crate) is_connected: bool,
    /// Nothing is asked before this instant.
    pub(crate) idle_until: u64,
}

/// What is asked, and what came of it.
struct Ledger {
    errands: Vec<Errand>,
    /// By errand.
    states: Vec<State>,
    /// What has come of replies that are not whole.
    contents: BTreeMap<u64, Vec<u8>>,
    again: usize,
}

impl Client {
    pub(crate) fn new(errands: Vec<Errand>, idle_until: u64) -> Self {
        let target = [HeadPart::Text("/echo")];
        let headers = [("x-own", vec![HeadPart::Text("in each of them")])];
        let length = PayloadLength::Varying;
        let request =
            Http3Request::keeping("https", "POST", &target, "localhost", &headers, false, length);
        let requests = Arc::from([request.expect("a request")]);
        let states = vec![State::Waiting; errands.len()];
        Self {
            session: Http3Client::new(requests, Http3Limits::default()),
            out: Outgoing::new(),
            scratch: Scratch::new(),
            ledger: Ledger { errands, states, contents: BTreeMap::new(), again: 0 },
            has_begun: false,
            unsent: 0,
            is_connected: false,
            idle_until,
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        let is_open = |it: &State| matches!(it, State::Waiting | State::InFlight);
        self.unsent == 0 && !self.ledger.states.iter().any(is_open)
    }

    /// What went before the handshake's end was refused.
    pub(crate) fn forget(&mut self) {
        for number in self.session.refused_early(&mut self.out) {
            self.ledger.goes_again(number);
        }
    }

    pub(crate) fn heard(&mut self, event: &Event, connection: &mut Connection) {
        match *event {
            Event::Readable(stream) => self.read(stream, connection),
            Event::Stopped(stream, code) => {
                let told = self.session.stop_sending(stream, code, &mut self.out);
                told.expect("a server that keeps the rules");
            }
            _ => {}
        }
    }

    /// Asks and sends as far as it goes.
    pub(crate) fn push(&mut self, connection: &mut Connection, now: u64) {
        if connection.is_closed() {
            return;
        }
        if now >= self.idle_until && (self.is_connected || connection.is_early()) {
            self.ask(connection);
        }
        perform(&mut self.out, connection, now);
        self.unsent = connection.unsent();
    }

    fn ask(&mut self, connection: &mut Connection) {
        let Self { session, out, ledger, has_begun, .. } = self;
        if !std::mem::replace(has_begun, true) {
            session.start(out);
        }
        session.allow(connection.allowed(Direction::Bidirectional, AHEAD));
        for number in 0..ledger.errands.len() {
            let (errand, state) = (ledger.errands[number], ledger.states[number]);
            if state == State::InFlight && errand.ends == Ends::GivenUp {
                assert!(session.cancel(number as u64, out), "message {number} is awaited");
                ledger.over(number as u64, State::GivenUp);
            }
            if state == State::Waiting && session.room() as usize > ledger.in_flight() {
                let content = errand.content(number as u64);
                session.encode(&Message::new(number as u64, &content), out);
                ledger.states[number] = State::InFlight;
            }
        }
    }

    fn read(&mut self, stream: u64, connection: &mut Connection) {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let Ok(read) = connection.read(stream, &mut bytes, MOST) else { return };
            if let Read::Reset(code) = read {
                let told = self.session.reset(stream, code, &mut self.out);
                if let Some(event) = told.expect("a server that keeps the rules") {
                    self.ledger.hear(&event);
                }
                return;
            }
            self.receive(stream, &bytes, read == Read::Finished);
            if read != Read::More {
                return;
            }
        }
    }

    fn receive(&mut self, stream: u64, bytes: &[u8], fin: bool) {
        let Self { session, out, scratch, ledger, .. } = self;
        let mut offset = 0;
        loop {
            let step = session.receive(stream, &bytes[offset..], fin, scratch, out);
            let step = step.expect("a server that keeps the rules");
            offset += step.consumed;
            let Some(event) = &step.event else { return };
            ledger.hear(event);
        }
    }
}

impl Ledger {
    fn in_flight(&self) -> usize {
        self.states.iter().filter(|state| **state == State::InFlight).count()
    }

    fn hear(&mut self, event: &Told<'_>) {
        match event {
            Told::Chunk { tag, piece } => {
                self.contents.entry(number(*tag)).or_default().extend_from_slice(piece);
            }
            Told::Reply(told) => {
                let number = number(told.tag);
                let mut content = self.contents.remove(&number).unwrap_or_default();
                content.extend_from_slice(told.payload);
                assert_eq!(told.status, 200);
                let expected = reply(number, self.errands[number as usize].reply);
                assert!(content == expected, "the reply to message {number} is another");
                self.over(number, State::Right);
            }
            Told::Failed { tag, error } => {
                let number = number(*tag);
                assert_eq!(error.class, ErrorClass::Reset, "{error}");
                assert_eq!(self.errands[number as usize].ends, Ends::Reset);
                self.over(number, State::Reset);
            }
            Told::Unprocessed { tag } => self.goes_again(number(*tag)),
            _ => {}
        }
    }

    fn goes_again(&mut self, number: u64) {
        self.over(number, State::Waiting);
        self.again += 1;
    }

    /// Nothing becomes of a message but once.
    fn over(&mut self, number: u64, fate: State) {
        let state = &mut self.states[number as usize];
        assert_eq!(*state, State::InFlight, "message {number}, of which this comes: {fate:?}");
        *state = fate;
        self.contents.remove(&number);
    }
}

fn number(tag: Tag) -> u64 {
    match tag {
        Tag::Number(number) => number,
        Tag::Oldest => panic!("nothing is in order"),
    }
}

/// A server's side of one connection.
pub(crate) struct Server {
    session: Http3Server,
    out: Outgoing,
    scratch: Scratch,
    has_begun: bool,
    /// What has come of requests that are not answered, by stream.
    contents: BTreeMap<u64, Vec<u8>>,
    /// Messages that were not looked at once.
    refused: BTreeSet<u64>,
    answered: BTreeSet<u64>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            session: Http3Server::new(Http3Limits { table: TABLE, ..Http3Limits::default() }),
            out: Outgoing::new(),
            scratch: Scratch::new(),
            has_begun: false,
            contents: BTreeMap::new(),
            refused: BTreeSet::new(),
            answered: BTreeSet::new(),
        }
    }
}

impl Server {
    pub(crate) fn heard(&mut self, event: &Event, connection: &mut Connection, now: u64) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.session.start(&mut self.out);
        }
        match *event {
            Event::Readable(stream) => self.read(stream, connection),
            Event::Stopped(stream, code) => {
                let told = self.session.stop_sending(stream, code, &mut self.out);
                told.expect("a client that keeps the rules");
                self.contents.remove(&stream);
                // It may have ended just now.
                let _ = connection.reset(stream, code, now);
            }
            _ => {}
        }
        perform(&mut self.out, connection, now);
    }

    fn read(&mut self, stream: u64, connection: &mut Connection) {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let Ok(read) = connection.read(stream, &mut bytes, MOST) else { return };
            if let Read::Reset(_) = read {
                self.contents.remove(&stream);
                let told = self.session.reset(stream, &mut self.out);
                told.expect("a client that keeps the rules");
                return;
            }
            if self.receive(stream, &bytes, read == Read::Finished) {
                self.answer(stream);
            }
            if read != Read::More {
                return;
            }
        }
    }

    /// True: a request has come whole.
    fn receive(&mut self, stream: u64, bytes: &[u8], fin: bool) -> bool {
        let Self { session, out, scratch, contents, .. } = self;
        let (mut offset, mut is_whole) = (0, false);
        loop {
            let step = session.receive(stream, &bytes[offset..], fin, scratch, out);
            let step = step.expect("a client that keeps the rules");
            offset += step.consumed;
            match step.event {
                None => return is_whole,
                Some(Http3Event::Request { method, target, fields, .. }) => {
                    assert_eq!((method, target), ("POST", Some("/echo")));
                    assert_eq!(fields.get("x-own"), Some(&b"in each of them"[..]));
                    let before = contents.insert(stream, Vec::new());
                    assert_eq!(before, None, "a stream has one request");
                }
                Some(Http3Event::Chunk { piece, .. }) => {
                    contents.entry(stream).or_default().extend_from_slice(piece);
                }
                Some(Http3Event::End { .. }) => is_whole = true,
                Some(_) => {}
            }
        }
    }

    fn answer(&mut self, stream: u64) {
        let Self { session, out, contents, refused, answered, .. } = self;
        let content = contents.remove(&stream).expect("a request");
        let (number, errand) = Errand::read(&content);
        assert!(content == errand.content(number), "the content of message {number} is another");
        match errand.ends {
            Ends::Reset => session.give_up(stream, ErrorCode::InternalError, out),
            Ends::Refused if refused.insert(number) => {
                session.give_up(stream, ErrorCode::RequestRejected, out);
            }
            _ => {
                assert!(answered.insert(number), "message {number} came twice");
                let content = reply(number, errand.reply);
                let length = content.len().to_string();
                let fields = [("content-length", length.as_bytes())];
                session.respond(stream, 200, &fields, content.is_empty(), out);
                if !content.is_empty() {
                    session.content(stream, &content, true, out);
                }
            }
        }
    }
}

/// Does what a session wants done.
fn perform(out: &mut Outgoing, connection: &mut Connection, now: u64) {
    for action in out.actions() {
        // What is about a stream that is over means nothing.
        let _ = match action {
            Action::Write { stream, bytes, fin } => connection.send(stream, bytes, fin, now),
            Action::Reset { stream, code } => connection.reset(stream, code, now),
            Action::Stop { stream, code } => connection.stop(stream, code),
            Action::Close { code } => panic!("a session gives the connection up: {code:#x}"),
        };
    }
    out.clear();
}
