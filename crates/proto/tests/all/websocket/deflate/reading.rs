//! Messages that a peer compressed, section 7.2.2: read alike by both sides, however they come.

use super::super::rejections::check_one;
use super::super::wire::{
    BINARY, CLOSE, FINAL, Frame, From, LAST, MAX_MESSAGE, PING, PONG, TEXT, bytes, frame,
    frames_in, goodbye,
};
use super::{COMPRESSED, agreed, open_pair};
use crate::common::{Case, Seen, check_client, check_server, run_client, run_server};
use wiretrial_proto::websocket::DeflateConfig;
use wiretrial_proto::{ErrorClass, MessageKind};

/// "Hello" in a block of fixed codes, as section 7.2.3.1 gives it.
const HELLO: [u8; 7] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];

const ZTEXT: u8 = TEXT | COMPRESSED;
const ZBINARY: u8 = BINARY | COMPRESSED;

type Row = (&'static str, Vec<Frame>, Vec<(MessageKind, Vec<u8>)>);

fn text(text: &str) -> (MessageKind, Vec<u8>) {
    (MessageKind::Text, text.into())
}

fn good() -> Vec<Row> {
    let zeros = (MessageKind::Binary, vec![0; 1000]);
    vec![
        // The examples of section 7.2.3.
        ("one frame", vec![frame(ZTEXT, HELLO)], vec![text("Hello")]),
        (
            "two frames",
            vec![frame(ZTEXT - FINAL, &HELLO[..3]), frame(LAST, &HELLO[3..])],
            vec![text("Hello")],
        ),
        (
            "a second message that refers to the first",
            vec![frame(ZTEXT, HELLO), frame(ZTEXT, [0xf2, 0x00, 0x11, 0x00, 0x00])],
            vec![text("Hello"), text("Hello")],
        ),
        (
            "a stored block",
            vec![frame(ZTEXT, [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00])],
            vec![text("Hello")],
        ),
        (
            "a final block",
            vec![frame(ZTEXT, [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00])],
            vec![text("Hello")],
        ),
        (
            "two blocks",
            vec![frame(
                ZTEXT,
                [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00],
            )],
            vec![text("Hello")],
        ),
        ("an empty message", vec![frame(ZTEXT, [0x00])], vec![text("")]),
        // Beyond the examples.
        (
            "an empty message of another compressor",
            vec![frame(ZTEXT, [0x02, 0x00])],
            vec![text("")],
        ),
        ("nothing at all", vec![frame(ZBINARY, [])], vec![(MessageKind::Binary, vec![])]),
        (
            "empty frames around",
            vec![frame(ZTEXT - FINAL, []), frame(0, HELLO), frame(0, []), frame(LAST, [])],
            vec![text("Hello")],
        ),
        (
            "a final block and nothing behind it",
            vec![frame(ZTEXT, [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]), frame(ZTEXT, HELLO)],
            vec![text("Hello"), text("Hello")],
        ),
        (
            "blocks behind a final block",
            vec![frame(ZTEXT, [&[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00][..], &HELLO].concat())],
            vec![text("HelloHello")],
        ),
        (
            "messages that are not compressed between",
            vec![
                frame(TEXT, "plain"),
                frame(ZTEXT, HELLO),
                frame(BINARY - FINAL, [0]),
                frame(LAST, [1]),
            ],
            vec![text("plain"), text("Hello"), (MessageKind::Binary, vec![0, 1])],
        ),
        (
            // A literal zero, then a match of 258 three times over and one of 225, distance 1.
            "much out of little",
            vec![frame(ZBINARY, deflated_zeros(1000))],
            vec![zeros],
        ),
    ]
}

/// Zeros in one block of fixed codes, without the tail: by hand, so that a writer that is wrong
/// in the same way as the reader is found.
fn deflated_zeros(count: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.low_first(0b010, 3);
    bits.high_first(0x30, 8);
    let mut left = count - 1;
    while left >= 258 {
        // Length code 285 (258 bytes), distance code 0 (1 byte back).
        bits.high_first(0b1100_0101, 8);
        bits.high_first(0, 5);
        left -= 258;
    }
    for _ in 0..left {
        bits.high_first(0x30, 8);
    }
    bits.high_first(0, 7);
    bits.low_first(0, 3);
    bits.bytes
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.used.is_multiple_of(8) {
            self.bytes.push(0);
        }
        let last = self.bytes.len() - 1;
        self.bytes[last] |= u8::from(bit) << (self.used % 8);
        self.used += 1;
    }

    fn low_first(&mut self, value: u32, count: u32) {
        (0..count).for_each(|bit| self.push(value >> bit & 1 == 1));
    }

    fn high_first(&mut self, value: u32, count: u32) {
        (0..count).rev().for_each(|bit| self.push(value >> bit & 1 == 1));
    }
}

#[test]
fn good_messages_are_read_alike_by_both_sides() {
    for (name, frames, messages) in good() {
        let replies = messages.iter().map(|(kind, payload)| Seen::Reply {
            status: 0,
            kind: *kind,
            payload: payload.clone(),
            last: false,
        });
        let input = bytes(&frames, From::Server);
        let expected = replies.collect();
        let case = Case { name, input: &input, fin: false, expected, trailing: None };
        check_client(&case, || open_pair(MessageKind::Text).0);

        let said = messages
            .iter()
            .flat_map(|(kind, payload)| [Seen::Message(*kind), Seen::End(payload.clone())]);
        let input = bytes(&frames, From::Client);
        let expected = said.collect();
        let case = Case { name, input: &input, fin: false, expected, trailing: None };
        check_server(&case, || open_pair(MessageKind::Text).1);
    }
}

#[test]
fn pings_between_compressed_fragments_are_answered() {
    let frames = [frame(ZTEXT - FINAL, &HELLO[..4]), frame(PING, "now"), frame(LAST, &HELLO[4..])];
    let input = bytes(&frames, From::Server);
    let mut client = open_pair(MessageKind::Text).0;
    let heard = run_client(&mut client, &input, &[], false);
    assert_eq!(frames_in(&heard.out, From::Client), [(PONG, b"now".to_vec())]);
    assert_eq!(heard.seen.len(), 1);
}

/// What is wrong, and with which code it is answered.
fn bad() -> Vec<(&'static str, Vec<Frame>, ErrorClass, u16)> {
    let broken = |name, frames| (name, frames, ErrorClass::Protocol, 1002);
    let not_text = |name, frames| (name, frames, ErrorClass::Utf8, 1007);
    let too_big = |name, frames| (name, frames, ErrorClass::TooBig, 1009);
    let stored = |payload: &[u8]| {
        let length = payload.len() as u16;
        [&[0], &length.to_le_bytes()[..], &(!length).to_le_bytes(), payload, &[0]].concat()
    };
    let over = MAX_MESSAGE as usize + 1;
    vec![
        broken(
            "RSV1 on a continuation",
            vec![frame(ZTEXT - FINAL, &HELLO[..3]), frame(LAST | COMPRESSED, &HELLO[3..])],
        ),
        broken(
            "RSV1 on the continuation of a plain message",
            vec![frame(TEXT - FINAL, "a"), frame(LAST | COMPRESSED, HELLO)],
        ),
        broken("RSV1 on a ping", vec![frame(PING | COMPRESSED, HELLO)]),
        broken("RSV1 on a pong", vec![frame(PONG | COMPRESSED, HELLO)]),
        broken("RSV1 on a close", vec![frame(CLOSE | COMPRESSED, goodbye(1000, ""))]),
        broken("RSV1 with an unknown opcode", vec![frame(0xc3, "")]),
        broken("RSV2 beside it", vec![frame(ZTEXT | 0x20, HELLO)]),
        broken("RSV3", vec![frame(TEXT | 0x10, "a")]),
        broken("a block of the reserved type", vec![frame(ZTEXT, [0x06, 0x00])]),
        broken("a stored block with a wrong length", vec![frame(ZTEXT, [0x00, 5, 0, 0, 0, b'a'])]),
        broken(
            "a reference to before the beginning",
            vec![frame(ZTEXT, [0xf2, 0x00, 0x11, 0x00, 0x00])],
        ),
        broken("a message that ends inside of a block", vec![frame(ZTEXT, &HELLO[..4])]),
        broken("a stored block that is cut off", vec![frame(ZTEXT, [0x00, 0x05, 0x00, 0xfa])]),
        broken(
            "the tail left in place, and half of it again",
            vec![frame(ZTEXT, [&HELLO[..], &[0, 0, 0xff, 0xff, 0, 0, 0]].concat())],
        ),
        not_text("a lone continuation byte", vec![frame(ZTEXT, stored(b"a\x80b"))]),
        not_text("a cut character at the end", vec![frame(ZTEXT, stored(b"a\xe2\x82"))]),
        not_text(
            "not text before it is not DEFLATE",
            vec![frame(ZTEXT, [&stored(b"\xff")[..6], &[0x06]].concat())],
        ),
        too_big("out of a few bytes", vec![frame(ZBINARY, deflated_zeros(over))]),
        too_big(
            "over two frames",
            vec![
                frame(ZBINARY - FINAL, deflated_zeros(over - 1)),
                frame(LAST, [&[0, 0, 0xff, 0xff][..], &stored(b"x")].concat()),
            ],
        ),
        too_big(
            "before it is not DEFLATE",
            vec![{
                let mut bomb = deflated_zeros(over + 5000);
                bomb.extend([0, 0, 0xff, 0xff, 0x06]);
                frame(ZTEXT, bomb)
            }],
        ),
    ]
}

#[test]
fn bad_messages_are_answered_with_their_codes() {
    for (name, frames, class, code) in bad() {
        let input = bytes(&frames, From::Server);
        check_one(name, class, code, From::Client, input.len(), |cuts| {
            run_client(&mut open_pair(MessageKind::Text).0, &input, cuts, false)
        });
        let input = bytes(&frames, From::Client);
        check_one(name, class, code, From::Server, input.len(), |cuts| {
            run_server(&mut open_pair(MessageKind::Text).1, &input, cuts)
        });
    }
}

#[test]
fn a_message_at_the_limit_is_taken() {
    let frames = [frame(ZBINARY, deflated_zeros(MAX_MESSAGE as usize))];
    let input = bytes(&frames, From::Server);
    let heard = run_client(&mut open_pair(MessageKind::Text).0, &input, &[], false);
    let (status, kind, last) = (0, MessageKind::Binary, false);
    let payload = vec![0; MAX_MESSAGE as usize];
    assert_eq!(heard.seen, [Seen::Reply { status, kind, payload, last }]);
}

/// Without takeover a message stands for itself: what refers to the one before is wrong.
#[test]
fn without_takeover_nothing_is_remembered() {
    let offer = DeflateConfig { server_no_context_takeover: true, ..DeflateConfig::default() };
    let wishes = DeflateConfig { client_no_context_takeover: true, ..DeflateConfig::default() };
    let frames = [frame(ZTEXT, HELLO), frame(ZTEXT, [0xf2, 0x00, 0x11, 0x00, 0x00])];
    let (mut client, mut server) = agreed(MessageKind::Text, offer, wishes).unwrap();
    let heard = run_client(&mut client, &bytes(&frames, From::Server), &[], false);
    assert_eq!(heard.seen.last(), Some(&Seen::Error(ErrorClass::Protocol)));
    let heard = run_server(&mut server, &bytes(&frames, From::Client), &[]);
    assert_eq!(heard.seen.last(), Some(&Seen::Error(ErrorClass::Protocol)));
}
