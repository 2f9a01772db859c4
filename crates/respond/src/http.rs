//! The routes over HTTP/1.1, and the door to WebSocket.
//!
//! Knows requests and what they are answered with; holds no body, neither one that
//! comes nor one that goes. Must not know sockets.

use std::sync::Arc;

use wiretrial_proto::http1::{BodyLength, DateField, Http1Server};
use wiretrial_proto::websocket::{DeflateAnswer, WebSocketServer};
use wiretrial_proto::{Scratch, ServerCodec, ServerEvent, ServerRequest};

use crate::content::{MESSAGE, PAGE, RECEIVED, message_by_id, pattern_from};
use crate::route::{Door, Method, Route, decoded};
use crate::sink::{BACKLOG_LIMIT, Ending, Sink, Twist};
use crate::verdict::{Scheme, Verdict, demanded_fields};

/// A streamed answer is written ahead of the connection as far as this, in bytes.
const STREAM_AHEAD: usize = 256 * 1024;

const TEXT: &str = "text/plain; charset=utf-8";
const BYTES: &str = "application/octet-stream";
const JSON: &str = "application/json";

#[derive(Debug)]
pub(crate) struct HttpConversation {
    codec: Http1Server,
    scheme: Scheme,
    answer: Answer,
    twist: Twist,
    /// The answer under way is the last one, and the conversation ends so.
    last: Option<Ending>,
    answers: u32,
    /// The current request has a body that may never come.
    uninvited: bool,
}

/// Where the conversation stands after a batch of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It needs more input.
    Listens,
    /// It has more to say and no room to say it in: no input is taken until then.
    Blocked,
    /// From here on it is a WebSocket.
    Upgraded(Upgrade),
}

/// What is spoken over a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upgrade {
    /// Messages come back, compressed where that was agreed on.
    Echo(Option<DeflateAnswer>),
    /// Messages come to all who are here, compressed likewise.
    Broadcast(Option<DeflateAnswer>),
    /// A player's packets.
    Styx,
    SocketIo,
}

/// The answer to the current request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Given; what is left of the request is thrown away.
    Given,
    /// The request's own body.
    Echo,
    /// The pattern, of which so much is out.
    Pattern { offset: u64, length: u64 },
}

impl HttpConversation {
    pub(crate) fn new(scheme: Scheme, date: Arc<DateField>) -> Self {
        Self {
            codec: Http1Server::with_date(date),
            scheme,
            answer: Answer::Given,
            twist: Twist::None,
            last: None,
            answers: 0,
            uninvited: false,
        }
    }

    /// Takes the input that can be taken, returns how much that was. After
    /// [`Standing::Blocked`] it must be called when there is room again, with or without input.
    pub(crate) fn take(
        &mut self,
        input: &mut [u8],
        unpacked: &mut Scratch,
        sink: &mut Sink<'_>,
    ) -> (usize, Standing) {
        let mut taken = 0;
        while !sink.is_finished() {
            if sink.backlog() >= BACKLOG_LIMIT || !self.continue_pattern(sink) {
                sink.settle();
                return (taken, Standing::Blocked);
            }
            let Ok(step) = self.codec.receive(&mut input[taken..], unpacked, sink.out) else {
                sink.finish(Ending::Early);
                break;
            };
            taken += step.consumed;
            match step.event {
                None => {
                    sink.settle();
                    return (taken, Standing::Listens);
                }
                Some(ServerEvent::Request(request)) => {
                    if let Some(key) = request.websocket_key {
                        let upgrade = accept(key, &request, sink);
                        sink.settle();
                        return (taken, Standing::Upgraded(upgrade));
                    }
                    self.answer(&request, sink);
                }
                Some(ServerEvent::Chunk(piece)) => {
                    if self.answer == Answer::Echo {
                        self.twist.apply(piece);
                        self.codec.body_chunk(piece, sink.out);
                        sink.settle();
                    }
                }
                Some(ServerEvent::End) => {
                    if self.answer == Answer::Echo {
                        self.codec.body_end(sink.out);
                        self.complete(sink);
                    }
                    if let Some(ending) = self.last {
                        sink.finish(ending);
                    }
                }
                // Only WebSocket has these.
                Some(ServerEvent::Message(_) | ServerEvent::Close(_)) => sink.finish(Ending::Early),
            }
        }
        (input.len(), Standing::Listens)
    }

    fn answer(&mut self, request: &ServerRequest<'_>, sink: &mut Sink<'_>) {
        let method = Method::of(request.method);
        let route = Route::of(request.target);
        let verdict = Verdict::on(request, self.scheme, route, method);
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
            // Whether the body comes or not, the end of the connection is the end of it.
            self.last = Some(Ending::Early);
        } else if request.expects_continue {
            self.codec.invite_body(sink.out);
        }

        self.twist = sink.begin();
        if self.twist == Twist::Status {
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
            Route::TestLabel(label) => self.give(200, TEXT, "", decoded(label).as_bytes(), sink),
            // Reset Content has none (RFC 9110 section 15.3.6).
            Route::Status(205) => self.give(205, "", "", b"", sink),
            Route::Status(status) => {
                let body = format!("status {status}\n");
                self.give(status, TEXT, demanded_fields(status), body.as_bytes(), sink);
            }
            Route::Echo => self.begin_echo(BYTES, b"", request, sink),
            Route::Test => self.begin_echo(TEXT, RECEIVED, request, sink),
            Route::Bytes(length) => self.begin_pattern(method, length, false, sink),
            Route::Chunked(length) => self.begin_pattern(method, length, true, sink),
            // No method is served there.
            Route::Server | Route::Unknown => {}
        }
    }

    /// A whole answer. `fields` are further field lines, each with its end.
    fn give(
        &mut self,
        status: u16,
        content_type: &str,
        fields: &str,
        body: &[u8],
        sink: &mut Sink<'_>,
    ) {
        self.head(status, content_type, BodyLength::Known(body.len() as u64), sink);
        if !fields.is_empty() {
            // In front of the empty line that ends the head.
            sink.out.truncate(sink.out.len() - b"\r\n".len());
            sink.out.extend_from_slice(fields.as_bytes());
            sink.out.extend_from_slice(b"\r\n");
        }
        self.say(body, sink);
        self.codec.body_end(sink.out);
        self.complete(sink);
    }

    /// The request's own body, as it comes, with something in front.
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
        self.answer = Answer::Echo;
    }

    fn begin_pattern(&mut self, method: Method, length: u64, chunked: bool, sink: &mut Sink<'_>) {
        let framing = if chunked { BodyLength::Chunked } else { BodyLength::Known(length) };
        self.head(200, BYTES, framing, sink);
        let length = if method == Method::Head { 0 } else { length };
        self.answer = Answer::Pattern { offset: 0, length };
    }

    /// False: there was no room for all of it.
    fn continue_pattern(&mut self, sink: &mut Sink<'_>) -> bool {
        let Answer::Pattern { mut offset, length } = self.answer else {
            return true;
        };
        while offset < length {
            if sink.backlog() >= STREAM_AHEAD {
                self.answer = Answer::Pattern { offset, length };
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
            // An old client, told by the head, reads an answer in pieces up to the end.
            self.last.get_or_insert(Ending::Orderly);
        }
    }

    /// A piece of content that is ours.
    fn say(&mut self, piece: &[u8], sink: &mut Sink<'_>) {
        if self.twist == Twist::Wrong {
            let mut piece = piece.to_vec();
            self.twist.apply(&mut piece);
            self.codec.body_chunk(&piece, sink.out);
        } else {
            self.codec.body_chunk(piece, sink.out);
        }
    }

    fn complete(&mut self, sink: &mut Sink<'_>) {
        self.answer = Answer::Given;
        sink.end();
        if self.uninvited {
            sink.finish(Ending::Early);
        }
    }
}

/// Appends the answer that upgrades to WebSocket; says what is spoken over it. Only messages of no
/// further protocol are compressed.
fn accept(key: &str, request: &ServerRequest<'_>, sink: &mut Sink<'_>) -> Upgrade {
    let door = Door::of(request.target);
    if let Door::Styx | Door::SocketIo = door {
        WebSocketServer::accept(key, None, sink.out);
        return if door == Door::Styx { Upgrade::Styx } else { Upgrade::SocketIo };
    }
    let wishes = sink.shared().deflate.as_ref();
    let deflate = wishes.and_then(|wishes| request.websocket_extensions.accept_deflate(wishes));
    match &deflate {
        None => WebSocketServer::accept(key, None, sink.out),
        Some(answer) => WebSocketServer::accept_deflate(key, None, answer, sink.out),
    }
    if door == Door::Broadcast { Upgrade::Broadcast(deflate) } else { Upgrade::Echo(deflate) }
}
