//! Parses the flags of the script.
//!
//! Knows how a flag is written. Must not know what it does.

use std::num::NonZeroU64;
use std::str::FromStr;

use super::{Delay, Fault, FaultKind, RareDelay, Stall, duration};

/// A flag of the script that could not be read; the message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// Not a number with a unit.
    #[error("`{0}` is not a duration: write a number and a unit (ns, us, ms, s, m), such as 5ms")]
    Duration(String),
    /// The second mode of a delay has no share.
    #[error("the delay `{0}` lacks the share of its second mode: write it like 1ms,20ms@0.1")]
    MissingShare(String),
    /// A share that is not between 0 and 1.
    #[error("`{0}` is not a share: write a number between 0 and 1, such as 0.1 for 10 %")]
    Share(String),
    /// A stall without its two durations.
    #[error(
        "`{0}` is not a stall: write EVERY/FOR such as 5s/1s, or at:AFTER/FOR for a single one"
    )]
    Stall(String),
    /// A stall that never ends.
    #[error("the stall `{0}` never ends: its length must be shorter than the time between two")]
    EndlessStall(String),
    /// A stall of no length.
    #[error("the stall `{0}` has no length: write one such as 5s/1s")]
    EmptyStall(String),
    /// No fault of that name.
    #[error(
        "there is no fault `{0}`: known are wrong, swap, repeat, truncate, reset, close, silent, \
         garbage, slow, status, and of HTTP/2 refuse, cancel, goaway, length, pings, settings, \
         headers, bomb, streams, window; write KIND or KIND@EVERY, such as wrong@100"
    )]
    Fault(String),
    /// A fault applied to every zeroth reply.
    #[error("`{0}` is not how often a fault comes: write KIND@EVERY with EVERY at least 1")]
    Every(String),
}

/// `5ms`, or two modes: `1ms,20ms@0.1`.
impl FromStr for Delay {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let Some((usual, rare)) = text.split_once(',') else {
            return Ok(Self { usual: duration_of(text)?, rare: None });
        };
        let (delay, share) =
            rare.split_once('@').ok_or_else(|| ScriptError::MissingShare(text.to_owned()))?;
        let rare = RareDelay { delay: duration_of(delay)?, share: share_of(share)? };
        Ok(Self { usual: duration_of(usual)?, rare: Some(rare) })
    }
}

/// `5s/1s` (every 5 s for 1 s), or `at:3s/1s` (once).
impl FromStr for Stall {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let (once, times) = match text.strip_prefix("at:") {
            Some(times) => (true, times),
            None => (false, text),
        };
        let (first, length) =
            times.split_once('/').ok_or_else(|| ScriptError::Stall(text.to_owned()))?;
        let (first, length) = (duration_of(first)?, duration_of(length)?);
        if length == 0 {
            return Err(ScriptError::EmptyStall(text.to_owned()));
        }
        if once {
            return Ok(Self { first, every: None, length });
        }
        if length >= first {
            return Err(ScriptError::EndlessStall(text.to_owned()));
        }
        Ok(Self { first, every: NonZeroU64::new(first), length })
    }
}

/// `wrong` (every reply), or `wrong@100` (every hundredth).
impl FromStr for Fault {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let (kind, every) = match text.split_once('@') {
            Some((kind, every)) => {
                let every = every.parse().map_err(|_| ScriptError::Every(text.to_owned()))?;
                (kind, every)
            }
            None => (text, NonZeroU64::MIN),
        };
        Ok(Self { kind: kind.parse()?, every })
    }
}

impl FromStr for FaultKind {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        Ok(match text {
            "wrong" => Self::Wrong,
            "swap" => Self::Swap,
            "repeat" => Self::Repeat,
            "truncate" => Self::Truncate,
            "reset" => Self::Reset,
            "close" => Self::Close,
            "silent" => Self::Silent,
            "garbage" => Self::Garbage,
            "slow" => Self::Slow,
            "status" => Self::Status,
            "refuse" => Self::Refuse,
            "cancel" => Self::Cancel,
            "goaway" => Self::Goaway,
            "length" => Self::Length,
            "pings" => Self::Pings,
            "settings" => Self::Settings,
            "headers" => Self::Headers,
            "bomb" => Self::Bomb,
            "streams" => Self::Streams,
            "window" => Self::Window,
            _ => return Err(ScriptError::Fault(text.to_owned())),
        })
    }
}

/// Nanoseconds of a number and a unit, such as `5ms`.
///
/// # Errors
/// It is none, or longer than a day.
pub fn duration_of(text: &str) -> Result<u64, ScriptError> {
    duration::parse(text).ok_or_else(|| ScriptError::Duration(text.to_owned()))
}

fn share_of(text: &str) -> Result<f64, ScriptError> {
    let share: f64 = text.parse().map_err(|_| ScriptError::Share(text.to_owned()))?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(ScriptError::Share(text.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn delays() {
        assert_eq!("5ms".parse(), Ok(Delay { usual: 5 * MS, rare: None }));
        let rare = Some(RareDelay { delay: 20 * MS, share: 0.1 });
        assert_eq!("1ms,20ms@0.1".parse(), Ok(Delay { usual: MS, rare }));
    }

    #[test]
    fn stalls() {
        let every = NonZeroU64::new(5_000 * MS);
        assert_eq!("5s/1s".parse(), Ok(Stall { first: 5_000 * MS, every, length: 1_000 * MS }));
        let once = Stall { first: 3_000 * MS, every: None, length: 4_000 * MS };
        assert_eq!("at:3s/4s".parse(), Ok(once));
    }

    #[test]
    fn faults() {
        let every = |n| NonZeroU64::new(n).unwrap();
        assert_eq!("swap".parse(), Ok(Fault { kind: FaultKind::Swap, every: every(1) }));
        assert_eq!("slow@100".parse(), Ok(Fault { kind: FaultKind::Slow, every: every(100) }));
    }

    #[test]
    fn each_mistake_is_named() {
        fn error<T: FromStr<Err = ScriptError>>(text: &str) -> ScriptError {
            text.parse::<T>().err().unwrap()
        }
        let own = str::to_owned;
        assert_eq!(error::<Delay>("5"), ScriptError::Duration(own("5")));
        assert_eq!(error::<Delay>("1ms,2ms"), ScriptError::MissingShare(own("1ms,2ms")));
        assert_eq!(error::<Delay>("1ms,2ms@2"), ScriptError::Share(own("2")));
        assert_eq!(error::<Delay>("1ms,2ms@NaN"), ScriptError::Share(own("NaN")));
        assert_eq!(error::<Stall>("5s"), ScriptError::Stall(own("5s")));
        assert_eq!(error::<Stall>("1s/1s"), ScriptError::EndlessStall(own("1s/1s")));
        assert_eq!(error::<Stall>("at:1s/0s"), ScriptError::EmptyStall(own("at:1s/0s")));
        assert_eq!(error::<Fault>("fire"), ScriptError::Fault(own("fire")));
        assert_eq!(error::<Fault>("slow@0"), ScriptError::Every(own("slow@0")));
    }
}
