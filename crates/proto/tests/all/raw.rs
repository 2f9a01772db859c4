//! What the raw client makes of a byte stream.

use crate::common::{Case, Seen, check_client, run_client, taken};
use wiretrial_proto::raw::RawClient;
use wiretrial_proto::{ClientSession, ErrorClass, Message, MessageKind, Scratch};

/// Every other one goes in pieces.
fn sent(payloads: &[&str]) -> RawClient {
    let mut codec = RawClient::new();
    let mut out = Vec::new();
    for (number, payload) in payloads.iter().enumerate() {
        if number % 2 == 1 {
            let mut pieces = codec.begin(0, payload.len() as u64, &mut out).expect("no envelope");
            payload.as_bytes().chunks(1).for_each(|piece| pieces.append(piece, &mut out));
            continue;
        }
        let request = Message::new(0, payload.as_bytes());
        codec.encode(&request, &mut out);
    }
    assert_eq!(out, payloads.concat().into_bytes(), "bytes go as they are");
    codec
}

fn reply(payload: &str) -> Seen {
    let payload = payload.as_bytes().to_vec();
    Seen::Reply { status: 0, kind: MessageKind::Stream, payload, last: false }
}

#[test]
fn replies_are_as_long_as_their_requests() {
    let rows: [&[&str]; 7] = [
        &[],
        &["a"],
        &["hello", "hello", "hello"],
        &["a", "bb", "bb", "ccc", "a"],
        &["bb", "a", "bb", "a"],
        &["", "a", ""],
        &["a", "", "", "bb"],
    ];
    for payloads in rows {
        let input = payloads.concat();
        let case = Case {
            name: &format!("{payloads:?}"),
            input: input.as_bytes(),
            fin: false,
            expected: payloads.iter().map(|payload| reply(payload)).collect(),
            trailing: Some((b"!", vec![Seen::Error(ErrorClass::Protocol)])),
        };
        check_client(&case, || sent(payloads));
    }
}

#[test]
fn requests_may_follow_replies() {
    let mut codec = sent(&["ab", "ab"]);
    assert_eq!(run_client(&mut codec, b"12", &[], false).seen, [reply("12")]);
    codec.encode(&Message::new(0, b"abc"), &mut Vec::new());
    codec.encode(&Message::new(0, b"ab"), &mut Vec::new());
    let seen = run_client(&mut codec, b"3456789", &[1, 4], false).seen;
    assert_eq!(seen, [reply("34"), reply("567"), reply("89")]);
}

#[test]
fn an_end_truncates_only_what_was_begun() {
    let rows = [
        ("", vec![]),
        ("ab", vec![reply("ab")]),
        ("abc", vec![reply("ab"), Seen::Error(ErrorClass::Truncated)]),
    ];
    for (input, expected) in rows {
        let case =
            Case { name: input, input: input.as_bytes(), fin: true, expected, trailing: None };
        check_client(&case, || sent(&["ab", "ab"]));
    }
    let mut codec = sent(&["ab"]);
    assert!(codec.is_open());
    assert_eq!(codec.end(), Ok(None));
    assert!(!codec.is_open());
}

#[test]
fn the_callers_close_lets_replies_come() {
    let mut codec = sent(&["ab"]);
    codec.close(&mut Vec::new());
    assert!(!codec.is_open());
    assert_eq!(run_client(&mut codec, b"ab", &[], true).seen, [reply("ab")]);
}

#[test]
fn without_events_come_as_many_bytes_as_were_sent() {
    let rows: [(&[&str], &str, &[&str]); 4] = [
        (&["ab", "c"], "xyz", &["xy", "z"]),
        (&["ab", "", "c"], "xyz", &["xy", "", "z"]),
        (&["ab"], "xyz", &["xy"]),
        (&["ab", "cd"], "xyz", &["xy"]),
    ];
    for (payloads, input, expected) in rows {
        let (seen, count) = taken(sent(payloads), &Scratch::new(), input.as_bytes(), 9);
        assert_eq!(
            (seen, count),
            (expected.iter().map(ToString::to_string).collect(), expected.concat().len())
        );
    }
    let mut begun = sent(&["ab", "cd"]);
    begun.receive(b"x", &mut Scratch::new(), &mut Vec::new()).expect("a piece");
    assert_eq!(taken(begun, &Scratch::new(), b"yzz", 9).1, 0);
}
