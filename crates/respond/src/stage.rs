//! Holds replies back, in order, each until it is due, and injects faults into some of them.
//!
//! Knows bytes and nanoseconds. Must not know sockets or protocols.

use std::collections::VecDeque;
use std::mem;

use crate::script::{FaultKind, mix};

/// Nanoseconds between two bytes of a slow reply.
pub(crate) const SLOW_PACE: u64 = 10_000_000;
/// Bytes of a reply that are kept for the faults that need all of it. A longer reply is cut at half
/// of this by `truncate` and `reset`, and is sent unchanged by `swap` and `repeat`.
pub(crate) const WHOLE_REPLY: usize = 64 * 1024;
const GARBAGE_BYTES: usize = 32;

/// The replies of one connection that have not gone out.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    queue: VecDeque<Parcel>,
    queued_bytes: usize,
    reply: Option<OpenReply>,
    /// A complete reply that is sent after the next one.
    overtaken: Option<Overtaken>,
    /// A swap found no other reply: the next reply tries again.
    swap_owed: bool,
    /// The last complete reply, where the script may send it again.
    previous: Option<Vec<u8>>,
    remembers: bool,
    /// Nothing more is taken: the last parcel ends the conversation, or the script demands silence.
    mute: bool,
}

/// How [`Stage::release`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Released {
    /// More may come.
    Bytes,
    /// After what was released: FIN.
    Finish,
    /// After what was released: RST.
    Reset,
}

#[derive(Debug)]
struct Parcel {
    due: u64,
    bytes: Vec<u8>,
    manner: Manner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Plain,
    /// `sent` bytes were released.
    Slow {
        sent: usize,
    },
    Finish,
    Reset,
}

#[derive(Debug)]
struct OpenReply {
    due: u64,
    number: u64,
    fault: Option<FaultKind>,
    /// All of it, up to the limit, where a fault or the next swap needs it.
    whole: Vec<u8>,
    overflowed: bool,
}

#[derive(Debug)]
struct Overtaken {
    due: u64,
    bytes: Vec<u8>,
}

impl Stage {
    /// An empty stage. `remembers`: keeps each reply for the next `swap`.
    pub(crate) fn new(remembers: bool) -> Self {
        Self { remembers, ..Self::default() }
    }

    /// Bytes that are held back.
    pub(crate) fn held(&self) -> usize {
        let open = self.reply.as_ref().map_or(0, |reply| reply.whole.len());
        let overtaken = self.overtaken.as_ref().map_or(0, |reply| reply.bytes.len());
        self.queued_bytes + open + overtaken
    }

    /// Has everything been released?
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.reply.is_none() && self.overtaken.is_none()
    }

    /// When [`release`](Self::release) has something to do.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let queued = self.queue.front().map(|parcel| parcel.due);
        let alone = self.overtaken.as_ref().filter(|_| self.reply.is_none()).map(|it| it.due);
        queued.into_iter().chain(alone).min()
    }

    /// Begins a reply. What is added until [`end`](Self::end) belongs to it.
    pub(crate) fn begin(&mut self, due: u64, number: u64, fault: Option<FaultKind>) {
        if self.mute {
            return;
        }
        let fault = match fault {
            None if mem::take(&mut self.swap_owed) => Some(FaultKind::Swap),
            // It is already exchanged with the reply that waits.
            Some(FaultKind::Swap) if self.overtaken.is_some() => None,
            other => other,
        };
        match fault {
            Some(FaultKind::Close) => self.conclude(due, Manner::Finish),
            Some(FaultKind::Silent) => self.mute = true,
            _ => {
                let whole = Vec::new();
                self.reply = Some(OpenReply { due, number, fault, whole, overflowed: false });
            }
        }
    }

    /// Adds bytes of the open reply or, where none is open, bytes between replies.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        if self.mute || bytes.is_empty() {
            return;
        }
        let Some(reply) = &mut self.reply else {
            self.push(0, bytes, Manner::Plain);
            return;
        };
        let (due, fault) = (reply.due, reply.fault);
        if needs_whole(fault) || self.remembers {
            reply.remember(bytes);
        }
        match fault {
            Some(FaultKind::Garbage) => {}
            Some(FaultKind::Slow) => self.push(due, bytes, Manner::Slow { sent: 0 }),
            _ if needs_whole(fault) => self.spill(),
            _ => self.push(due, bytes, Manner::Plain),
        }
    }

    /// Ends the open reply: it is complete.
    pub(crate) fn end(&mut self) {
        let Some(reply) = self.reply.take() else {
            return;
        };
        let OpenReply { due, number, fault, whole, overflowed } = reply;
        match fault {
            Some(FaultKind::Garbage) => self.push(due, &garbage(number), Manner::Plain),
            Some(FaultKind::Truncate) => self.cut(due, &whole, Manner::Finish),
            Some(FaultKind::Reset) => self.cut(due, &whole, Manner::Reset),
            Some(FaultKind::Repeat) => {
                self.push(due, &whole, Manner::Plain);
                self.push(due, &whole, Manner::Plain);
            }
            Some(FaultKind::Swap) => {
                self.overtaken = Some(Overtaken { due, bytes: whole });
                return;
            }
            _ => {}
        }
        if let Some(first) = self.overtaken.take() {
            self.push(first.due, &first.bytes, Manner::Plain);
        }
        if self.remembers && !overflowed {
            self.previous = Some(whole);
        }
    }

    /// Adds bytes between replies, which are held back until then.
    pub(crate) fn hold(&mut self, due: u64, bytes: &[u8]) {
        self.push(due, bytes, Manner::Plain);
    }

    /// Ends the conversation with FIN after what was added.
    pub(crate) fn finish(&mut self) {
        if !self.mute {
            self.conclude(0, Manner::Finish);
        }
    }

    /// Moves to `out` what is due.
    pub(crate) fn release(&mut self, now: u64, out: &mut Vec<u8>) -> Released {
        self.give_up_swap(now);
        while let Some(parcel) = self.queue.front_mut().filter(|parcel| parcel.due <= now) {
            match &mut parcel.manner {
                Manner::Plain => {
                    self.queued_bytes -= parcel.bytes.len();
                    out.append(&mut parcel.bytes);
                }
                Manner::Slow { sent } => {
                    out.push(parcel.bytes[*sent]);
                    self.queued_bytes -= 1;
                    *sent += 1;
                    if *sent < parcel.bytes.len() {
                        parcel.due = now + SLOW_PACE;
                        break;
                    }
                }
                Manner::Finish => return Released::Finish,
                Manner::Reset => return Released::Reset,
            }
            self.queue.pop_front();
        }
        Released::Bytes
    }

    /// A reply that waits for a swap is due, and no other is under way.
    fn give_up_swap(&mut self, now: u64) {
        if self.reply.is_some() {
            return;
        }
        let Some(alone) = self.overtaken.take_if(|alone| alone.due <= now) else {
            return;
        };
        if let Some(previous) = self.previous.take() {
            self.push(alone.due, &previous, Manner::Plain);
        } else {
            self.push(alone.due, &alone.bytes, Manner::Plain);
            self.swap_owed = true;
        }
        self.previous = Some(alone.bytes);
    }

    /// Applies the fault of a reply that grew too long to be kept, without its end.
    fn spill(&mut self) {
        let Some(reply) = self.reply.as_mut().filter(|reply| reply.overflowed) else {
            return;
        };
        let (due, whole) = (reply.due, mem::take(&mut reply.whole));
        match reply.fault {
            Some(FaultKind::Truncate) => self.cut(due, &whole, Manner::Finish),
            Some(FaultKind::Reset) => self.cut(due, &whole, Manner::Reset),
            _ => {
                reply.fault = None;
                self.push(due, &whole, Manner::Plain);
            }
        }
    }

    fn cut(&mut self, due: u64, whole: &[u8], manner: Manner) {
        self.push(due, &whole[..whole.len() / 2], Manner::Plain);
        self.conclude(due, manner);
    }

    fn conclude(&mut self, due: u64, manner: Manner) {
        if let Some(alone) = self.overtaken.take() {
            self.push(alone.due, &alone.bytes, Manner::Plain);
        }
        self.reply = None;
        self.queue.push_back(Parcel { due, bytes: Vec::new(), manner });
        self.mute = true;
    }

    fn push(&mut self, due: u64, bytes: &[u8], manner: Manner) {
        if self.mute || bytes.is_empty() {
            return;
        }
        self.queued_bytes += bytes.len();
        match self.queue.back_mut() {
            Some(last) if last.due == due && last.joins(manner) => {
                last.bytes.extend_from_slice(bytes);
            }
            _ => self.queue.push_back(Parcel { due, bytes: bytes.to_vec(), manner }),
        }
    }
}

impl Parcel {
    fn joins(&self, manner: Manner) -> bool {
        matches!(
            (self.manner, manner),
            (Manner::Plain, Manner::Plain) | (Manner::Slow { .. }, Manner::Slow { .. })
        )
    }
}

impl OpenReply {
    fn remember(&mut self, bytes: &[u8]) {
        if self.overflowed {
            return;
        }
        self.whole.extend_from_slice(bytes);
        self.overflowed = self.whole.len() > WHOLE_REPLY;
        if self.overflowed && !needs_whole(self.fault) {
            self.whole = Vec::new();
        }
    }
}

fn needs_whole(fault: Option<FaultKind>) -> bool {
    use FaultKind::{Repeat, Reset, Swap, Truncate};
    matches!(fault, Some(Repeat | Reset | Swap | Truncate))
}

/// Its first byte begins neither a status line nor a valid WebSocket frame. Its last one ends a line: a peer that
/// reads lines sees at once that it is no reply.
pub(crate) fn garbage(number: u64) -> [u8; GARBAGE_BYTES] {
    let mut bytes = [0xFF; GARBAGE_BYTES];
    for (index, chunk) in (0..).zip(bytes[8..].chunks_exact_mut(8)) {
        chunk.copy_from_slice(&mix(number, index).to_le_bytes());
    }
    bytes[GARBAGE_BYTES - 1] = b'\n';
    bytes
}

#[cfg(test)]
mod tests;
