//! Does the server speak first? Listens for a moment before anything is asked, and keeps what came
//! apart from replies.
//!
//! Knows messages and instants; must not know sockets.

use crate::clock::Nanos;
use crate::measure::Class;
use crate::plan::{Plan, Scheme};
use crate::source::excerpt;

/// How long the server has to say something by itself, at least: as long as the connection took to
/// stand where that was longer, since a greeting takes a round trip of its own over a far link.
const LISTEN: Nanos = Nanos::from_millis(50);
/// And at most.
const LISTEN_AT_MOST: Nanos = Nanos::from_millis(1000);
/// More than is shown of what it said.
const KEPT: usize = 200;

/// What the server said before it was asked.
#[derive(Debug, Default)]
pub(super) struct Greeting {
    /// Is the server listened to? What speaks HTTP has nothing to say by itself.
    listens: bool,
    /// Greetings that the plan says.
    wanted: u32,
    /// Those that came whole.
    came: u32,
    /// The beginning of the first one that the plan does not say.
    said: Vec<u8>,
    /// When the connection was asked for.
    asked: Nanos,
    /// Until when the server is listened to, once requests could be sent.
    until: Option<Nanos>,
}

impl Greeting {
    pub(super) fn of(plan: &Plan) -> Self {
        let listens = matches!(plan.target.url.scheme, Scheme::WebSocket | Scheme::Stream);
        Self { listens, wanted: plan.target.greetings.into(), ..Self::default() }
    }

    /// The connection was asked for.
    pub(super) fn begin(&mut self, now: Nanos) {
        self.asked = now;
    }

    /// May the server be asked now, at which requests could be sent?
    ///
    /// # Errors
    /// It said more than the plan says.
    pub(super) fn is_over(&mut self, now: Nanos) -> Result<bool, (Class, String)> {
        if !self.listens {
            return Ok(true);
        }
        let listen = (now - self.asked).max(LISTEN).min(LISTEN_AT_MOST);
        if self.came < self.wanted || now < *self.until.get_or_insert(now + listen) {
            return Ok(false);
        }
        if self.came == self.wanted && self.said.is_empty() {
            return Ok(true);
        }
        let (came, said) = (self.came.max(self.wanted + 1), excerpt(&self.said));
        let beyond = if self.wanted > 0 {
            format!(" more than {} greetings", self.wanted)
        } else {
            String::new()
        };
        let text = format!(
            "the server sent{beyond} '{said}' before it was asked: where it greets each connection so, say --greetings {came}"
        );
        Err((Class::Protocol, text))
    }

    /// A piece of a message came.
    pub(super) fn piece(&mut self, bytes: &[u8]) {
        if self.came == self.wanted {
            let room = KEPT.saturating_sub(self.said.len());
            self.said.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    /// The rest of a message came.
    pub(super) fn message(&mut self, rest: &[u8]) {
        self.piece(rest);
        self.came += 1;
    }

    /// Bytes came on a stream that has no messages.
    pub(super) fn stream(bytes: &[u8]) -> (Class, String) {
        let text = format!(
            "the server sent '{}' before it was asked: a byte stream has no messages that could be told from replies, so only a server that says nothing by itself can be loaded",
            excerpt(bytes)
        );
        (Class::Protocol, text)
    }

    /// Why nothing was asked; none: something was, or nothing could be.
    pub(super) fn missing(&self) -> Option<String> {
        let (came, wanted) = (self.came, self.wanted);
        (came < wanted).then(|| {
            let remedy = match came {
                0 => "leave --greetings out".to_owned(),
                _ => format!("say --greetings {came}"),
            };
            format!(
                "{came} of {wanted} greetings came: {remedy} where there are no more; nothing else"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanting(wanted: u32) -> Greeting {
        Greeting { listens: true, wanted, ..Greeting::default() }
    }

    #[test]
    fn who_says_nothing_is_asked_after_a_moment() {
        let mut greeting = wanting(0);
        assert_eq!(greeting.is_over(Nanos(5)), Ok(false));
        assert_eq!(greeting.is_over(Nanos(5) + LISTEN), Ok(true));
        assert_eq!(Greeting::default().is_over(Nanos(0)), Ok(true));
    }

    #[test]
    fn greetings_are_awaited_and_no_more_than_these_may_come() {
        let mut greeting = wanting(2);
        greeting.message(b"one");
        assert_eq!(greeting.is_over(LISTEN), Ok(false));
        assert_eq!(greeting.is_over(LISTEN + LISTEN), Ok(false), "it waits for the second");
        assert!(greeting.missing().expect("one").starts_with("1 of 2 greetings"));
        greeting.piece(b"tw");
        greeting.message(b"o");
        assert_eq!(greeting.is_over(LISTEN), Ok(false));
        assert_eq!(greeting.missing(), None);
        assert_eq!(greeting.is_over(LISTEN + LISTEN), Ok(true));

        let mut greeting = wanting(1);
        for text in ["one", "two", "three"] {
            greeting.message(text.as_bytes());
        }
        assert_eq!(greeting.is_over(Nanos(0)), Ok(false));
        let (class, text) = greeting.is_over(LISTEN).expect_err("two more");
        assert_eq!(class, Class::Protocol);
        assert!(text.contains("more than 1 greetings 'two' before"), "{text}");
        assert!(text.ends_with("--greetings 3"), "{text}");
    }

    #[test]
    fn a_far_server_is_listened_to_for_longer() {
        let rows = [(0, 50), (20, 50), (300, 300), (5000, 1000)];
        for (took, listens) in rows.map(|(a, b)| (Nanos::from_millis(a), Nanos::from_millis(b))) {
            let mut greeting = wanting(0);
            greeting.begin(Nanos(7));
            let stood = Nanos(7) + took;
            assert_eq!(greeting.is_over(stood), Ok(false));
            assert_eq!(greeting.is_over(stood + listens - Nanos(1)), Ok(false), "{took:?}");
            assert_eq!(greeting.is_over(stood + listens), Ok(true), "{took:?}");
        }
    }

    #[test]
    fn an_empty_greeting_is_one_too() {
        let mut greeting = wanting(0);
        greeting.message(b"");
        assert_eq!(greeting.is_over(Nanos(0)), Ok(false));
        assert!(greeting.is_over(LISTEN).is_err());
    }

    #[test]
    fn of_a_long_greeting_only_the_beginning_is_kept() {
        let mut greeting = wanting(0);
        for _ in 0..100 {
            greeting.piece(&[b'x'; 1000]);
        }
        assert_eq!(greeting.said.len(), KEPT);
    }
}
