//! Lines of the input and signals, and the time until which they are awaited.
//!
//! Knows descriptors and the words of the input; must not know what a mark is for.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::clock;
use crate::target;

/// The longest line of the input, in bytes.
const LONGEST_LINE: usize = 1024;

/// Where orders come from.
#[derive(Debug)]
pub struct Orders<'a> {
    input: BorrowedFd<'a>,
    signals: BorrowedFd<'a>,
    waiting: VecDeque<u8>,
    ended: bool,
}

/// What was awaited.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The time has come.
    Due,
    /// A line `mark NAME`.
    Mark(String),
    /// The input has ended, or a line `stop` came.
    Stop,
    /// A line that is no order, and why.
    Wrong(String),
    /// Signals were said to have come.
    Signal,
}

impl<'a> Orders<'a> {
    /// Lines of `input`; `signals` is ready to read as soon as a signal has come.
    pub fn new(input: BorrowedFd<'a>, signals: BorrowedFd<'a>) -> Self {
        Self { input, signals, waiting: VecDeque::new(), ended: false }
    }

    /// Waits for an order, or until this instant of the monotonic clock.
    pub(crate) fn wait(&mut self, until_ns: u64) -> io::Result<Order> {
        loop {
            if let Some(order) = self.line() {
                return Ok(order);
            }
            let left = until_ns.saturating_sub(clock::monotonic_ns());
            let timeout = timeout(left);
            let mut ready = [
                PollFd::from_borrowed_fd(self.signals, PollFlags::IN),
                PollFd::from_borrowed_fd(self.input, PollFlags::IN),
            ];
            match poll(&mut ready, Some(&timeout)) {
                Ok(0) if left == 0 => return Ok(Order::Due),
                // A signal's own handler ran, or the time is up: the clock decides.
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            if !ready[0].revents().is_empty() {
                return Ok(Order::Signal);
            }
            self.read()?;
        }
    }

    /// The next order among the bytes that have come. Empty lines are none.
    fn line(&mut self) -> Option<Order> {
        loop {
            let end = self.waiting.iter().position(|byte| *byte == b'\n');
            let length = match end {
                Some(end) => end + 1,
                None if self.waiting.len() > LONGEST_LINE => {
                    return Some(Order::Wrong(format!(
                        "a line is longer than {LONGEST_LINE} bytes"
                    )));
                }
                None if self.ended && self.waiting.is_empty() => return Some(Order::Stop),
                None if self.ended => self.waiting.len(),
                None => return None,
            };
            let line: Vec<u8> = self.waiting.drain(..length).collect();
            if let Some(order) = order(&String::from_utf8_lossy(&line)) {
                return Some(order);
            }
        }
    }

    /// At most as much as a line may have: what else there is waits in the pipe.
    fn read(&mut self) -> io::Result<()> {
        let mut bytes = [0; LONGEST_LINE];
        match rustix::io::read(self.input, &mut bytes) {
            Ok(0) => self.ended = true,
            Ok(length) => self.waiting.extend(&bytes[..length]),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

fn timeout(ns: u64) -> Timespec {
    let left = Duration::from_nanos(ns);
    let seconds = i64::try_from(left.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec: seconds, tv_nsec: left.subsec_nanos().into() }
}

fn order(line: &str) -> Option<Order> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let name = rest.trim();
    Some(match word {
        "" => return None,
        "stop" if name.is_empty() => Order::Stop,
        "mark" => match target::fit(name) {
            Ok(()) => Order::Mark(name.to_owned()),
            Err(why) => Order::Wrong(format!("mark: {why}")),
        },
        _ => Order::Wrong(format!("'{}' is no order", excerpt(line))),
    })
}

/// The beginning of a line, printable.
fn excerpt(line: &str) -> String {
    line.chars().take(40).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsFd as _;

    use super::*;

    /// What comes of an input that ends.
    fn all(input: &[u8]) -> Vec<Order> {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let (signals, _open) = io::pipe().expect("a pipe");
        writer.write_all(input).expect("it fits into the pipe");
        drop(writer);
        let mut orders = Orders::new(reader.as_fd(), signals.as_fd());
        let mut found = Vec::new();
        loop {
            let order = orders.wait(u64::MAX).expect("waited");
            let last = matches!(order, Order::Stop | Order::Wrong(_));
            found.push(order);
            if last {
                return found;
            }
        }
    }

    fn mark(name: &str) -> Order {
        Order::Mark(name.to_owned())
    }

    #[test]
    fn table_of_inputs() {
        for (input, expected) in [
            ("", vec![Order::Stop]),
            (
                "mark a\nmark b c \r\n\n  mark\td",
                vec![mark("a"), mark("b c"), mark("d"), Order::Stop],
            ),
            ("stop\nmark a\n", vec![Order::Stop]),
        ] {
            assert_eq!(all(input.as_bytes()), expected, "{input:?}");
        }
        let long = "x".repeat(5000);
        for (input, why) in [
            ("go\n", "'go' is no order"),
            ("mark\n", "a name is empty"),
            ("stop now\n", "'stop now' is no order"),
            ("marks a\n", "'marks a' is no order"),
            ("a\u{7}\n", "'a\\u{7}' is no order"),
            (&format!("mark {}\n", "x".repeat(201)), "longer than 200 bytes"),
            (&long, "a line is longer than 1024 bytes"),
            (&format!("{long}\n"), "a line is longer than 1024 bytes"),
        ] {
            let found = all(input.as_bytes());
            assert!(matches!(&found[..], [Order::Wrong(said)] if said.contains(why)), "{found:?}");
        }
        assert!(matches!(&all(b"\xff\xfe\n")[..], [Order::Wrong(_)]));
    }

    #[test]
    fn marks_that_wait_come_before_the_time_and_signals_before_those_in_the_pipe() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let (signals, mut signalled) = io::pipe().expect("a pipe");
        let mut orders = Orders::new(reader.as_fd(), signals.as_fd());
        assert_eq!(orders.wait(0).expect("waited"), Order::Due);
        writer.write_all(b"mark a\nmark b\n").expect("written");
        assert_eq!(orders.wait(0).expect("waited"), mark("a"));
        signalled.write_all(&[15]).expect("written");
        assert_eq!(orders.wait(0).expect("waited"), mark("b"));
        assert_eq!(orders.wait(u64::MAX).expect("waited"), Order::Signal);
    }
}
