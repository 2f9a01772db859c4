//! One connection of HTTP/3: what comes on its streams, what goes out on them, and how it ends.
//!
//! Knows when a stream is read and when answers have to wait. Must not know routes, sockets, or other
//! connections.

use std::collections::{BTreeSet, VecDeque};
use std::mem;

use wiretrial_net::quic::{Connection, Event, Handle, Read};
use wiretrial_proto::http3::{Action, ErrorCode};
use wiretrial_proto::{Arrival, ProtocolError, Scratch};

use crate::connection::Resources;
use crate::conversation::streamed::http3::Http3Conversation;
use crate::conversation::{Conversation as _, STREAM_AHEAD, converse};
use crate::hub::{Member, Memberships, Notice};
use crate::script::FaultKind;
use crate::shared::Shared;
use crate::sink::{BACKLOG_LIMIT, Sink};
use crate::stage::{Released, Stage};
use crate::verdict::Scheme;

/// Bytes of a stream that are taken at a time.
const MOST_READ: usize = 64 * 1024;
/// Streams are read again once fewer bytes than this wait to go out.
const BACKLOG_LOW: usize = BACKLOG_LIMIT / 4;

/// A connection of HTTP/3.
#[derive(Debug)]
pub(crate) struct Http3Connection {
    door: usize,
    handle: Handle,
    conversation: Http3Conversation,
    /// The script's; no bytes are in it, only how the connection is to end.
    stage: Option<Box<Stage>>,
    /// Streams that were not read, because too much waits to go out.
    unread: VecDeque<u64>,
    /// Answers that the client does not have whole, as far as is known.
    unacknowledged: BTreeSet<u64>,
    /// The conversation is over.
    is_over: bool,
    /// The server has taken leave.
    has_left: bool,
    /// The earliest alarm that is set, nanoseconds of the monotonic clock; 0: none.
    alarm: u64,
}

/// What a connection uses during a turn.
pub(super) struct Turn<'a> {
    pub(super) quic: &'a mut Connection,
    /// Nanoseconds of the monotonic clock.
    pub(super) now: u64,
    pub(super) input: &'a mut Vec<u8>,
    pub(super) resources: Resources<'a>,
}

impl Http3Connection {
    pub(super) fn new(door: usize, handle: Handle, shared: &Shared) -> Self {
        let script = &shared.script;
        let stage =
            script.stages_replies().then(|| Box::new(Stage::new(script.has(FaultKind::Swap))));
        Self {
            door,
            handle,
            conversation: Http3Conversation::new(Scheme::Https),
            stage,
            unread: VecDeque::new(),
            unacknowledged: BTreeSet::new(),
            is_over: false,
            has_left: false,
            alarm: 0,
        }
    }

    /// The socket that it is on, and its name there.
    pub(super) fn place(&self) -> (usize, Handle) {
        (self.door, self.handle)
    }

    /// What it has joined.
    pub(super) fn memberships(&self) -> Memberships {
        self.conversation.memberships()
    }

    /// Something happened to it.
    pub(super) fn on_event(&mut self, event: &Event, turn: &mut Turn<'_>) {
        match *event {
            Event::Readable(stream) => self.read(stream, turn),
            Event::Stopped(stream, code) => {
                self.unacknowledged.remove(&stream);
                let told = self.conversation.codec().stop_sending(stream, code);
                self.hear(told, turn);
                // One that is answered whole is not among those that the codec gives up.
                let _ = turn.quic.reset(stream, code, turn.now);
            }
            Event::Finished(stream) => {
                self.unacknowledged.remove(&stream);
            }
            Event::Connected(_) | Event::Writable(_) | Event::Room(_) | Event::Ended(_) => {}
        }
    }

    /// The server tells it something.
    pub(super) fn on_notice(&mut self, notice: &Notice, turn: &mut Turn<'_>) {
        if self.is_over {
            return;
        }
        self.speak(turn, |conversation, sink, member, _| {
            conversation.on_notice(notice, sink, member);
        });
    }

    /// An alarm is due.
    pub(super) fn on_alarm(&mut self, turn: &mut Turn<'_>) {
        let now = turn.now;
        if self.alarm <= now {
            self.alarm = 0;
        }
        if self.conversation.next_due().is_some_and(|due| due <= now) {
            self.speak(turn, |conversation, sink, _, _| conversation.on_due(now, sink));
        }
    }

    /// The server stops: the connection is over unless answers are under way.
    pub(super) fn leave(&mut self, turn: &mut Turn<'_>) {
        let is_quiet = self.has_all(turn)
            && self.stage.as_ref().is_none_or(|stage| stage.is_idle())
            && self.conversation.next_due().is_none();
        if !is_quiet || self.is_over {
            return;
        }
        if !mem::replace(&mut self.has_left, true) {
            self.speak(turn, |conversation, sink, _, _| conversation.go_away(sink.out));
            return;
        }
        self.is_over = true;
    }

    /// Continues what had to wait. Gives why the connection ends, where it does.
    pub(super) fn go_on(&mut self, turn: &mut Turn<'_>) -> Option<ErrorCode> {
        if turn.quic.is_closed() {
            return Some(ErrorCode::NoError);
        }
        while turn.quic.unsent() < BACKLOG_LOW
            && let Some(stream) = self.unread.pop_front()
        {
            self.read(stream, turn);
        }
        while turn.quic.unsent() < STREAM_AHEAD
            && self.speak(turn, |conversation, sink, _, _| {
                conversation.continue_reply(sink);
            })
        {}
        if let Some(stage) = &mut self.stage {
            match stage.release(turn.now, turn.resources.staging) {
                Released::Bytes => {}
                Released::Finish => self.is_over = true,
                Released::Reset => return Some(ErrorCode::InternalError),
            }
            turn.resources.staging.clear();
        }
        let ends = turn.quic.is_closed() || (self.is_over && self.has_all(turn));
        ends.then_some(ErrorCode::NoError)
    }

    /// The alarm to set, if one is needed that is not set.
    pub(super) fn take_alarm(&mut self) -> Option<u64> {
        // Once it is over it waits for its client alone.
        let stage = self.stage.as_ref().filter(|_| !self.is_over);
        let staged = stage.and_then(|stage| stage.next_due());
        let wanted = staged.into_iter().chain(self.conversation.next_due()).min()?;
        if self.alarm != 0 && self.alarm <= wanted {
            return None;
        }
        self.alarm = wanted;
        Some(wanted)
    }

    /// Takes what came on a stream, unless too much waits to go out.
    fn read(&mut self, stream: u64, turn: &mut Turn<'_>) {
        loop {
            if turn.quic.unsent() >= BACKLOG_LIMIT {
                if !self.unread.contains(&stream) {
                    self.unread.push_back(stream);
                }
                return;
            }
            let mut input = mem::take(turn.input);
            input.clear();
            let read = turn.quic.read(stream, &mut input, MOST_READ);
            let is_end = read == Ok(Read::Finished);
            if let Ok(Read::Reset(_)) = read {
                let told = self.conversation.codec().reset(stream);
                self.hear(told, turn);
            } else if !self.is_over && (is_end || !input.is_empty()) {
                self.speak(turn, |conversation, sink, member, scratch| {
                    conversation.codec().turn_to(stream, is_end);
                    converse(conversation, &mut input, scratch, sink, member);
                });
            }
            *turn.input = input;
            if read != Ok(Read::More) {
                return;
            }
        }
    }

    /// What became of a stream, as the codec tells it.
    fn hear(
        &mut self,
        told: Result<Option<Arrival<'static, u32>>, ProtocolError>,
        turn: &mut Turn<'_>,
    ) {
        self.speak(turn, |conversation, sink, member, _| {
            // Who broke the rules is told so by the codec, and the connection closes.
            if let Ok(Some(mut event)) = told {
                // Nothing follows on this one.
                let _ = conversation.on_event(&mut event, sink, member);
            }
        });
    }

    /// Lets the conversation act, and does what comes of it. False: nothing did.
    fn speak(
        &mut self,
        turn: &mut Turn<'_>,
        act: impl FnOnce(&mut Http3Conversation, &mut Sink<'_>, &mut Member<'_>, &mut Scratch),
    ) -> bool {
        let Resources { shared, counters, staging, scratch, member } = &mut turn.resources;
        self.conversation.codec().set_unsent(turn.quic.unsent());
        let mut sink = Sink::new(staging, self.stage.as_deref_mut(), shared);
        act(&mut self.conversation, &mut sink, member, scratch);
        counters.add_requests(sink.requests());
        self.is_over |= sink.ending().is_some();
        self.carry_out(turn)
    }

    /// Does on the connection what the codec left to be done. False: nothing.
    fn carry_out(&mut self, turn: &mut Turn<'_>) -> bool {
        let Turn { quic, now, .. } = turn;
        let out = self.conversation.codec().out();
        let is_some = !out.is_empty();
        let mut gone = Vec::new();
        // What else is about a stream that is over means nothing.
        for action in out.actions() {
            match action {
                Action::Write { stream, bytes, fin } => {
                    if quic.send(stream, bytes, fin, *now).is_err() {
                        gone.push(stream);
                    } else if fin {
                        self.unacknowledged.insert(stream);
                    }
                }
                Action::Reset { stream, code } => {
                    self.unacknowledged.remove(&stream);
                    let _ = quic.reset(stream, code, *now);
                }
                Action::Stop { stream, code } => {
                    let _ = quic.stop(stream, code);
                }
                Action::Close { code } => quic.close(code, "", *now),
            }
        }
        out.clear();
        // The client does not want them, and its event has yet to be told.
        for stream in gone {
            let code = ErrorCode::RequestCancelled as u64;
            let told = self.conversation.codec().stop_sending(stream, code);
            self.hear(told, turn);
        }
        is_some
    }

    /// Has the client all that was said to it?
    fn has_all(&self, turn: &Turn<'_>) -> bool {
        turn.quic.unsent() == 0 && self.unacknowledged.is_empty()
    }
}
