//! Replies that are taken without an event for each: which they are, and where that ends.

use wiretrial_proto::websocket::{WebSocketClient, WebSocketConfig};
use wiretrial_proto::{ClientSession, MessageKind, Scratch};

use super::wire::{config, open_client_of};
use crate::common::taken;

/// A client that takes no longer messages.
fn limited(max_message: u64) -> WebSocketClient {
    open_client_of(WebSocketConfig { max_message, ..config(MessageKind::Text) })
}

#[test]
fn they_are_short_whole_frames() {
    let rows: [(&str, &[u8], &[&str]); 10] = [
        ("two, and the begin of a third", b"\x81\x02ab\x82\x01c\x81", &["ab", "c"]),
        ("one that is not whole", b"\x81\x02ab\x81\x02a", &["ab"]),
        ("an empty one", b"\x81\x00\x82\x00", &["", ""]),
        ("a ping", b"\x81\x02ab\x89\x00\x81\x02ab", &["ab"]),
        ("a close", b"\x88\x02\x03\xe8\x81\x02ab", &[]),
        ("a fragment", b"\x01\x02ab\x80\x00", &[]),
        ("text that is more than ASCII", b"\x81\x02\xc3\xa4", &[]),
        ("a masked one", b"\x81\x82\0\0\0\0ab", &[]),
        ("a reserved bit", b"\xc1\x02ab", &[]),
        ("a longer header", b"\x82\x7e\x00\x02ab", &[]),
    ];
    for (name, input, expected) in rows {
        let (seen, count) = taken(limited(1_000), &Scratch::new(), input, usize::MAX);
        assert_eq!(seen, expected, "{name}");
        assert_eq!(
            count,
            expected.iter().map(|payload| 2 + payload.len()).sum::<usize>(),
            "{name}"
        );
    }
}

#[test]
fn what_is_not_wanted_and_what_is_too_long_is_left() {
    let input = b"\x81\x02ab\x81\x03abc\x81\x02ab";
    assert_eq!(taken(limited(2), &Scratch::new(), input, 9), (vec!["ab".to_owned()], 4));
    assert_eq!(taken(limited(9), &Scratch::new(), input, 1), (vec!["ab".to_owned()], 4));
    assert_eq!(taken(limited(9), &Scratch::new(), input, 0), (vec![], 0));
}

#[test]
fn none_inside_a_message_nor_after_our_close() {
    let mut client = limited(100);
    client.receive(b"\x01\x02ab", &mut Scratch::new(), &mut Vec::new()).expect("a fragment");
    assert_eq!(taken(client, &Scratch::new(), b"\x81\x02ab", 9).1, 0);
    let mut closed = limited(100);
    closed.close(&mut Vec::new());
    assert_eq!(taken(closed, &Scratch::new(), b"\x81\x02ab", 9).1, 0);
}
