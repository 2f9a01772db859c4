//! What is allowed: one table of frames that both sides must read alike.

use super::wire::{
    BINARY, CLOSE, FINAL, Frame, From, LAST, PING, PONG, TEXT, bytes, frame, frames_in, goodbye,
    open_client, open_server,
};
use crate::common::{Case, Seen, check_client, check_server};
use wiretrial_proto::MessageKind;

/// What a receiver must make of the frames.
#[derive(Debug, Clone)]
enum Said {
    Text(Vec<u8>),
    Binary(Vec<u8>),
    Close(u16),
}

struct Row {
    name: &'static str,
    frames: Vec<Frame>,
    said: Vec<Said>,
    /// First byte and payload of what the receiver answers by itself.
    answers: Vec<(u8, Vec<u8>)>,
}

fn row(name: &'static str, frames: Vec<Frame>, said: Vec<Said>) -> Row {
    Row { name, frames, said, answers: Vec::new() }
}

fn text(payload: &str) -> Said {
    Said::Text(payload.into())
}

fn whole_messages() -> Vec<Row> {
    let long = |length: usize| -> Vec<u8> { (0..length).map(|at| (at % 251) as u8).collect() };
    let mut rows = vec![
        row("a text", vec![frame(TEXT, "hello")], vec![text("hello")]),
        row("an empty text", vec![frame(TEXT, "")], vec![text("")]),
        row("empty bytes", vec![frame(BINARY, "")], vec![Said::Binary(vec![])]),
        row(
            "bytes that are no text",
            vec![frame(BINARY, b"\xff\x00\xc0")],
            vec![Said::Binary(vec![0xff, 0x00, 0xc0])],
        ),
        row("characters of every length", vec![frame(TEXT, "aé€😀z")], vec![text("aé€😀z")]),
        row("a long text", vec![frame(TEXT, "κόσμε".repeat(40))], vec![text(&"κόσμε".repeat(40))]),
        row(
            "a pack of three",
            vec![frame(TEXT, "one"), frame(BINARY, "two"), frame(TEXT, "")],
            vec![text("one"), Said::Binary(b"two".to_vec()), text("")],
        ),
    ];
    for (name, length) in [
        ("the longest with one length byte", 125),
        ("the shortest with two length bytes", 126),
        ("the longest with two length bytes", 65_535),
        ("the shortest with eight length bytes", 65_536),
    ] {
        rows.push(row(name, vec![frame(BINARY, long(length))], vec![Said::Binary(long(length))]));
    }
    rows
}

fn fragments() -> Vec<Row> {
    vec![
        row(
            "three fragments",
            vec![frame(TEXT - FINAL, "ab"), frame(0, "c"), frame(LAST, "de")],
            vec![text("abcde")],
        ),
        row(
            "empty fragments",
            vec![frame(TEXT - FINAL, ""), frame(0, ""), frame(0, "x"), frame(LAST, "")],
            vec![text("x")],
        ),
        row(
            "only empty fragments",
            vec![frame(BINARY - FINAL, ""), frame(LAST, "")],
            vec![Said::Binary(vec![])],
        ),
        row(
            "a character over three fragments",
            vec![frame(TEXT - FINAL, b"\xf0"), frame(0, b"\x9f\x98"), frame(LAST, b"\x80!")],
            vec![text("😀!")],
        ),
        row(
            "two fragmented messages",
            vec![
                frame(TEXT - FINAL, "a"),
                frame(LAST, "b"),
                frame(BINARY - FINAL, "c"),
                frame(LAST, b"\xff"),
            ],
            vec![text("ab"), Said::Binary(b"c\xff".to_vec())],
        ),
    ]
}

fn control_frames() -> Vec<Row> {
    let full = vec![b'p'; 125];
    let answered = |name, frames, said, answers: &[(u8, &[u8])]| Row {
        name,
        frames,
        said,
        answers: answers.iter().map(|(first, payload)| (*first, payload.to_vec())).collect(),
    };
    vec![
        answered("an empty ping", vec![frame(PING, "")], vec![], &[(PONG, b"")]),
        answered("a full ping", vec![frame(PING, &full)], vec![], &[(PONG, &full)]),
        answered("a pong nobody asked for", vec![frame(PONG, "x")], vec![], &[]),
        answered(
            "two pings",
            vec![frame(PING, "1"), frame(PING, "2"), frame(TEXT, "x")],
            vec![text("x")],
            &[(PONG, b"1"), (PONG, b"2")],
        ),
        answered(
            "pings and a pong between fragments",
            vec![
                frame(TEXT - FINAL, b"\xc3"),
                frame(PING, "1"),
                frame(0, b"\xa9"),
                frame(PONG, ""),
                frame(PING, ""),
                frame(LAST, ""),
            ],
            vec![text("é")],
            &[(PONG, b"1"), (PONG, b"")],
        ),
    ]
}

fn closes() -> Vec<Row> {
    let closed = |name, payload: Vec<u8>, code, answer: Vec<u8>| Row {
        name,
        frames: vec![frame(TEXT, "x"), frame(CLOSE, payload)],
        said: vec![text("x"), Said::Close(code)],
        answers: vec![(CLOSE, answer)],
    };
    let mut rows = vec![
        closed("a close without a code", vec![], 1005, vec![]),
        closed("a close with a reason", goodbye(1001, "bye: é"), 1001, goodbye(1001, "")),
        closed("a close with a full reason", goodbye(1000, [b'r'; 123]), 1000, goodbye(1000, "")),
        Row {
            name: "a close between fragments",
            frames: vec![frame(BINARY - FINAL, ""), frame(CLOSE, goodbye(1000, ""))],
            said: vec![Said::Close(1000)],
            answers: vec![(CLOSE, goodbye(1000, ""))],
        },
    ];
    for code in [1000, 1003, 1007, 1011, 1012, 1014, 3000, 3999, 4000, 4999] {
        rows.push(closed("a code that may be sent", goodbye(code, ""), code, goodbye(code, "")));
    }
    rows
}

fn all_rows() -> Vec<Row> {
    [whole_messages(), fragments(), control_frames(), closes()].into_iter().flatten().collect()
}

/// One more message behind each row; behind a close nothing counts any more.
fn trailing(row: &Row, from: From, seen: impl Fn(&Said) -> Vec<Seen>) -> (Vec<u8>, Vec<Seen>) {
    let closed = matches!(row.said.last(), Some(Said::Close(_)));
    let added = if closed { vec![] } else { seen(&text("more")) };
    (bytes(&[frame(TEXT, "more"), frame(PONG, "")], from), added)
}

#[test]
fn a_client_reads_every_row() {
    let seen = |said: &Said| -> Vec<Seen> {
        let (kind, payload) = match said {
            Said::Text(payload) => (MessageKind::Text, payload.clone()),
            Said::Binary(payload) => (MessageKind::Binary, payload.clone()),
            Said::Close(code) => return vec![Seen::Close(*code)],
        };
        vec![Seen::Reply { status: 0, kind, payload, last: false }]
    };
    for row in all_rows() {
        let (more, added) = trailing(&row, From::Server, seen);
        let case = Case {
            name: row.name,
            input: &bytes(&row.frames, From::Server),
            fin: false,
            expected: row.said.iter().flat_map(seen).collect(),
            trailing: Some((&more, added)),
        };
        let out = check_client(&case, || open_client(MessageKind::Text));
        assert_eq!(frames_in(&out, From::Client), row.answers, "{}", row.name);
    }
}

#[test]
fn a_server_reads_every_row() {
    let seen = |said: &Said| -> Vec<Seen> {
        let (kind, payload) = match said {
            Said::Text(payload) => (MessageKind::Text, payload.clone()),
            Said::Binary(payload) => (MessageKind::Binary, payload.clone()),
            Said::Close(code) => return vec![Seen::Close(*code)],
        };
        vec![Seen::Message(kind), Seen::End(payload)]
    };
    for row in all_rows() {
        let mut expected: Vec<Seen> = row.said.iter().flat_map(seen).collect();
        if row.name == "a close between fragments" {
            expected.insert(0, Seen::Message(MessageKind::Binary));
        }
        let (more, added) = trailing(&row, From::Client, seen);
        let case = Case {
            name: row.name,
            input: &bytes(&row.frames, From::Client),
            fin: false,
            expected,
            trailing: Some((&more, added)),
        };
        let out = check_server(&case, open_server);
        assert_eq!(frames_in(&out, From::Server), row.answers, "{}", row.name);
    }
}
