//! The echo over WebSockets, of which a connection may have many (RFC 8441, RFC 9220).
//!
//! Knows messages on streams, and how both begin and end. Must not know sockets, nor what the script says.

use std::mem;

use wiretrial_net::clock::monotonic_ns;
use wiretrial_proto::http2::Connect;
use wiretrial_proto::websocket::{DeflateAnswer, WebSocketServer};
use wiretrial_proto::{MessageKind, Scratch, ServerCodec as _, ServerEvent};

use super::codec::{Codec, Why};
use super::scripted::Asked;
use super::{Answer, Open, StreamedConversation};
use crate::content::TEXT;
use crate::conversation::websocket::agreed;
use crate::route::WebSocketRoute;
use crate::sink::{Reply, Sink};

/// Of echoes that the client makes no room for, bytes; a client with more is given up.
const MOST_HELD: usize = 64 << 20;

/// One WebSocket.
#[derive(Debug)]
pub(super) struct Socket {
    codec: WebSocketServer,
    /// What came of a frame's header, or of a control frame.
    carry: Vec<u8>,
    /// The message that is coming.
    echo: Echo,
    /// When the last of its replies is due, which come in order.
    due: u64,
}

/// How a message goes back.
#[derive(Debug)]
enum Echo {
    /// There is none.
    None,
    /// As one frame, whose header was appended.
    Frame(Reply),
    /// As fragments, because its length is not known.
    Fragments { reply: Reply, kind: MessageKind, first: bool },
    /// Once it is whole, as the script says.
    Kept(MessageKind, Vec<u8>),
}

/// What becomes of a WebSocket with an event.
#[derive(Debug)]
enum Then {
    GoesOn,
    /// A message is whole, and kept for the script.
    Kept(MessageKind, Vec<u8>),
    IsOver,
}

/// What the WebSockets of a connection share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Content that came, to be unmasked where it is.
    input: Vec<u8>,
    /// Frames to be sent.
    output: Vec<u8>,
    scratch: Scratch,
}

impl Socket {
    /// When a reply is due that is to come behind those before it.
    pub(super) fn in_order(&mut self, due: u64) -> u64 {
        self.due = self.due.max(due);
        self.due
    }

    /// Does what an event says.
    fn on_event(
        &mut self,
        event: ServerEvent<'_>,
        output: &mut Vec<u8>,
        sink: &mut Sink<'_>,
    ) -> Then {
        match event {
            ServerEvent::Message(kind) if sink.is_staged() => {
                self.echo = Echo::Kept(kind, Vec::new());
            }
            ServerEvent::Message(kind) => {
                let reply = sink.begin();
                self.echo = if let Some(length) = self.codec.message_length() {
                    self.codec.message_head(kind, length, output);
                    Echo::Frame(reply)
                } else {
                    Echo::Fragments { reply, kind, first: true }
                };
            }
            ServerEvent::Chunk(payload) => match &mut self.echo {
                Echo::None => {}
                Echo::Frame(_) => output.extend_from_slice(payload),
                Echo::Fragments { kind, first, .. } => {
                    let first = mem::take(first);
                    self.codec.fragment(*kind, payload, first, false, output);
                }
                Echo::Kept(_, whole) => whole.extend_from_slice(payload),
            },
            ServerEvent::End => match mem::replace(&mut self.echo, Echo::None) {
                Echo::None => {}
                Echo::Frame(reply) => sink.end(reply),
                Echo::Fragments { reply, kind, first } => {
                    self.codec.fragment(kind, b"", first, true, output);
                    sink.end(reply);
                }
                Echo::Kept(kind, whole) => return Then::Kept(kind, whole),
            },
            // Only HTTP has requests.
            ServerEvent::Close(_) | ServerEvent::Request(_) => return Then::IsOver,
        }
        Then::GoesOn
    }

    /// Ends what was begun.
    pub(super) fn end(self, sink: &mut Sink<'_>) {
        if let Echo::Frame(reply) | Echo::Fragments { reply, .. } = self.echo {
            sink.end(reply);
        }
    }
}

impl<C: Codec> StreamedConversation<C> {
    /// A client asks for another protocol on a stream.
    pub(super) fn connect(
        &mut self,
        stream: u32,
        connect: Connect<'_>,
        target: &str,
        is_end: bool,
        sink: &mut Sink<'_>,
    ) {
        let refuse = |status, fields: &str, why: &[u8], this: &mut Self, sink: &mut Sink<'_>| {
            this.head(stream, status, TEXT, fields, Some(why.len() as u64), false, sink);
            this.codec.content(stream, why, true, sink.out);
        };
        if !connect.is_websocket() {
            return refuse(501, "", b"no such protocol\n", self, sink);
        }
        if !connect.is_known_version() {
            let fields = "Sec-WebSocket-Version: 13\r\n";
            return refuse(400, fields, b"a version of WebSocket that is not 13\n", self, sink);
        }
        if is_end || WebSocketRoute::of(target) != WebSocketRoute::Echo {
            return refuse(501, "", b"on a stream there is the echo alone\n", self, sink);
        }
        let wishes = sink.shared().deflate.as_ref();
        let deflate = wishes.and_then(|wishes| connect.accept_deflate(wishes));
        match sink.shared().script.upgrade_delay {
            0 => self.accept(stream, deflate.as_ref(), sink),
            delay => self.accept_at(monotonic_ns() + delay, stream, deflate),
        }
    }

    /// A WebSocket stands from here on.
    pub(super) fn accept(
        &mut self,
        stream: u32,
        deflate: Option<&DeflateAnswer>,
        sink: &mut Sink<'_>,
    ) {
        let answered = deflate.map(ToString::to_string);
        let extension = answered.iter().map(|it| ("sec-websocket-extensions", it.as_bytes()));
        let fields: Vec<_> = extension.collect();
        self.codec.respond(stream, 200, &fields, false, sink.out);
        let codec = agreed(sink.shared().max_message, deflate);
        let socket = Socket { codec, carry: Vec::new(), echo: Echo::None, due: 0 };
        self.open.push(Open { stream, answer: Answer::WebSocket(Box::new(socket)) });
    }

    /// Takes in a piece of a WebSocket's content, and answers it.
    pub(super) fn hear(&mut self, stream: u32, piece: &[u8], sink: &mut Sink<'_>) {
        let found = self.open.iter_mut().find(|open| open.stream == stream);
        let Some(Open { answer: Answer::WebSocket(socket), .. }) = found else { return };
        let Shared { input, output, scratch } = &mut self.websockets;
        input.clear();
        input.append(&mut socket.carry);
        input.extend_from_slice(piece);
        output.clear();
        let (mut offset, mut whole, mut is_over) = (0, Vec::new(), false);
        // Where the echo begins that is under way, as far as it begins in this piece.
        let mut begin = None;
        while !is_over {
            let start = output.len();
            let Ok(step) = socket.codec.receive(&mut input[offset..], scratch, output) else {
                // The client would read what was said to it as content of an echo in part.
                if matches!(socket.echo, Echo::Frame(_)) {
                    match begin {
                        Some(begin) => drop(output.drain(begin..start)),
                        None => output.truncate(start),
                    }
                }
                is_over = true;
                break;
            };
            offset += step.consumed;
            let Some(event) = step.event else { break };
            begin = match event {
                ServerEvent::Message(_) => Some(output.len()),
                _ => begin,
            };
            match socket.on_event(event, output, sink) {
                Then::GoesOn => {}
                Then::Kept(kind, message) => whole.push((kind, message)),
                Then::IsOver => is_over = true,
            }
        }
        socket.carry.extend_from_slice(&input[offset.min(input.len())..]);
        if !output.is_empty() || is_over {
            self.codec.content(stream, output, is_over, sink.out);
        }
        for (kind, message) in whole {
            self.direct(stream, Asked::Message(kind, message), sink);
        }
        if self.codec.held() > MOST_HELD {
            self.codec.give_up(stream, Why::TooMuch, sink.out);
            is_over = true;
        }
        if is_over {
            self.part(stream, sink);
        }
    }

    /// A WebSocket is over: what it was about to say is not said.
    pub(super) fn part(&mut self, stream: u32, sink: &mut Sink<'_>) {
        self.scripted.forget(|gone| gone == stream);
        if let Some(Answer::WebSocket(socket)) = self.take(stream) {
            socket.end(sink);
        }
        self.complete(sink);
    }

    /// Sends a message back that was kept for the script.
    pub(super) fn say(
        &mut self,
        stream: u32,
        mut reply: Reply,
        (kind, mut message): (MessageKind, Vec<u8>),
        sink: &mut Sink<'_>,
    ) {
        reply.alter(&mut message);
        let found = self.open.iter_mut().find(|open| open.stream == stream);
        if let Some(Open { answer: Answer::WebSocket(socket), .. }) = found {
            let output = &mut self.websockets.output;
            output.clear();
            socket.codec.message(kind, &message, output);
            self.codec.content(stream, output, false, sink.out);
        }
        self.answers = self.answers.saturating_add(1);
        self.finish(reply, sink);
    }

    /// Takes leave of all of them.
    pub(super) fn close_websockets(&mut self, out: &mut Vec<u8>) {
        for Open { stream, answer } in &mut self.open {
            if let Answer::WebSocket(socket) = answer
                && !matches!(socket.echo, Echo::Frame(_))
            {
                let output = &mut self.websockets.output;
                output.clear();
                socket.codec.close(1001, "", output);
                self.codec.content(*stream, output, true, out);
            }
        }
    }
}
