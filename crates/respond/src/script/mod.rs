//! What the server does wrongly or late on purpose.
//!
//! Knows the delay and the fault of each reply: pure functions of the reply's number and the seed, so
//! that a run can be repeated. Must not know sockets or clocks.

mod duration;
mod parse;

use std::num::{NonZeroU32, NonZeroU64};

pub use parse::{ScriptError, duration_of};

/// The whole script. With the default one, every reply is right and immediate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    /// How long each reply is held back.
    pub delay: Option<Delay>,
    /// How long the answer to each upgrade to WebSocket is held back, nanoseconds; it is no reply.
    pub upgrade_delay: u64,
    /// When the whole server freezes.
    pub stall: Option<Stall>,
    /// Faults of every Nth reply. Where two apply to one reply, the first in the list is used.
    pub faults: Vec<Fault>,
    /// HTTP: `Connection: close` on this reply of each connection.
    pub close_after: Option<NonZeroU32>,
    /// Selects the replies with the rare delay, and the bytes of garbage.
    pub seed: u64,
}

/// How long replies are held back, from the arrival of the request's first byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delay {
    /// Nanoseconds for most replies.
    pub usual: u64,
    /// The second mode.
    pub rare: Option<RareDelay>,
}

/// The second mode of a two-mode delay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RareDelay {
    /// Nanoseconds.
    pub delay: u64,
    /// Share of the replies, 0 to 1.
    pub share: f64,
}

/// When the whole server freezes: it neither reads, nor accepts, nor sends.
/// Times count from the first request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// Begin of the first freeze, nanoseconds.
    pub first: u64,
    /// Time between the begins of two freezes, nanoseconds; none: there is only one.
    pub every: Option<NonZeroU64>,
    /// Length of a freeze, nanoseconds.
    pub length: u64,
}

/// One fault and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What happens.
    pub kind: FaultKind,
    /// Applied to every reply with a number that is divisible by this.
    pub every: NonZeroU64,
}

/// A fault of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// One byte of the content is altered; an empty content stays as it is.
    Wrong,
    /// It is exchanged with the next reply of its connection. If none has begun when it is due, the
    /// previous reply is sent again in its place.
    Swap,
    /// Sent twice.
    Repeat,
    /// Half of it, then FIN.
    Truncate,
    /// Half of it, then RST.
    Reset,
    /// FIN before any byte of it.
    Close,
    /// Never sent, and nothing after it: replies are in order. In HTTP/2 and HTTP/3 they are not, and the
    /// others are sent.
    Silent,
    /// Random bytes in its place.
    Garbage,
    /// One byte every 10 ms.
    Slow,
    /// HTTP: status 500 in its place. The other protocols have no status and answer rightly.
    Status,
    /// HTTP/2: its stream is refused (`REFUSED_STREAM`). This and what follows are rules of HTTP/2, down to
    /// [`Length`](Self::Length) also of HTTP/3; the other protocols answer rightly.
    Refuse,
    /// HTTP/2: half of its content, then its stream is reset (`INTERNAL_ERROR`).
    Cancel,
    /// HTTP/2: GOAWAY in its place, and none of the requests behind it is answered on this connection.
    Goaway,
    /// HTTP/2: its `content-length` is one too many.
    Length,
    /// HTTP/2: behind 8,000 PING frames.
    Pings,
    /// HTTP/2: behind 8,000 SETTINGS frames.
    Settings,
    /// HTTP/2: its fields go on without end, in CONTINUATION frames.
    Headers,
    /// HTTP/2: its fields are a few hundred bytes that stand for 400 kB.
    Bomb,
    /// HTTP/2: behind a setting that allows one stream at a time from then on.
    Streams,
    /// HTTP/2: behind a setting that allows no content on new streams.
    Window,
}

/// Delay and fault of one reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Directive {
    /// How long it is held back, nanoseconds.
    pub(crate) delay: u64,
    /// Its fault, if any.
    pub(crate) fault: Option<FaultKind>,
}

impl Script {
    /// Must what is said pass the stage before it is sent?
    pub(crate) fn stages_replies(&self) -> bool {
        self.upgrade_delay > 0 || self.delay.is_some_and(Delay::holds) || !self.faults.is_empty()
    }

    /// Does any reply have this fault?
    pub(crate) fn has(&self, kind: FaultKind) -> bool {
        self.faults.iter().any(|fault| fault.kind == kind)
    }

    /// Delay and fault of the reply with this number, counted from 1 over the whole server.
    pub(crate) fn directive(&self, number: u64) -> Directive {
        let delay = self.delay.map_or(0, |delay| delay.of(number, self.seed));
        let hit = self.faults.iter().find(|fault| number.is_multiple_of(fault.every.get()));
        Directive { delay, fault: hit.map(|fault| fault.kind) }
    }
}

impl Delay {
    /// Is any reply held back?
    fn holds(self) -> bool {
        self.usual > 0 || self.rare.is_some()
    }

    fn of(&self, number: u64, seed: u64) -> u64 {
        match self.rare {
            Some(rare) if unit_interval(mix(seed, number)) < rare.share => rare.delay,
            _ => self.usual,
        }
    }
}

impl Stall {
    /// The end of the freeze that holds at `elapsed` nanoseconds after the first request.
    pub(crate) fn frozen_until(&self, elapsed: u64) -> Option<u64> {
        let since_first = elapsed.checked_sub(self.first)?;
        let since_begin = match self.every {
            Some(every) => since_first % every.get(),
            None => since_first,
        };
        (since_begin < self.length).then(|| elapsed - since_begin + self.length)
    }
}

/// A pseudorandom number that depends only on its arguments (the finalizer of `SplitMix64`).
pub(crate) fn mix(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// To [0, 1), by the upper 53 bits.
fn unit_interval(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(kind: FaultKind, every: u64) -> Fault {
        Fault { kind, every: NonZeroU64::new(every).unwrap() }
    }

    #[test]
    fn the_default_script_does_nothing() {
        let script = Script::default();
        assert!(!script.stages_replies());
        assert!((1..100).all(|n| script.directive(n) == Directive::default()));
    }

    #[test]
    fn a_delay_of_nothing_holds_nothing_back() {
        let script =
            |usual, rare| Script { delay: Some(Delay { usual, rare }), ..Script::default() };
        assert!(!script(0, None).stages_replies());
        assert!(script(1, None).stages_replies());
        assert!(script(0, Some(RareDelay { delay: 1, share: 0.1 })).stages_replies());
    }

    #[test]
    fn a_constant_delay_holds_for_every_reply() {
        let script = Script { delay: Some(Delay { usual: 7, rare: None }), ..Script::default() };
        assert!((1..100).all(|n| script.directive(n).delay == 7));
    }

    #[test]
    fn the_rare_delay_takes_its_share_and_repeats_with_the_seed() {
        let rare = Some(RareDelay { delay: 20, share: 0.1 });
        let script =
            |seed| Script { delay: Some(Delay { usual: 1, rare }), seed, ..Script::default() };
        let slow = |seed| -> Vec<u64> {
            let script = script(seed);
            (1..=100_000).filter(|&n| script.directive(n).delay == 20).collect()
        };
        let first = slow(1);
        // Binomial(100000, 0.1): sigma 95, so 500 is more than five sigma.
        assert!(first.len().abs_diff(10_000) < 500, "{}", first.len());
        assert_eq!(first, slow(1));
        assert_ne!(first, slow(2));
    }

    #[test]
    fn a_fault_meets_every_nth_reply_and_the_first_listed_wins() {
        let script = Script {
            faults: vec![every(FaultKind::Wrong, 4), every(FaultKind::Close, 2)],
            ..Script::default()
        };
        let faults: Vec<_> = (1..=8).map(|n| script.directive(n).fault).collect();
        let (wrong, close) = (Some(FaultKind::Wrong), Some(FaultKind::Close));
        assert_eq!(faults, [None, close, None, wrong, None, close, None, wrong]);
    }

    #[test]
    fn freezes_are_where_the_stall_says() {
        let again = Stall { first: 50, every: NonZeroU64::new(50), length: 10 };
        let once = Stall { first: 30, every: None, length: 10 };
        let table = [
            (again, 0, None),
            (again, 49, None),
            (again, 50, Some(60)),
            (again, 59, Some(60)),
            (again, 60, None),
            (again, 105, Some(110)),
            (once, 29, None),
            (once, 30, Some(40)),
            (once, 39, Some(40)),
            (once, 40, None),
            (once, 80, None),
        ];
        for (stall, elapsed, expected) in table {
            assert_eq!(stall.frozen_until(elapsed), expected, "{stall:?} at {elapsed}");
        }
    }
}
