//! What the machine takes from a program that is to be punctual, and does nothing else. Nobody on that
//! CPU can be more punctual than this.

use std::io;
use std::time::{Duration, Instant};

/// Shorter ones are readings of the clock.
const LEAST: Duration = Duration::from_micros(5);

/// What is asked of the machine.
pub(crate) enum Question {
    /// How long it was between two readings of the clock, by a program that never waits.
    Gaps,
    /// How late it was after each of so many instants per second, by a program that sleeps until then.
    Timer(u64),
}

impl Question {
    /// What is asked, for how long, and on which CPU.
    pub(crate) fn parse(arguments: &[String]) -> Option<(Self, Duration, usize)> {
        let (question, seconds, cpu) = match arguments {
            [word, seconds, cpu] if word == "gaps" => (Self::Gaps, seconds, cpu),
            [word, rate, seconds, cpu] if word == "timer" => {
                (Self::Timer(rate.parse().ok().filter(|&rate| rate > 0)?), seconds, cpu)
            }
            _ => return None,
        };
        Some((question, Duration::from_secs(seconds.parse().ok()?), cpu.parse().ok()?))
    }

    /// The answer, nanoseconds, in their order.
    pub(crate) fn ask(&self, duration: Duration) -> io::Result<Vec<u128>> {
        match self {
            Self::Gaps => Ok(gaps(duration)),
            Self::Timer(rate) => lags(duration, *rate),
        }
    }
}

fn gaps(duration: Duration) -> Vec<u128> {
    let mut gaps = Vec::new();
    let began = Instant::now();
    let mut last = began;
    while last - began < duration {
        let now = Instant::now();
        if now - last >= LEAST {
            gaps.push((now - last).as_nanos());
        }
        last = now;
    }
    gaps
}

fn lags(duration: Duration, rate: u64) -> io::Result<Vec<u128>> {
    // SAFETY: changes nothing but how exactly this thread's timers are kept.
    if unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let period = Duration::from_secs(1) / u32::try_from(rate).unwrap_or(u32::MAX);
    let began = clock();
    let mut lags = Vec::new();
    for number in 1.. {
        let due = began + period * number;
        if due > began + duration {
            break;
        }
        let until = libc::timespec {
            tv_sec: due.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(due.subsec_nanos() as i32),
        };
        // SAFETY: a value that lives as long as the call. An early end is a short lag of none.
        unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &raw const until,
                std::ptr::null_mut(),
            );
        }
        lags.push(clock().saturating_sub(due).as_nanos());
    }
    Ok(lags)
}

/// The clock by which the kernel's timers go.
fn clock() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec`; this clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
