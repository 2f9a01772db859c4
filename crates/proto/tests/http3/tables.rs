//! Dynamic tables of both sides: what is put there, referred to, and given up.

use std::sync::Arc;

use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http3::{
    Action, ErrorCode, Http3Client, Http3Event, Http3Limits, Http3Request, Http3Server, Outgoing,
};
use wiretrial_proto::{Message, Scratch};

/// A client whose requests keep four fields with the server.
fn client(table: usize) -> Http3Client {
    let text = |text| vec![HeadPart::Text(text)];
    let headers =
        [("accept", text("text/html")), ("x-own", text("one")), ("cookie", text("theme=dark"))];
    let none = PayloadLength::None;
    let request = Http3Request::keeping("https", "GET", &text("/a"), "h:1", &headers, false, none);
    let limits = Http3Limits { table, ..Http3Limits::default() };
    Http3Client::new(Arc::from([request.unwrap()]), limits)
}

/// What one side says on its streams, in its order.
fn said(out: &mut Outgoing) -> Vec<(u64, Vec<u8>, bool)> {
    let written = out.actions().filter_map(|action| match action {
        Action::Write { stream, bytes, fin } => Some((stream, bytes.to_vec(), fin)),
        _ => None,
    });
    let written = written.collect();
    out.clear();
    written
}

/// A server and what it understood.
struct Server {
    inner: Http3Server,
    out: Outgoing,
    requests: Vec<String>,
}

impl Server {
    fn new(table: usize) -> Self {
        let mut inner = Http3Server::new(Http3Limits { table, ..Http3Limits::default() });
        let mut out = Outgoing::new();
        inner.start(&mut out);
        Self { inner, out, requests: Vec::new() }
    }

    fn hear(&mut self, pieces: &[(u64, Vec<u8>, bool)]) {
        let mut scratch = Scratch::new();
        for (stream, bytes, fin) in pieces {
            let mut input = &bytes[..];
            loop {
                let step =
                    self.inner.receive(*stream, input, *fin, &mut scratch, &mut self.out).unwrap();
                input = &input[step.consumed..];
                match step.event {
                    None => break,
                    Some(Http3Event::Request { stream, fields, .. }) => {
                        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                        let fields =
                            fields.iter().map(|(name, value)| text(name) + "=" + &text(value));
                        self.requests.push(fields.collect::<Vec<_>>().join(" "));
                        self.inner.respond(stream, 204, &[], true, &mut self.out);
                    }
                    Some(_) => {}
                }
            }
        }
    }
}

/// A conversation of three requests, the last of which is sent when all that was said has come: their
/// bytes, and what the server understood.
fn talk(client: &mut Http3Client, server: &mut Server) -> (Vec<usize>, Vec<u64>) {
    let (mut out, mut scratch) = (Outgoing::new(), Scratch::new());
    let (mut lengths, mut streams) = (Vec::new(), Vec::new());
    client.start(&mut out);
    client.allow(10);
    for number in 0..3 {
        client.encode(&Message::new(number, b""), &mut out);
        for _ in 0..3 {
            let pieces = said(&mut out);
            for (stream, bytes, _) in &pieces {
                if stream & 2 != 0 && !streams.contains(stream) {
                    streams.push(*stream);
                }
                if stream & 2 == 0 {
                    lengths.push(bytes.len());
                }
            }
            server.hear(&pieces);
            for (stream, bytes, fin) in said(&mut server.out) {
                let mut input = &bytes[..];
                loop {
                    let step = client.receive(stream, input, fin, &mut scratch, &mut out).unwrap();
                    input = &input[step.consumed..];
                    if step.event.is_none() {
                        break;
                    }
                }
            }
        }
    }
    (lengths, streams)
}

#[test]
fn requests_refer_to_the_table_once_the_server_has_said_that_it_has_the_entries() {
    for own in [0, 4096] {
        let (mut client, mut server) = (client(own), Server::new(4096));
        let (lengths, streams) = talk(&mut client, &mut server);
        assert_eq!(server.requests.len(), 3);
        assert!(server.requests.iter().all(|request| *request == server.requests[0]));
        assert!(server.requests[0].contains("x-own=one cookie=theme=dark"));
        assert!(lengths[1] == lengths[2] && lengths[1] + 20 < lengths[0], "{lengths:?}");
        // That of control, that of its decoder where there is one, that of its encoder.
        assert_eq!(streams, if own == 0 { vec![2, 6] } else { vec![2, 6, 10] });
    }
}

#[test]
fn a_server_without_room_gets_each_request_whole() {
    for offered in [0, 100] {
        let (mut client, mut server) = (client(0), Server::new(offered));
        let (lengths, streams) = talk(&mut client, &mut server);
        assert_eq!(server.requests.len(), 3);
        assert!(lengths.iter().all(|length| *length == lengths[0]), "{lengths:?}");
        assert_eq!(streams, [2]);
    }
}

#[test]
fn a_conversation_that_begins_again_fills_the_table_again() {
    let (mut client, mut server) = (client(0), Server::new(4096));
    talk(&mut client, &mut server);
    let mut out = Outgoing::new();
    client.refused_early(&mut out);
    let mut again = Server::new(4096);
    again.hear(&said(&mut out));
    client.allow(10);
    client.encode(&Message::new(9, b""), &mut out);
    again.hear(&said(&mut out));
    assert_eq!(again.requests, server.requests[..1], "whole, as the first");
}

#[test]
fn neither_stream_of_a_table_may_be_stopped() {
    for stream in [6, 10] {
        let (mut client, mut out) = (client(4096), Outgoing::new());
        client.start(&mut out);
        out.clear();
        assert!(client.stop_sending(stream, 0, &mut out).is_err());
        let code = ErrorCode::ClosedCriticalStream as u64;
        assert_eq!(out.actions().collect::<Vec<_>>(), [Action::Close { code }]);
    }
}

#[test]
fn a_stream_that_is_given_up_is_named_to_the_server_where_it_may_use_a_table() {
    for (table, named) in [(0, &[][..]), (4096, &[0x40][..])] {
        let (mut client, mut out) = (client(table), Outgoing::new());
        client.start(&mut out);
        client.allow(1);
        client.encode(&Message::new(5, b""), &mut out);
        out.clear();
        assert!(client.cancel(5, &mut out));
        let written: Vec<_> = out
            .actions()
            .filter_map(|action| match action {
                Action::Write { stream: 6, bytes, .. } => Some(bytes.to_vec()),
                _ => None,
            })
            .collect();
        assert_eq!(written.concat(), named);
    }
}
