//! Heads that come again are compared in place of being read: nothing else may follow from them.

use wiretrial_proto::grpc::framed;

use super::calls::{self, calls};
use super::client::{check, three};
use super::frames::*;

/// HEADERS whose fields refer to the table, or change it.
fn raw(flags: u8, stream: u32, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, WHOLE | flags, stream, block)
}

/// A literal that is added to the table: a name and a value of one byte each.
fn added(name: u8, value: u8) -> [u8; 5] {
    [0x40, 1, name, 1, value]
}

/// `:status 200`, and `:status 404`, of the static table.
const OK: u8 = 0x88;
const NOT_FOUND: u8 = 0x8d;
/// The entry that was added last.
const NEWEST: u8 = 0xbe;

fn seen(bytes: &[Vec<u8>]) -> Vec<String> {
    check(three, &bytes.concat()).events
}

#[test]
fn the_same_head_on_the_next_stream_says_the_same() {
    let head = |stream| headers(0, stream, &[":status=404", "content-length=2", "a=b"]);
    let events = seen(&[
        head(1),
        head(3),
        frame(DATA, END, 3, b"no"),
        head(5),
        frame(DATA, END, 1, b"nn"),
        frame(DATA, END, 5, b"more"),
    ]);
    // The length that it tells holds on each stream.
    assert_eq!(events, ["reply 11 404 'no'", "reply 10 404 'nn'", "failed 12 Protocol"]);
}

#[test]
fn a_head_that_ends_its_stream_is_another_than_one_that_does_not() {
    let head = |flags, stream| headers(flags, stream, &[":status=200", "content-length=2"]);
    let events = seen(&[head(0, 1), head(END, 3), head(0, 5), frame(DATA, END, 5, b"ab")]);
    assert_eq!(events, ["failed 11 Protocol", "reply 12 200 'ab'"]);
    let empty = |stream| headers(END, stream, &[":status=204"]);
    let events = seen(&[empty(5), empty(1), empty(3)]);
    assert_eq!(events, ["reply 12 204 ''", "reply 10 204 ''", "reply 11 204 ''"]);
}

#[test]
fn an_index_means_what_the_table_has_now() {
    // The name of the status with the value of an entry that is another one each time.
    let status = |value: &[u8; 3]| [&[0x48, 3][..], value].concat();
    let newest = |stream| raw(END, stream, &[NEWEST]);
    let events = seen(&[
        raw(END, 1, &status(b"201")),
        newest(3),
        // Nothing but a trailing change in between: on a stream that is over by then.
        raw(END, 5, &[&[OK][..], &added(b'a', b'b')].concat()),
    ]);
    assert_eq!(events, ["reply 10 201 ''", "reply 11 201 ''", "reply 12 200 ''"]);
    let events = seen(&[
        raw(0, 1, &[&[OK][..], &added(b'a', b'1')].concat()),
        raw(0, 3, &[OK, NEWEST]),
        raw(END, 1, &added(b'b', b' ')),
        // The same bytes, whose index is now a field that no reply has.
        raw(0, 5, &[OK, NEWEST]),
        frame(DATA, END, 3, b"x"),
    ]);
    assert_eq!(events, ["failed 10 Protocol", "failed 12 Protocol", "reply 11 200 'x'"]);
}

#[test]
fn the_same_block_adds_to_the_table_each_time() {
    let adds = |stream| raw(END, stream, &[&[OK][..], &added(b'a', b'1')].concat());
    // Of 4,096 bytes each entry takes 34; after two the older one has index 63.
    let events = seen(&[adds(1), adds(3), raw(END, 5, &[NOT_FOUND, 0xbf])]);
    assert_eq!(events, ["reply 10 200 ''", "reply 11 200 ''", "reply 12 404 ''"]);
    let events = seen(&[adds(1), raw(END, 5, &[NOT_FOUND, 0xbf])]);
    assert_eq!(events, ["reply 10 200 ''", "error Protocol"]);
}

#[test]
fn an_interim_head_and_one_that_is_wrong_are_read_each_time() {
    let early = |stream| headers(0, stream, &[":status=103", "link=x"]);
    let events = seen(&[
        early(1),
        early(1),
        early(3),
        headers(END, 1, &[":status=200"]),
        headers(END, 3, &[":status=200"]),
        headers(0, 5, &[":status=200", ":status=200"]),
    ]);
    assert_eq!(events, ["reply 10 200 ''", "reply 11 200 ''", "failed 12 Protocol"]);
    let wrong = |stream| headers(END, stream, &[":status=200", "Upper=x"]);
    let failed = ["failed 10 Protocol", "failed 11 Protocol", "failed 12 Protocol"];
    assert_eq!(seen(&[wrong(1), wrong(3), wrong(5)]), failed);
}

#[test]
fn calls_end_with_the_same_trailers() {
    let message = framed([&b"yes"[..]]).expect("a short one");
    let trailers = |stream, status| headers(END, stream, &[status, "a=b"]);
    let bytes = [
        calls::head(1),
        calls::head(3),
        frame(DATA, 0, 1, &message),
        trailers(1, "grpc-status=0"),
        // The same, inside a message.
        frame(DATA, 0, 3, &message[..6]),
        trailers(3, "grpc-status=0"),
        calls::head(5),
        frame(DATA, 0, 5, &message),
        trailers(5, "grpc-status=0"),
    ];
    let whole = "reply 10 0 '\0\0\0\0\u{3}yes'";
    let last = "reply 12 0 '\0\0\0\0\u{3}yes'";
    let events = check(|| calls().0, &bytes.concat()).events;
    assert_eq!(events, [whole, "failed 11 Protocol", last]);
}
