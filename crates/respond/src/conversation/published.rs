//! What one client publishes and others hear as a stream of events.
//!
//! Knows how a message becomes an event, and an event's bytes. Must not know who hears it (the hub does).

use std::sync::Arc;

use wiretrial_proto::MessageKind;
use wiretrial_proto::grpc::framed;
use wiretrial_proto::sse::write_event;

use crate::content::append_json;
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
    member.publish(&Arc::new(Broadcast { kind, payload }));
}

/// The message of gRPC that tells it: its field 1 are the bytes. The reply may alter it.
pub(super) fn message_of(message: &Broadcast, reply: &mut Reply) -> Vec<u8> {
    let mut data = message.payload.clone();
    reply.alter(&mut data);
    // The field's number and its kind: bytes with their length before them.
    let mut bytes = vec![0x0a];
    let mut left = data.len();
    while left >= 0x80 {
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
    bytes.extend_from_slice(&data);
    framed([&bytes[..]]).unwrap_or_default()
}

/// What a poll is answered with: the number of the last message, and those that have come.
pub(super) fn polled(last: u64, messages: &[Arc<Broadcast>]) -> String {
    let mut body = format!("{{\"last\":{last},\"events\":[");
    for (place, message) in messages.iter().enumerate() {
        if place > 0 {
            body.push(',');
        }
        append_json(&String::from_utf8_lossy(&message.payload), &mut body);
    }
    body + "]}"
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
    fn a_message_of_grpc_has_it_as_its_first_field() {
        let told = |length: usize| {
            let message = Broadcast { kind: MessageKind::Text, payload: vec![b'x'; length] };
            message_of(&message, &mut Reply::directed(None, true))
        };
        assert_eq!(told(0), [0, 0, 0, 0, 2, 0x0a, 0]);
        assert_eq!(told(2), [0, 0, 0, 0, 4, 0x0a, 2, b'x', b'x']);
        assert_eq!(told(300)[..8], [0, 0, 0, 1, 0x2f, 0x0a, 0xac, 2]);
    }

    #[test]
    fn a_poll_is_answered_in_json() {
        let messages = ["one", "a \"b\""].map(|text| {
            let payload = text.as_bytes().to_vec();
            Arc::new(Broadcast { kind: MessageKind::Text, payload })
        });
        assert_eq!(polled(7, &[]), r#"{"last":7,"events":[]}"#);
        assert_eq!(polled(8, &messages), r#"{"last":8,"events":["one","a \"b\""]}"#);
    }

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
