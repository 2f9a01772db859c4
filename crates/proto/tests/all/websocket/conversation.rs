//! How a conversation ends: closes from either side, FINs, and what may be said when.

use super::wire::{
    BINARY, CLOSE, FINAL, From, PONG, TEXT, bytes, config, frame, frame_of_length, frames_in,
    goodbye, open_client, open_server, started_client,
};
use crate::common::{Case, Seen, check_client, run_client, run_server};
use wiretrial_proto::{
    ClientSession, Close, ErrorClass, Event, MessageKind, Scratch, ServerCodec, ServerEvent, Step,
    Tag,
};

#[test]
fn a_fin_without_a_close_is_truncation() {
    let rows = [
        ("between messages", vec![frame(TEXT, "x")]),
        ("inside a header", vec![frame_of_length(TEXT, &[126, 1], "")]),
        ("inside a payload", vec![frame_of_length(TEXT, &[5], "abc")]),
        ("between fragments", vec![frame(TEXT - FINAL, "abc")]),
        ("inside a close", vec![frame_of_length(CLOSE, &[2], [3])]),
    ];
    for (name, frames) in rows {
        let mut expected = vec![Seen::Error(ErrorClass::Truncated)];
        if name == "between messages" {
            let (status, kind, payload) = (0, MessageKind::Text, b"x".to_vec());
            expected.insert(0, Seen::Reply { status, kind, payload, last: false });
        }
        let input = bytes(&frames, From::Server);
        let case = Case { name, input: &input, fin: true, expected, trailing: None };
        let out = check_client(&case, || open_client(MessageKind::Text));
        assert_eq!(out, b"", "{name}");
    }
}

#[test]
fn a_fin_before_the_upgrade_is_truncation() {
    let (mut client, _) = started_client(config(MessageKind::Text));
    assert_eq!(client.end().unwrap_err().class, ErrorClass::Truncated);
}

#[test]
fn a_fin_after_the_close_is_the_end() {
    let input = bytes(&[frame(CLOSE, goodbye(1001, ""))], From::Server);
    let case = Case {
        name: "close, then FIN",
        input: &input,
        fin: true,
        expected: vec![Seen::Close(1001)],
        trailing: None,
    };
    check_client(&case, || open_client(MessageKind::Text));
}

#[test]
fn the_servers_close_ends_the_sending() {
    let mut scratch = Scratch::new();
    let mut client = open_client(MessageKind::Text);
    let input = bytes(&[frame(CLOSE, goodbye(1000, ""))], From::Server);
    let mut out = Vec::new();
    assert!(client.is_open());
    client.receive(&input, &mut scratch, &mut out).unwrap();
    assert!(!client.is_open());
    out.clear();
    client.close(&mut out);
    assert_eq!(out, b"", "one close frame is enough");
}

/// Replies to what was sent before the close still come.
#[test]
fn a_client_that_closed_reads_on_until_the_answer() {
    let mut client = open_client(MessageKind::Text);
    let mut out = Vec::new();
    client.close(&mut out);
    client.close(&mut out);
    assert!(!client.is_open());
    assert_eq!(frames_in(&out, From::Client), [(CLOSE, goodbye(1000, ""))]);

    let frames = [frame(TEXT, "late"), frame(CLOSE, goodbye(1000, ""))];
    let transcript = run_client(&mut client, &bytes(&frames, From::Server), &[], true);
    let (status, kind, payload) = (0, MessageKind::Text, b"late".to_vec());
    let reply = Seen::Reply { status, kind, payload, last: false };
    assert_eq!(transcript.seen, [reply, Seen::Close(1000)]);
    assert_eq!(transcript.out, b"", "the answer is not answered");
}

#[test]
fn a_client_that_closed_still_needs_the_answer() {
    let mut client = open_client(MessageKind::Text);
    client.close(&mut Vec::new());
    assert_eq!(client.end().unwrap_err().class, ErrorClass::Truncated);
}

#[test]
fn an_error_after_our_close_is_not_answered_again() {
    let mut client = open_client(MessageKind::Text);
    client.close(&mut Vec::new());
    let transcript = run_client(&mut client, &[0x83, 0], &[], false);
    assert_eq!(transcript.seen, [Seen::Error(ErrorClass::Protocol)]);
    assert_eq!(transcript.out, b"");
}

#[test]
fn a_server_that_closed_takes_the_answer_and_does_not_answer_it() {
    let mut server = open_server();
    let mut out = Vec::new();
    server.close(1001, "going away", &mut out);
    assert_eq!(frames_in(&out, From::Server), [(CLOSE, goodbye(1001, "going away"))]);
    let frames = [frame(BINARY, "late"), frame(CLOSE, goodbye(1001, ""))];
    let transcript = run_server(&mut server, &bytes(&frames, From::Client), &[]);
    let message = [Seen::Message(MessageKind::Binary), Seen::End(b"late".to_vec())];
    assert_eq!(transcript.seen, [&message[..], &[Seen::Close(1001)]].concat());
    assert_eq!(transcript.out, b"");
}

/// The last piece of a payload comes with the reply, those before it as they come.
#[test]
fn payloads_are_reported_as_they_flow() {
    let mut scratch = Scratch::new();
    let mut client = open_client(MessageKind::Binary);
    let input = bytes(&[frame(BINARY - FINAL, "abcd"), frame(FINAL, "ef")], From::Server);
    let mut out = Vec::new();
    let chunk = |consumed, piece| {
        let event = Event::Chunk { tag: Tag::Oldest, piece };
        Step { consumed, event: Some(event) }
    };
    assert_eq!(client.receive(&input[..3], &mut scratch, &mut out), Ok(chunk(3, b"a")));
    assert_eq!(client.receive(&[], &mut scratch, &mut out), Ok(Step { consumed: 0, event: None }));
    assert_eq!(client.receive(&input[3..], &mut scratch, &mut out), Ok(chunk(3, b"bcd")));
    let step = client.receive(&input[6..], &mut scratch, &mut out).unwrap();
    assert_eq!(step.consumed, 4);
    let Some(Event::Reply(reply)) = step.event else { panic!("{:?}", step.event) };
    assert_eq!((reply.payload, reply.kind), (&b"ef"[..], MessageKind::Binary));
}

#[test]
fn a_servers_caller_learns_the_length_of_a_message_in_one_frame() {
    let mut scratch = Scratch::new();
    let mut server = open_server();
    let mut out = Vec::new();
    assert_eq!(server.message_length(), None);
    let frames = [frame(TEXT, "abc"), frame(TEXT - FINAL, "d"), frame(FINAL, "e")];
    let mut input = bytes(&frames, From::Client);
    let mut told = Vec::new();
    let mut at = 0;
    while let Step { consumed, event: Some(event) } =
        server.receive(&mut input[at..], &mut scratch, &mut out).unwrap()
    {
        let name = match event {
            ServerEvent::Message(_) => "message",
            ServerEvent::Chunk(_) => "chunk",
            ServerEvent::End => "end",
            _ => "other",
        };
        at += consumed;
        told.push((name, server.message_length()));
    }
    let whole = [("message", Some(3)), ("chunk", Some(3)), ("end", None)];
    let fragmented = [("message", None), ("chunk", None), ("chunk", None), ("end", None)];
    assert_eq!(told, [whole.to_vec(), fragmented.to_vec()].concat());
}

#[test]
fn a_close_between_the_handshake_and_the_first_message() {
    let mut scratch = Scratch::new();
    let (mut client, accept) = started_client(config(MessageKind::Text));
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    let frames = bytes(&[frame(PONG, ""), frame(CLOSE, goodbye(1013, "busy"))], From::Server);
    let mut out = Vec::new();
    client.close(&mut out);
    assert_eq!(out, b"", "there is nothing to close yet");
    let input = [head.as_bytes(), &frames].concat();
    let step = client.receive(&input, &mut scratch, &mut out).unwrap();
    assert_eq!(step, Step { consumed: head.len(), event: Some(Event::Open) });
    let step = client.receive(&frames, &mut scratch, &mut out).unwrap();
    let close = Event::Close(Close { code: 1013 });
    assert_eq!(step, Step { consumed: frames.len(), event: Some(close) });
}
