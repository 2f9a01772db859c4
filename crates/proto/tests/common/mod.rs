//! Runs bytes through a codec, however they are split, and writes down what it reports.
//!
//! Knows the two codec traits and what they promise; must not know any one protocol.
//! Used by the case tables here and by the fuzz targets.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

use wiretrial_proto::{
    Bulletin, ClientSession, Condition, Delivery, ErrorClass, Event, MessageKind, Scratch,
    ServerCodec, ServerEvent, ServerRequest,
};

/// One row of a case table: bytes that come, and what must be reported.
pub(crate) struct Case<'a> {
    pub(crate) name: &'a str,
    pub(crate) input: &'a [u8],
    /// The peer's FIN comes behind the input (clients only).
    pub(crate) fin: bool,
    pub(crate) expected: Vec<Seen>,
    /// Bytes put behind the input in one more run, and what they add to the report.
    pub(crate) trailing: Option<(&'a [u8], Vec<Seen>)>,
}

/// What a codec reported, pieces of a payload joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    Open,
    Room,
    /// One message.
    Failed(ErrorClass),
    Reply {
        status: u16,
        kind: MessageKind,
        payload: Vec<u8>,
        last: bool,
    },
    Delivery(Delivery<'static>),
    Bulletin(Bulletin),
    Unprocessed,
    Leaving,
    Request(RequestSeen),
    Message(MessageKind),
    /// A request or message is complete; its payload.
    End(Vec<u8>),
    Close(u16),
    /// The begin of a payload that never came to its end.
    Part(Vec<u8>),
    /// The connection failed. A payload that was begun is forgotten: how much of it was
    /// reported before the error depends on the splitting.
    Error(ErrorClass),
}

/// A [`ServerRequest`] that owns its strings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RequestSeen {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) keep_alive: bool,
    pub(crate) content_length: Option<u64>,
    pub(crate) websocket_key: Option<String>,
    pub(crate) expects_continue: bool,
    pub(crate) condition: Condition,
}

/// All that a run showed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Transcript {
    pub(crate) seen: Vec<Seen>,
    /// What the codec itself wanted to send.
    pub(crate) out: Vec<u8>,
}

/// Runs the case whole, byte by byte, at every split in two and with its trailing data, each on
/// a fresh codec, event by event and the short way; panics with the case's name where one run
/// differs. Returns what was sent.
pub(crate) fn check_client<C: ClientSession>(case: &Case<'_>, fresh: impl Fn() -> C) -> Vec<u8> {
    let out = check(case, |input, cuts| run_client(&mut fresh(), input, cuts, case.fin));
    let short = check(case, |input, cuts| run_client_short(&mut fresh(), input, cuts, case.fin));
    assert_eq!(short, out, "{}: what is sent on the short way", case.name);
    out
}

/// As [`check_client`], for a server's codec.
pub(crate) fn check_server<C: ServerCodec>(case: &Case<'_>, fresh: impl Fn() -> C) -> Vec<u8> {
    check(case, |input, cuts| run_server(&mut fresh(), input, cuts))
}

/// Feeds `input`, cut at the places in `cuts` (ascending), and then the FIN where `fin`.
pub(crate) fn run_client<C: ClientSession>(
    codec: &mut C,
    input: &[u8],
    cuts: &[usize],
    fin: bool,
) -> Transcript {
    feed(codec, input, cuts, fin, |_, _, _, _| 0)
}

/// As [`run_client`], but takes replies without events wherever the session offers that. Now and then
/// it does not want one, which must come as an event then.
pub(crate) fn run_client_short<C: ClientSession>(
    codec: &mut C,
    input: &[u8],
    cuts: &[usize],
    fin: bool,
) -> Transcript {
    let mut offered = 0_u32;
    feed(codec, input, cuts, fin, |codec, input, scratch, notes| {
        let mut behind = 0;
        let taken = codec.replies(input, scratch, |reply| {
            offered += 1;
            let wanted = !offered.is_multiple_of(3);
            if wanted {
                behind += reply.payload.len();
                notes.client(Event::Reply(*reply));
            }
            wanted
        });
        assert!((behind..=input.len()).contains(&taken), "it takes what it offered");
        taken
    })
}

/// The payloads of at most so many replies that a session gives without events, and how many bytes of
/// the input they had.
pub(crate) fn taken<C: ClientSession>(
    mut session: C,
    scratch: &Scratch,
    input: &[u8],
    wanted: usize,
) -> (Vec<String>, usize) {
    let mut seen = Vec::new();
    let count = session.replies(input, scratch, |reply| {
        if seen.len() == wanted {
            return false;
        }
        seen.push(String::from_utf8_lossy(reply.payload).into_owned());
        true
    });
    (seen, count)
}

/// Feeds `input`; `ahead` may take some of it before each look at the next event, and says how much.
fn feed<C: ClientSession>(
    codec: &mut C,
    input: &[u8],
    cuts: &[usize],
    fin: bool,
    mut ahead: impl FnMut(&mut C, &[u8], &Scratch, &mut Notes) -> usize,
) -> Transcript {
    let mut scratch = Scratch::new();
    let mut notes = Notes::default();
    let mut held = Vec::new();
    for piece in pieces(input, cuts) {
        held.extend_from_slice(piece);
        let mut at = 0;
        let mut budget = Budget::new(held.len());
        loop {
            budget.spend();
            at += ahead(codec, &held[at..], &scratch, &mut notes);
            let step = match codec.receive(&held[at..], &mut scratch, &mut notes.out) {
                Ok(step) => step,
                Err(error) => return notes.failed(error.class),
            };
            assert!(step.consumed <= held.len() - at, "consumed more than there was");
            at += step.consumed;
            match step.event {
                Some(event) => notes.client(event),
                None => break,
            }
        }
        held.drain(..at);
    }
    if fin {
        match codec.end() {
            Ok(Some(event)) => notes.client(event),
            Ok(None) => {}
            Err(error) => return notes.failed(error.class),
        }
    }
    notes.finished()
}

/// As [`run_client`], for a server's codec.
pub(crate) fn run_server<C: ServerCodec>(
    codec: &mut C,
    input: &[u8],
    cuts: &[usize],
) -> Transcript {
    let mut scratch = Scratch::new();
    let mut notes = Notes::default();
    let mut held = Vec::new();
    for piece in pieces(input, cuts) {
        held.extend_from_slice(piece);
        let mut at = 0;
        let mut budget = Budget::new(held.len());
        loop {
            budget.spend();
            let left = held.len() - at;
            let step = match codec.receive(&mut held[at..], &mut scratch, &mut notes.out) {
                Ok(step) => step,
                Err(error) => return notes.failed(error.class),
            };
            assert!(step.consumed <= left, "consumed more than there was");
            at += step.consumed;
            match step.event {
                Some(event) => notes.server(event),
                None => break,
            }
        }
        held.drain(..at);
    }
    notes.finished()
}

/// The splittings that every case is run with: whole, byte by byte, every split in two
/// (of long inputs, about five hundred of them).
pub(crate) fn splittings(length: usize) -> impl Iterator<Item = Vec<usize>> {
    let stride = length / 512 + 1;
    let whole = std::iter::once(Vec::new());
    let bytes = std::iter::once((1..length).collect());
    whole.chain(bytes).chain((1..length).step_by(stride).map(|cut| vec![cut]))
}

/// Where random bytes cut an input, for fuzz targets and properties: each is the distance to the
/// next cut.
pub(crate) fn cuts_from(distances: &[u8], length: usize) -> Vec<usize> {
    let mut at = 0;
    let ends = distances.iter().map(|distance| {
        at += usize::from(*distance) + 1;
        at
    });
    ends.take_while(|end| *end < length).collect()
}

fn check(case: &Case<'_>, run: impl Fn(&[u8], &[usize]) -> Transcript) -> Vec<u8> {
    let whole = run(case.input, &[]);
    assert_eq!(whole.seen, case.expected, "{}: whole", case.name);
    for cuts in splittings(case.input.len()).skip(1) {
        let place = if let [cut] = cuts[..] { format!("cut at {cut}") } else { "bytes".to_owned() };
        assert_eq!(run(case.input, &cuts), whole, "{}: {place}", case.name);
    }
    if let Some((bytes, added)) = &case.trailing {
        let input = [case.input, bytes].concat();
        let expected = [&case.expected[..], added].concat();
        let together = run(&input, &[]);
        assert_eq!(together.seen, expected, "{}: with trailing data", case.name);
        let behind = run(&input, &[case.input.len()]);
        assert_eq!(behind, together, "{}: trailing data on its own", case.name);
    }
    whole.out
}

/// The input, cut at these places (ascending).
pub(crate) fn pieces<'a>(input: &'a [u8], cuts: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(input.len()));
    starts.zip(ends).map(|(start, end)| &input[start..end])
}

/// A codec that reports without end is a hang: no honest one needs two steps per byte.
struct Budget(usize);

impl Budget {
    fn new(bytes: usize) -> Self {
        Self(2 * bytes + 16)
    }

    fn spend(&mut self) {
        assert!(self.0 > 0, "the codec goes on reporting without taking bytes");
        self.0 -= 1;
    }
}

#[derive(Default)]
struct Notes {
    seen: Vec<Seen>,
    out: Vec<u8>,
    payload: Vec<u8>,
}

impl Notes {
    fn client(&mut self, event: Event<'_>) {
        let seen = match event {
            Event::Open => Seen::Open,
            Event::Room => Seen::Room,
            Event::Head(head) | Event::Trailers(head) => panic!("nobody asked for heads: {head:?}"),
            Event::Chunk { piece, .. } => return self.piece(piece),
            Event::Reply(reply) => Seen::Reply {
                status: reply.status,
                kind: reply.kind,
                payload: self.joined(reply.payload),
                last: reply.last,
            },
            Event::Failed { error, .. } | Event::Parted(error) => Seen::Failed(error.class),
            Event::Delivery(delivery) => {
                assert_eq!(delivery.payload, None, "these sessions look at what came");
                Seen::Delivery(Delivery { payload: None, ..delivery })
            }
            Event::Bulletin(bulletin) => Seen::Bulletin(bulletin),
            Event::Unprocessed { .. } => Seen::Unprocessed,
            Event::Leaving => Seen::Leaving,
            Event::Close(close) => Seen::Close(close.code),
        };
        self.seen.push(seen);
    }

    fn server(&mut self, event: ServerEvent<'_>) {
        let seen = match event {
            ServerEvent::Request(request) => Seen::Request(request.into()),
            ServerEvent::Message(kind) => Seen::Message(kind),
            ServerEvent::Chunk(piece) => return self.piece(piece),
            ServerEvent::End => Seen::End(self.joined(&[])),
            ServerEvent::Close(close) => Seen::Close(close.code),
        };
        self.seen.push(seen);
    }

    fn piece(&mut self, piece: &[u8]) {
        assert!(!piece.is_empty(), "a chunk is never empty");
        self.payload.extend_from_slice(piece);
    }

    fn joined(&mut self, last: &[u8]) -> Vec<u8> {
        self.payload.extend_from_slice(last);
        std::mem::take(&mut self.payload)
    }

    fn failed(mut self, class: ErrorClass) -> Transcript {
        self.seen.push(Seen::Error(class));
        Transcript { seen: self.seen, out: self.out }
    }

    fn finished(mut self) -> Transcript {
        if !self.payload.is_empty() {
            self.seen.push(Seen::Part(self.payload));
        }
        Transcript { seen: self.seen, out: self.out }
    }
}

impl From<ServerRequest<'_>> for RequestSeen {
    fn from(request: ServerRequest<'_>) -> Self {
        Self {
            method: request.method.to_owned(),
            target: request.target.to_owned(),
            keep_alive: request.keep_alive,
            content_length: request.content_length,
            websocket_key: request.websocket_key.map(ToOwned::to_owned),
            expects_continue: request.expects_continue,
            condition: request.condition,
        }
    }
}
