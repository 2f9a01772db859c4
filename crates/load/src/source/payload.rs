//! The payload of each message, by its sequence number.

use std::sync::Arc;

use wiretrial_proto::Fill;

use super::headers::Numbers;
use super::json::JsonText;
use super::long::{LONG, Long};
use super::packed::Packed;
use super::streams::Streams;
use super::talks::Talks;
use super::template::Template;
use super::told::Told;
use crate::clock::Nanos;
use crate::plan::grpc::Pace;
use crate::plan::{PayloadPlan, Target};
use crate::reach::Reach;

/// Payloads by sequence number. Each worker has its own, since the bytes are written in place.
#[derive(Debug, Clone)]
pub struct Payloads {
    kind: Kind,
    longest: usize,
    /// What makes the header fields of each message its own; none: they are alike.
    numbers: Option<Box<Numbers>>,
    /// Where each message asks for a stream of events.
    streams: Option<Box<Streams>>,
    /// Where messages go compressed.
    packed: Option<Box<Packed>>,
    /// Where the messages of a call go one by one.
    talks: Option<Box<Talks>>,
}

#[derive(Debug, Clone)]
enum Kind {
    Fixed(Vec<u8>),
    List(Vec<Vec<u8>>),
    Template(Template),
    Json(JsonText),
    Long(Long),
    Told(Told),
}

impl Payloads {
    /// The payloads that a plan asks for.
    pub fn new(plan: &PayloadPlan) -> Self {
        let kind = match plan {
            PayloadPlan::None => Kind::Fixed(Vec::new()),
            PayloadPlan::Fixed(bytes) => Kind::Fixed(bytes.clone()),
            PayloadPlan::List(list) => Kind::List(list.clone()),
            PayloadPlan::Sequence(length) if *length > LONG => Kind::Long(Long::new(*length)),
            PayloadPlan::Sequence(length) => Kind::Template(Template::of_length(*length)),
            PayloadPlan::Event(length) => Kind::Told(Told::new(*length)),
            PayloadPlan::Template(text) => Kind::Template(Template::from_text(text)),
            PayloadPlan::Json(parts) => Kind::Json(JsonText::new(parts)),
            PayloadPlan::Placed { bytes, places } => {
                Kind::Template(Template::with_places(bytes.clone(), places.clone()))
            }
        };
        let longest = kind.longest();
        Self { kind, longest, numbers: None, streams: None, packed: None, talks: None }
    }

    /// The same of requests to this target, as they go, with what is laid into their header fields.
    pub(crate) fn of(target: &Target) -> Self {
        let numbers = target.profile.as_ref().and_then(Numbers::new);
        let numbers = numbers.map(Box::new);
        let payloads = Self { numbers, ..Self::new(&target.payload) };
        match &target.grpc {
            Some(calls) if calls.gzip => payloads.in_gzip(),
            _ => payloads,
        }
    }

    /// The same, and they go with their messages in gzip.
    fn in_gzip(self) -> Self {
        let known = match &self.kind {
            Kind::Fixed(bytes) => std::slice::from_ref(bytes),
            Kind::List(list) => list.as_slice(),
            Kind::Template(_) | Kind::Json(_) | Kind::Long(_) | Kind::Told(_) => &[],
        };
        let packed = Packed::knowing(known);
        Self { packed: Some(Box::new(packed)), ..self }
    }

    /// The same, and the messages of a call go so.
    #[must_use]
    pub(crate) fn talking(self, pace: Pace) -> Self {
        Self { talks: Some(Box::new(Talks::new(pace))), ..self }
    }

    /// Calls whose messages go one by one; none: all at once.
    #[inline]
    pub(crate) fn talks(&mut self) -> Option<&mut Talks> {
        self.talks.as_deref_mut()
    }

    /// The same, and each message asks for one of these streams.
    #[must_use]
    pub(crate) fn asking_for(self, streams: Streams) -> Self {
        Self { streams: Some(Box::new(streams)), ..self }
    }

    /// The same; where they are events, these are stamped on a clock that said so at offset 0 of the run.
    #[must_use]
    pub(crate) fn stamped_from(mut self, origin: u64) -> Self {
        if let Kind::Told(told) = &mut self.kind {
            told.begin_at(origin);
        }
        self
    }

    /// The same; where they are events, it is said here which of them were not confirmed.
    #[must_use]
    pub(crate) fn confirmed_to(mut self, reach: Arc<Reach>) -> Self {
        if let Kind::Told(told) = &mut self.kind {
            told.confirm_to(reach);
        }
        self
    }

    /// The message with this number has failed: of an event nobody knows whether it was taken.
    #[cold]
    pub(crate) fn failed(&self, number: u64) {
        if let Kind::Told(told) = &self.kind {
            told.not_confirmed(number);
        }
    }

    /// The messages that are encoded next were due at this instant, which events say.
    #[inline]
    pub(crate) fn are_due(&mut self, due: Nanos) {
        if let Kind::Told(told) = &mut self.kind {
            told.are_due(due);
        }
    }

    /// The streams that messages ask for; none: they ask for replies.
    #[inline]
    pub(crate) fn streams(&mut self) -> &mut Option<Box<Streams>> {
        &mut self.streams
    }

    /// Places of a connection for streams that stay empty for a while.
    #[cfg(test)]
    pub(crate) fn resting(&self, connection: u32) -> u32 {
        self.streams.as_ref().map_or(0, |streams| streams.resting(connection))
    }

    /// The payload of the message with this number.
    #[inline]
    pub fn get(&mut self, seq: u64) -> &[u8] {
        self.kind.get(seq)
    }

    /// The payload of all messages, where they have the same and go as they are, at once, and with the same header
    /// fields.
    #[inline]
    pub(crate) fn alike(&self) -> Option<&[u8]> {
        let is_alike = self.numbers.is_none() && self.packed.is_none() && self.talks.is_none();
        match &self.kind {
            Kind::Fixed(bytes) if is_alike => Some(bytes),
            _ => None,
        }
    }

    /// The same as it goes, and what is laid into the header fields of that message; none: they have no holes.
    #[inline]
    pub(crate) fn message(&mut self, seq: u64) -> (&[u8], Option<Fill<'_>>) {
        let Self { kind, packed, numbers, .. } = self;
        let payload = match packed {
            None => kind.get(seq),
            Some(packed) => {
                if packed.knows() {
                    packed.of(seq)
                } else {
                    packed.pack(kind.get(seq))
                }
            }
        };
        (payload, numbers.as_mut().map(|numbers| numbers.fill(seq)))
    }

    /// Is something laid into the header fields of messages?
    #[inline]
    pub(crate) fn fills_heads(&self) -> bool {
        self.numbers.is_some()
    }

    /// Its length, bytes, where it goes compressed.
    #[inline]
    pub(crate) fn length_before(&self, seq: u64) -> Option<usize> {
        self.packed.as_ref().map(|_| self.length(seq))
    }

    /// Are these bytes the payload of the message with this number?
    #[inline]
    pub fn is(&mut self, seq: u64, bytes: &[u8]) -> bool {
        match &mut self.kind {
            Kind::Template(template) => template.is(seq, bytes),
            Kind::Json(text) => text.is(seq, bytes),
            other => other.get(seq) == bytes,
        }
    }

    /// What it is from this offset on: at least one byte, as long as there is one, and perhaps not
    /// all of them, so that a long payload is never held whole.
    pub fn from(&mut self, seq: u64, offset: usize) -> &[u8] {
        match &mut self.kind {
            Kind::Long(long) => long.from(seq, offset),
            short => short.get(seq).get(offset..).unwrap_or_default(),
        }
    }

    /// Length of the payload of the message with this number, bytes.
    pub fn length(&self, seq: u64) -> usize {
        match &self.kind {
            Kind::Fixed(bytes) => bytes.len(),
            Kind::List(list) => list[(seq % list.len() as u64) as usize].len(),
            Kind::Template(template) => template.len(),
            Kind::Json(text) => text.length(seq),
            Kind::Long(long) => long.len(),
            Kind::Told(told) => told.len(),
        }
    }

    /// Length of the longest, bytes.
    #[inline]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Its length where all have the same one, bytes.
    pub fn fixed_length(&self) -> Option<usize> {
        match &self.kind {
            Kind::Fixed(bytes) => Some(bytes.len()),
            Kind::List(list) => {
                let first = list[0].len();
                list.iter().all(|bytes| bytes.len() == first).then_some(first)
            }
            Kind::Template(template) => Some(template.len()),
            Kind::Json(_) => None,
            Kind::Long(long) => Some(long.len()),
            Kind::Told(told) => Some(told.len()),
        }
    }
}

impl Kind {
    fn longest(&self) -> usize {
        match self {
            Self::Fixed(bytes) => bytes.len(),
            Self::List(list) => list.iter().map(Vec::len).max().unwrap_or_default(),
            Self::Template(template) => template.len(),
            Self::Json(text) => text.longest(),
            Self::Long(long) => long.len(),
            Self::Told(told) => told.len(),
        }
    }

    #[inline]
    fn get(&mut self, seq: u64) -> &[u8] {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::List(list) => &list[(seq % list.len() as u64) as usize],
            Self::Template(template) => template.write(seq),
            Self::Json(text) => text.write(seq),
            Self::Long(long) => long.whole(seq),
            Self::Told(told) => told.write(seq),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::JsonPart;

    #[test]
    fn pieces_are_those_of_the_whole() {
        let long = LONG + 12_345;
        let plans = [
            PayloadPlan::None,
            PayloadPlan::Sequence(20),
            PayloadPlan::Sequence(long),
            PayloadPlan::Fixed(vec![7; long]),
            PayloadPlan::List(vec![vec![1; 3], vec![2; long]]),
            PayloadPlan::Template("a {seq}".into()),
            PayloadPlan::Event(40),
            PayloadPlan::Json(vec![JsonPart::Text("[1,".into()), JsonPart::Number]),
        ];
        for plan in plans {
            let mut payloads = Payloads::new(&plan);
            for seq in [0, 1, 0xfedc_ba98_7654_3210] {
                let whole = payloads.get(seq).to_vec();
                assert_eq!(payloads.length(seq), whole.len());
                for begin in [0, 1, 15, 16, 25, 26, 27, LONG - 1, long - 1, long, long + 1] {
                    let mut offset = begin;
                    while !payloads.from(seq, offset).is_empty() {
                        let piece = payloads.from(seq, offset);
                        assert_eq!(piece, &whole[offset..offset + piece.len()]);
                        offset += piece.len();
                    }
                    assert_eq!(offset, begin.max(whole.len()), "from {begin} on");
                }
            }
        }
    }
}
