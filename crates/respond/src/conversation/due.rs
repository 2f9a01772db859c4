//! Events that are due, told for as long as there is room.
//!
//! Knows streams of events and how much may wait to go out; must not know in what they are told.

use super::{STREAM_AHEAD, STREAM_PATIENCE};
use crate::events::EventStream;
use crate::sink::Sink;

/// In what events are told: the codec of a connection, or one of its streams.
pub(super) trait Teller {
    /// Bytes that wait in it until the client allows more.
    fn held(&self) -> usize;

    /// Appends an event; the last one, where nothing comes behind it.
    fn tell(&mut self, event: &[u8], is_last: bool, out: &mut Vec<u8>);
}

/// Tells the events that are due by now. Gives when to go on, nanoseconds; none: nothing comes.
pub(super) fn tell_due(
    events: &mut EventStream,
    now: u64,
    sink: &mut Sink<'_>,
    teller: &mut impl Teller,
) -> Option<u64> {
    loop {
        if sink.backlog() >= STREAM_AHEAD || teller.held() >= STREAM_AHEAD {
            return Some(now + STREAM_PATIENCE);
        }
        let Some((number, mut data)) = events.take(now) else { return events.next_due() };
        let mut reply = sink.begin();
        reply.alter(&mut data);
        let mut event = Vec::with_capacity(data.len() + 40);
        events.write(number, &data, &mut event);
        teller.tell(&event, events.is_over(), sink.out);
        sink.end(reply);
    }
}
