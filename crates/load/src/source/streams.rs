//! The streams of events of one worker: what each was told last, and when it is to be asked for again.
//!
//! Knows streams by the numbers of the messages that asked for them, and instants that are handed to
//! it. Must not know connections, nor what becomes of an event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use wiretrial_proto::grpc::Deframer;
use wiretrial_proto::sse::EventDecoder;

use crate::clock::Nanos;
use crate::reach::Reach;

/// When a stream that has ended is asked for again, where its server does not say: as browsers do.
const USUAL_RETRY: Nanos = Nanos::from_secs(3);
/// No server makes a stream wait for longer.
const LONGEST_RETRY: Nanos = Nanos::from_secs(3600);
/// The longest id that is told again, bytes: it stands in a field of the request.
const LONGEST_ID: usize = 4096;

/// The streams of one worker.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams {
    open: HashMap<u64, Box<Stream>, BuildHasherDefault<Spread>>,
    /// Those that ended, to be asked for again by whichever connection has its turn next.
    #[expect(clippy::vec_box, reason = "they come and go boxed")]
    parted: Vec<Box<Stream>>,
    /// Places for streams that stay empty until an instant: when, of which connection, how many.
    resting: BinaryHeap<Reverse<(Nanos, u32, u32)>>,
    /// Until when the places of the streams rest that have just parted.
    rest_until: Nanos,
    /// The events of streams are stamped on this machine's clock if it is called so.
    clock: Box<str>,
    /// What that clock said at offset 0 of the run, nanoseconds.
    origin: u64,
    /// What all of them tell; none: each tells what its server likes.
    publication: Option<Publication>,
    form: Form,
}

/// What is published.
#[derive(Debug, Clone)]
pub(crate) struct Publication {
    /// Data of each event, bytes.
    pub(crate) size: usize,
    /// Who counts to how many receivers each has come.
    pub(crate) reach: Arc<Reach>,
}

/// In what events are told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// A reply without an end.
    #[default]
    Events,
    /// A message of a WebSocket each; nobody asks for more than the WebSocket itself.
    Messages,
    /// An event of Socket.IO each, from when the client has emitted that it subscribes.
    Emitted,
    /// A message of gRPC each, in a reply without an end.
    Calls,
    /// A reply with those that have come, behind which the next are asked for.
    Polls,
}

/// One stream, over all requests for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    pub(crate) decoder: EventDecoder,
    /// What came of a message, or of the reply to a poll, that is not complete.
    pub(crate) begun: Vec<u8>,
    /// Where messages of gRPC begin and end.
    pub(crate) frames: Deframer,
    /// What polls ask behind: the number that the server told last; empty: it has told none.
    pub(crate) after: Vec<u8>,
    /// When it was accepted, or its last event came; none: it is not accepted.
    pub(crate) since: Option<Nanos>,
    /// Its events have numbers of our own.
    pub(crate) is_numbered: bool,
    /// They are stamped on this machine's clock.
    pub(crate) is_stamped: bool,
    /// The number that its next event has to have; none: any.
    pub(crate) next: Option<u64>,
    /// Events that have come since it was asked for.
    pub(crate) events: u64,
    /// Why it is none, for people; nothing of it is looked at.
    pub(crate) refused: Option<Box<(Refused, String)>>,
    /// Bytes that came of it and were not looked at.
    pub(crate) ignored: u64,
}

/// Why a reply is no stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// By its status.
    Status,
    /// By the type of its content.
    Kind,
}

impl Streams {
    /// None yet. The monotonic clock of this machine is called so, and said so at offset 0 of the run.
    pub(crate) fn new(clock: &str, origin: u64) -> Self {
        Self { clock: clock.into(), origin, ..Self::default() }
    }

    /// The same, and all of them tell what is published from the begin of the load on.
    #[must_use]
    pub(crate) fn telling(self, publication: Publication) -> Self {
        Self { publication: Some(publication), ..self }
    }

    /// The same, and events are told so.
    #[must_use]
    pub(crate) fn told_as(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// In what they are told.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Do they tell what is published, which says its number and when it was due on this machine's clock?
    pub(crate) fn are_published(&self) -> bool {
        self.publication.is_some()
    }

    /// The message with this number asks for a stream; what is told in its request as the last id of
    /// it, if anything.
    pub(crate) fn ask(&mut self, number: u64) -> Option<&[u8]> {
        let (are_published, form, parted) = (self.are_published(), self.form, &mut self.parted);
        let fresh = || parted.pop().unwrap_or_else(|| Stream::fresh(are_published));
        let stream = self.open.entry(number).or_insert_with(fresh);
        stream.begin_again(are_published, form);
        self.behind(number)
    }

    /// What this stream has told last, as it stands in a request for more; none: nothing that could.
    pub(crate) fn behind(&self, number: u64) -> Option<&[u8]> {
        let stream = self.open.get(&number)?;
        let told = match self.form {
            Form::Polls => stream.after.as_slice(),
            Form::Events | Form::Messages | Form::Emitted | Form::Calls => stream.decoder.last_id(),
        };
        may_be_told(told).then_some(told)
    }

    /// The stream that this message asked for.
    pub(crate) fn get(&mut self, number: u64) -> Option<&mut Stream> {
        self.open.get_mut(&number).map(|stream| &mut **stream)
    }

    /// The same, and what it tells where that is published.
    pub(crate) fn hearing(&mut self, number: u64) -> Option<(&mut Stream, Option<&Publication>)> {
        let stream = self.open.get_mut(&number)?;
        Some((stream, self.publication.as_ref()))
    }

    /// Since when an event is awaited on an accepted stream.
    pub(crate) fn since(&self, number: u64) -> Option<Nanos> {
        self.open.get(&number)?.since
    }

    /// The stream has ended: it is asked for again after a while.
    pub(crate) fn part(&mut self, number: u64, now: Nanos) {
        let Some(mut stream) = self.open.remove(&number) else { return };
        // Whoever asks for it next has to be accepted first.
        stream.since = None;
        let told = stream.decoder.retry_ms().map(|told| Nanos(told.saturating_mul(1_000_000)));
        let wait = told.unwrap_or(USUAL_RETRY).min(LONGEST_RETRY);
        self.rest_until = self.rest_until.max(now + wait);
        self.parted.push(stream);
    }

    /// So many places of a connection are free, whose streams have just parted.
    pub(crate) fn rest(&mut self, connection: u32, places: u32) {
        let until = std::mem::take(&mut self.rest_until);
        if places > 0 {
            self.resting.push(Reverse((until, connection, places)));
        }
    }

    /// Places of a connection that rest.
    #[cfg(test)]
    pub(crate) fn resting(&self, connection: u32) -> u32 {
        let own = self.resting.iter().filter(|Reverse((_, whose, _))| *whose == connection);
        own.map(|Reverse((.., places))| places).sum()
    }

    /// When the next places have rested.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.resting.peek().map(|Reverse((until, ..))| *until)
    }

    /// Places that have rested by now: of which connection, how many.
    pub(crate) fn take_rested(&mut self, now: Nanos) -> Option<(u32, u32)> {
        if self.next_due()? > now {
            return None;
        }
        self.resting.pop().map(|Reverse((_, connection, places))| (connection, places))
    }

    /// Is this the clock of this machine?
    pub(crate) fn is_own_clock(&self, name: &[u8]) -> bool {
        !name.is_empty() && name == self.clock.as_bytes()
    }

    /// What that clock says now, nanoseconds.
    pub(crate) fn reading(&self, now: Nanos) -> u64 {
        now.0.saturating_add(self.origin)
    }
}

impl Stream {
    /// One that was never asked for. What is published is numbered from 0 on.
    fn fresh(are_published: bool) -> Box<Self> {
        Box::new(Self { next: are_published.then_some(0), ..Self::default() })
    }

    fn begin_again(&mut self, are_published: bool, form: Form) {
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.begin_again();
        // A stream without ids has told nobody where it is; what it misses of what is published is missing.
        let next = self.next.filter(|_| are_published || !decoder.last_id().is_empty());
        let after = std::mem::take(&mut self.after);
        // A server may end a connection with each reply to a poll; the poll stands all the same.
        let since = self.since.filter(|_| form == Form::Polls);
        *self = Self { decoder, after, since, next, ..Self::default() };
    }
}

/// Can it stand in a field?
fn may_be_told(id: &[u8]) -> bool {
    let stands = |byte: &u8| *byte >= b' ' && *byte != 0x7f;
    (1..=LONGEST_ID).contains(&id.len())
        && id.iter().all(stands)
        && id.first() != Some(&b' ')
        && id.last() != Some(&b' ')
}

/// Numbers of messages follow one another, so that a multiplication spreads them.
#[derive(Debug, Clone, Copy, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let spread = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ (spread >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Streams that tell events of 64 bytes to so many receivers.
    fn telling(receivers: u32) -> Streams {
        let reach = Arc::new(Reach::new(receivers));
        Streams::new("clock", 0).telling(Publication { size: 64, reach })
    }

    fn hear(streams: &mut Streams, number: u64, text: &str) {
        let stream = streams.get(number).expect("it is open");
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let step = stream.decoder.receive(rest).expect("a stream");
            rest = &rest[step.consumed..];
        }
    }

    #[test]
    fn a_stream_that_ended_is_asked_for_again_with_its_last_id_after_its_time() {
        let mut streams = Streams::new("clock", 1000);
        assert_eq!(streams.ask(7), None);
        hear(&mut streams, 7, "id: 3\nretry: 50\ndata: x\n\n");
        streams.get(7).expect("open").next = Some(4);
        streams.part(7, Nanos::from_millis(100));
        streams.rest(2, 1);
        assert_eq!(streams.next_due(), Some(Nanos::from_millis(150)));
        assert_eq!(streams.take_rested(Nanos::from_millis(149)), None);
        assert_eq!(streams.take_rested(Nanos::from_millis(150)), Some((2, 1)));
        assert_eq!(streams.ask(8), Some(&b"3"[..]));
        assert_eq!(streams.get(8).expect("open").next, Some(4));
        assert!(streams.get(7).is_none() && streams.next_due().is_none());
        // On a new connection the same message asks again.
        assert_eq!(streams.ask(8), Some(&b"3"[..]));
        streams.part(7, Nanos::ZERO);
        assert_eq!(streams.ask(9), None, "another one");
    }

    #[test]
    fn without_a_word_of_the_server_it_rests_as_in_a_browser() {
        let mut streams = Streams::default();
        streams.ask(1);
        streams.part(1, Nanos(5));
        streams.rest(0, 3);
        assert_eq!(streams.next_due(), Some(USUAL_RETRY + Nanos(5)));
    }

    #[test]
    fn what_is_published_is_awaited_from_its_first_event_on() {
        let mut streams = telling(2);
        streams.ask(1);
        let (stream, publication) = streams.hearing(1).expect("open");
        assert_eq!(stream.next, Some(0));
        stream.next = Some(7);
        assert!(!publication.expect("it is published").reach.one_more(0));
        streams.part(1, Nanos::ZERO);
        assert_eq!(streams.ask(2), None, "it has no id");
        assert_eq!(streams.get(2).expect("open").next, Some(7));
    }

    #[test]
    fn polls_ask_behind_what_was_told_last() {
        let mut streams = telling(1).told_as(Form::Polls);
        assert_eq!(streams.ask(1), None);
        streams.get(1).expect("open").after = b"70".to_vec();
        assert_eq!(streams.behind(1), Some(&b"70"[..]));
        streams.part(1, Nanos::ZERO);
        assert_eq!(streams.ask(2), Some(&b"70"[..]), "on another connection, too");
    }

    #[test]
    fn a_poll_stands_over_connections_that_end_with_a_reply_and_no_other_stream_does() {
        for (form, stands) in [(Form::Polls, true), (Form::Events, false), (Form::Calls, false)] {
            let mut streams = telling(1).told_as(form);
            streams.ask(1);
            streams.get(1).expect("open").since = Some(Nanos(5));
            // On the next connection the same message asks again.
            streams.ask(1);
            assert_eq!(streams.since(1), stands.then_some(Nanos(5)), "{form:?}");
            streams.get(1).expect("open").since = Some(Nanos(7));
            streams.part(1, Nanos(8));
            streams.ask(2);
            assert_eq!(streams.since(2), None, "{form:?}: it failed");
        }
    }

    #[test]
    fn ids_that_can_t_stand_in_a_field_are_not_told() {
        let long = "x".repeat(LONGEST_ID + 1);
        for id in ["\u{1}", " 7", "7 ", "a\tb", long.as_str()] {
            let mut streams = Streams::default();
            streams.ask(1);
            hear(&mut streams, 1, &format!("id: {id}\ndata: x\n\n"));
            streams.part(1, Nanos::ZERO);
            assert_eq!(streams.ask(2), None, "{id:?}");
        }
    }

    #[test]
    fn stamps_are_of_this_machine_or_of_none() {
        let streams = Streams::new("one", 1000);
        assert!(streams.is_own_clock(b"one") && !streams.is_own_clock(b"two"));
        assert!(!Streams::new("", 0).is_own_clock(b""));
        assert_eq!(streams.reading(Nanos(700)), 1700);
    }
}
