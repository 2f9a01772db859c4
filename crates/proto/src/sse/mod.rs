//! Server-sent events (WHATWG HTML, section "Server-sent events"): the format of a stream of events.
//!
//! Knows lines, fields and events, and the content of the events that the reference server numbers.
//! Must not know what carries the stream, when it is asked for again, nor what an event should say.

mod decoder;
mod numbered;
mod writer;

pub use decoder::{EventDecoder, EventLimits, ServerSent};
pub use numbered::{NumberedEvent, SHORTEST};
pub use writer::{write_comment, write_event, write_retry};

/// The type of content that makes a reply a stream of events.
pub const EVENT_STREAM: &str = "text/event-stream";

/// The field of a reply by which our reference server says that its events are
/// [numbered](NumberedEvent), and on which machine's monotonic clock they are stamped.
pub const CLOCK_FIELD: &str = "wiretrial-clock";

/// Does this value of Content-Type name a stream of events? Parameters do not matter.
pub fn is_event_stream(content_type: &[u8]) -> bool {
    let essence = content_type.split(|byte| *byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(EVENT_STREAM.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::is_event_stream;

    #[test]
    fn parameters_and_case_do_not_matter() {
        for right in
            ["text/event-stream", "Text/Event-Stream ; charset=utf-8", "text/event-stream;"]
        {
            assert!(is_event_stream(right.as_bytes()), "{right}");
        }
        for wrong in ["", "text/plain", "text/event-stream2", "application/json;text/event-stream"]
        {
            assert!(!is_event_stream(wrong.as_bytes()), "{wrong}");
        }
    }
}
