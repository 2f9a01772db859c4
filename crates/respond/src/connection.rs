//! One connection: its transport, its conversation, and how it ends.
//!
//! Knows when to read, when to write, and when to wait until answers have gone out. Must not know
//! routes, messages, or other connections.

use std::mem;
use std::sync::Arc;

use wiretrial_net::clock::monotonic_ns;
use wiretrial_net::{Driver, Fill, Ready, Transport};
use wiretrial_proto::Scratch;
use wiretrial_proto::http1::DateField;

use crate::hub::{Member, Memberships, Notice};
use crate::plan::EndpointKind;
use crate::protocol::Protocol;
use crate::script::FaultKind;
use crate::shared::Shared;
use crate::sink::{BACKLOG_LIMIT, Ending, Sink};
use crate::stage::{Released, Stage};
use crate::stats::Counters;

/// Reading and answering resume once fewer bytes than this wait to go out.
const BACKLOG_LOW: usize = BACKLOG_LIMIT / 4;
/// A client with this many unsent bytes of notices is disconnected.
const OVERFLOW: usize = 4 * BACKLOG_LIMIT;
/// Rounds of reading or writing in one turn. Then the other connections have theirs.
const ROUNDS_PER_TURN: u32 = 16;
/// How long the server waits for the client's FIN after its own, nanoseconds.
const LINGER: u64 = 2_000_000_000;

/// One accepted connection. A million of them may be idle, so its rare parts are boxed.
#[derive(Debug)]
pub(crate) struct Connection {
    transport: Transport,
    /// Input that the conversation has not taken.
    carry: Vec<u8>,
    protocol: Protocol,
    /// Where answers are held back for the script.
    stage: Option<Box<Stage>>,
    state: State,
    /// The conversation continues once there is room for its answers.
    blocked: bool,
    intake: Intake,
    /// The driver may have input for which it reports no readiness.
    undrained: bool,
    /// A notice was appended and not flushed.
    notified: bool,
    /// The earliest alarm that is set, nanoseconds of the monotonic clock; 0: none.
    alarm: u64,
}

/// What a connection uses of its thread during a turn.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) driver: &'a mut Driver,
    pub(crate) resources: Resources<'a>,
}

/// What conversations use of it.
#[derive(Debug)]
pub(crate) struct Resources<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) counters: &'a Counters,
    /// Where answers are written on their way to the stage. Empty between turns.
    pub(crate) staging: &'a mut Vec<u8>,
    /// Where codecs put payload that they unpack.
    pub(crate) scratch: &'a mut Scratch,
    /// How this connection reaches others.
    pub(crate) member: Member<'a>,
}

/// What happens to a connection after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Wait for readiness or its alarm.
    Wait,
    /// Another turn after those of the others.
    Again,
    /// Close with FIN.
    Close,
    /// Close with RST.
    Abort,
}

/// Does the driver report input?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Intake {
    Open,
    /// Not until enough answers have gone out.
    Paused,
    /// There is no more: the client's FIN came.
    Ended,
}

/// How far the connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Talking,
    /// The conversation is over. Answers are still on the stage.
    Staged(Ending),
    /// No more answers come. The last bytes still have to go out.
    Finishing(Ending),
    /// The server's FIN went out. The client's is awaited until this instant.
    Lingering(u64),
}

impl Connection {
    pub(crate) fn new(
        transport: Transport,
        kind: EndpointKind,
        shared: &Shared,
        date: &Arc<DateField>,
    ) -> Self {
        let script = &shared.script;
        let stage =
            script.stages_replies().then(|| Box::new(Stage::new(script.has(FaultKind::Swap))));
        Self {
            transport,
            carry: Vec::new(),
            protocol: Protocol::new(kind, date),
            stage,
            state: State::Talking,
            blocked: false,
            intake: Intake::Open,
            undrained: false,
            notified: false,
            alarm: 0,
        }
    }

    /// The driver reports readiness.
    pub(crate) fn on_ready(&mut self, ready: Ready, context: &mut Context<'_>) -> Next {
        if ready.hangup {
            return Next::Close;
        }
        if ready.writable {
            let next = self.write(context);
            if next != Next::Wait {
                return next;
            }
        }
        if ready.readable { self.read(context) } else { Next::Wait }
    }

    /// The server tells the connection something. It goes out with the turn that is asked for.
    pub(crate) fn on_notice(&mut self, notice: &Notice, context: &mut Context<'_>) -> Next {
        if self.state != State::Talking {
            return Next::Wait;
        }
        let Resources { shared, counters, staging, member, .. } = &mut context.resources;
        let out = if self.stage.is_some() { &mut **staging } else { self.transport.out() };
        let mut sink = Sink::new(out, self.stage.as_deref_mut(), shared);
        self.protocol.on_notice(notice, &mut sink, member);
        counters.add_requests(sink.requests());
        let ending = sink.ending();
        self.conclude(ending);
        if mem::replace(&mut self.notified, true) { Next::Wait } else { Next::Again }
    }

    /// What it has joined.
    pub(crate) fn memberships(&self) -> Memberships {
        self.protocol.memberships()
    }

    /// The turn that [`Next::Again`] asked for.
    pub(crate) fn on_turn(&mut self, context: &mut Context<'_>) -> Next {
        if mem::take(&mut self.notified) && self.backlog() >= OVERFLOW {
            // Other connections cause the notices, so they do not stop for this one.
            return Next::Close;
        }
        let next = self.write(context);
        if next == Next::Wait && self.undrained { self.read(context) } else { next }
    }

    /// An alarm is due.
    pub(crate) fn on_alarm(&mut self, now: u64, context: &mut Context<'_>) -> Next {
        if self.alarm <= now {
            self.alarm = 0;
        }
        match self.state {
            State::Lingering(until) if until <= now => Next::Close,
            State::Lingering(_) => Next::Wait,
            _ => {
                self.do_due(now, context);
                self.write(context)
            }
        }
    }

    /// The alarm to set, if one is needed that is not set.
    pub(crate) fn take_alarm(&mut self) -> Option<u64> {
        let wanted = match (self.state, &self.stage) {
            (State::Lingering(until), _) => until,
            (State::Talking, Some(stage)) => {
                let by_itself = self.protocol.next_due();
                stage.next_due().into_iter().chain(by_itself).min()?
            }
            (State::Staged(_), Some(stage)) => stage.next_due()?,
            _ => return None,
        };
        if self.alarm != 0 && self.alarm <= wanted {
            return None;
        }
        self.alarm = wanted;
        Some(wanted)
    }

    /// The server stops: the connection closes unless answers are under way.
    pub(crate) fn leave(&mut self, context: &mut Context<'_>) -> Next {
        let quiet = !self.blocked
            && self.backlog() == 0
            && self.stage.as_ref().is_none_or(|stage| stage.is_idle())
            && self.protocol.next_due().is_none();
        if !quiet {
            return Next::Wait;
        }
        if self.state == State::Talking {
            self.protocol.go_away(self.transport.out());
            // A client that does not take it is closed without it.
            let _ = self.transport.flush(context.driver);
        }
        Next::Close
    }

    /// Bytes sent and received so far, as the kernel counts them.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        self.transport.bytes()
    }

    pub(crate) fn into_transport(self) -> Transport {
        self.transport
    }

    fn read(&mut self, context: &mut Context<'_>) -> Next {
        for _ in 0..ROUNDS_PER_TURN {
            if self.blocked || self.backlog() >= BACKLOG_LIMIT {
                self.pause(Intake::Paused, context);
                return Next::Wait;
            }
            match self.transport.fill(context.driver, &mut self.carry) {
                Fill::Data(input, _, drained) => {
                    self.undrained = !drained;
                    if self.state == State::Talking {
                        let taken = self.converse(input, &mut context.resources);
                        self.carry.extend_from_slice(&input[taken..]);
                    }
                    let next = self.write(context);
                    if next != Next::Wait || drained {
                        return next;
                    }
                }
                Fill::WouldBlock => {
                    self.undrained = false;
                    return self.write(context);
                }
                Fill::End => return self.on_end(context),
                Fill::Failed(_) => return Next::Close,
            }
        }
        Next::Again
    }

    /// Sends what is due, and continues a blocked conversation once there is room.
    fn write(&mut self, context: &mut Context<'_>) -> Next {
        for _ in 0..ROUNDS_PER_TURN {
            let reset = self.release();
            let Ok(flush) = self.transport.flush(context.driver) else {
                return Next::Close;
            };
            if reset {
                return Next::Abort;
            }
            if let (State::Finishing(ending), true) = (self.state, flush.done) {
                return self.hang_up(ending, context);
            }
            if !self.blocked {
                return self.resume(context);
            }
            if !flush.done || self.backlog() >= BACKLOG_LOW {
                return Next::Wait;
            }
            self.continue_blocked(context);
        }
        Next::Again
    }

    /// Moves what is due from the stage to the transport. True: RST follows.
    fn release(&mut self) -> bool {
        let Some(stage) = &mut self.stage else {
            return false;
        };
        let ending = match self.state {
            State::Talking => Ending::Early,
            State::Staged(ending) => ending,
            State::Finishing(_) | State::Lingering(_) => return false,
        };
        if stage.is_idle() {
            // The script sends nothing more, and the client has left.
            if self.intake == Intake::Ended && matches!(self.state, State::Staged(_)) {
                self.state = State::Finishing(ending);
            }
            return false;
        }
        match stage.release(monotonic_ns(), self.transport.out()) {
            Released::Bytes => {}
            Released::Finish => self.state = State::Finishing(ending),
            Released::Reset => return true,
        }
        false
    }

    /// Lets the conversation do what is due, and go on with what that began.
    fn do_due(&mut self, now: u64, context: &mut Context<'_>) {
        if self.state != State::Talking || self.protocol.next_due().is_none_or(|due| due > now) {
            return;
        }
        let Resources { shared, staging, .. } = &mut context.resources;
        let out = if self.stage.is_some() { &mut **staging } else { self.transport.out() };
        let mut sink = Sink::new(out, self.stage.as_deref_mut(), shared);
        self.protocol.on_due(now, &mut sink);
        let ending = sink.ending();
        self.conclude(ending);
        if self.state == State::Talking {
            self.continue_blocked(context);
        }
    }

    /// Takes the input that was left when the conversation blocked.
    fn continue_blocked(&mut self, context: &mut Context<'_>) {
        let mut input = mem::take(&mut self.carry);
        let taken = self.converse(&mut input, &mut context.resources);
        input.drain(..taken);
        self.carry = input;
        if self.intake == Intake::Ended {
            self.finish_after_end();
        }
    }

    /// Gives input to the conversation; returns how many bytes of it were taken.
    fn converse(&mut self, input: &mut [u8], resources: &mut Resources<'_>) -> usize {
        let Resources { shared, counters, staging, scratch, member } = resources;
        self.protocol.agree(|| self.transport.agreed());
        let out = if self.stage.is_some() { &mut **staging } else { self.transport.out() };
        let mut sink = Sink::new(out, self.stage.as_deref_mut(), shared);
        let taken = self.protocol.take(input, scratch, &mut sink, member);
        counters.add_requests(sink.requests());
        let ending = sink.ending();
        self.blocked = taken.blocked;
        self.conclude(ending);
        taken.bytes
    }

    /// The conversation is over, if it has ended.
    fn conclude(&mut self, ending: Option<Ending>) {
        let Some(ending) = ending else { return };
        self.state = match self.stage {
            Some(_) => State::Staged(ending),
            None => State::Finishing(ending),
        };
    }

    /// The client sent its FIN: it gets the answers to its requests, then the server's FIN.
    fn on_end(&mut self, context: &mut Context<'_>) -> Next {
        if matches!(self.state, State::Lingering(_)) {
            return Next::Close;
        }
        self.undrained = false;
        self.pause(Intake::Ended, context);
        self.finish_after_end();
        self.write(context)
    }

    fn finish_after_end(&mut self) {
        let is_under_way = self.blocked || self.protocol.next_due().is_some();
        if is_under_way || !matches!(self.state, State::Talking | State::Staged(_)) {
            return;
        }
        self.state = match &mut self.stage {
            Some(stage) => {
                stage.finish();
                State::Staged(Ending::Orderly)
            }
            None => State::Finishing(Ending::Orderly),
        };
    }

    /// The kernel has all answers. The server reads on for a while where the client may still be
    /// sending: closing with unread bytes would send RST, which may overtake the answers.
    fn hang_up(&mut self, ending: Ending, context: &mut Context<'_>) -> Next {
        if self.intake == Intake::Ended || (ending == Ending::Orderly && !self.undrained) {
            return Next::Close;
        }
        self.transport.shutdown_write(context.driver);
        self.state = State::Lingering(monotonic_ns() + LINGER);
        self.blocked = false;
        self.resume(context)
    }

    fn pause(&mut self, why: Intake, context: &mut Context<'_>) {
        if self.intake == Intake::Open {
            context.driver.pause_reads(self.transport.socket_mut());
        }
        self.intake = why;
    }

    fn resume(&mut self, context: &mut Context<'_>) -> Next {
        if self.intake != Intake::Paused || self.backlog() >= BACKLOG_LOW {
            return Next::Wait;
        }
        self.intake = Intake::Open;
        context.driver.resume_reads(self.transport.socket_mut());
        if self.undrained { Next::Again } else { Next::Wait }
    }

    /// Bytes of answers that the kernel has not taken, or that wait on the stage.
    fn backlog(&mut self) -> usize {
        let staged = self.stage.as_ref().map_or(0, |stage| stage.held());
        self.transport.out().len().max(self.transport.socket().pending()) + staged
    }
}
