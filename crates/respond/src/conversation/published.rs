//! What one client publishes and others hear as a stream of events.
//!
//! Knows how a message becomes an event, and an event's bytes. Must not know who hears it (the hub does).

use std::sync::Arc;

use wiretrial_proto::MessageKind;
use wiretrial_proto::sse::write_event;

use crate::hub::{Broadcast, Member};
use crate::sink::Reply;

/// Bytes of an event around its data, where that is one line.
const AROUND: usize = b"data: \n\n".len();

/// Tells everybody who subscribes: as text where it is text.
pub(super) fn publish(payload: Vec<u8>, member: &mut Member<'_>) {
    let kind = match std::str::from_utf8(&payload) {
        Ok(_) => MessageKind::Text,
        Err(_) => MessageKind::Binary,
    };
    member.broadcast(&Arc::new(Broadcast { kind, payload }));
}

/// The event that tells it, without an id: it has a number if its publisher gave it one. The reply may
/// alter it.
pub(super) fn event_of(message: &Broadcast, reply: &mut Reply) -> Vec<u8> {
    let mut event = Vec::with_capacity(message.payload.len() + AROUND);
    if reply.alters() {
        let mut data = message.payload.clone();
        reply.alter(&mut data);
        write_event(b"", None, &data, &mut event);
    } else {
        write_event(b"", None, &message.payload, &mut event);
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::FaultKind;

    #[test]
    fn each_line_of_a_message_is_a_line_of_its_event() {
        let message =
            |payload: &[u8]| Broadcast { kind: MessageKind::Text, payload: payload.to_vec() };
        let told = |payload, fault| {
            let mut reply = Reply::directed(fault, true);
            String::from_utf8(event_of(&message(payload), &mut reply)).expect("text")
        };
        assert_eq!(told(b"one", None), "data: one\n\n");
        assert_eq!(told(b"one\ntwo", None), "data: one\ndata: two\n\n");
        assert_eq!(told(b"", None), "data: \n\n");
        assert_eq!(told(b"one", Some(FaultKind::Wrong)), "data: ond\n\n");
    }
}
