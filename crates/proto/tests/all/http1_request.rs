//! What the HTTP/1.1 client sends, and what it refuses to send.

use std::sync::Arc;

use wiretrial_proto::http1::{BadRequest, HeadPart, Http1Client, PayloadLength, RequestHead};
use wiretrial_proto::{ClientSession, Fill, Message};

#[test]
fn requests_are_what_was_asked_for() {
    let headers = [("Accept".to_owned(), " text/plain ".to_owned())];
    let head = |method, close, length| {
        RequestHead::new(method, "/a?b=c", "h:1", &headers, close, length).unwrap()
    };
    let heads: Arc<[RequestHead]> = [
        head("GET", false, PayloadLength::None),
        head("POST", false, PayloadLength::None),
        head("POST", false, PayloadLength::Fixed(2)),
        head("PUT", true, PayloadLength::Varying),
    ]
    .into();
    let mut codec = Http1Client::new(Arc::clone(&heads));
    let mut by_pieces = Http1Client::new(heads);
    let (mut out, mut in_pieces) = (Vec::new(), Vec::new());
    for (route, payload) in [b"".as_slice(), b"", b"ab", b"0123456789"].into_iter().enumerate() {
        codec.encode(&Message { number: 0, route, payload, fill: None }, &mut out);
        let pieces = by_pieces.begin(route, payload.len() as u64, &mut in_pieces);
        let mut pieces = pieces.expect("HTTP needs no payload whole");
        payload.chunks(3).for_each(|piece| pieces.append(piece, &mut in_pieces));
    }
    assert_eq!(in_pieces, out);
    assert_eq!(by_pieces.is_open(), codec.is_open());
    let expected = "GET /a?b=c HTTP/1.1\r\nHost: h:1\r\nAccept: text/plain\r\n\r\n\
        POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nAccept: text/plain\r\nContent-Length: 0\r\n\r\n\
        POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nAccept: text/plain\r\nContent-Length: 2\r\n\r\nab\
        PUT /a?b=c HTTP/1.1\r\nHost: h:1\r\nAccept: text/plain\r\nConnection: close\r\n\
        Content-Length: 10\r\n\r\n0123456789";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn values_are_laid_into_the_holes_of_a_head() {
    let target = [HeadPart::Text("/a/"), HeadPart::Hole, HeadPart::Text("?b="), HeadPart::Hole];
    let token = ("Authorization", vec![HeadPart::Text(" Bearer "), HeadPart::Hole]);
    let headers = [("Accept", vec![HeadPart::Text("text/plain ")]), token];
    let head = |length| {
        RequestHead::with_holes("POST", &target, "h", &headers, false, length).expect("good")
    };
    let heads = [head(PayloadLength::Varying), head(PayloadLength::Fixed(2))];
    let mut codec = Http1Client::new(heads.into());
    let mut out = Vec::new();
    let mut encode = |route, cookies: &[u8]| {
        let fill = Fill { values: b"7onetwo", ends: &[1, 4, 7], cookies };
        codec.encode(&Message { number: 0, route, payload: b"ab", fill: Some(&fill) }, &mut out);
    };
    encode(0, b"");
    encode(1, b"a=b; c=d");
    let fields = "POST /a/7?b=one HTTP/1.1\r\nHost: h\r\nAccept: text/plain\r\n\
        Authorization: Bearer two\r\n";
    let expected = format!(
        "{fields}Content-Length: 2\r\n\r\nab{fields}Cookie: a=b; c=d\r\nContent-Length: 2\r\n\r\nab"
    );
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn a_head_is_bad_whatever_is_laid_into_its_holes() {
    let new = |target: &[HeadPart<'_>], value: &[HeadPart<'_>]| {
        let headers = [("A", value.to_vec())];
        RequestHead::with_holes("GET", target, "h", &headers, false, PayloadLength::None)
    };
    let root = [HeadPart::Text("/")];
    assert!(new(&[HeadPart::Hole], &[HeadPart::Hole]).is_ok());
    let bad = [HeadPart::Text("a"), HeadPart::Hole];
    assert_eq!(new(&bad, &root).unwrap_err(), BadRequest::Target("ax".to_owned()));
    let bad = [HeadPart::Hole, HeadPart::Text("\r\n")];
    assert_eq!(new(&root, &bad).unwrap_err(), BadRequest::HeaderValue("A".to_owned()));
}

#[test]
fn bad_requests_are_named() {
    let new = |method, target, host, header: Option<(&str, &str)>| {
        let headers: Vec<_> =
            header.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        RequestHead::new(method, target, host, &headers, false, PayloadLength::None).unwrap_err()
    };
    let name = |text: &str| text.to_owned();
    assert_eq!(new("G T", "/", "h", None), BadRequest::Method(name("G T")));
    assert_eq!(new("", "/", "h", None), BadRequest::Method(name("")));
    assert_eq!(new("CONNECT", "/", "h", None), BadRequest::Connect);
    for target in ["", "a", "/a b", "/a#b", "/\r\nX: y", "/\u{e9}"] {
        assert_eq!(new("GET", target, "h", None), BadRequest::Target(name(target)));
    }
    for host in ["", "a b", "a/b", "a\r\nX: y", "user@h"] {
        assert_eq!(new("GET", "/", host, None), BadRequest::Host(name(host)));
    }
    assert_eq!(new("GET", "/", "h", Some(("A b", "c"))), BadRequest::HeaderName(name("A b")));
    assert_eq!(new("GET", "/", "h", Some(("A", "b\r\nc: d"))), BadRequest::HeaderValue(name("A")));
    for reserved in ["Host", "connection", "CONTENT-LENGTH", "Transfer-Encoding", "Upgrade"] {
        let error = new("GET", "/", "h", Some((reserved, "x")));
        assert_eq!(error, BadRequest::Reserved(name(reserved)));
    }
}
