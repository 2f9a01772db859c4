//! What RFC 6455 forbids, section by section, with the close code that must answer it.

use super::wire::{
    BINARY, CLOSE, FINAL, Frame, From, LAST, MAX_MESSAGE, PING, PONG, TEXT, bytes, frame,
    frame_of_length, frames_in, goodbye, open_client, open_server,
};
use crate::common::{Seen, Transcript, run_client, run_server, splittings};
use wiretrial_proto::{
    ClientSession, ErrorClass, MessageKind, Scratch, ServerCodec, ServerEvent, Step,
};

/// Section, what is wrong, the frames that do it.
type Row = (&'static str, String, Vec<Frame>);

fn row(section: &'static str, name: impl Into<String>, frames: Vec<Frame>) -> Row {
    (section, name.into(), frames)
}

/// Answered with 1002.
fn protocol_errors() -> Vec<Row> {
    let mut rows = vec![
        row("5.2", "RSV1", vec![frame(TEXT | 0x40, "x")]),
        row("5.2", "RSV2", vec![frame(BINARY | 0x20, "")]),
        row("5.2", "RSV3 on a ping", vec![frame(PING | 0x10, "")]),
        row("5.2", "125 in two bytes", vec![frame_of_length(TEXT, &[126, 0, 125], [b'x'; 125])]),
        row(
            "5.2",
            "65535 in eight bytes",
            vec![frame_of_length(BINARY, &[127, 0, 0, 0, 0, 0, 0, 0xff, 0xff], "")],
        ),
        row(
            "5.2",
            "a length of 2^63",
            vec![frame_of_length(BINARY, &[127, 0x80, 0, 0, 0, 0, 0, 0, 0], "")],
        ),
        row("5.4", "a continuation at the start", vec![frame(LAST, "x")]),
        row("5.4", "an open continuation at the start", vec![frame(0, "x")]),
        row("5.4", "a continuation behind a whole message", vec![frame(TEXT, "x"), frame(0, "")]),
        row(
            "5.4",
            "a continuation behind the last one",
            vec![frame(TEXT - FINAL, "x"), frame(LAST, ""), frame(LAST, "")],
        ),
        row("5.4", "text inside a message", vec![frame(TEXT - FINAL, "x"), frame(TEXT, "")]),
        row(
            "5.4",
            "an open binary inside a message",
            vec![frame(TEXT - FINAL, ""), frame(PING, ""), frame(BINARY - FINAL, "x")],
        ),
        row("5.5", "a ping of 126 bytes", vec![frame(PING, [0; 126])]),
        row("5.5", "a pong with a long length", vec![frame_of_length(PONG, &[127], "")]),
        row("5.5", "a fragmented ping", vec![frame(PING - FINAL, "x")]),
        row("5.5", "a fragmented pong", vec![frame(PONG - FINAL, "")]),
        row("5.5", "a fragmented close", vec![frame(CLOSE - FINAL, "")]),
        row("5.5.1", "half a close code", vec![frame(CLOSE, [3])]),
    ];
    for opcode in [3, 4, 5, 6, 7, 0xb, 0xc, 0xd, 0xe, 0xf] {
        let name = format!("opcode {opcode:#x}");
        rows.push(row("5.2", name, vec![frame(FINAL | opcode, "")]));
        let name = format!("opcode {opcode:#x} inside a message");
        rows.push(row("5.2", name, vec![frame(TEXT - FINAL, "x"), frame(FINAL | opcode, "")]));
    }
    let reserved = [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535];
    for code in reserved {
        let name = format!("close code {code}");
        rows.push(row("7.4", name, vec![frame(CLOSE, goodbye(code, "why"))]));
    }
    rows
}

/// Answered with 1007.
fn not_utf8() -> Vec<Row> {
    let mut rows = vec![
        row("8.1", "a cut character at the end", vec![frame(TEXT, b"ab\xe2\x82")]),
        row(
            "8.1",
            "a cut character at the end of fragments",
            vec![frame(TEXT - FINAL, b"\xe2"), frame(LAST, b"\x82")],
        ),
        row(
            "8.1",
            "a cut character before an empty last frame",
            vec![frame(TEXT - FINAL, b"\xe2"), frame(LAST, b"")],
        ),
        row(
            "8.1",
            "a bad second fragment",
            vec![frame(TEXT - FINAL, b"\xe2"), frame(PING, b""), frame(0, b"\x82\x28")],
        ),
        row(
            "8.1",
            "far inside a long text",
            vec![frame(TEXT, {
                let mut text = "κόσμε ".repeat(30).into_bytes();
                text[200] = 0xff;
                text
            })],
        ),
        // Nothing of the rest may be needed to refuse it.
        row(
            "8.1",
            "the first impossible byte of many to come",
            vec![frame_of_length(TEXT, &[126, 0xff, 0xff], b"ok \xf4\x90")],
        ),
        row("7.1.6", "a close reason", vec![frame(CLOSE, goodbye(1000, b"\xce\xba\xe1"))]),
    ];
    let sequences: [(&str, &[u8]); 8] = [
        ("a lone continuation", b"\x80"),
        ("an overlong slash", b"\xc0\xaf"),
        ("an overlong three-byte form", b"\xe0\x9f\xbf"),
        ("an overlong four-byte form", b"\xf0\x8f\xbf\xbf"),
        ("a surrogate", b"\xed\xa0\x80"),
        ("beyond U+10FFFF", b"\xf4\x90\x80\x80"),
        ("a five-byte form", b"\xf8\x88\x80\x80\x80"),
        ("0xff", b"\xff"),
    ];
    for (name, sequence) in sequences {
        rows.push(row("8.1", name, vec![frame(TEXT, [b"x", sequence, b"y"].concat())]));
    }
    rows
}

/// Answered with 1009.
fn too_big() -> Vec<Row> {
    let over = MAX_MESSAGE + 1;
    let [.., a, b, c, d] = over.to_be_bytes();
    vec![
        row(
            "7.4.1",
            "told by the header alone",
            vec![frame_of_length(BINARY, &[127, 0, 0, 0, 0, a, b, c, d], "")],
        ),
        row(
            "7.4.1",
            "the longest length there is",
            vec![frame_of_length(
                BINARY,
                &[127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                "",
            )],
        ),
        row(
            "7.4.1",
            "by a second fragment",
            vec![
                frame(BINARY - FINAL, "x"),
                frame_of_length(LAST, &[127, 0, 0, 0, 0, a, b, c, d - 1], ""),
            ],
        ),
    ]
}

/// Both sides must refuse each row alike, however it comes, and say the close code last.
fn check_both_sides(rows: Vec<Row>, class: ErrorClass, code: u16) {
    for (section, name, frames) in rows {
        let name = format!("section {section}: {name}");
        let input = bytes(&frames, From::Server);
        check_one(&name, class, code, From::Client, input.len(), |cuts| {
            run_client(&mut open_client(MessageKind::Text), &input, cuts, false)
        });
        let input = bytes(&frames, From::Client);
        check_one(&name, class, code, From::Server, input.len(), |cuts| {
            run_server(&mut open_server(), &input, cuts)
        });
    }
}

/// Refused with this class and close code, wherever the input is cut.
pub(crate) fn check_one(
    name: &str,
    class: ErrorClass,
    code: u16,
    side: From,
    length: usize,
    run: impl Fn(&[usize]) -> Transcript,
) {
    let whole = run(&[]);
    assert_eq!(whole.seen.last(), Some(&Seen::Error(class)), "{name}, {side:?}");
    let answer = frames_in(&whole.out, side).pop();
    assert_eq!(answer, Some((CLOSE, goodbye(code, ""))), "{name}, {side:?}");
    for cuts in splittings(length) {
        assert_eq!(run(&cuts), whole, "{name}, {side:?}, cut at {cuts:?}");
    }
}

#[test]
fn protocol_errors_are_answered_with_1002() {
    check_both_sides(protocol_errors(), ErrorClass::Protocol, 1002);
}

#[test]
fn text_that_is_not_utf8_is_answered_with_1007() {
    check_both_sides(not_utf8(), ErrorClass::Utf8, 1007);
}

/// Whoever echoes pieces as they come must not complete a text that is none.
#[test]
fn the_piece_that_ends_inside_a_character_is_not_passed_on() {
    let mut scratch = Scratch::new();
    let mut out = Vec::new();
    for frames in [
        vec![frame(TEXT, b"ab\xe2\x82")],
        vec![frame(TEXT - FINAL, b""), frame(LAST, b"ab\xe2\x82")],
    ] {
        let mut input = bytes(&frames, From::Client);
        let mut server = open_server();
        let step = server.receive(&mut input, &mut scratch, &mut out).expect("a message begins");
        assert_eq!(step.event, Some(ServerEvent::Message(MessageKind::Text)));
        let begun = step.consumed;
        let error =
            server.receive(&mut input[begun..], &mut scratch, &mut out).expect_err("no text");
        assert_eq!(error.class, ErrorClass::Utf8);
    }
}

#[test]
fn messages_over_the_limit_are_answered_with_1009() {
    check_both_sides(too_big(), ErrorClass::TooBig, 1009);
}

#[test]
fn a_message_at_the_limit_is_taken() {
    let longest = vec![b'x'; MAX_MESSAGE as usize];
    let input = bytes(&[frame(BINARY, &longest)], From::Server);
    let seen = run_client(&mut open_client(MessageKind::Binary), &input, &[], false).seen;
    let (status, kind, last) = (0, MessageKind::Binary, false);
    assert_eq!(seen, [Seen::Reply { status, kind, payload: longest, last }]);
}

/// Section 5.1: a server must not mask, a client must.
#[test]
fn the_wrong_mask_bit_is_answered_with_1002() {
    let frames = [frame(TEXT, "hello")];
    let masked = bytes(&frames, From::Client);
    check_one("a masked frame", ErrorClass::Protocol, 1002, From::Client, masked.len(), |cuts| {
        run_client(&mut open_client(MessageKind::Text), &masked, cuts, false)
    });
    let plain = bytes(&frames, From::Server);
    check_one("a plain frame", ErrorClass::Protocol, 1002, From::Server, plain.len(), |cuts| {
        run_server(&mut open_server(), &plain, cuts)
    });
}

/// Nothing comes out of a codec after an error, whatever goes in.
#[test]
fn after_an_error_all_is_ignored() {
    let mut scratch = Scratch::new();
    let mut out = Vec::new();
    let good = bytes(&[frame(TEXT, "x"), frame(PING, "")], From::Server);
    let mut client = open_client(MessageKind::Text);
    client.receive(&[0x83, 0], &mut scratch, &mut out).unwrap_err();
    out.clear();
    assert!(!client.is_open());
    assert_eq!(
        client.receive(&good, &mut scratch, &mut out),
        Ok(Step { consumed: good.len(), event: None })
    );
    assert_eq!(client.end(), Ok(None));
    client.close(&mut out);
    assert_eq!(out, b"");

    let mut good = bytes(&[frame(TEXT, "x"), frame(PING, "")], From::Client);
    let length = good.len();
    let mut server = open_server();
    server.receive(&mut [0x83, 0x80], &mut scratch, &mut out).unwrap_err();
    out.clear();
    assert_eq!(
        server.receive(&mut good, &mut scratch, &mut out),
        Ok(Step { consumed: length, event: None })
    );
    server.close(1000, "", &mut out);
    assert_eq!(out, b"");
}
