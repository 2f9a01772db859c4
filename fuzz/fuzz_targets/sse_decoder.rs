//! A stream of events is anything: events or an error, never a panic, the same ones however the bytes
//! were cut, within the bounds, and the same again when they are written and read.
//!
//! Input: one byte (how many cuts), the distances between the cuts, the stream.
#![no_main]

mod cuts;

use cuts::cut;
use libfuzzer_sys::fuzz_target;
use wiretrial_proto::sse::{EventDecoder, EventLimits, NumberedEvent, write_event};

const LIMITS: EventLimits = EventLimits { line: 300, event: 500 };

#[derive(Debug, Default, PartialEq, Eq)]
struct Heard {
    /// Type, data, id.
    events: Vec<[Vec<u8>; 3]>,
    last_id: Vec<u8>,
    retry_ms: Option<u64>,
    failed: bool,
}

fuzz_target!(|data: &[u8]| {
    let Some((&cuts, rest)) = data.split_first() else { return };
    let Some((distances, stream)) = rest.split_at_checked(usize::from(cuts)) else { return };
    let whole = hear(&[stream], LIMITS);
    let pieces = cut(stream, distances);
    assert_eq!(hear(&pieces, LIMITS), whole);
    let mut written = Vec::new();
    for [kind, data, id] in &whole.events {
        assert!(data.len() <= LIMITS.event + 1);
        assert!(kind.len() <= LIMITS.line && id.len() <= LIMITS.line);
        if let Some(event) = NumberedEvent::read(data) {
            let mut again = Vec::new();
            event.write(data.len(), &mut again);
            assert_eq!(&again, data);
        }
        write_event(kind, Some(id), data, &mut written);
    }
    assert_eq!(hear(&[&written], EventLimits::default()).events, whole.events);
});

fn hear(pieces: &[&[u8]], limits: EventLimits) -> Heard {
    let (mut decoder, mut heard) = (EventDecoder::new(limits), Heard::default());
    'stream: for piece in pieces {
        let mut rest = *piece;
        loop {
            let Ok(step) = decoder.receive(rest) else {
                heard.failed = true;
                break 'stream;
            };
            rest = &rest[step.consumed..];
            let Some(event) = step.event else { break };
            heard.events.push([event.kind, event.data, event.id].map(<[u8]>::to_vec));
        }
        assert!(rest.is_empty());
    }
    heard.last_id = decoder.last_id().to_vec();
    heard.retry_ms = decoder.retry_ms();
    heard
}
