//! What was published last, by number.
//!
//! Knows messages and the order in which they were taken, from 1 on. Must not know who asks for them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::mailbox::locked;
use super::notice::Broadcast;

/// Messages that are kept for those who ask for what came behind a number.
const KEPT: usize = 1_000;
/// Of all of them at most, unless the last one alone has more.
const MOST_BYTES: usize = 16 << 20;

/// The last messages of a server, over all its threads.
#[derive(Debug, Default)]
pub(super) struct History(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Number of the last one.
    last: u64,
    /// It and those before it.
    messages: VecDeque<Arc<Broadcast>>,
    /// What they have together.
    bytes: usize,
}

impl History {
    pub(super) fn add(&self, message: &Arc<Broadcast>) {
        let mut kept = locked(&self.0);
        kept.last += 1;
        kept.bytes += message.payload.len();
        kept.messages.push_back(Arc::clone(message));
        while kept.messages.len() > KEPT || (kept.bytes > MOST_BYTES && kept.messages.len() > 1) {
            let gone = kept.messages.pop_front();
            kept.bytes -= gone.map_or(0, |message| message.payload.len());
        }
    }

    /// Number of the last message, and those behind this number, as far as they are kept.
    pub(super) fn since(&self, after: u64) -> (u64, Vec<Arc<Broadcast>>) {
        let kept = locked(&self.0);
        let behind = kept.last.saturating_sub(after).min(kept.messages.len() as u64);
        let passed_over = kept.messages.len() - behind as usize;
        (kept.last, kept.messages.iter().skip(passed_over).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use wiretrial_proto::MessageKind;

    use super::*;

    #[test]
    fn what_came_behind_a_number_is_told_as_far_as_it_is_kept() {
        let history = History::default();
        assert_eq!(history.since(0), (0, Vec::new()));
        for number in 1..=KEPT as u64 + 5 {
            let payload = number.to_string().into_bytes();
            history.add(&Arc::new(Broadcast { kind: MessageKind::Text, payload }));
        }
        let last = KEPT as u64 + 5;
        let told = |after: u64| -> Vec<String> {
            let (end, messages) = history.since(after);
            assert_eq!(end, last);
            let text = |message: &Arc<Broadcast>| String::from_utf8(message.payload.clone());
            messages.iter().map(|message| text(message).expect("text")).collect()
        };
        assert_eq!(told(last - 2), [(last - 1).to_string(), last.to_string()]);
        assert_eq!(told(last), Vec::<String>::new());
        assert_eq!(told(u64::MAX), Vec::<String>::new());
        let all = told(2);
        assert_eq!((all.len(), all[0].as_str()), (KEPT, "6"), "the first five are gone");
    }

    #[test]
    fn long_messages_are_kept_up_to_so_many_bytes() {
        let history = History::default();
        let long = MOST_BYTES / 2 + 1;
        for length in [long, 7, long, 2 * MOST_BYTES] {
            let payload = vec![b'x'; length];
            history.add(&Arc::new(Broadcast { kind: MessageKind::Text, payload }));
            let (_, messages) = history.since(0);
            let lengths: Vec<_> = messages.iter().map(|it| it.payload.len()).collect();
            let expected: &[usize] = match length {
                7 => &[long, 7],
                length if length == long && lengths.len() > 1 => &[7, long],
                _ => &[length],
            };
            assert_eq!(lengths, expected);
        }
    }
}
