//! Streams of events (SSE): what is asked for, and which event is due when.
//!
//! Knows numbers, instants and queries. Must not know connections, nor how an event is framed.
//!
//! An event has a number and the instant at which it is due. Those of one stream begin with its
//! request; those of a shared one with the server, so that everybody who listens at the same rate is
//! told the same events at the same instants.

use wiretrial_proto::sse::{NumberedEvent, SHORTEST, write_comment, write_event, write_retry};

const SECOND: u64 = 1_000_000_000;
/// Events per second where none are asked for.
const USUAL_RATE: f64 = 10.0;
const MOST_PER_SECOND: f64 = 100_000.0;
/// Data of an event where nothing is said, bytes.
const USUAL_SIZE: usize = 64;
const LARGEST: usize = 1 << 20;
/// Earlier events of a shared stream that are told again to a client that asks for them.
const KEPT: u64 = 1_000;
const GREETING: &[u8] = b"here they come";

/// What is answered where a stream is asked for in a wrong way.
pub(crate) const WRONG: &[u8] =
    b"events: rate=0..100000 (per second), size=33..1048576 (bytes), retry=MS, end=N, ids=0|1, shared=0|1\n";

/// What a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Between two events, nanoseconds; 0: there are no events.
    period: u64,
    size: u32,
    retry_ms: Option<u32>,
    /// So many events, and the stream ends.
    end: Option<u64>,
    ids: bool,
    shared: bool,
}

/// What comes first where nothing else does, so that who waits for bytes sees some.
pub(crate) fn greet(out: &mut Vec<u8>) {
    write_comment(GREETING, out);
}

/// A stream that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventStream {
    asked: Asked,
    /// When event 0 would have been due, nanoseconds of the monotonic clock.
    origin: u64,
    /// Number of the next event.
    next: u64,
    left: Option<u64>,
}

impl Asked {
    /// What this query asks for; none: there is no such stream.
    pub(crate) fn of(query: &str) -> Option<Self> {
        let mut asked = Self {
            period: period(USUAL_RATE)?,
            size: USUAL_SIZE as u32,
            retry_ms: None,
            end: None,
            ids: true,
            shared: false,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=')?;
            match name {
                "rate" => asked.period = period(value.parse().ok()?)?,
                "size" => {
                    let size = value.parse().ok()?;
                    asked.size =
                        (SHORTEST as u32..=LARGEST as u32).contains(&size).then_some(size)?;
                }
                "retry" => asked.retry_ms = Some(value.parse().ok()?),
                "end" => asked.end = Some(value.parse().ok().filter(|end| *end > 0)?),
                "ids" => asked.ids = switch(value)?,
                "shared" => asked.shared = switch(value)?,
                _ => return None,
            }
        }
        Some(asked)
    }
}

/// Between two events, nanoseconds; 0: there are none. None: there is no such rate.
fn period(rate: f64) -> Option<u64> {
    if rate == 0.0 {
        return Some(0);
    }
    let fits = rate > 0.0 && rate <= MOST_PER_SECOND;
    let period = fits.then_some(SECOND as f64 / rate).filter(|period| *period < 1e18);
    period.map(|period| period as u64)
}

fn switch(value: &str) -> Option<bool> {
    match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

impl EventStream {
    /// Begins now, on a server that began at `epoch` (nanoseconds both), for a client that had this
    /// event last.
    pub(crate) fn new(asked: Asked, last_id: Option<&[u8]>, now: u64, epoch: u64) -> Self {
        let last = last_id.and_then(|id| std::str::from_utf8(id).ok()?.parse::<u64>().ok());
        let (origin, next) = match asked.period {
            0 => (now, 0),
            period if asked.shared => {
                let coming = now.saturating_sub(epoch) / period + 1;
                // A number that no server of this age has told is another server's.
                let last = last.filter(|last| *last < coming);
                let next = last.map_or(coming, |last| (last + 1).max(coming.saturating_sub(KEPT)));
                (epoch, next)
            }
            period => {
                let next = last.map_or(1, |last| last.saturating_add(1));
                (now.wrapping_sub(next.wrapping_mul(period)), next)
            }
        };
        Self { asked, origin, next, left: asked.end }
    }

    /// What comes before all events.
    pub(crate) fn greet(&self, out: &mut Vec<u8>) {
        match self.asked.retry_ms {
            Some(retry) => write_retry(retry.into(), out),
            None => greet(out),
        }
    }

    /// When the next event is due, nanoseconds; none: there is no more.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let Asked { period, .. } = self.asked;
        let due = self.origin.wrapping_add(self.next.wrapping_mul(period));
        (period > 0 && self.left != Some(0)).then_some(due)
    }

    /// Is everything told?
    pub(crate) fn is_over(&self) -> bool {
        self.left == Some(0)
    }

    /// The next event, if it is due by now: its data, to be written with [`write`](Self::write).
    pub(crate) fn take(&mut self, now: u64) -> Option<(u64, Vec<u8>)> {
        let due_ns = self.next_due().filter(|due| *due <= now)?;
        let number = self.next;
        let mut data = Vec::with_capacity(self.asked.size as usize);
        NumberedEvent { number, due_ns }.write(self.asked.size as usize, &mut data);
        self.next = self.next.wrapping_add(1);
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        Some((number, data))
    }

    /// Appends an event with this number and data.
    pub(crate) fn write(&self, number: u64, data: &[u8], out: &mut Vec<u8>) {
        let id = self.asked.ids.then(|| number.to_string());
        write_event(b"", id.as_ref().map(String::as_bytes), data, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(query: &str, last_id: Option<&[u8]>, now: u64, epoch: u64) -> EventStream {
        EventStream::new(Asked::of(query).expect(query), last_id, now, epoch)
    }

    fn numbers(stream: &mut EventStream, now: u64) -> Vec<u64> {
        std::iter::from_fn(|| stream.take(now)).map(|(number, _)| number).collect()
    }

    #[test]
    fn queries_ask_for_streams_or_for_none() {
        for right in ["", "rate=0", "rate=0.5&size=33", "rate=100000&end=1&ids=0&shared=1&retry=0"]
        {
            assert!(Asked::of(right).is_some(), "{right}");
        }
        let wrong = [
            "rate",
            "rate=",
            "rate=-1",
            "rate=100001",
            "rate=NaN",
            "rate=inf",
            "rate=1e-300",
            "size=32",
            "size=1048577",
            "end=0",
            "ids=yes",
            "shared=2",
            "retry=-1",
            "colour=red",
        ];
        for wrong in wrong {
            assert_eq!(Asked::of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_stream_of_its_own_begins_with_its_request_and_goes_on_where_it_was_left() {
        let mut fresh = stream("rate=10", None, 5 * SECOND, 0);
        assert_eq!(fresh.next_due(), Some(5 * SECOND));
        assert_eq!(numbers(&mut fresh, 5 * SECOND + SECOND / 4), [1, 2, 3]);
        assert_eq!(fresh.next_due(), Some(5 * SECOND + 300_000_000));
        let mut again = stream("rate=10", Some(b"3"), 7 * SECOND, 0);
        assert_eq!(numbers(&mut again, 7 * SECOND), [4]);
        let mut foreign = stream("rate=10", Some(b"x"), 7 * SECOND, 0);
        assert_eq!(numbers(&mut foreign, 7 * SECOND), [1]);
    }

    #[test]
    fn a_shared_stream_has_the_same_events_for_all() {
        let mut first = stream("rate=10&shared=1", None, SECOND, 0);
        let mut second = stream("rate=10&shared=1", None, SECOND + 50_000_000, 0);
        assert_eq!(first.next_due(), Some(SECOND + 100_000_000));
        assert_eq!(first.take(2 * SECOND), second.take(2 * SECOND));
        let mut late = stream("rate=10&shared=1", Some(b"11"), 2 * SECOND, 0);
        assert_eq!(numbers(&mut late, 2 * SECOND), (12..=20).collect::<Vec<_>>());
        let mut later = stream("rate=10&shared=1", Some(b"11"), 1000 * SECOND, 0);
        assert_eq!(later.take(1000 * SECOND).map(|(number, _)| number), Some(10_001 - KEPT));
        let mut foreign = stream("rate=10&shared=1", Some(b"99"), SECOND, 0);
        assert_eq!(foreign.take(2 * SECOND).map(|(number, _)| number), Some(11));
    }

    #[test]
    fn a_stream_ends_after_so_many_and_an_idle_one_never() {
        let mut stream_of_two = stream("rate=1000&end=2", None, 0, 0);
        assert_eq!(numbers(&mut stream_of_two, SECOND), [1, 2]);
        assert!(stream_of_two.is_over() && stream_of_two.next_due().is_none());
        let mut idle = stream("rate=0", None, 0, 0);
        assert_eq!((idle.take(u64::MAX), idle.next_due(), idle.is_over()), (None, None, false));
    }

    #[test]
    fn an_event_says_its_number_and_when_it_was_due() {
        let mut stream = stream("rate=1&size=40", None, 7, 0);
        let (number, data) = stream.take(7).expect("due");
        assert_eq!(NumberedEvent::read(&data), Some(NumberedEvent { number: 1, due_ns: 7 }));
        let mut out = Vec::new();
        stream.write(number, &data, &mut out);
        let text = String::from_utf8(out).expect("text");
        assert!(
            text.starts_with("id: 1\ndata: 0000000000000001 0000000000000007 ABCDEF\n\n"),
            "{text}"
        );
    }
}
