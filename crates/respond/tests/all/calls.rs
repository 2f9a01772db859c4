//! Calls of gRPC: the server's own, and those of a service that was put up.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use crate::common::session::converse;
use crate::common::{Client, plan, server};
use wiretrial_net::clock::monotonic_ns;
use wiretrial_proto::grpc::{Gzip, Status, framed};
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Limits, Http2Request, RequestFields};
use wiretrial_proto::{ClientSession as _, Event, Message};
use wiretrial_respond::{
    Ended, Exchange, Metadata, Said, Script, Server, ServerPlan, Service, Step, start,
};

const MS: u64 = 1_000_000;
/// With what the calls of [`Twice`] end.
const NOT_FOUND: u16 = 5;

/// What came of a call: fields of its head and of its trailers, its content, and its status.
#[derive(Debug, Default)]
struct Came {
    head: Vec<String>,
    trailers: Option<Vec<String>>,
    content: Vec<u8>,
    status: Option<u16>,
}

/// One call with this content, as it is.
fn call(server: &Server, path: &str, headers: &[(&str, &str)], content: &[u8]) -> Came {
    let headers: Vec<_> =
        headers.iter().map(|(name, value)| (*name, vec![HeadPart::Text(value)])).collect();
    let request = Http2Request::call("http", path, "a", &headers, false).unwrap();
    ask(server, request, content)
}

fn ask(server: &Server, request: Http2Request, content: &[u8]) -> Came {
    let mut session = Http2Client::telling_heads(Arc::from([request]), Http2Limits::default());
    let mut client = Client::http(server);
    let mut came = Came::default();
    let talk = converse(&mut client, &mut session, |session, event, out| {
        match event {
            Event::Open => session.encode(&Message::new(0, content), out),
            Event::Head(head) => came.head = listed(head.fields()),
            Event::Trailers(fields) => came.trailers = Some(listed(fields.fields())),
            Event::Chunk { piece, .. } => came.content.extend_from_slice(piece),
            Event::Reply(reply) => {
                came.content.extend_from_slice(reply.payload);
                came.status = Some(reply.status);
            }
            Event::Room => {}
            other => panic!("{other:?}"),
        }
        came.status.is_none()
    });
    assert_eq!(talk, Ok(()), "{came:?}");
    came
}

fn listed<'a>(fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Vec<String> {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    fields.map(|(name, value)| format!("{}={}", text(name), text(value))).collect()
}

fn one(message: &[u8]) -> Vec<u8> {
    framed([message]).unwrap()
}

#[test]
fn what_is_no_call_is_told_as_http_does() {
    let (echo, served) = (server(Script::default()), serving());
    for (server, path) in [(&echo, "/wiretrial.Echo/Unary"), (&served, "/a.B/Twice")] {
        for (method, kind, status) in [
            ("POST", "image/png", 415),
            ("POST", "application/grpc-web", 415),
            ("DELETE", "application/grpc", 405),
        ] {
            let (target, length) = ([HeadPart::Text(path)], PayloadLength::Varying);
            let typed = [("content-type", vec![HeadPart::Text(kind)])];
            let request =
                Http2Request::with_holes("http", method, &target, "a", &typed, false, length);
            let came = ask(server, request.unwrap(), b"abc");
            assert_eq!(came.status, Some(status), "{method} {kind} {path}");
        }
    }
}

#[test]
fn encodings_that_are_not_known_are_refused() {
    let (echo, served) = (server(Script::default()), serving());
    for (server, path, own) in
        [(&echo, "/wiretrial.Echo/Unary", 0), (&served, "/a.B/Twice", NOT_FOUND)]
    {
        let snappy = call(server, path, &[("grpc-encoding", "snappy")], &one(b"a"));
        assert_eq!(snappy.status, Some(12), "{path}");
        assert!(snappy.head.contains(&"grpc-accept-encoding=gzip".to_owned()), "what there is");
        let in_none = call(server, path, &[], &[1, 0, 0, 0, 1, 7]);
        assert_eq!(in_none.status, Some(13), "{path}");
        let identity = call(server, path, &[("grpc-encoding", "identity")], &one(b"a"));
        assert_eq!(identity.status, Some(own), "{path}");
    }
}

#[test]
fn messages_in_gzip_are_taken_and_given_to_who_takes_them() {
    let (echo, served) = (server(Script::default()), serving());
    let (sent, taken) = (("grpc-encoding", "gzip"), ("grpc-accept-encoding", "gzip"));
    let (plain, said) = (one(b"a"), "grpc-encoding=gzip".to_owned());
    let mut packed = Vec::new();
    Gzip::default().messages(&plain, &mut packed);
    for (server, path, status, count) in [
        (&echo, "/wiretrial.Echo/Unary", 0, 1),
        (&echo, "/wiretrial.Echo/Server?count=3", 0, 3),
        (&echo, "/wiretrial.Echo/Client", 0, 1),
        (&echo, "/wiretrial.Echo/Bidi", 0, 1),
        (&served, "/a.B/Twice", NOT_FOUND, 2),
    ] {
        for (headers, is_gzip) in [(&[sent, taken][..], true), (&[sent][..], false)] {
            let came = call(server, path, headers, &packed);
            assert_eq!((came.content, came.status), (plain.repeat(count), Some(status)), "{path}");
            assert_eq!(came.head.contains(&said), is_gzip, "{path}");
        }
        let broken = call(server, path, &[sent], &[1, 0, 0, 0, 1, 7]);
        assert_eq!(broken.status, Some(13), "{path}");
    }
    let asked = call(&echo, "/wiretrial.Echo/Unary?gzip=1", &[taken], &plain);
    assert_eq!((asked.content, asked.head.contains(&said)), (plain, true));
}

#[test]
fn a_message_in_gzip_is_as_long_as_it_comes_to_be() {
    let mut packed = Vec::new();
    Gzip::default().messages(&one(&[0; 11]), &mut packed);
    let came = call(&serving(), "/a.B/Twice", &[("grpc-encoding", "gzip")], &packed);
    assert_eq!(came.status, Some(8));
}

/// Answers each message twice, the second time later, and says how it was asked.
#[derive(Debug)]
struct Twice;

#[derive(Debug)]
struct Talk {
    heard: usize,
    metadata: Metadata,
}

impl Service for Twice {
    fn has(&self, path: &str) -> bool {
        path == "/a.B/Twice"
    }

    fn most_message(&self) -> u32 {
        10
    }

    fn begin(
        &self,
        _path: &str,
        fields: RequestFields<'_>,
        timeout: Option<u64>,
    ) -> Box<dyn Exchange> {
        let mut metadata: Metadata = fields
            .get("asked")
            .map(|asked| ("asked".to_owned(), asked.to_vec()))
            .into_iter()
            .collect();
        metadata.extend(timeout.map(|ns| ("timeout".to_owned(), ns.to_string().into_bytes())));
        Box::new(Talk { heard: 0, metadata })
    }
}

impl Exchange for Talk {
    fn message(&mut self, message: &[u8]) -> Vec<Step> {
        self.heard += 1;
        let head = (self.heard == 1).then(|| Said::Head(self.metadata.clone()).into());
        let said = Said::Message(message.to_vec());
        let both = [said.clone().into(), Step { after: 100 * MS, said }];
        head.into_iter().chain(both).collect()
    }

    fn end(&mut self) -> Vec<Step> {
        let (status, said) = (Status(NOT_FOUND), "no more: Zoë".to_owned());
        vec![Said::End(Ended { status, said, trailers: self.metadata.clone() }).into()]
    }
}

fn serving() -> Server {
    start(ServerPlan { service: Some(Arc::new(Twice)), ..plan(Script::default()) }).unwrap()
}

#[test]
fn a_service_says_its_steps_when_they_are_due() {
    let began = monotonic_ns();
    let headers = [("asked", "this"), ("grpc-timeout", "5S")];
    let content = framed([&b"ab"[..], b"c"]).unwrap();
    let came = call(&serving(), "/a.B/Twice", &headers, &content);
    assert!(monotonic_ns() - began >= 200 * MS, "each message's second answer waits");
    assert_eq!(came.head, ["content-type=application/grpc", "asked=this", "timeout=5000000000"]);
    assert_eq!(came.content, framed([&b"ab"[..], b"ab", b"c", b"c"]).unwrap());
    let said = "grpc-message=no more: Zo%C3%AB";
    assert_eq!(came.trailers.unwrap(), ["grpc-status=5", said, "asked=this", "timeout=5000000000"]);
}

#[test]
fn what_is_said_with_nothing_before_it_is_all_in_one() {
    let came = call(&serving(), "/a.B/Twice", &[("asked", "this")], &[]);
    let said = "grpc-message=no more: Zo%C3%AB";
    assert_eq!(came.head, ["content-type=application/grpc", "grpc-status=5", said, "asked=this"]);
    assert_eq!((came.trailers, came.status), (None, Some(5)));
}

#[test]
fn a_service_ends_at_the_deadline_with_what_was_said_until_then() {
    let headers = [("grpc-timeout", "50m")];
    let came = call(&serving(), "/a.B/Twice", &headers, &one(b"a"));
    assert_eq!((came.content, came.status), (one(b"a"), Some(4)));
}

#[test]
fn a_service_is_spared_what_is_no_message_of_its_own() {
    let served = serving();
    for (headers, content, status) in [
        (&[][..], one(&[0; 11]), 8),
        (&[("content-type", "application/grpc+json")], one(b"a"), 12),
        (&[("content-type", "application/grpc+proto")], one(b"a"), 5),
        (&[], one(b"abc")[..6].to_vec(), 13),
    ] {
        let came = call(&served, "/a.B/Twice", headers, &content);
        assert_eq!(came.status, Some(status), "{headers:?}");
    }
    // The server's own methods are there beside it.
    let echo = call(&served, "/wiretrial.Echo/Unary", &[], &one(b"a"));
    assert_eq!((echo.content, echo.status), (one(b"a"), Some(0)));
}
