//! One connection: its transport, its conversation, and how it ends.
//!
//! Knows when to read, when to write, when to wait for room. Must not know routes,
//! messages, or other connections.

use std::mem;
use std::sync::Arc;

use wiretrial_net::clock::monotonic_ns;
use wiretrial_net::{Driver, Fill, Ready, Transport};
use wiretrial_proto::Scratch;
use wiretrial_proto::http1::DateField;

use crate::hub::{Member, Memberships, Notice};
use crate::plan::Kind;
use crate::protocol::Protocol;
use crate::script::FaultKind;
use crate::shared::Shared;
use crate::sink::{BACKLOG_LIMIT, Ending, Sink};
use crate::stage::{Released, Stage};
use crate::stats::Counters;

/// Reading and answering go on when less than this is left.
const BACKLOG_LOW: usize = BACKLOG_LIMIT / 4;
/// Who lets so many bytes from its table or the lobby wait is given up.
const OVERFLOW: usize = 4 * BACKLOG_LIMIT;
/// Rounds of reading or writing before other connections have their turn.
const ROUNDS_PER_TURN: u32 = 16;
/// How long a peer may take to send its FIN after ours, nanoseconds.
const LINGER: u64 = 2_000_000_000;

/// One accepted connection. A million of them may be idle, so what is rare is boxed.
#[derive(Debug)]
pub(crate) struct Connection {
    transport: Transport,
    /// Input that was not taken.
    carry: Vec<u8>,
    protocol: Protocol,
    /// Where the script holds answers back.
    stage: Option<Box<Stage>>,
    phase: Phase,
    /// The conversation waits for room to go on.
    blocked: bool,
    intake: Intake,
    /// The driver may hold input that it does not tell of.
    undrained: bool,
    /// A word was written that no flush has seen.
    touched: bool,
    /// The earliest alarm that is set, nanoseconds on the monotonic clock; 0: none.
    alarm: u64,
}

/// What a connection works with that is not its own.
#[derive(Debug)]
pub(crate) struct Room<'a> {
    pub(crate) driver: &'a mut Driver,
    pub(crate) shared: &'a Shared,
    pub(crate) counters: &'a Counters,
    /// Empty between calls; where answers are written that go to the stage.
    pub(crate) scratch: &'a mut Vec<u8>,
    /// Where codecs lay what they unpack.
    pub(crate) unpacked: &'a mut Scratch,
    /// How this connection reaches others.
    pub(crate) member: Member<'a>,
}

/// What is to be done with a connection after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Wait for readiness or its alarm.
    Wait,
    /// Another turn, when the others had theirs.
    Again,
    /// Close with FIN.
    Close,
    /// Close with RST.
    Abort,
}

/// Whether the driver tells of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Intake {
    Open,
    /// Not until there is room for answers.
    Paused,
    /// There is none any more: the peer's FIN came.
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Talking,
    /// The conversation is over, its answers are still on the stage.
    Staged(Ending),
    /// Everything was said; the rest has to go out.
    Finishing(Ending),
    /// Our FIN is out, the peer's is awaited until then.
    Lingering(u64),
}

impl Connection {
    pub(crate) fn new(
        transport: Transport,
        kind: Kind,
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
            phase: Phase::Talking,
            blocked: false,
            intake: Intake::Open,
            undrained: false,
            touched: false,
            alarm: 0,
        }
    }

    /// The driver told something.
    pub(crate) fn on_ready(&mut self, ready: Ready, room: &mut Room<'_>) -> Next {
        if ready.hangup {
            return Next::Close;
        }
        if ready.writable {
            let next = self.write(room);
            if next != Next::Wait {
                return next;
            }
        }
        if ready.readable { self.read(room) } else { Next::Wait }
    }

    /// Its table or the lobby has something to say. It goes out with the turn that is asked for.
    pub(crate) fn on_notice(&mut self, notice: &Notice, room: &mut Room<'_>) -> Next {
        if self.phase != Phase::Talking {
            return Next::Wait;
        }
        let Room { shared, counters, scratch, .. } = room;
        let out = if self.stage.is_some() { &mut **scratch } else { self.transport.out() };
        let mut sink = Sink::new(out, self.stage.as_deref_mut(), shared);
        self.protocol.on_notice(notice, &mut sink);
        counters.add_requests(sink.requests());
        if mem::replace(&mut self.touched, true) { Next::Wait } else { Next::Again }
    }

    /// What it has joined.
    pub(crate) fn memberships(&self) -> Memberships {
        self.protocol.memberships()
    }

    /// The turn that [`Next::Again`] asked for, or a word.
    pub(crate) fn on_turn(&mut self, room: &mut Room<'_>) -> Next {
        if mem::take(&mut self.touched) && self.backlog() >= OVERFLOW {
            // The others at its table go on, so it cannot be waited for.
            return Next::Close;
        }
        let next = self.write(room);
        if next == Next::Wait && self.undrained { self.read(room) } else { next }
    }

    /// The alarm went off.
    pub(crate) fn on_alarm(&mut self, now: u64, room: &mut Room<'_>) -> Next {
        if self.alarm <= now {
            self.alarm = 0;
        }
        match self.phase {
            Phase::Lingering(until) if until <= now => Next::Close,
            Phase::Lingering(_) => Next::Wait,
            _ => self.write(room),
        }
    }

    /// The alarm to set, where one is wanted that is not set.
    pub(crate) fn take_alarm(&mut self) -> Option<u64> {
        let wanted = match (self.phase, &self.stage) {
            (Phase::Lingering(until), _) => until,
            (Phase::Talking | Phase::Staged(_), Some(stage)) => stage.next_due()?,
            _ => return None,
        };
        if self.alarm != 0 && self.alarm <= wanted {
            return None;
        }
        self.alarm = wanted;
        Some(wanted)
    }

    /// The server stops: whoever is not in the middle of something leaves.
    pub(crate) fn leave(&mut self, room: &mut Room<'_>) -> Next {
        let quiet = !self.blocked
            && self.backlog() == 0
            && self.stage.as_ref().is_none_or(|stage| stage.is_idle());
        if !quiet {
            return Next::Wait;
        }
        if self.phase == Phase::Talking {
            self.protocol.go_away(self.transport.out());
            // Who does not take it is closed without.
            let _ = self.transport.flush(room.driver);
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

    fn read(&mut self, room: &mut Room<'_>) -> Next {
        for _ in 0..ROUNDS_PER_TURN {
            if self.blocked || self.backlog() >= BACKLOG_LIMIT {
                self.pause(Intake::Paused, room);
                return Next::Wait;
            }
            match self.transport.fill(room.driver, &mut self.carry) {
                Fill::Data(input, _, drained) => {
                    self.undrained = !drained;
                    if self.phase == Phase::Talking {
                        let Room { shared, counters, scratch, unpacked, member, .. } = room;
                        let taken = self.hear(input, scratch, unpacked, shared, counters, member);
                        self.carry.extend_from_slice(&input[taken..]);
                    }
                    let next = self.write(room);
                    if next != Next::Wait || drained {
                        return next;
                    }
                }
                Fill::WouldBlock => {
                    self.undrained = false;
                    return self.write(room);
                }
                Fill::End => return self.on_end(room),
                Fill::Failed(_) => return Next::Close,
            }
        }
        Next::Again
    }

    /// Sends what may be sent, and lets a blocked conversation go on as there is room.
    fn write(&mut self, room: &mut Room<'_>) -> Next {
        for _ in 0..ROUNDS_PER_TURN {
            let reset = self.release();
            let Ok(flush) = self.transport.flush(room.driver) else {
                return Next::Close;
            };
            if reset {
                return Next::Abort;
            }
            if let (Phase::Finishing(ending), true) = (self.phase, flush.done) {
                return self.hang_up(ending, room);
            }
            if !self.blocked {
                return self.resume(room);
            }
            if !flush.done || self.backlog() >= BACKLOG_LOW {
                return Next::Wait;
            }
            self.go_on(room);
        }
        Next::Again
    }

    /// Moves what is due from the stage to the transport. True: RST comes next.
    fn release(&mut self) -> bool {
        let Some(stage) = &mut self.stage else {
            return false;
        };
        let ending = match self.phase {
            Phase::Talking => Ending::Early,
            Phase::Staged(ending) => ending,
            Phase::Finishing(_) | Phase::Lingering(_) => return false,
        };
        if stage.is_idle() {
            // The script fell silent, and the peer has had enough.
            if self.intake == Intake::Ended && matches!(self.phase, Phase::Staged(_)) {
                self.phase = Phase::Finishing(ending);
            }
            return false;
        }
        match stage.release(monotonic_ns(), self.transport.out()) {
            Released::Bytes => {}
            Released::Finish => self.phase = Phase::Finishing(ending),
            Released::Reset => return true,
        }
        false
    }

    /// Takes what was left of the input when the conversation blocked.
    fn go_on(&mut self, room: &mut Room<'_>) {
        let mut input = mem::take(&mut self.carry);
        let Room { shared, counters, scratch, unpacked, member, .. } = room;
        let taken = self.hear(&mut input, scratch, unpacked, shared, counters, member);
        input.drain(..taken);
        self.carry = input;
        if self.intake == Intake::Ended {
            self.finish_after_end();
        }
    }

    /// Gives input to the conversation; returns how much of it was taken.
    fn hear(
        &mut self,
        input: &mut [u8],
        scratch: &mut Vec<u8>,
        unpacked: &mut Scratch,
        shared: &Shared,
        counters: &Counters,
        member: &mut Member<'_>,
    ) -> usize {
        let out = if self.stage.is_some() { scratch } else { self.transport.out() };
        let mut sink = Sink::new(out, self.stage.as_deref_mut(), shared);
        let taken = self.protocol.take(input, unpacked, &mut sink, member);
        counters.add_requests(sink.requests());
        self.blocked = taken.blocked;
        if let Some(ending) = sink.ending() {
            self.phase = match self.stage {
                Some(_) => Phase::Staged(ending),
                None => Phase::Finishing(ending),
            };
        }
        taken.bytes
    }

    /// The peer sent its FIN: it gets what it asked for, then ours.
    fn on_end(&mut self, room: &mut Room<'_>) -> Next {
        if matches!(self.phase, Phase::Lingering(_)) {
            return Next::Close;
        }
        self.undrained = false;
        self.pause(Intake::Ended, room);
        self.finish_after_end();
        self.write(room)
    }

    fn finish_after_end(&mut self) {
        if self.blocked || !matches!(self.phase, Phase::Talking | Phase::Staged(_)) {
            return;
        }
        self.phase = match &mut self.stage {
            Some(stage) => {
                stage.finish();
                Phase::Staged(Ending::Orderly)
            }
            None => Phase::Finishing(Ending::Orderly),
        };
    }

    /// Everything is with the kernel. A peer that may still be sending is listened to for a
    /// while: closing on unread bytes would send RST, which may overtake the answer.
    fn hang_up(&mut self, ending: Ending, room: &mut Room<'_>) -> Next {
        if self.intake == Intake::Ended || (ending == Ending::Orderly && !self.undrained) {
            return Next::Close;
        }
        self.transport.shutdown_write(room.driver);
        self.phase = Phase::Lingering(monotonic_ns() + LINGER);
        self.blocked = false;
        self.resume(room)
    }

    fn pause(&mut self, why: Intake, room: &mut Room<'_>) {
        if self.intake == Intake::Open {
            room.driver.pause_reads(self.transport.socket_mut());
        }
        self.intake = why;
    }

    fn resume(&mut self, room: &mut Room<'_>) -> Next {
        if self.intake != Intake::Paused || self.backlog() >= BACKLOG_LOW {
            return Next::Wait;
        }
        self.intake = Intake::Open;
        room.driver.resume_reads(self.transport.socket_mut());
        if self.undrained { Next::Again } else { Next::Wait }
    }

    /// Bytes of answers that the kernel has not taken.
    fn backlog(&mut self) -> usize {
        let staged = self.stage.as_ref().map_or(0, |stage| stage.held());
        self.transport.out().len().max(self.transport.socket().pending()) + staged
    }
}
