//! The client of h2 asks our server.
//!
//! Knows what must come of each exchange there. Must not know frames.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use bytes::Bytes;
use fastrand::Rng;
use h2::Reason;
use h2::client::{self, SendRequest};
use http::{HeaderMap, Request};
use wiretrial_proto::Scratch;
use wiretrial_proto::http2::{Http2Event, Http2Limits, Http2Server};

use crate::draw::{self, Exchange, Fate, Fields};
use crate::line::{Line, Pace};
use crate::tasks::{self, Tasks};

/// A conversation that takes more turns than this stands still.
const MOST_TURNS: u64 = 3_000_000;

/// What came of an exchange, as its asker has it.
#[derive(Debug)]
enum Came {
    Reply { status: u16, fields: Fields, content: Vec<u8>, trailers: Fields },
    Failed(h2::Error),
    TakenBack,
}

/// By number.
type Outcomes = Rc<RefCell<BTreeMap<usize, Came>>>;

/// Plays the conversation of this seed.
pub(crate) fn play(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let pace = Pace::draw(&mut rng);
    let exchanges: Rc<[_]> = draw::exchanges(pace, true, &mut rng).into();
    let (line, outcomes, mut tasks) = (Line::default(), Outcomes::default(), Tasks::default());
    let limits = draw::limits(pace, &mut rng);
    let ask = connect(Rc::clone(&exchanges), Rc::clone(&outcomes), limits, (pace, rng.fork()));
    tasks.add(ask(line.clone()));
    let mut host = Host {
        server: Http2Server::new(limits),
        exchanges: Rc::clone(&exchanges),
        came: BTreeMap::new(),
        answers: Vec::new(),
        seen: vec![0; exchanges.len()],
        inbox: Vec::new(),
        out: Vec::new(),
        scratch: Scratch::new(),
    };
    let leaves_after = Some(rng.u64(..2_000)).filter(|_| rng.usize(..5) == 0);
    let mut turns = 0;
    while !(tasks.is_done() && line.is_empty()) {
        turns += 1;
        assert!(turns < MOST_TURNS, "it stands still: {outcomes:?} {:?}", host.answers);
        tasks.turn();
        line.take(pace, &mut rng, &mut host.inbox);
        host.hear();
        host.turn(&mut rng);
        if leaves_after == Some(turns) {
            host.server.leave(&mut host.out);
        }
        line.send(&mut host.out);
        line.let_through(pace, &mut rng);
        if line.is_over() {
            line.end();
        }
    }
    // A connection that h2 closes may take a reset with it.
    let begun = host.came.values().map(|(number, _)| *number);
    let left: Vec<_> = begun.chain(host.answers.iter().map(|answer| answer.number)).collect();
    let is_back = |number: &usize| exchanges[*number].may_break_off();
    assert!(left.iter().all(is_back), "{left:?} have no end");
    assert!(host.server.open_streams() <= left.len(), "{left:?}");
    let outcomes = outcomes.borrow();
    for (number, exchange) in exchanges.iter().enumerate() {
        let came = outcomes.get(&number).expect("each has an end");
        judge(number, exchange, came, host.seen[number], leaves_after.is_some());
    }
}

/// Is that what must come of it?
fn judge(number: usize, exchange: &Exchange, came: &Came, seen: u32, is_left: bool) {
    let Came::Reply { status, fields, content, trailers } = came else {
        return match (came, exchange.fate) {
            (Came::TakenBack, Fate::TakenBack { .. }) => {}
            (Came::Failed(error), Fate::Reset { code, .. }) if error.is_reset() => {
                assert_eq!((error.reason(), error.is_remote()), (Some(code), true), "{number}");
            }
            // Our server had said that it takes no more.
            (Came::Failed(error), _) if is_left => {
                assert!(error.is_go_away(), "{number}: {error}");
                assert_eq!(seen, 0, "{number}: who leaves has not processed it");
            }
            _ => panic!("{number}: {came:?}"),
        };
    };
    assert!(!matches!(exchange.fate, Fate::Reset { .. }), "{number}: it was reset");
    assert_eq!(seen, 1, "{number}");
    assert_eq!(*status, exchange.status, "{number}");
    assert_eq!(*fields, draw::sorted_fields(&exchange.answer), "{number}");
    assert!(*content == exchange.answer_content, "{number}: content");
    assert_eq!(*trailers, draw::sorted_fields(&exchange.answer_trailers), "{number}");
}

/// The client of h2.
fn connect(
    exchanges: Rc<[Exchange]>,
    outcomes: Outcomes,
    allowed: Http2Limits,
    (pace, mut rng): (Pace, Rng),
) -> impl AsyncFnOnce(Line) {
    async move |line| {
        let mut builder = client::Builder::new();
        builder
            .initial_window_size(draw::window(pace, &mut rng))
            .initial_connection_window_size([65_535, 200_000, 1 << 20][rng.usize(..3)])
            .max_frame_size([16_384, 16_385, 100_000][rng.usize(..3)])
            .header_table_size([0, 50, 4_096, 65_536][rng.usize(..4)])
            // Before the settings have come, it knows of no limit.
            .initial_max_send_streams(allowed.max_streams as usize)
            .enable_push(rng.bool());
        let (sender, connection) = builder.handshake(line).await.expect("a handshake");
        let mut all = Tasks::default();
        all.add(async move {
            // What it ends with, each exchange has been told.
            let _ = connection.await;
        });
        for number in 0..exchanges.len() {
            let (exchanges, outcomes) = (Rc::clone(&exchanges), Rc::clone(&outcomes));
            let (sender, rng) = (sender.clone(), rng.fork());
            all.add(async move {
                let came = ask(sender, number, &exchanges[number], rng).await;
                let came = came.unwrap_or_else(Came::Failed);
                assert!(outcomes.borrow_mut().insert(number, came).is_none(), "{number} ends once");
            });
        }
        drop(sender);
        std::future::poll_fn(|_| {
            all.turn();
            if all.is_done() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}

async fn ask(
    sender: SendRequest<Bytes>,
    number: usize,
    exchange: &Exchange,
    mut rng: Rng,
) -> Result<Came, h2::Error> {
    tasks::pause(rng.usize(..300)).await;
    let mut sender = sender.ready().await?;
    let uri = format!("http://h/{number}?of=them");
    let mut request = Request::builder().method(exchange.method).uri(uri).body(()).expect("made");
    *request.headers_mut() = draw::map(&exchange.fields);
    let (response, mut to) = sender.send_request(request, exchange.is_bare())?;
    drop(sender);
    if let Fate::TakenBack { after } = exchange.fate {
        let half = &exchange.content[..exchange.content.len() / 2];
        if !exchange.is_bare() {
            tasks::say(&mut to, half, false, &mut rng).await;
        }
        tasks::pause(after).await;
        to.send_reset(Reason::CANCEL);
        return Ok(Came::TakenBack);
    }
    let is_end = exchange.trailers.is_empty();
    // Who does not want all of it may have answered all the same.
    let is_said = tasks::say(&mut to, &exchange.content, is_end, &mut rng).await;
    if is_said && !is_end {
        let _ = to.send_trailers(draw::map(&exchange.trailers));
    }
    let (head, mut body) = response.await?.into_parts();
    let (content, trailers) = tasks::hear(&mut body, usize::MAX, &mut rng).await?;
    Ok(Came::Reply {
        status: head.status.as_u16(),
        fields: draw::sorted_map(&head.headers),
        content,
        trailers: draw::sorted_map(&trailers.unwrap_or_else(HeaderMap::new)),
    })
}

/// Our side.
struct Host {
    server: Http2Server,
    exchanges: Rc<[Exchange]>,
    /// Content by stream, and whose it is.
    came: BTreeMap<u32, (usize, Vec<u8>)>,
    answers: Vec<Answer>,
    /// How often each was asked.
    seen: Vec<u32>,
    inbox: Vec<u8>,
    out: Vec<u8>,
    scratch: Scratch,
}

#[derive(Debug)]
struct Answer {
    stream: u32,
    number: usize,
    /// Of its content, so much was said; none: not its head either.
    said: Option<usize>,
}

impl Host {
    fn hear(&mut self) {
        let mut offset = 0;
        loop {
            let step = self.server.receive(&self.inbox[offset..], &mut self.scratch, &mut self.out);
            let step = step.unwrap_or_else(|error| panic!("{error}: {:?}", &self.inbox[offset..]));
            offset += step.consumed;
            match step.event {
                None => break,
                Some(Http2Event::Request { stream, method, target, content_length, .. }) => {
                    let path = target.and_then(|target| target.strip_suffix("?of=them"));
                    let number = path.and_then(|path| path.strip_prefix('/')?.parse().ok());
                    let number: usize = number.expect("a number");
                    let exchange = &self.exchanges[number];
                    assert_eq!((method, content_length), (exchange.method, None));
                    self.seen[number] += 1;
                    assert!(self.came.insert(stream, (number, Vec::new())).is_none());
                    if exchange.fate == Fate::Early {
                        self.answers.push(Answer { stream, number, said: None });
                    }
                }
                Some(Http2Event::Chunk { stream, piece }) => {
                    let (_, content) = self.came.get_mut(&stream).expect("its head came");
                    content.extend_from_slice(piece);
                }
                Some(Http2Event::End { stream }) => {
                    let (number, content) = self.came.remove(&stream).expect("its head came");
                    let exchange = &self.exchanges[number];
                    assert!(content == exchange.content, "{number}: content");
                    if exchange.fate != Fate::Early {
                        self.answers.push(Answer { stream, number, said: None });
                    }
                }
                Some(Http2Event::Gone { stream }) => {
                    let answer = self.answers.iter().find(|answer| answer.stream == stream);
                    let number = answer.map(|answer| answer.number);
                    let number = number.or_else(|| Some(self.came.get(&stream)?.0));
                    if let Some(number) = number {
                        assert!(self.exchanges[number].may_break_off(), "{number} was broken off");
                    }
                    self.answers.retain(|answer| answer.stream != stream);
                    self.came.remove(&stream);
                }
                Some(Http2Event::Room | Http2Event::Leaving) => {}
            }
        }
        self.inbox.drain(..offset);
    }

    /// Answers a little.
    fn turn(&mut self, rng: &mut Rng) {
        if self.answers.is_empty() || rng.usize(..3) == 0 {
            return;
        }
        let place = rng.usize(..self.answers.len());
        let Answer { stream, number, said } = &mut self.answers[place];
        let exchange = &self.exchanges[*number];
        let (content, trailers) = (&exchange.answer_content, &exchange.answer_trailers);
        let reset = match exchange.fate {
            Fate::Reset { code, is_inside } => Some((code, is_inside)),
            _ => None,
        };
        let (stream, out) = (*stream, &mut self.out);
        let is_over = match (*said, reset) {
            (None, Some((code, false))) => {
                self.server.reset(stream, draw::ours(code), out);
                true
            }
            (None, _) => {
                let fields = exchange.answer.iter();
                let fields: Vec<_> =
                    fields.map(|(name, value)| (name.as_str(), value.as_slice())).collect();
                let is_end = content.is_empty() && trailers.is_empty() && reset.is_none();
                *said = Some(0);
                !self.server.respond(stream, exchange.status, &fields, is_end, out) || is_end
            }
            (Some(from), Some((code, _))) if from >= content.len() / 2 => {
                self.server.reset(stream, draw::ours(code), out);
                true
            }
            (Some(from), None) if from == content.len() => {
                let fields = trailers.iter();
                let fields: Vec<_> =
                    fields.map(|(name, value)| (name.as_str(), value.as_slice())).collect();
                self.server.trailers(stream, &fields, out);
                true
            }
            (Some(from), reset) => {
                let to = rng.usize(from + 1..=content.len());
                let is_end = to == content.len() && trailers.is_empty() && reset.is_none();
                *said = Some(to);
                !self.server.content(stream, &content[from..to], is_end, out) || is_end
            }
        };
        if is_over {
            self.answers.swap_remove(place);
        }
    }
}
