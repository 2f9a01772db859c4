//! Messages that nobody asked for, by what they are.
//!
//! Knows a few kinds, and counts. Must not know whose they are.

use serde::Deserialize;
use serde_json::value::RawValue;
use wiretrial_proto::{MessageKind, Reply, Tag};

use crate::measure::FlowRecord;
use crate::source::excerpt;

/// So many kinds are told apart between two intervals.
const MOST_KINDS: usize = 32;

/// What came that nobody asked for.
#[derive(Debug, Default)]
pub(super) struct Unasked {
    kinds: Vec<(Vec<u8>, u64)>,
    /// Of other kinds than these.
    others: u64,
}

/// All that is looked at of a message.
#[derive(Deserialize)]
struct Typed<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
}

impl Unasked {
    /// Another one, with this end.
    pub(super) fn count(&mut self, reply: &Reply<'_>, message: &[u8]) {
        let name = match (reply.kind, reply.tag) {
            (MessageKind::Binary, _) => b"binary".as_slice(),
            (_, Tag::Number(_)) => b"acknowledgement",
            _ => named(message).unwrap_or(b"text"),
        };
        if let Some((_, count)) = self.kinds.iter_mut().find(|(known, _)| known == name) {
            *count += 1;
        } else if self.kinds.len() < MOST_KINDS {
            self.kinds.push((name.to_vec(), 1));
        } else {
            self.others += 1;
        }
    }

    /// Records all of them.
    pub(super) fn record(&mut self, flow: &mut FlowRecord) {
        for (kind, count) in &mut self.kinds {
            if *count > 0 {
                flow.unasked(&excerpt(kind), std::mem::take(count));
            }
        }
        let others = std::mem::take(&mut self.others);
        if others > 0 {
            flow.unasked("others", others);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.others == 0 && self.kinds.iter().all(|(_, count)| *count == 0)
    }
}

/// What a message calls itself.
fn named(message: &[u8]) -> Option<&[u8]> {
    let name = match message.first()? {
        b'{' => serde_json::from_slice::<Typed<'_>>(message).ok()?.kind?.get(),
        // An event's name stands before its arguments.
        b'[' => serde_json::from_slice::<Vec<&RawValue>>(message)
            .ok()?
            .first()
            .map(|name| name.get())
            .filter(|name| name.starts_with('"'))?,
        _ => return None,
    };
    let text = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    Some(text.unwrap_or(name).as_bytes()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Recorder;

    const TEXT: Reply<'_> =
        Reply { tag: Tag::Oldest, status: 0, kind: MessageKind::Text, payload: b"", last: false };

    #[test]
    fn messages_are_counted_by_what_they_call_themselves() {
        let (mut unasked, mut recorder) = (Unasked::default(), Recorder::default());
        let texts = [
            "{\"type\":\"news\",\"n\":1}",
            "{\"n\":[],\"type\": 7}",
            "{\"n\":1}",
            "hello",
            "[1]",
            "{",
        ];
        for text in texts.into_iter().chain(["{\"type\":\"news\"}"]) {
            unasked.count(&TEXT, text.as_bytes());
        }
        unasked.count(&Reply { kind: MessageKind::Binary, ..TEXT }, b"\0");
        unasked.count(&Reply { tag: Tag::Number(3), ..TEXT }, b"[]");
        unasked.count(&TEXT, b"[\"said\",{}]");
        for number in 0..40 {
            unasked.count(&TEXT, format!("{{\"type\":\"{number}\"}}").as_bytes());
        }
        unasked.record(recorder.flow(0));
        assert!(unasked.is_empty());
        let figures = recorder.traffic((0, 1), &crate::measure::TrafficStanding::default(), false);
        let of = |kind: &str| figures.flows[0].unasked.get(kind).copied().unwrap_or_default();
        assert_eq!((of("news"), of("text"), of("binary"), of("7")), (2, 4, 1, 2));
        assert_eq!((of("acknowledgement"), of("said")), (1, 1));
        // Of 40 numbers 7 was known, and 26 are new kinds.
        assert_eq!(of("others"), 13);
        assert_eq!(figures.flows[0].unasked.values().sum::<u64>(), 50);
    }
}
