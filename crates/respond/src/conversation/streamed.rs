//! The routes over HTTP/2 and HTTP/3.
//!
//! Knows requests on many streams and their answers. Must not know sockets, nor how either is framed: a
//! [`Codec`] does that.
//!
//! Answers come in the order in which they are complete. With a script, one is written when its request
//! is complete and the script wants it: a delay or a fault is that of one answer, and the others go on.
//!
//! ```text
//! scripted -> calls;   http2 -> frames;   all of them -> codec
//! ```

mod calls;
mod codec;
mod events;
mod frames;
mod http2;
pub(crate) mod http3;
mod patterns;
mod scripted;
mod served;
mod websocket;
mod whole;

use std::convert::Infallible;
use std::ops::ControlFlow;

use wiretrial_proto::http2::Http2Server;
use wiretrial_proto::{Arrival, Condition, ProtocolError, Scratch, Step};

use self::codec::Codec;
use self::scripted::{Asked, Scripted};
use self::served::Served;
use self::websocket::Socket;
use super::encodings::Codecs;
use super::grpc::{self, Call};
use super::{Conversation, STREAM_AHEAD};
use crate::content::{BYTES, JSON, MESSAGE, PAGE, RECEIVED, TEXT, message_by_id};
use crate::events::{EventStream, WRONG};
use crate::hub::{Member, Memberships, Notice};
use crate::route::{Method, Route, decoded};
use crate::sink::{Ending, Reply, Sink};
use crate::verdict::{Scheme, Verdict, demanded_fields};

/// What is said with a status that the script wants.
const FAULT: &[u8] = b"scripted fault\n";
/// Over HTTP/2.
pub(crate) type Http2Conversation = StreamedConversation<Http2Server>;

/// Requests on many streams, and their answers, in what this codec writes.
#[derive(Debug)]
pub(crate) struct StreamedConversation<C> {
    codec: C,
    scheme: Scheme,
    /// Requests that are not answered whole.
    open: Vec<Open>,
    answers: u32,
    scripted: Scripted,
    websockets: websocket::Shared,
    /// Of calls of gRPC.
    codecs: Codecs,
    /// It is told what is published, as one of its streams has asked for it.
    has_joined: bool,
}

/// A request that is not answered whole.
#[derive(Debug)]
struct Open {
    stream: u32,
    answer: Answer,
}

/// What is asked on a stream.
#[derive(Debug, Clone, Copy)]
struct Question<'a> {
    stream: u32,
    method: Method,
    target: &'a str,
    content_length: Option<u64>,
    last_event_id: Option<&'a [u8]>,
}

/// In what is told what others publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Events,
    /// Messages of gRPC.
    Messages,
}

#[derive(Debug)]
enum Answer {
    /// None before the request is complete: its method and its target.
    Asked(Method, String),
    /// The request's own content, as it comes.
    Echo(Reply),
    /// The same once it is complete, behind what stands here; of this type.
    Kept(Vec<u8>, &'static str),
    /// A call of gRPC; where its messages come back as they come, with the answer that has begun.
    Call(Box<Call>, Option<Reply>),
    /// A call of a service that was put up.
    Served(Box<Served>),
    /// The pattern from this offset on.
    Pattern { offset: u64, length: u64, reply: Reply },
    /// Events, each when it is due.
    Events(Box<EventStream>),
    /// What others publish, when they do.
    Subscription(Told),
    /// Messages of a WebSocket, each of which comes back.
    WebSocket(Box<Socket>),
}

impl<C: Codec> StreamedConversation<C> {
    pub(crate) fn new(scheme: Scheme) -> Self {
        Self {
            codec: C::begin(),
            scheme,
            open: Vec::new(),
            answers: 0,
            scripted: Scripted::default(),
            websockets: websocket::Shared::default(),
            codecs: Codecs::default(),
            has_joined: false,
        }
    }
}

impl<C: Codec> Conversation for StreamedConversation<C> {
    type Event<'a> = Arrival<'a, u32>;
    type Upgrade = Infallible;

    /// Goes on with patterns, each in turn. Where the client's windows are what is missing, its next
    /// bytes are needed, and where the connection has enough to send, room.
    fn continue_reply(&mut self, sink: &mut Sink<'_>) -> bool {
        loop {
            let (mut place, mut is_over) = (0, true);
            while place < self.open.len() {
                if !matches!(self.open[place].answer, Answer::Pattern { .. }) {
                    place += 1;
                    continue;
                }
                if self.codec.held() >= STREAM_AHEAD {
                    return true;
                }
                if sink.backlog() >= STREAM_AHEAD {
                    return false;
                }
                is_over = false;
                place += usize::from(self.continue_pattern(place, sink));
            }
            if is_over {
                return true;
            }
        }
    }

    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<Arrival<'a, u32>>, ProtocolError> {
        self.codec.receive(input, scratch, out)
    }

    fn on_event(
        &mut self,
        event: &mut Arrival<'_, u32>,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) -> ControlFlow<Infallible> {
        match *event {
            Arrival::Request { stream, .. } if self.scripted.passes_over(stream) => {}
            Arrival::Request { stream, target, connect: Some(connect), is_end, .. } => {
                self.connect(stream, connect, target.unwrap_or_default(), is_end, sink);
            }
            Arrival::Request { stream, method: "POST", target, is_call: true, fields, .. } => {
                self.begin_call(stream, target.unwrap_or_default(), fields, sink, member);
            }
            Arrival::Request {
                stream,
                method,
                target,
                content_length,
                last_event_id,
                is_end,
                ..
            } => {
                let (method, target) = (Method::of(method), target.unwrap_or_default());
                if is_end || Route::of(target).echoes() {
                    let asked = Question { stream, method, target, content_length, last_event_id };
                    self.answer(&asked, sink);
                    self.tell_later(stream, member);
                } else {
                    // Whether it is a request at all is known with its end.
                    let answer = Answer::Asked(method, target.to_owned());
                    self.open.push(Open { stream, answer });
                }
            }
            Arrival::Chunk { stream, piece } => match self.find(stream) {
                Some(Answer::Echo(_)) => {
                    self.codec.content(stream, piece, false, sink.out);
                }
                Some(Answer::WebSocket(_)) => self.hear(stream, piece, sink),
                Some(Answer::Kept(kept, _)) => kept.extend_from_slice(piece),
                Some(Answer::Call(..)) => self.hear_echoed(stream, piece, sink),
                Some(Answer::Served(_)) => self.hear_call(stream, Some(piece), sink, member),
                _ => {}
            },
            Arrival::End { stream } => {
                self.hear_call(stream, None, sink, member);
                let is_new = matches!(self.find(stream), Some(Answer::Asked(..)));
                self.end(stream, sink);
                if is_new {
                    self.tell_later(stream, member);
                }
            }
            Arrival::Gone { stream } => {
                self.scripted.forget(|gone| gone == stream);
                if matches!(self.find(stream), Some(Answer::WebSocket(_))) {
                    self.part(stream, sink);
                } else if let Some(
                    Answer::Echo(reply)
                    | Answer::Pattern { reply, .. }
                    | Answer::Call(_, Some(reply)),
                ) = self.take(stream)
                {
                    sink.end(reply);
                }
            }
            Arrival::Leaving if self.codec.open_streams() == 0 && self.scripted.is_idle() => {
                sink.finish(Ending::Orderly);
            }
            Arrival::Leaving | Arrival::Room => {}
        }
        ControlFlow::Continue(())
    }

    fn on_notice(&mut self, notice: &Notice, sink: &mut Sink<'_>, member: &mut Member<'_>) {
        match *notice {
            Notice::Due { stream, now } => {
                self.tell_events(stream, now, sink, member);
                self.say_due(stream, now, sink, member);
            }
            Notice::Broadcast(ref message) => self.tell_published(message, sink),
            Notice::Response(_) | Notice::Lobby(_) => {}
        }
    }

    fn next_due(&self) -> Option<u64> {
        self.scripted.next_due()
    }

    fn on_due(&mut self, now: u64, sink: &mut Sink<'_>) {
        self.do_due(now, sink);
    }

    fn memberships(&self) -> Memberships {
        Memberships { broadcast: self.has_joined, ..Memberships::default() }
    }

    /// Streams of events end in order.
    fn go_away(&mut self, out: &mut Vec<u8>) {
        self.end_events(out);
        self.close_websockets(out);
        if !self.scripted.has_left() {
            self.codec.leave(out);
        }
    }
}

impl<C: Codec> StreamedConversation<C> {
    fn answer(&mut self, question: &Question<'_>, sink: &mut Sink<'_>) {
        let Question { stream, method, target, content_length, last_event_id } = *question;
        let route = Route::of(target);
        let verdict = Verdict::on(target, Condition::None, self.scheme, route, method);
        self.answers = self.answers.saturating_add(1);
        if grpc::has(target) || sink.shared().serves(target) {
            return self.no_call(stream, method, sink);
        }
        if verdict == Verdict::Serve && route.echoes() {
            let (kind, front) = match route {
                Route::Test => (TEXT, RECEIVED),
                _ => (BYTES, &b""[..]),
            };
            return self.begin_echo(stream, kind, front, content_length, sink);
        }
        if sink.is_staged() && !matches!(route, Route::Events(_) | Route::Subscribe) {
            return self.direct(stream, Asked::Request(method, target.to_owned()), sink);
        }
        let reply = sink.begin();
        self.respond(stream, reply, (route, verdict), method, last_event_id, sink);
    }

    fn respond(
        &mut self,
        stream: u32,
        reply: Reply,
        (route, verdict): (Route<'_>, Verdict),
        method: Method,
        last_event_id: Option<&[u8]>,
        sink: &mut Sink<'_>,
    ) {
        if reply.fails() {
            return self.give(stream, reply, 500, TEXT, "", FAULT, method, sink);
        }
        let (status, kind, fields, body): (u16, _, _, &[u8]) = match verdict {
            Verdict::Serve => {
                if let (Route::Events(Some(asked)), Method::Get) = (route, method) {
                    return self.begin_events(stream, reply, asked, last_event_id, sink);
                }
                if (route, method) == (Route::Subscribe, Method::Get) {
                    return self.begin_subscription(stream, reply, sink);
                }
                return self.serve(stream, reply, route, method, sink);
            }
            Verdict::Elsewhere => (421, TEXT, "", b"another scheme's server\n"),
            Verdict::NotImplemented => (501, TEXT, "", b"no such method\n"),
            Verdict::NotFound => (404, TEXT, "", b"no such route\n"),
            Verdict::NotAllowed => (405, "", route.allow(), b""),
            Verdict::Options => (200, "", route.allow(), b""),
            Verdict::NotModified => (304, "", "", b""),
            Verdict::Failed => (412, TEXT, "", b"the condition does not hold\n"),
        };
        self.give(stream, reply, status, kind, fields, body, method, sink);
    }

    fn serve(
        &mut self,
        stream: u32,
        reply: Reply,
        route: Route<'_>,
        method: Method,
        sink: &mut Sink<'_>,
    ) {
        let made;
        let (status, kind, fields, body): (u16, _, _, &[u8]) = match route {
            Route::Page => (200, "text/html; charset=utf-8", "", PAGE),
            Route::Message => (200, JSON, "", MESSAGE),
            Route::MessageById(id) => {
                made = message_by_id(&decoded(id));
                (200, JSON, "", made.as_bytes())
            }
            Route::TestStatus => (200, TEXT, "", b"OK"),
            Route::TestLabel(label) => {
                made = decoded(label);
                (200, TEXT, "", made.as_bytes())
            }
            Route::Status(status @ (204 | 205 | 304)) => (status, "", "", b""),
            Route::Status(status) => {
                made = format!("status {status}\n");
                (status, TEXT, demanded_fields(status), made.as_bytes())
            }
            Route::Bytes(length) => {
                return self.begin_pattern(stream, reply, method, length, Some(length), sink);
            }
            Route::Chunked(length) => {
                return self.begin_pattern(stream, reply, method, length, None, sink);
            }
            Route::Publish | Route::Next(_) => (501, TEXT, "", b"over HTTP/1.1 alone\n"),
            // Only its head is wanted.
            Route::Events(Some(_)) | Route::Subscribe => {
                self.event_head(stream, true, sink);
                sink.end(reply);
                return self.complete(sink);
            }
            Route::Events(None) => (400, TEXT, "", WRONG),
            // Content is echoed elsewhere, and no method is served at the others.
            Route::Echo | Route::Test | Route::Server | Route::Unknown => (404, "", "", b""),
        };
        self.give(stream, reply, status, kind, fields, body, method, sink);
    }

    /// Begins an answer with the request's own content behind `front`.
    fn begin_echo(
        &mut self,
        stream: u32,
        kind: &'static str,
        front: &'static [u8],
        content_length: Option<u64>,
        sink: &mut Sink<'_>,
    ) {
        if sink.is_staged() {
            return self.open.push(Open { stream, answer: Answer::Kept(front.to_vec(), kind) });
        }
        let reply = sink.begin();
        let length = content_length.map(|length| length.saturating_add(front.len() as u64));
        self.head(stream, 200, kind, "", length, false, sink);
        if !front.is_empty() {
            self.codec.content(stream, front, false, sink.out);
        }
        self.open.push(Open { stream, answer: Answer::Echo(reply) });
    }

    /// A request is complete.
    fn end(&mut self, stream: u32, sink: &mut Sink<'_>) {
        match self.find(stream) {
            Some(Answer::Asked(..)) => {
                if let Some(Answer::Asked(method, target)) = self.take(stream) {
                    let (content_length, last_event_id) = (None, None);
                    let target = target.as_str();
                    self.answer(
                        &Question { stream, method, target, content_length, last_event_id },
                        sink,
                    );
                }
            }
            Some(Answer::Echo(_)) => {
                if let Some(Answer::Echo(reply)) = self.take(stream) {
                    self.codec.content(stream, b"", true, sink.out);
                    sink.end(reply);
                }
                self.complete(sink);
            }
            Some(Answer::Kept(..)) => {
                if let Some(Answer::Kept(content, kind)) = self.take(stream) {
                    self.direct(stream, Asked::Content(content, kind), sink);
                }
            }
            Some(Answer::Call(..)) => {
                if let Some(Answer::Call(call, begun)) = self.take(stream) {
                    self.end_call(stream, call, begun, sink);
                }
            }
            Some(Answer::WebSocket(_)) => {
                self.codec.content(stream, b"", true, sink.out);
                self.part(stream, sink);
            }
            // It is answered, or goes on by itself; what is left of the request was discarded.
            Some(
                Answer::Pattern { .. }
                | Answer::Events(_)
                | Answer::Subscription(_)
                | Answer::Served(_),
            )
            | None => {}
        }
    }

    /// An answer is written.
    fn finish(&mut self, reply: Reply, sink: &mut Sink<'_>) {
        let is_kept = reply.is_kept();
        sink.end(reply);
        if !is_kept {
            self.complete(sink);
        }
    }

    /// The script may want an answer to be the last.
    fn complete(&mut self, sink: &mut Sink<'_>) {
        let limit = sink.shared().script.close_after;
        let is_last = limit.is_some_and(|limit| self.answers >= limit.get());
        let has_left = self.scripted.has_left();
        if is_last && !has_left {
            self.codec.leave(sink.out);
        }
        if (is_last || has_left) && self.open.is_empty() && self.scripted.is_idle() {
            sink.finish(Ending::Early);
        }
    }

    fn find(&mut self, stream: u32) -> Option<&mut Answer> {
        self.open.iter_mut().find(|open| open.stream == stream).map(|open| &mut open.answer)
    }

    fn take(&mut self, stream: u32) -> Option<Answer> {
        let place = self.open.iter().position(|open| open.stream == stream)?;
        Some(self.open.swap_remove(place).answer)
    }
}
