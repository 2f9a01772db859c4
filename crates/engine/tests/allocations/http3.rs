//! Over HTTP/3: what our side of a conversation allocates per message, and what a whole run does, of which the
//! library's QUIC has the rest.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use stats_alloc::Region;
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http3::{
    Action, Http3Client, Http3Event, Http3Limits, Http3Request, Http3Server, Outgoing,
};
use wiretrial_proto::{Event, Message, Scratch};

use crate::binary::Respond;
use crate::certificates::Certificate;
use crate::{ALLOCATOR, allocations, alone, of_traffic};

const FEW: u64 = 2_000;
const MANY: u64 = 12_000;
/// Of a message on a stream of its own the library keeps the state of what is sent, the bytes in memory of their own, a list
/// of them, and what was acknowledged; and of each packet what is in it. One of ours per message would be too many.
const MOST: f64 = 5.0;
/// Of a message on a stream that stays.
const MOST_ON_A_STREAM: f64 = 3.0;
/// Messages that are in flight at once between two sessions.
const DEPTH: u64 = 16;
const BODY: &[u8] = b"twenty bytes of body";

#[test]
fn a_message_allocates_what_quic_needs_for_a_stream_and_its_packets() {
    let _alone = alone();
    let certificate = Certificate::new("localhost", |_| {});
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (cert, key) = (text(&certificate.cert), text(&certificate.key));
    let flags = ["--https", "127.0.0.1:0", "--http3", "--cert", &cert, "--key", &key];
    let server = Respond::start(&flags);
    let (_, secure) = server.http.split_once(" https=").expect("its address inside TLS");
    for poller in ["uring", "epoll"] {
        for depth in [1, 16] {
            let kinds = ["https 3", "https 3-rules", "https 3-partly", "grpcs 3", "wss 3"];
            for kind in kinds {
                let (scheme, of) = kind.split_once(' ').expect("two words");
                let path = match scheme {
                    "https" => "/echo",
                    "grpcs" => "/wiretrial.Echo/Unary",
                    _ => "/",
                };
                let url = format!("{scheme}://{secure}{path}");
                let name = format!("{kind} with {poller}, depth {depth}");
                let of = |count| allocations(&url, of, poller, (depth, "closed"), count);
                let most = if scheme == "wss" { MOST_ON_A_STREAM } else { MOST };
                let each = per_message(of);
                println!("{each:.2} allocations per message: {name}");
                assert!(each < most, "{each} allocations per message: {name}");
            }
        }
        let (url, load) = (format!("https://{secure}"), json!({"connections": 10}));
        let name = format!("traffic with {poller}");
        let of = |count| of_traffic(&url, "3", poller, &load, count);
        let each = per_message(of);
        println!("{each:.2} allocations per message: {name}");
        assert!(each < MOST, "{each} allocations per message: {name}");
    }
}

/// Frames, fields and what is in flight, without QUIC.
#[test]
fn a_session_allocates_nothing_for_a_message() {
    let _alone = alone();
    let target = [HeadPart::Text("/echo")];
    let headers = [("x-own", vec![HeadPart::Text("in each of them")])];
    for made in [Http3Request::with_holes, Http3Request::keeping] {
        let length = PayloadLength::Varying;
        let request = made("https", "POST", &target, "a", &headers, false, length);
        let mut pair = Pair::new(request.expect("a request"));
        pair.play(2_000);
        (pair.replies, pair.allocations) = (0, 0);
        pair.play(40_000);
        assert_eq!(pair.replies, 40_000);
        // The rest are the test harness's own.
        assert!(pair.allocations < 400, "{} for 40,000 messages", pair.allocations);
    }
}

/// How often each message more has a run allocate; intervals have their part of it.
fn per_message(of: impl Fn(u64) -> (usize, usize)) -> f64 {
    // What is allocated once is allocated now.
    of(FEW);
    let [few, many] = [FEW, MANY].map(|messages| of(messages).0);
    many.saturating_sub(few) as f64 / (MANY - FEW) as f64
}

/// Both sessions of a connection, and how often the client's allocated.
struct Pair {
    client: Http3Client,
    server: Http3Server,
    asked: Outgoing,
    answered: Outgoing,
    scratch: Scratch,
    servers: Scratch,
    /// Streams whose requests have come whole.
    due: Vec<u64>,
    replies: u64,
    allocations: usize,
}

impl Pair {
    fn new(request: Http3Request) -> Self {
        let limits = Http3Limits { table: 4096, ..Http3Limits::default() };
        let mut pair = Self {
            client: Http3Client::new(Arc::from([request]), Http3Limits::default()),
            server: Http3Server::new(limits),
            asked: Outgoing::new(),
            answered: Outgoing::new(),
            scratch: Scratch::new(),
            servers: Scratch::new(),
            due: Vec::new(),
            replies: 0,
            allocations: 0,
        };
        pair.client.start(&mut pair.asked);
        pair.server.start(&mut pair.answered);
        pair.client.allow(1 << 30);
        pair.exchange();
        pair
    }

    fn play(&mut self, messages: u64) {
        for first in (0..messages).step_by(DEPTH as usize) {
            let begin = Region::new(ALLOCATOR);
            for number in first..first + DEPTH {
                self.client.encode(&Message::new(number, BODY), &mut self.asked);
            }
            self.count(&begin);
            self.exchange();
        }
    }

    /// Until neither side has something to say.
    fn exchange(&mut self) {
        while !(self.asked.is_empty() && self.answered.is_empty()) {
            self.serve();
            self.hear();
        }
    }

    fn serve(&mut self) {
        let Self { server, asked, answered, servers, due, .. } = self;
        for (stream, bytes, fin) in asked.actions().map(written) {
            let mut offset = 0;
            loop {
                let step = server.receive(stream, &bytes[offset..], fin, servers, answered);
                let step = step.expect("a client that keeps the rules");
                offset += step.consumed;
                match step.event {
                    None => break,
                    Some(Http3Event::End { stream }) => due.push(stream),
                    Some(_) => {}
                }
            }
        }
        asked.clear();
        for stream in due.drain(..) {
            server.respond(stream, 200, &[("content-length", b"20")], false, answered);
            server.content(stream, BODY, true, answered);
        }
    }

    fn hear(&mut self) {
        let begin = Region::new(ALLOCATOR);
        let Self { client, asked, answered, scratch, replies, .. } = self;
        for (stream, bytes, fin) in answered.actions().map(written) {
            let mut offset = 0;
            loop {
                let step = client.receive(stream, &bytes[offset..], fin, scratch, asked);
                let step = step.expect("a server that keeps the rules");
                offset += step.consumed;
                match step.event {
                    None => break,
                    Some(Event::Reply(reply)) => {
                        assert_eq!((reply.status, reply.payload), (200, BODY));
                        *replies += 1;
                    }
                    Some(_) => {}
                }
            }
        }
        answered.clear();
        self.count(&begin);
    }

    fn count(&mut self, begin: &Region<'_, std::alloc::System>) {
        let change = begin.change();
        self.allocations += change.allocations + change.reallocations;
    }
}

/// What goes to a stream: nothing is given up here.
fn written(action: Action<'_>) -> (u64, &[u8], bool) {
    match action {
        Action::Write { stream, bytes, fin } => (stream, bytes, fin),
        other => panic!("{other:?}"),
    }
}
