//! Streams of events, each row whole, byte by byte, and cut in two at each place.

use proptest::prelude::*;
use wiretrial_proto::sse::{EventDecoder, EventLimits, write_comment, write_event, write_retry};
use wiretrial_proto::{ErrorClass, ProtocolError};

/// Type, data and id of an event, in that order.
type Told = (String, String, String);

/// What a stream told, and where it ended.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heard {
    events: Vec<Told>,
    last_id: String,
    retry_ms: Option<u64>,
    error: Option<ErrorClass>,
}

fn hear<'a>(decoder: &mut EventDecoder, pieces: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut heard = Heard::default();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    'stream: for piece in pieces {
        let mut rest = piece;
        loop {
            match decoder.receive(rest) {
                Ok(step) => {
                    rest = &rest[step.consumed..];
                    let Some(event) = step.event else { break };
                    heard.events.push((text(event.kind), text(event.data), text(event.id)));
                }
                Err(ProtocolError { class, .. }) => {
                    heard.error = Some(class);
                    break 'stream;
                }
            }
        }
        assert!(rest.is_empty(), "nothing stays behind without an event");
    }
    heard.last_id = text(decoder.last_id());
    heard.retry_ms = decoder.retry_ms();
    heard
}

/// However it is cut.
fn hear_in_all_ways(input: &[u8], limits: EventLimits) -> Heard {
    let fresh = || EventDecoder::new(limits);
    let whole = hear(&mut fresh(), [input]);
    assert_eq!(hear(&mut fresh(), input.chunks(1)), whole, "byte by byte");
    for place in 0..=input.len() {
        let (front, behind) = input.split_at(place);
        assert_eq!(hear(&mut fresh(), [front, behind]), whole, "cut at {place}");
    }
    whole
}

fn told(events: &[(&str, &str, &str)]) -> Vec<Told> {
    let own = |(kind, data, id): &(&str, &str, &str)| {
        ((*kind).to_owned(), (*data).to_owned(), (*id).to_owned())
    };
    events.iter().map(own).collect()
}

#[test]
fn table_of_streams() {
    // The rows with names of stocks, with test streams and with blanks are the standard's own examples.
    type Row<'a> = (&'a str, &'a [u8], &'a [(&'a str, &'a str, &'a str)], &'a str, Option<u64>);
    let rows: &[Row<'_>] = &[
        ("nothing", b"", &[], "", None),
        ("stocks", b"data: YHOO\ndata: +2\ndata: 10\n\n", &[("", "YHOO\n+2\n10", "")], "", None),
        (
            "ids",
            b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
            &[("", "first event", "1"), ("", "second event", "")],
            "",
            None,
        ),
        ("empty data", b"data\n\ndata\ndata\n\ndata:", &[("", "", ""), ("", "\n", "")], "", None),
        ("a blank", b"data:test\n\ndata: test\n\n", &[("", "test", ""), ("", "test", "")], "", None),
        ("two blanks", b"data:  x\n\n", &[("", " x", "")], "", None),
        ("CR", b"data: a\rdata: b\r\rdata: c\r\r", &[("", "a\nb", ""), ("", "c", "")], "", None),
        ("CRLF", b"data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", &[("", "a\nb", ""), ("", "c", "")], "", None),
        ("mixed ends", b"data: a\r\rdata: b\n\r\ndata: c\r\n\n", &[("", "a", ""), ("", "b", ""), ("", "c", "")], "", None),
        ("LF CR is two ends", b"data: a\n\rdata: b\n\n", &[("", "a", ""), ("", "b", "")], "", None),
        ("a mark", b"\xef\xbb\xbfdata: a\n\n", &[("", "a", "")], "", None),
        ("two marks", b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", &[("", "b", "")], "", None),
        ("half a mark", b"\xef\xbbdata: a\n\ndata: b\n\n", &[("", "b", "")], "", None),
        ("a mark later", b"data: a\n\n\xef\xbb\xbfdata: b\n\n", &[("", "a", "")], "", None),
        ("types", b"event: add\ndata: 1\n\nevent: remove\n\ndata: 2\n\n", &[("add", "1", ""), ("", "2", "")], "", None),
        ("the last type counts", b"event: a\nevent: b\ndata: 1\n\n", &[("b", "1", "")], "", None),
        ("an id without data", b"id: 7\n\ndata: a\n\n", &[("", "a", "7")], "7", None),
        ("an id stays", b"id: 7\ndata: a\n\ndata: b\n\n", &[("", "a", "7"), ("", "b", "7")], "7", None),
        ("an id with NUL", b"id: 7\ndata: a\n\nid: 8\x00\ndata: b\n\n", &[("", "a", "7"), ("", "b", "7")], "7", None),
        ("an id before its event's end", b"id: 7\ndata: a\n\nid: 8\ndata: b\n", &[("", "a", "7")], "7", None),
        ("retry", b"retry: 250\n\n", &[], "", Some(250)),
        ("retry counts at once", b"retry: 250\n", &[], "", Some(250)),
        ("retry that is none", b"retry: 1\nretry: 2s\nretry:\nretry: -3\nretry: 99999999999999999999\n", &[], "", Some(1)),
        ("fields in upper case, and others", b"Data: a\ndatas: b\n data: c\ndata : d\n\ndata: e\n\n", &[("", "e", "")], "", None),
        ("colons", b"data: a:b: c\n\n", &[("", "a:b: c", "")], "", None),
        ("text", "event: größer\ndata: ✓\n\n".as_bytes(), &[("größer", "✓", "")], "", None),
    ];
    for (name, input, events, last_id, retry_ms) in rows {
        let expected = Heard {
            events: told(events),
            last_id: (*last_id).to_owned(),
            retry_ms: *retry_ms,
            error: None,
        };
        assert_eq!(hear_in_all_ways(input, EventLimits::default()), expected, "{name}");
    }
}

#[test]
fn lines_and_events_have_a_bound() {
    let limits = EventLimits { line: 10, event: 8 };
    let heard = |input: &[u8]| {
        let heard = hear_in_all_ways(input, limits);
        (heard.events.len(), heard.error)
    };
    assert_eq!(heard(b"data: abcd\n\n"), (1, None));
    assert_eq!(heard(b"data: abcde\n\n"), (0, Some(ErrorClass::TooBig)));
    assert_eq!(heard(b": 3456789a"), (0, None));
    assert_eq!(heard(b": 3456789ab"), (0, Some(ErrorClass::TooBig)), "of a comment, too");
    assert_eq!(heard(b"data: abcd\ndata: ab\n\n"), (1, None));
    let two_lines = heard(b"data: abcd\ndata: abcd\n\n");
    assert_eq!(two_lines, (0, Some(ErrorClass::TooBig)), "each line ends with LF");
}

#[test]
fn a_stream_that_begins_again_keeps_its_last_id_and_nothing_else() {
    let mut decoder = EventDecoder::new(EventLimits::default());
    let first = hear(
        &mut decoder,
        [&b"retry: 5\nid: 1\ndata: a\n\nid: 2\nevent: x\ndata: b\ndata: half"[..]],
    );
    assert_eq!((first.events.len(), first.last_id.as_str()), (1, "1"));
    decoder.begin_again();
    let second = hear(&mut decoder, [&b"\xef\xbb\xbfdata: c\r\n\r\n"[..]]);
    assert_eq!(second.events, told(&[("", "c", "1")]));
    assert_eq!((second.last_id.as_str(), second.retry_ms), ("1", Some(5)));
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        events in prop::collection::vec(
            ("[a-z]{0,5}", prop::option::of("[ -~]{1,5}"), "[ -~\n]{0,40}"), 0..8,
        ),
        retry in 0_u64..100_000,
    ) {
        let mut stream = Vec::new();
        write_retry(retry, &mut stream);
        let (mut expected, mut last) = (Vec::new(), String::new());
        for (kind, id, data) in events {
            write_comment(b"data: of nobody", &mut stream);
            write_event(kind.as_bytes(), id.as_ref().map(String::as_bytes), data.as_bytes(), &mut stream);
            last = id.unwrap_or(last);
            expected.push((kind, data, last.clone()));
        }
        let heard = hear_in_all_ways(&stream, EventLimits::default());
        prop_assert_eq!(heard, Heard { events: expected, last_id: last, retry_ms: Some(retry), error: None });
    }

    #[test]
    fn anything_is_read_in_the_same_way_however_it_is_cut(
        input in prop::collection::vec(prop::sample::select(&b"data:id \r\n\xef\xbb\xbf\0x0"[..]), 0..60),
    ) {
        hear_in_all_ways(&input, EventLimits { line: 12, event: 12 });
    }
}
