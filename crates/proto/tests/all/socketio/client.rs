//! What a client makes of a server's bytes.

use wiretrial_proto::socketio::SocketIoClient;
use wiretrial_proto::{ClientSession as _, ErrorClass, Event, Message, MessageKind, Scratch, Tag};

use super::stage::{messages, open, told_events, told_events_upgraded, unmasked, upgraded};
use crate::common::{Case, Seen, check_client, run_client};

fn reply(payload: &str) -> Seen {
    let payload = payload.as_bytes().to_vec();
    Seen::Reply { status: 0, kind: MessageKind::Text, payload, last: false }
}

const PROTOCOL: Seen = Seen::Error(ErrorClass::Protocol);

/// Each row, and behind those that end neither in an error nor closed one more message that is a reply with `[8]`.
fn check_rows<'t>(
    rows: impl IntoIterator<Item = (&'t [&'t str], Vec<Seen>)>,
    behind: &str,
    start: fn() -> SocketIoClient,
) {
    let behind = messages(&[behind]);
    for (texts, expected) in rows {
        let input = messages(texts);
        let name = format!("{texts:?}");
        let goes_on = !expected.iter().any(|seen| matches!(seen, Seen::Error(_) | Seen::Close(_)));
        let trailing = goes_on.then(|| (&behind[..], vec![reply("[8]")]));
        let case = Case { name: &name, input: &input, fin: false, expected, trailing };
        check_client(&case, start);
    }
}

#[test]
fn table_of_conversations_before_the_namespace_is_entered() {
    let rows: [(&[&str], Vec<Seen>); 12] = [
        (&["0{\"sid\":\"x\"}", "40{\"sid\":\"y\"}"], vec![Seen::Open]),
        (&["0", "40"], vec![Seen::Open]),
        (&["0{}", "2", "40"], vec![Seen::Open]),
        (&["0{}", "44{\"message\":\"no\"}"], vec![Seen::Error(ErrorClass::Upgrade)]),
        (&["0{}", "0{}"], vec![PROTOCOL]),
        (&["40"], vec![PROTOCOL]),
        (&["0{}", "430[]"], vec![PROTOCOL]),
        (&["0{}", "1"], vec![Seen::Close(1005)]),
        (&["0{}", "41"], vec![Seen::Close(1005)]),
        (&[""], vec![PROTOCOL]),
        (&["4"], vec![PROTOCOL]),
        (&["x"], vec![PROTOCOL]),
    ];
    for (texts, expected) in rows {
        let input = messages(texts);
        let name = format!("{texts:?}");
        let case = Case { name: &name, input: &input, fin: false, expected, trailing: None };
        check_client(&case, upgraded);
    }
}

#[test]
fn table_of_messages_behind_it() {
    let rows: [(&[&str], Vec<Seen>); 20] = [
        (&["430[null,{\"id\":\"testing\"}]"], vec![reply("[null,{\"id\":\"testing\"}]")]),
        (&["4317[]"], vec![reply("[]")]),
        (&["43007[1]"], vec![reply("[1]")]),
        (&["4318446744073709551615[]"], vec![reply("[]")]),
        (&["431[]", "430[2]"], vec![reply("[]"), reply("[2]")]),
        (&["2", "430[]", "3", "6"], vec![reply("[]")]),
        (&["42[\"news\",1]", "429[\"news\"]", "430[]"], vec![reply("[]")]),
        (&["4318446744073709551616[]"], vec![PROTOCOL]),
        (&["43[]"], vec![PROTOCOL]),
        (&["43"], vec![PROTOCOL]),
        (&["430"], vec![PROTOCOL]),
        (&["430{}"], vec![PROTOCOL]),
        (&["43/admin,0[]"], vec![PROTOCOL]),
        (&["42/admin,0[]"], vec![PROTOCOL]),
        (&["45[]"], vec![PROTOCOL]),
        (&["461-0[]"], vec![PROTOCOL]),
        (&["47"], vec![PROTOCOL]),
        (&["5"], vec![PROTOCOL]),
        (&["40{}"], vec![PROTOCOL]),
        (&["430[]", "41", "431[]"], vec![reply("[]"), Seen::Close(1005)]),
    ];
    check_rows(rows, "4399[8]", open);
}

#[test]
fn table_of_events_that_are_told() {
    let news = || reply("[\"news\",1]");
    let rows: [(&[&str], Vec<Seen>); 9] = [
        (&["42[\"news\",1]"], vec![news()]),
        (&["429[\"news\",1]"], vec![news()]),
        (&["42[\"news\",1]", "2", "430[]", "6"], vec![news(), reply("[]")]),
        (&["430[2]", "42[\"news\",1]"], vec![reply("[2]"), news()]),
        (&["42[\"news\",1]", "41"], vec![news(), Seen::Close(1005)]),
        (&["42"], vec![PROTOCOL]),
        (&["42{}"], vec![PROTOCOL]),
        (&["42/admin,[\"news\",1]"], vec![PROTOCOL]),
        (&["451-[\"news\",1]"], vec![PROTOCOL]),
    ];
    check_rows(rows, "42[8]", told_events);
    let early = messages(&["0{}", "42[\"news\",1]"]);
    let case =
        Case { name: "early", input: &early, fin: false, expected: vec![PROTOCOL], trailing: None };
    check_client(&case, told_events_upgraded);
}

#[test]
fn events_are_told_from_acknowledgements_and_ask_for_one_by_route() {
    let mut client = told_events();
    let mut out = Vec::new();
    for route in 0..3 {
        client.encode(&Message { route, ..Message::new(7, br#"["x"]"#) }, &mut out);
    }
    assert_eq!(unmasked(&out), [r#"42["x"]"#, r#"427["x"]"#, r#"42["x"]"#]);
    let (input, mut at, mut tags) = (messages(&["42[1]", "437[2]", "429[3]"]), 0, Vec::new());
    let mut scratch = Scratch::new();
    while at < input.len() {
        let step = client.receive(&input[at..], &mut scratch, &mut out).expect("right");
        at += step.consumed;
        let Some(Event::Reply(reply)) = step.event else { panic!("{step:?}") };
        tags.push(reply.tag);
    }
    assert_eq!(tags, [Tag::Oldest, Tag::Number(7), Tag::Oldest]);
    let begun = b"\x81\x0e42[\"a long";
    let step = client.receive(begun, &mut scratch, &mut out).expect("right");
    let chunk = Event::Chunk { tag: Tag::Oldest, piece: b"[\"a long" };
    assert_eq!(step.event, Some(chunk));
}

#[test]
fn messages_in_fragments_are_read_as_whole_ones() {
    // "430" and "[1" and ",2]", with a ping of the WebSocket between them.
    let input = b"\x01\x03430\x89\x00\x00\x02[1\x80\x03,2]";
    let case = Case {
        name: "fragments",
        input,
        fin: false,
        expected: vec![reply("[1,2]")],
        trailing: None,
    };
    check_client(&case, open);
    let cut = b"\x01\x0143\x80\x00";
    let case =
        Case { name: "no end", input: &cut[..3], fin: false, expected: vec![], trailing: None };
    check_client(&case, open);
}

#[test]
fn replies_name_what_they_acknowledge() {
    let mut client = open();
    let mut out = Vec::new();
    for number in 0..2 {
        client.encode(&Message::new(number, br#"["get","messages","testing"]"#), &mut out);
    }
    client.encode(&Message::new(77, br#"["x"]"#), &mut out);
    assert_eq!(
        unmasked(&out),
        [
            r#"420["get","messages","testing"]"#,
            r#"421["get","messages","testing"]"#,
            r#"4277["x"]"#
        ]
    );
    let (input, mut at, mut tags) = (messages(&["4377[]", "431[]", "430[]"]), 0, Vec::new());
    let mut scratch = Scratch::new();
    while at < input.len() {
        let step = client.receive(&input[at..], &mut scratch, &mut out).expect("right");
        at += step.consumed;
        let Some(Event::Reply(reply)) = step.event else { panic!("{step:?}") };
        tags.push(reply.tag);
    }
    assert_eq!(tags, [Tag::Number(77), Tag::Number(1), Tag::Number(0)]);

    let mut scratch = Scratch::new();
    let begun = b"\x81\x0e4342[\"a lon";
    let step = client.receive(begun, &mut scratch, &mut out).expect("right");
    let chunk = Event::Chunk { tag: Tag::Number(42), piece: b"[\"a lon" };
    assert_eq!(step.event, Some(chunk));
}

#[test]
fn what_nobody_wants_any_more_is_not_reported_once() {
    let mut client = open();
    let mut out = Vec::new();
    for number in 0..3 {
        client.encode(&Message::new(number, b"[]"), &mut out);
    }
    out.clear();
    assert!(client.cancel(1, &mut out), "replies have numbers");
    assert!(!client.cancel(1, &mut out), "it is given up already");
    assert_eq!(out, b"", "no packet says so");
    let late = messages(&[r#"431["late"]"#]);
    for part in [&late[..8], &late[8..]] {
        assert_eq!(run_client(&mut client, part, &[], false).seen, [], "neither as it flows");
    }
    let seen = run_client(&mut client, &messages(&["432[]", "431[]"]), &[], false).seen;
    assert_eq!(seen, [reply("[]"), reply("[]")], "a second one for it is for the caller to judge");
}

#[test]
fn not_any_number_of_replies_is_given_up() {
    let mut client = open();
    let given_up = (0..5000).take_while(|number| client.cancel(*number, &mut Vec::new())).count();
    assert_eq!(given_up, 1024);
}

#[test]
fn what_a_client_says_of_itself() {
    let mut client = upgraded();
    let run = run_client(&mut client, &messages(&["0{}", "2", "40", "2"]), &[], false);
    assert_eq!(unmasked(&run.out), ["40", "3", "3"]);
    let mut out = Vec::new();
    client.close(&mut out);
    assert_eq!(unmasked(&out), ["41", "close 1000"]);
    assert!(!client.is_open());
    let seen = run_client(&mut client, &messages(&["435[]"]), &[], false).seen;
    assert_eq!(seen, [reply("[]")], "what was asked for still comes");
}

#[test]
fn ends_and_wrong_kinds() {
    let binary = b"\x82\x05430[]";
    assert_eq!(run_client(&mut open(), binary, &[], false).seen, [PROTOCOL]);
    let truncated = Seen::Error(ErrorClass::Truncated);
    let ended = [truncated];
    assert_eq!(run_client(&mut open(), b"", &[], true).seen, ended);
    assert_eq!(run_client(&mut upgraded(), b"\x81", &[], true).seen, ended);
    let closed = b"\x88\x02\x03\xe9";
    assert_eq!(run_client(&mut open(), closed, &[], true).seen, [Seen::Close(1001)]);
    let invalid = b"\x81\x06430[\xff]";
    assert_eq!(run_client(&mut open(), invalid, &[], true).seen, [Seen::Error(ErrorClass::Utf8)]);
    // A head that is none, and text that is none: the message comes first, however it was cut.
    let both = b"\x01\x024x\x80\x01\xff";
    for cuts in [vec![], vec![4], vec![6]] {
        let seen = run_client(&mut open(), both, &cuts, true).seen;
        assert_eq!(seen, [Seen::Error(ErrorClass::Utf8)], "cut at {cuts:?}");
    }
    let long = b"\x81\x7f\x00\x00\x00\x00\x00\x00\xff\xff";
    assert_eq!(run_client(&mut open(), long, &[], true).seen, [PROTOCOL], "not its shortest form");
    let long = b"\x81\x7e\xff\xff";
    assert_eq!(run_client(&mut open(), long, &[], true).seen, [Seen::Error(ErrorClass::TooBig)]);
}
