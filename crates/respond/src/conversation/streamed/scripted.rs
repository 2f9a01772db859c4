//! What the script does to replies: each is held back, and is wrong, on its own stream.
//!
//! Knows when a reply is due and which fault it has. Must not know routes, nor sockets.
//!
//! Where replies come in order the stage does this, with bytes. Here a reply is written when it is due,
//! so that windows are what they are then, and the others go on.

use std::collections::BTreeMap;
use std::mem;

use wiretrial_net::clock::monotonic_ns;
use wiretrial_proto::websocket::DeflateAnswer;
use wiretrial_proto::{Condition, MessageKind};

use super::codec::{Codec, Place, Why};
use super::{Answer, StreamedConversation};
use crate::conversation::grpc::Call;
use crate::route::{Method, Route};
use crate::script::FaultKind;
use crate::sink::{Reply, Sink};
use crate::stage::{SLOW_PACE, WHOLE_REPLY};
use crate::verdict::Verdict;

/// What waits, and what is remembered for it.
#[derive(Debug, Default)]
pub(super) struct Scripted {
    /// By the instant at which it is due, and the number of the reply.
    waiting: BTreeMap<(u64, u64), Task>,
    /// A reply that changes places with the next one: its number, its stream and its bytes.
    overtaken: Option<(u64, u32, Vec<u8>)>,
    /// A swap found no other reply: the next reply tries again.
    swap_owed: bool,
    /// The last whole reply, where the script may send it again.
    previous: Option<Vec<u8>>,
    /// The server has left; requests from this stream on were not looked at.
    refused_from: Option<u32>,
}

#[derive(Debug)]
enum Task {
    Answer {
        stream: u32,
        asked: Asked,
        fault: Option<FaultKind>,
    },
    /// A WebSocket that was asked for.
    Accept {
        stream: u32,
        deflate: Option<DeflateAnswer>,
    },
    /// Nothing came to change places with.
    GiveUpSwap {
        stream: u32,
    },
    /// Content that goes byte by byte, and how much of it has gone.
    Drip {
        stream: u32,
        content: Vec<u8>,
        gone: usize,
    },
}

/// A request that is complete.
#[derive(Debug)]
pub(super) enum Asked {
    /// Its method and its target.
    Request(Method, String),
    /// It is answered with this, of this type.
    Content(Vec<u8>, &'static str),
    /// A call of gRPC.
    Call(Box<Call>),
    /// A message of a WebSocket.
    Message(MessageKind, Vec<u8>),
}

impl Task {
    fn stream(&self) -> u32 {
        match *self {
            Self::Answer { stream, .. }
            | Self::Accept { stream, .. }
            | Self::GiveUpSwap { stream }
            | Self::Drip { stream, .. } => stream,
        }
    }
}

impl Scripted {
    /// Does nothing wait?
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When something is to be done.
    pub(super) fn next_due(&self) -> Option<u64> {
        self.waiting.first_key_value().map(|((due, _), _)| *due)
    }

    /// Has the server left, by the script?
    pub(super) fn has_left(&self) -> bool {
        self.refused_from.is_some()
    }

    /// Is what comes on this stream passed over, because the server has left?
    pub(super) fn passes_over(&self, stream: u32) -> bool {
        self.refused_from.is_some_and(|first| stream >= first)
    }

    /// Nobody waits for these streams' replies any more.
    pub(super) fn forget(&mut self, is_gone: impl Fn(u32) -> bool) {
        self.waiting.retain(|_, task| !is_gone(task.stream()));
        self.overtaken.take_if(|(_, stream, _)| is_gone(*stream));
    }
}

impl<C: Codec> StreamedConversation<C> {
    /// Answers a request as the script says, now or later.
    pub(super) fn direct(&mut self, stream: u32, asked: Asked, sink: &mut Sink<'_>) {
        let (number, directive) = sink.direct();
        let fault = directive.fault;
        let mut due = if directive.delay == 0 { 0 } else { monotonic_ns() + directive.delay };
        if let Some(Answer::WebSocket(socket)) = self.find(stream) {
            due = socket.in_order(due);
        }
        if due == 0 {
            return self.carry_out(stream, number, asked, fault, sink);
        }
        self.scripted.waiting.insert((due, number), Task::Answer { stream, asked, fault });
    }

    /// Accepts a WebSocket then. It is no reply, and is told apart from these by a number that none has.
    pub(super) fn accept_at(&mut self, due: u64, stream: u32, deflate: Option<DeflateAnswer>) {
        let number = u64::MAX - u64::from(stream);
        self.scripted.waiting.insert((due, number), Task::Accept { stream, deflate });
    }

    /// Does what is due.
    pub(super) fn do_due(&mut self, now: u64, sink: &mut Sink<'_>) {
        while !sink.is_finished()
            && let Some(first) = self.scripted.waiting.first_entry()
            && first.key().0 <= now
        {
            let ((_, number), task) = first.remove_entry();
            match task {
                Task::Answer { stream, asked, fault } => {
                    self.carry_out(stream, number, asked, fault, sink);
                }
                Task::Accept { stream, deflate } => self.accept(stream, deflate.as_ref(), sink),
                Task::GiveUpSwap { .. } => self.give_up_swap(number, sink),
                Task::Drip { stream, content, gone } => {
                    self.drip(stream, number, content, gone, now, sink);
                }
            }
        }
        sink.settle();
    }

    fn carry_out(
        &mut self,
        stream: u32,
        number: u64,
        asked: Asked,
        fault: Option<FaultKind>,
        sink: &mut Sink<'_>,
    ) {
        let fault = match fault {
            None if mem::take(&mut self.scripted.swap_owed) => Some(FaultKind::Swap),
            // As a whole it is not kept.
            Some(FaultKind::Swap | FaultKind::Repeat | FaultKind::Slow) if asked.is_long() => None,
            // What is behind its content would come before it.
            Some(FaultKind::Slow) if matches!(asked, Asked::Call(_)) => None,
            other => other,
        };
        match fault {
            Some(FaultKind::Silent) => return,
            Some(FaultKind::Close) => return sink.send_with(number, FaultKind::Close, &[]),
            Some(FaultKind::Refuse) => {
                self.codec.give_up(stream, Why::Refused, sink.out);
                return self.part(stream, sink);
            }
            Some(FaultKind::Goaway) => return self.leave_before(stream, sink),
            Some(fault) if self.codec.misbehave(stream, fault, sink.out) => return,
            _ => {}
        }
        let swaps = sink.shared().script.has(FaultKind::Swap);
        let is_kept = needs_bytes(fault) || (swaps && !asked.is_long());
        let reply = Reply::directed(fault, is_kept);
        if !is_kept {
            return self.reply(stream, reply, asked, sink);
        }
        sink.settle();
        let held = self.codec.begin_kept();
        self.reply(stream, reply, asked, sink);
        if let Some(bytes) = self.codec.take_kept(held, sink.out) {
            self.send_kept(stream, number, fault, bytes, sink);
        }
        self.complete(sink);
    }

    /// The right reply, or one whose content or status is wrong.
    fn reply(&mut self, stream: u32, reply: Reply, asked: Asked, sink: &mut Sink<'_>) {
        match asked {
            Asked::Request(method, target) => {
                let route = Route::of(&target);
                let verdict = Verdict::on(&target, Condition::None, self.scheme, route, method);
                self.respond(stream, reply, (route, verdict), method, None, sink);
            }
            Asked::Content(content, kind) => {
                self.give_content(stream, reply, &content, kind, sink);
            }
            Asked::Call(call) => self.answer_call(stream, reply, &call, false, sink),
            Asked::Message(kind, message) => self.say(stream, reply, (kind, message), sink),
        }
    }

    fn send_kept(
        &mut self,
        stream: u32,
        number: u64,
        fault: Option<FaultKind>,
        bytes: Vec<u8>,
        sink: &mut Sink<'_>,
    ) {
        let on = self.place(stream);
        match fault {
            Some(
                kind @ (FaultKind::Truncate
                | FaultKind::Reset
                | FaultKind::Garbage
                | FaultKind::Repeat),
            ) => {
                if self.codec.spoil(on, number, kind, &bytes, sink) {
                    self.part(stream, sink);
                }
            }
            Some(FaultKind::Cancel) => {
                let content = self.codec.send_head(on, &bytes, sink.out);
                self.codec.send_piece(on, &content[..content.len() / 2], false, sink.out);
                self.codec.break_off(stream, sink.out);
                self.part(stream, sink);
            }
            Some(FaultKind::Slow) => {
                let content = self.codec.send_head(on, &bytes, sink.out);
                self.drip(stream, number, content, 0, monotonic_ns(), sink);
            }
            Some(FaultKind::Swap) if self.scripted.overtaken.is_none() => {
                // Whatever else came with it is answered first.
                let task = Task::GiveUpSwap { stream };
                self.scripted.waiting.insert((monotonic_ns(), number), task);
                self.scripted.overtaken = Some((number, stream, bytes));
            }
            _ => {
                if let Some((_, other, first)) = self.scripted.overtaken.take() {
                    let other = self.place(other);
                    self.codec.send_kept(other, &bytes, sink.out);
                    self.codec.send_kept(on, &first, sink.out);
                } else {
                    self.codec.send_kept(on, &bytes, sink.out);
                }
                self.scripted.previous = Some(bytes);
            }
        }
    }

    /// A reply has nobody to change places with: the previous one comes in its place.
    fn give_up_swap(&mut self, number: u64, sink: &mut Sink<'_>) {
        let alone = self.scripted.overtaken.take_if(|(alone, ..)| *alone == number);
        let Some((_, stream, bytes)) = alone else { return self.complete(sink) };
        let on = self.place(stream);
        if let Some(previous) = self.scripted.previous.take() {
            self.codec.send_kept(on, &previous, sink.out);
        } else {
            self.codec.send_kept(on, &bytes, sink.out);
            self.scripted.swap_owed = true;
        }
        self.scripted.previous = Some(bytes);
        self.complete(sink);
    }

    /// The next byte of a slow reply.
    fn drip(
        &mut self,
        stream: u32,
        number: u64,
        content: Vec<u8>,
        gone: usize,
        now: u64,
        sink: &mut Sink<'_>,
    ) {
        let end = content.len().min(gone + 1);
        let is_end = end == content.len();
        let on = self.place(stream);
        self.codec.send_piece(on, &content[gone..end], is_end, sink.out);
        if is_end {
            return self.complete(sink);
        }
        let task = Task::Drip { stream, content, gone: end };
        self.scripted.waiting.insert((now + SLOW_PACE, number), task);
    }

    /// Where a reply goes: a WebSocket goes on behind its.
    fn place(&mut self, stream: u32) -> Place {
        let goes_on = matches!(self.find(stream), Some(Answer::WebSocket(_)));
        Place { stream, goes_on }
    }

    /// Leaves, having looked at no request from this stream on. Those before it are answered.
    fn leave_before(&mut self, stream: u32, sink: &mut Sink<'_>) {
        if self.scripted.has_left() {
            return;
        }
        self.codec.leave_before(stream, sink.out);
        self.scripted.refused_from = Some(stream);
        self.scripted.forget(|other| other >= stream);
        self.open.retain(|open| open.stream < stream);
        self.complete(sink);
    }
}

impl Asked {
    /// Is its reply longer than what is kept of one?
    fn is_long(&self) -> bool {
        match self {
            Self::Content(content, _) | Self::Message(_, content) => content.len() > WHOLE_REPLY,
            Self::Call(_) => false,
            Self::Request(_, target) => match Route::of(target) {
                Route::Bytes(length) | Route::Chunked(length) => length > WHOLE_REPLY as u64,
                _ => false,
            },
        }
    }
}

fn needs_bytes(fault: Option<FaultKind>) -> bool {
    use FaultKind::{Cancel, Garbage, Repeat, Reset, Slow, Swap, Truncate};
    matches!(fault, Some(Cancel | Garbage | Repeat | Reset | Slow | Swap | Truncate))
}
