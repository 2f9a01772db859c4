//! Our client asks the server of h2.
//!
//! Knows what must come of each exchange there. Must not know frames.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use fastrand::Rng;
use h2::server::{self, Connection, SendResponse};
use h2::{Reason, RecvStream};
use http::{Request, Response};
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Request};
use wiretrial_proto::{ClientSession as _, ErrorClass, Event, Message, ReplyHead, Scratch, Tag};

use crate::draw::{self, Exchange, Fate, Fields};
use crate::line::{Line, Pace};
use crate::tasks::{self, Tasks};

/// A conversation that takes more turns than this stands still.
const MOST_TURNS: u64 = 3_000_000;

/// How often the server was asked what has this number.
type Arrived = Rc<RefCell<BTreeMap<usize, u32>>>;

/// What came of a message.
#[derive(Debug, Default)]
struct Came {
    status: u16,
    fields: Fields,
    content: Vec<u8>,
    trailers: Fields,
    end: Option<End>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Replied,
    Reset,
    TakenBack,
}

/// Plays the conversation of this seed.
pub(crate) fn play(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let pace = Pace::draw(&mut rng);
    let exchanges: Rc<[_]> = draw::exchanges(pace, false, &mut rng).into();
    let (line, arrived) = (Line::default(), Arrived::default());
    let mut tasks = Tasks::default();
    let leaves_after = Some(rng.usize(..2_000)).filter(|_| rng.usize(..5) == 0);
    let host =
        Host { exchanges: Rc::clone(&exchanges), arrived: Rc::clone(&arrived), leaves_after, pace };
    tasks.add(host.serve(line.clone(), rng.fork()));
    let requests: Vec<_> = exchanges.iter().enumerate().map(request).collect();
    let mut asker = Asker {
        client: Http2Client::telling_heads(Arc::from(requests), draw::limits(pace, &mut rng)),
        exchanges: Rc::clone(&exchanges),
        waiting: (0..exchanges.len()).rev().collect(),
        begun: BTreeMap::new(),
        came: exchanges.iter().map(|_| Came::default()).collect(),
        inbox: Vec::new(),
        out: Vec::new(),
        scratch: Scratch::new(),
        is_left: false,
    };
    // Behind the preface, or once the settings have come.
    if rng.bool() {
        asker.client.hasten();
    }
    asker.client.start(&mut asker.out);
    let mut turns = 0;
    let mut is_closed = false;
    while !(tasks.is_done() && line.is_empty()) {
        turns += 1;
        assert!(turns < MOST_TURNS, "it stands still: {:?} {:?}", asker.begun, asker.came);
        asker.turn(&mut rng);
        line.send(&mut asker.out);
        line.let_through(pace, &mut rng);
        tasks.turn();
        line.take(pace, &mut rng, &mut asker.inbox);
        asker.hear();
        if !is_closed && asker.is_done() {
            is_closed = true;
            asker.client.close(&mut asker.out);
            line.send(&mut asker.out);
            line.end();
        }
    }
    let is_told = leaves_after.is_some();
    for (number, (exchange, came)) in exchanges.iter().zip(&asker.came).enumerate() {
        let count = arrived.borrow().get(&number).copied().unwrap_or_default();
        judge(number, exchange, came, count, is_told);
    }
    assert!(is_told || asker.waiting.is_empty(), "nobody left, and not all was asked");
}

fn request((number, exchange): (usize, &Exchange)) -> Http2Request {
    let target = format!("/{number}?of=them");
    let text = |text| vec![HeadPart::Text(text)];
    let fields = exchange.fields.iter();
    let fields: Vec<_> = fields
        .map(|(name, value)| (name.as_str(), text(str::from_utf8(value).expect("ASCII"))))
        .collect();
    let length = match exchange.content.len() {
        0 => PayloadLength::None,
        _ => PayloadLength::Varying,
    };
    Http2Request::with_holes("http", exchange.method, &text(&target), "h:1", &fields, false, length)
        .expect("a request")
}

/// Our side.
struct Asker {
    client: Http2Client,
    exchanges: Rc<[Exchange]>,
    /// To be asked, the next one last.
    waiting: Vec<usize>,
    /// Asked, and for how many turns.
    begun: BTreeMap<usize, usize>,
    came: Vec<Came>,
    inbox: Vec<u8>,
    out: Vec<u8>,
    scratch: Scratch,
    is_left: bool,
}

impl Asker {
    /// Asks what there is room for, now and then, and takes back what is to be taken back.
    fn turn(&mut self, rng: &mut Rng) {
        for (&number, turns) in &mut self.begun {
            *turns += 1;
            let is_due =
                matches!(self.exchanges[number].fate, Fate::TakenBack { after } if *turns > after);
            if is_due && self.came[number].end.is_none() {
                assert!(self.client.cancel(number as u64, &mut self.out), "it is in flight");
                self.came[number].end = Some(End::TakenBack);
            }
        }
        self.begun.retain(|&number, _| self.came[number].end.is_none());
        while self.client.is_open()
            && self.begun.len() < self.client.room() as usize
            && rng.usize(..3) > 0
        {
            let Some(number) = self.waiting.pop() else { return };
            let message = Message {
                route: number,
                ..Message::new(number as u64, &self.exchanges[number].content)
            };
            self.client.encode(&message, &mut self.out);
            self.begun.insert(number, 0);
        }
    }

    fn hear(&mut self) {
        let mut offset = 0;
        loop {
            let step = self.client.receive(&self.inbox[offset..], &mut self.scratch, &mut self.out);
            let step = step.unwrap_or_else(|error| panic!("{error}: {:?}", &self.inbox[offset..]));
            offset += step.consumed;
            let Some(event) = step.event else { break };
            match event {
                Event::Open | Event::Room => {}
                Event::Head(head) => {
                    let came = at(&mut self.came, head.tag);
                    (came.status, came.fields) = (head.status, listed(&head));
                }
                Event::Trailers(head) => at(&mut self.came, head.tag).trailers = listed(&head),
                Event::Chunk { tag, piece } => {
                    at(&mut self.came, tag).content.extend_from_slice(piece);
                }
                Event::Reply(reply) => {
                    let came = at(&mut self.came, reply.tag);
                    came.content.extend_from_slice(reply.payload);
                    assert_eq!(came.status, reply.status);
                    came.end = Some(End::Replied);
                    self.is_left |= reply.last;
                }
                Event::Failed { tag, error } => {
                    assert_eq!(error.class, ErrorClass::Reset, "{error}");
                    at(&mut self.came, tag).end = Some(End::Reset);
                }
                Event::Unprocessed { tag: Tag::Number(number) } => {
                    self.came[number as usize] = Came::default();
                    self.begun.remove(&(number as usize));
                    self.waiting.push(number as usize);
                }
                Event::Leaving => self.is_left = true,
                other => panic!("{other:?}"),
            }
        }
        self.inbox.drain(..offset);
        self.begun.retain(|&number, _| self.came[number].end.is_none());
    }

    fn is_done(&self) -> bool {
        self.is_left || self.begun.is_empty() && self.waiting.is_empty()
    }
}

/// What is known of a message that nothing has ended.
fn at(came: &mut [Came], tag: Tag) -> &mut Came {
    let Tag::Number(number) = tag else { panic!("streams have numbers") };
    let came = &mut came[number as usize];
    assert_eq!(came.end, None, "it is over");
    came
}

fn listed(head: &ReplyHead<'_>) -> Fields {
    draw::sorted(head.fields())
}

/// Is that what must come of it?
fn judge(number: usize, exchange: &Exchange, came: &Came, seen: u32, is_left: bool) {
    let is_refused = matches!(exchange.fate, Fate::Reset { code: Reason::REFUSED_STREAM, .. });
    if came.end.is_none() {
        assert!(is_left, "{number}: nothing came of it");
        assert_eq!(
            seen,
            u32::from(is_refused && seen > 0),
            "{number}: who leaves has not processed it"
        );
        return;
    }
    match (exchange.fate, came.end) {
        // It went again.
        (Fate::Reset { .. }, Some(End::Replied)) if is_refused => assert_eq!(seen, 2),
        (Fate::Reset { .. }, end) => return assert_eq!(end, Some(End::Reset), "{number}"),
        (Fate::TakenBack { .. }, Some(End::TakenBack)) => return,
        (_, end) => assert_eq!((end, seen), (Some(End::Replied), 1), "{number}"),
    }
    assert_eq!(came.status, exchange.status, "{number}");
    assert_eq!(came.fields, draw::sorted_fields(&exchange.answer), "{number}");
    assert!(came.content == exchange.answer_content, "{number}: content");
    assert_eq!(came.trailers, draw::sorted_fields(&exchange.answer_trailers), "{number}");
}

/// The server of h2.
struct Host {
    exchanges: Rc<[Exchange]>,
    arrived: Arrived,
    /// It takes its leave after so many turns.
    leaves_after: Option<usize>,
    pace: Pace,
}

impl Host {
    async fn serve(self, line: Line, mut rng: Rng) {
        let mut builder = server::Builder::new();
        builder
            .initial_window_size(draw::window(self.pace, &mut rng))
            .initial_connection_window_size([65_535, 200_000, 1 << 20][rng.usize(..3)])
            .max_frame_size([16_384, 16_385, 100_000][rng.usize(..3)])
            .max_concurrent_streams(rng.u32(1..20))
            .header_table_size([0, 50, 4_096, 65_536][rng.usize(..4)]);
        let mut connection = builder.handshake(line).await.expect("a handshake");
        let (mut answers, mut turns) = (Tasks::default(), 0);
        let mut next =
            async |connection: &mut Connection<_, _>, answers: &mut Tasks, rng: &mut Rng| {
                poll_fn(|context| {
                    turns += 1;
                    if self.leaves_after == Some(turns) {
                        connection.graceful_shutdown();
                    }
                    if rng.usize(..200) == 0 {
                        // Narrower than before, what is on its way makes windows negative.
                        let window = draw::window(self.pace, rng);
                        // Refused as long as the last one is not acknowledged.
                        let _ = connection.set_initial_window_size(window);
                    }
                    answers.turn();
                    pin!(connection.accept()).poll(context)
                })
                .await
            };
        while let Some(accepted) = next(&mut connection, &mut answers, &mut rng).await {
            let (request, respond) = accepted.expect("the client breaks no rule");
            let number = number(&request);
            *self.arrived.borrow_mut().entry(number).or_default() += 1;
            let (exchanges, rng) = (Rc::clone(&self.exchanges), rng.fork());
            let is_again = self.arrived.borrow()[&number] > 1;
            answers.add(async move {
                answer(&exchanges[number], is_again, request, respond, rng).await;
            });
        }
        for _ in 0..1_000 {
            answers.turn();
        }
        assert!(answers.is_done(), "the connection is over, and an answer is not");
    }
}

fn number(request: &Request<RecvStream>) -> usize {
    let path = request.uri().path().strip_prefix('/').expect("a path");
    path.parse().expect("a number")
}

/// Compares a request, and says what is said to it.
async fn answer(
    exchange: &Exchange,
    is_again: bool,
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    mut rng: Rng,
) {
    let fate = match exchange.fate {
        Fate::Reset { code: Reason::REFUSED_STREAM, .. } if is_again => Fate::Answered,
        fate => fate,
    };
    let (head, mut body) = request.into_parts();
    assert_eq!(head.method.as_str(), exchange.method);
    assert_eq!(head.uri.query(), Some("of=them"));
    let mut fields = exchange.fields.clone();
    if !exchange.content.is_empty() {
        fields.push(("content-length".to_owned(), exchange.content.len().to_string().into()));
    } else if matches!(exchange.method, "POST" | "PUT") {
        fields.push(("content-length".to_owned(), b"0".into()));
    }
    assert_eq!(draw::sorted_map(&head.headers), draw::sorted_fields(&fields));
    tasks::pause(rng.usize(..50)).await;
    let is_early = fate == Fate::Early;
    let most = if is_early { rng.usize(..=exchange.content.len()) } else { usize::MAX };
    let read = tasks::hear(&mut body, most, &mut rng).await;
    let Ok((content, _)) = read else { return taken_back(exchange, read.err().as_ref()) };
    assert!(exchange.content.starts_with(&content), "content");
    assert!(is_early || content.len() == exchange.content.len(), "all of it");
    if exchange.is_hinted {
        let hint = Response::builder().status(103).header("link", "x").body(()).expect("a hint");
        // Where the other side does not want it any more, what follows says so.
        let _ = respond.send_informational(hint);
    }
    let mut answer = Response::builder().status(exchange.status).body(()).expect("an answer");
    *answer.headers_mut() = draw::map(&exchange.answer);
    let (content, trailers) = (&exchange.answer_content, &exchange.answer_trailers);
    let reset =
        if let Fate::Reset { code, is_inside } = fate { Some((code, is_inside)) } else { None };
    if let Some((code, false)) = reset {
        return respond.send_reset(code);
    }
    let is_end = content.is_empty() && trailers.is_empty() && reset.is_none();
    let Ok(mut to) = respond.send_response(answer, is_end) else { return };
    let content = if reset.is_some() { &content[..content.len() / 2] } else { content };
    let is_end = trailers.is_empty() && reset.is_none();
    if !tasks::say(&mut to, content, is_end, &mut rng).await {
        return;
    }
    match reset {
        Some((code, _)) => to.send_reset(code),
        // Where the other side does not want it any more, there is nothing to be said.
        None if !trailers.is_empty() => drop(to.send_trailers(draw::map(trailers))),
        None => {}
    }
}

/// A request that did not come whole.
fn taken_back(exchange: &Exchange, error: Option<&h2::Error>) {
    assert!(matches!(exchange.fate, Fate::TakenBack { .. }), "{error:?}");
    assert_eq!(error.and_then(h2::Error::reason), Some(Reason::CANCEL));
}
