//! Fields that stay with the server: put into its table once on a connection, and then referred to.

use std::sync::Arc;

use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request};
use wiretrial_proto::{ClientSession as _, Event, Fill, Message, Scratch};

use super::frames::*;

/// The setting by which a server says how much its table holds.
const TABLE_SIZE: u16 = 1;

/// A client that has not begun.
fn fresh() -> Http2Client {
    let text = |text| vec![HeadPart::Text(text)];
    let headers = [
        ("Accept", text("text/html, */*;q=0.8")),
        ("Cookie", text("theme=dark; lang=en")),
        ("X-Trace", vec![HeadPart::Hole]),
    ];
    let (target, length) = (text("/a"), PayloadLength::None);
    let request = Http2Request::keeping("http", "GET", &target, "h", &headers, false, length);
    Http2Client::new(Arc::from([request.unwrap()]), Http2Limits::default())
}

/// A client that may ask, of a server with these settings.
fn open(entries: &[(u16, u32)]) -> Http2Client {
    let (mut client, mut out, mut scratch) = (fresh(), Vec::new(), Scratch::new());
    client.start(&mut out);
    let first = settings(entries);
    let step = client.receive(&first, &mut scratch, &mut out).unwrap();
    assert!(matches!(step.event, Some(Event::Open)));
    client
}

/// Asks, and says how long that is.
fn ask(client: &mut Http2Client, trace: &str, out: &mut Vec<u8>) -> usize {
    let before = out.len();
    let fill = Fill { values: trace.as_bytes(), ends: &[trace.len() as u32], cookies: b"" };
    client.encode(&Message { fill: Some(&fill), ..Message::new(1, b"") }, out);
    out.len() - before
}

fn asked(stream: u32, trace: &str) -> String {
    let own = "accept=text/html, */*;q=0.8 cookie=theme=dark; lang=en";
    format!(
        "{stream}: headers :method=GET :scheme=http :authority=h :path=/a {own} x-trace={trace} end"
    )
}

#[test]
fn each_request_but_a_connection_s_first_refers_to_what_is_there() {
    for entries in [&[][..], &[(TABLE_SIZE, 4096)], &[(TABLE_SIZE, 65_536)]] {
        for _ in 0..2 {
            let (mut client, mut out) = (open(entries), Vec::new());
            let lengths = ["one", "two", "six"].map(|trace| ask(&mut client, trace, &mut out));
            assert_eq!(told(&out), [asked(1, "one"), asked(3, "two"), asked(5, "six")]);
            assert!(lengths[1] + 20 < lengths[0], "{lengths:?}");
            assert_eq!(lengths[1], lengths[2]);
        }
    }
}

#[test]
fn a_server_with_less_room_is_given_nothing_to_keep() {
    for room in [0, 100, 4095] {
        let (mut client, mut out) = (open(&[(TABLE_SIZE, room)]), Vec::new());
        let lengths = ["one", "two", "six"].map(|trace| ask(&mut client, trace, &mut out));
        assert_eq!(told(&out), [asked(1, "one"), asked(3, "two"), asked(5, "six")], "{room}");
        assert_eq!(lengths[0], lengths[1] + 1, "it says once that the table is not used");
        assert_eq!(lengths[1], lengths[2]);
    }
}

#[test]
fn a_table_that_shrinks_later_is_given_up() {
    let (mut client, mut out) = (open(&[]), Vec::new());
    let before = ["one", "two"].map(|trace| ask(&mut client, trace, &mut out));
    let (smaller, mut scratch, mut ignored) =
        (settings(&[(TABLE_SIZE, 1000)]), Scratch::new(), Vec::new());
    client.receive(&smaller, &mut scratch, &mut ignored).unwrap();
    let after = ["six", "ten"].map(|trace| ask(&mut client, trace, &mut out));
    let wanted = [asked(1, "one"), asked(3, "two"), asked(5, "six"), asked(7, "ten")];
    assert_eq!(told(&out), wanted);
    assert!(before[1] + 20 < after[1], "{before:?} {after:?}");
    assert_eq!(after[0], after[1] + 1);
}

/// What holds before a server has said anything are 4,096 bytes.
#[test]
fn a_server_that_says_behind_the_first_requests_that_it_has_less_room_is_given_no_more() {
    let (mut client, mut out) = (fresh(), Vec::new());
    client.hasten();
    client.start(&mut Vec::new());
    let before = ["one", "two"].map(|trace| ask(&mut client, trace, &mut out));
    let (first, mut scratch, mut ignored) =
        (settings(&[(TABLE_SIZE, 0)]), Scratch::new(), Vec::new());
    client.receive(&first, &mut scratch, &mut ignored).unwrap();
    let after = ["six", "ten"].map(|trace| ask(&mut client, trace, &mut out));
    let wanted = [asked(1, "one"), asked(3, "two"), asked(5, "six"), asked(7, "ten")];
    assert_eq!(told(&out), wanted);
    assert!(before[1] + 20 < before[0] && before[1] + 20 < after[1], "{before:?} {after:?}");
    assert_eq!(after[0], after[1] + 1, "it says once that the table is not used");
}
