//! The routes over HTTP/1.1, and the upgrade to WebSocket.
//!
//! Knows requests and their answers; holds no body, neither of a request nor of an answer, but for one that
//! is published. Must not know sockets.

mod streams;

use std::ops::ControlFlow;
use std::sync::Arc;

use wiretrial_proto::http1::{BodyLength, DateField, Http1Server};
use wiretrial_proto::websocket::{DeflateAnswer, WebSocketServer};
use wiretrial_proto::{ProtocolError, Scratch, ServerCodec as _, ServerEvent, ServerRequest, Step};

use super::due::Teller;
use super::{Conversation, STREAM_AHEAD};
use crate::content::{BYTES, JSON, MESSAGE, PAGE, RECEIVED, TEXT, message_by_id, pattern_from};
use crate::events::{EventStream, WRONG};
use crate::hub::{Member, Memberships, Notice};
use crate::route::{Method, Route, WebSocketRoute, decoded};
use crate::sink::{Ending, Reply, Sink};
use crate::verdict::{Scheme, Verdict, demanded_fields};

/// The stream whose alarms are those of polls.
const POLLS: u32 = 1;

#[derive(Debug)]
pub(crate) struct HttpConversation {
    codec: Http1Server,
    scheme: Scheme,
    /// The answer to the current request; none: it is complete, or there is no request.
    reply: Option<Reply>,
    body: Body,
    /// The answer under way is the last one, and the conversation ends like this.
    last: Option<Ending>,
    answers: u32,
    /// The current request has a body that may never come.
    uninvited: bool,
    /// What the current answer goes on with; boxed, because there may be a million others.
    beside: Option<Box<Beside>>,
    /// It is told what is published.
    has_joined: bool,
    /// An alarm of its polls is set.
    has_alarm: bool,
}

/// What few answers need.
#[derive(Debug)]
enum Beside {
    /// The stream of events that it is.
    Events(EventStream),
    /// What came of the request's body, which is to be published.
    Publication(Vec<u8>),
}

/// What follows of the current request's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Nothing. What is left of the request is discarded.
    Complete,
    /// The request's own body.
    Echo,
    /// The pattern from this offset on.
    Pattern { offset: u64, length: u64 },
    /// Events, each when it is due.
    Events,
    /// What others publish, when they do.
    Subscription,
    /// All of it, once the request is complete and its body is published.
    Publication,
    /// All of it, once something is published behind this number, or at this instant (nanoseconds).
    Poll { after: u64, until: u64 },
}

impl Body {
    /// Does the answer go on for as long as the connection stands, or as it was asked to?
    fn is_stream(self) -> bool {
        matches!(self, Self::Events | Self::Subscription)
    }

    /// Does it come, or go on, behind the end of its request?
    fn outlasts_its_request(self) -> bool {
        self.is_stream() || matches!(self, Self::Poll { .. })
    }
}

/// The conversation that follows. Its messages are compressed where that was agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upgrade {
    /// Messages come back.
    Echo(Option<DeflateAnswer>),
    /// Messages go to everybody in the broadcast.
    Broadcast(Option<DeflateAnswer>),
    Styx,
    SocketIo,
}

impl Teller for Http1Server {
    fn held(&self) -> usize {
        0
    }

    fn tell(&mut self, event: &[u8], _is_last: bool, out: &mut Vec<u8>) {
        self.body_chunk(event, out);
    }
}

impl HttpConversation {
    /// The scheme that its requests are for.
    pub(crate) fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Was nothing asked yet?
    #[inline]
    pub(crate) fn is_fresh(&self) -> bool {
        self.answers == 0
    }

    pub(crate) fn new(scheme: Scheme, date: Arc<DateField>) -> Self {
        Self {
            codec: Http1Server::with_date(date),
            scheme,
            reply: None,
            body: Body::Complete,
            last: None,
            answers: 0,
            uninvited: false,
            beside: None,
            has_joined: false,
            has_alarm: false,
        }
    }
}

impl Conversation for HttpConversation {
    type Event<'a> = ServerEvent<'a>;
    type Upgrade = Upgrade;

    #[inline]
    fn continue_reply(&mut self, sink: &mut Sink<'_>) -> bool {
        let Body::Pattern { offset, length } = self.body else { return true };
        self.continue_pattern(offset, length, sink)
    }

    #[inline]
    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Step<ServerEvent<'a>>, ProtocolError> {
        self.codec.receive(input, scratch, out)
    }

    #[inline]
    fn on_event(
        &mut self,
        event: &mut ServerEvent<'_>,
        sink: &mut Sink<'_>,
        member: &mut Member<'_>,
    ) -> ControlFlow<Upgrade> {
        match event {
            // What is asked behind a stream of events may never have an answer.
            ServerEvent::Request(_) if self.body.outlasts_its_request() => {
                sink.finish(Ending::Early);
            }
            ServerEvent::Request(request) => {
                if let Some(key) = request.websocket_key {
                    return ControlFlow::Break(accept(key, request, sink));
                }
                self.answer(request, sink);
                if let Some(Beside::Events(events)) = self.beside.as_deref()
                    && let Some(due) = events.next_due()
                {
                    member.tell_at(due, 0);
                }
                match self.body {
                    Body::Subscription => self.join(member),
                    Body::Poll { after, .. } => self.poll(after, sink, member),
                    _ => {}
                }
            }
            ServerEvent::Chunk(piece) => match self.body {
                Body::Echo => {
                    if let Some(reply) = &mut self.reply {
                        reply.alter(piece);
                    }
                    self.codec.body_chunk(piece, sink.out);
                    sink.settle();
                }
                Body::Publication => self.keep(piece, sink),
                _ => {}
            },
            ServerEvent::End if self.body.outlasts_its_request() => {}
            ServerEvent::End => {
                match self.body {
                    Body::Echo => {
                        self.codec.body_end(sink.out);
                        self.complete(sink);
                    }
                    Body::Publication => self.publish(sink, member),
                    _ => {}
                }
                if let Some(ending) = self.last {
                    sink.finish(ending);
                }
            }
            // Only WebSocket has these.
            ServerEvent::Message(_) | ServerEvent::Close(_) => sink.finish(Ending::Early),
        }
        ControlFlow::Continue(())
    }

    /// Tells the events that are due, or what was published.
    fn on_notice(&mut self, notice: &Notice, sink: &mut Sink<'_>, member: &mut Member<'_>) {
        match (notice, self.body) {
            (Notice::Due { stream: POLLS, now }, _) => self.end_poll(*now, sink, member),
            (Notice::Due { now, .. }, _) => self.tell_events(*now, sink, member),
            (Notice::Broadcast(message), Body::Subscription) => self.tell_published(message, sink),
            (Notice::Broadcast(_), Body::Poll { after, .. }) => self.poll_on(after, sink, member),
            _ => {}
        }
    }

    /// A stream ends in order.
    fn go_away(&mut self, out: &mut Vec<u8>) {
        if self.body.is_stream() {
            self.codec.body_end(out);
        }
    }

    fn memberships(&self) -> Memberships {
        Memberships { broadcast: self.has_joined, ..Memberships::default() }
    }
}

impl HttpConversation {
    fn answer(&mut self, request: &ServerRequest<'_>, sink: &mut Sink<'_>) {
        let method = Method::of(request.method);
        let route = Route::of(request.target);
        let verdict = Verdict::on(request.target, request.condition, self.scheme, route, method);
        self.answers = self.answers.saturating_add(1);
        let limit = sink.shared().script.close_after;
        self.last = if request.keep_alive {
            limit.filter(|limit| self.answers >= limit.get()).map(|_| Ending::Early)
        } else {
            Some(Ending::Orderly)
        };
        self.uninvited =
            request.expects_continue && !(route.takes_body() && verdict == Verdict::Serve);
        if self.uninvited {
            // Whether the body comes is not known, so nothing can follow it.
            self.last = Some(Ending::Early);
        } else if request.expects_continue {
            self.codec.invite_body(sink.out);
        }

        let reply = self.reply.insert(sink.begin());
        if reply.fails() {
            return self.give(500, TEXT, "", b"scripted fault\n", sink);
        }
        match verdict {
            Verdict::Serve => self.serve(route, method, request, sink),
            Verdict::Elsewhere => self.give(421, TEXT, "", b"another scheme's server\n", sink),
            Verdict::NotImplemented => self.give(501, TEXT, "", b"no such method\n", sink),
            Verdict::NotFound => self.give(404, TEXT, "", b"no such route\n", sink),
            Verdict::NotAllowed => self.give(405, "", route.allow(), b"", sink),
            Verdict::Options => self.give(200, "", route.allow(), b"", sink),
            Verdict::NotModified => self.give(304, "", "", b"", sink),
            Verdict::Failed => self.give(412, TEXT, "", b"the condition does not hold\n", sink),
        }
    }

    fn serve(
        &mut self,
        route: Route<'_>,
        method: Method,
        request: &ServerRequest<'_>,
        sink: &mut Sink<'_>,
    ) {
        match route {
            Route::Page => self.give(200, "text/html; charset=utf-8", "", PAGE, sink),
            Route::Message => self.give(200, JSON, "", MESSAGE, sink),
            Route::MessageById(id) => {
                self.give(200, JSON, "", message_by_id(&decoded(id)).as_bytes(), sink);
            }
            Route::TestStatus => self.give(200, TEXT, "", b"OK", sink),
            Route::TestLabel(label) => {
                self.give(200, TEXT, "", decoded(label).as_bytes(), sink);
            }
            // Reset Content has no body (RFC 9110 section 15.3.6).
            Route::Status(205) => self.give(205, "", "", b"", sink),
            Route::Status(status) => {
                let body = format!("status {status}\n");
                self.give(status, TEXT, demanded_fields(status), body.as_bytes(), sink);
            }
            Route::Echo => self.begin_echo(BYTES, b"", request, sink),
            Route::Test => self.begin_echo(TEXT, RECEIVED, request, sink),
            Route::Bytes(length) => self.begin_pattern(method, length, false, sink),
            Route::Chunked(length) => self.begin_pattern(method, length, true, sink),
            Route::Events(Some(asked)) => {
                self.begin_events(method, asked, request.last_event_id, sink);
            }
            Route::Events(None) => self.give(400, TEXT, "", WRONG, sink),
            Route::Subscribe => self.begin_subscription(method, sink),
            Route::Next(after) => {
                // Without a number all that is asked for is the last one.
                self.body = Body::Poll { after: after.unwrap_or(u64::MAX), until: 0 };
            }
            Route::Publish => {
                self.body = Body::Publication;
                self.beside = Some(Box::new(Beside::Publication(Vec::new())));
            }
            // No method is served there.
            Route::Server | Route::Unknown => {}
        }
    }

    /// Sends a whole answer. `fields` are further field lines, each with its end.
    fn give(
        &mut self,
        status: u16,
        content_type: &str,
        fields: &str,
        body: &[u8],
        sink: &mut Sink<'_>,
    ) {
        self.head(status, content_type, BodyLength::Known(body.len() as u64), sink);
        add_fields(fields, sink);
        self.say(body, sink);
        self.codec.body_end(sink.out);
        self.complete(sink);
    }

    /// Begins an answer with the request's own body, as it comes, behind `front`.
    fn begin_echo(
        &mut self,
        content_type: &str,
        front: &[u8],
        request: &ServerRequest<'_>,
        sink: &mut Sink<'_>,
    ) {
        let length = request.content_length.map_or(BodyLength::Chunked, |length| {
            BodyLength::Known(length.saturating_add(front.len() as u64))
        });
        self.head(200, content_type, length, sink);
        if !front.is_empty() {
            self.say(front, sink);
        }
        self.body = Body::Echo;
    }

    fn begin_pattern(&mut self, method: Method, length: u64, chunked: bool, sink: &mut Sink<'_>) {
        let framing = if chunked { BodyLength::Chunked } else { BodyLength::Known(length) };
        self.head(200, BYTES, framing, sink);
        let length = if method == Method::Head { 0 } else { length };
        self.body = Body::Pattern { offset: 0, length };
    }

    /// False: there is no room for all of it.
    fn continue_pattern(&mut self, mut offset: u64, length: u64, sink: &mut Sink<'_>) -> bool {
        while offset < length {
            if sink.backlog() >= STREAM_AHEAD {
                self.body = Body::Pattern { offset, length };
                return false;
            }
            let piece = pattern_from(offset, length - offset);
            offset += piece.len() as u64;
            self.say(piece, sink);
        }
        self.codec.body_end(sink.out);
        self.complete(sink);
        true
    }

    fn head(&mut self, status: u16, content_type: &str, length: BodyLength, sink: &mut Sink<'_>) {
        let keep_alive = self.last.is_none();
        if !self.codec.respond_head(status, content_type, length, keep_alive, sink.out) {
            // An HTTP/1.0 client reads a body without a length up to the end of the connection.
            self.last.get_or_insert(Ending::Orderly);
        }
    }

    /// Appends a piece of content that is the server's own.
    fn say(&mut self, piece: &[u8], sink: &mut Sink<'_>) {
        match &mut self.reply {
            Some(reply) if reply.alters() => {
                let mut piece = piece.to_vec();
                reply.alter(&mut piece);
                self.codec.body_chunk(&piece, sink.out);
            }
            _ => self.codec.body_chunk(piece, sink.out),
        }
    }

    fn complete(&mut self, sink: &mut Sink<'_>) {
        self.body = Body::Complete;
        if let Some(reply) = self.reply.take() {
            sink.end(reply);
        }
        if self.uninvited {
            sink.finish(Ending::Early);
        }
    }
}

/// Adds field lines, each with its end, to a head that is complete.
fn add_fields(fields: &str, sink: &mut Sink<'_>) {
    if !fields.is_empty() {
        // In front of the empty line that ends the head.
        sink.out.truncate(sink.out.len() - b"\r\n".len());
        sink.out.extend_from_slice(fields.as_bytes());
        sink.out.extend_from_slice(b"\r\n");
    }
}

/// Appends the answer that upgrades to WebSocket, as late as the script says; returns the conversation that follows.
fn accept(key: &str, request: &ServerRequest<'_>, sink: &mut Sink<'_>) -> Upgrade {
    sink.settle();
    let upgrade = accepted(key, request, sink);
    sink.delay_upgrade();
    upgrade
}

/// Only messages without a protocol on top are compressed.
fn accepted(key: &str, request: &ServerRequest<'_>, sink: &mut Sink<'_>) -> Upgrade {
    let route = WebSocketRoute::of(request.target);
    if let WebSocketRoute::Styx | WebSocketRoute::SocketIo = route {
        WebSocketServer::accept(key, None, sink.out);
        return if route == WebSocketRoute::Styx { Upgrade::Styx } else { Upgrade::SocketIo };
    }
    let config = sink.shared().deflate.as_ref();
    let deflate = config.and_then(|config| request.websocket_extensions.accept_deflate(config));
    match &deflate {
        None => WebSocketServer::accept(key, None, sink.out),
        Some(answer) => WebSocketServer::accept_deflate(key, None, answer, sink.out),
    }
    match route {
        WebSocketRoute::Broadcast => Upgrade::Broadcast(deflate),
        _ => Upgrade::Echo(deflate),
    }
}
