//! What a user agent must, and must not, send.

use wiretrial_proto::http1::{BadRequest, Http1Client, PayloadLength, RequestHead};
use wiretrial_proto::{ClientSession, Message};

type Headers<'a> = &'a [(&'a str, &'a str)];

fn head(
    method: &str,
    target: &str,
    host: &str,
    headers: Headers<'_>,
    length: PayloadLength,
) -> Result<RequestHead, BadRequest> {
    let headers: Vec<_> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    RequestHead::new(method, target, host, &headers, false, length)
}

/// What goes out for two requests in a row.
fn twice(head: RequestHead, payload: &[u8]) -> String {
    let mut codec = Http1Client::new([head].into());
    let mut out = Vec::new();
    for _ in 0..2 {
        codec.encode(&Message::new(0, payload), &mut out);
    }
    String::from_utf8(out).unwrap()
}

/// RFC 9112 sections 2.2 and 6.3; RFC 9110 section 6.2.
#[test]
fn a_request_is_its_own_bytes_and_no_others() {
    let get = head("GET", "/a?b", "h:1", &[("A", "b")], PayloadLength::None).unwrap();
    assert_eq!(twice(get, b""), "GET /a?b HTTP/1.1\r\nHost: h:1\r\nA: b\r\n\r\n".repeat(2));
    for length in [PayloadLength::Fixed(4), PayloadLength::Varying] {
        let post = head("POST", "/", "h", &[], length).unwrap();
        let request = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n\r\nx\n";
        assert_eq!(twice(post, b"\r\nx\n"), request.repeat(2), "a line end counts as content");
    }
}

/// RFC 9112 section 3.2, RFC 9110 section 7.2.
#[test]
fn every_request_names_its_host_once() {
    for target in ["/", "http://other/a"] {
        let get = head("GET", target, "h:1", &[], PayloadLength::None).unwrap();
        assert_eq!(twice(get, b"").matches("\r\nHost: h:1\r\n").count(), 2);
    }
    let own = head("GET", "/", "h", &[("hOST", "h")], PayloadLength::None);
    assert_eq!(own.unwrap_err(), BadRequest::Reserved("hOST".to_owned()));
    for host in ["", "u@h", "a b", "h:x", "[::1", "h\r\nA: b"] {
        let error = head("GET", "/", host, &[], PayloadLength::None).unwrap_err();
        assert_eq!(error, BadRequest::Host(host.to_owned()));
    }
}

/// RFC 9112 section 3.2, RFC 9110 sections 4.2.1, 4.2.4 and 7.1.
#[test]
fn a_target_has_the_form_that_its_method_allows() {
    for (method, target) in [
        ("GET", "*"),
        ("GET", ""),
        ("GET", "h:80"),
        ("GET", "http:///a"),
        ("GET", "http://u:p@h/a"),
        ("GET", "/a#b"),
        ("GET", "/a b"),
        ("GET", "/a[]={\"b\"}"),
        ("GET", "/%"),
        ("OPTIONS", "*/"),
    ] {
        let error = head(method, target, "h", &[], PayloadLength::None).unwrap_err();
        assert_eq!(error, BadRequest::Target(target.to_owned()), "{method} {target}");
    }
    assert!(head("OPTIONS", "*", "h", &[], PayloadLength::None).is_ok());
    let tunnel = head("CONNECT", "h:443", "h", &[], PayloadLength::None);
    assert_eq!(tunnel.unwrap_err(), BadRequest::Connect);
}

/// RFC 9110 sections 2.2, 5.5; RFC 9112 sections 2.2 and 5.2.
#[test]
fn nothing_can_break_a_line_or_fold_it() {
    for value in ["b\rc", "b\nc", "b\r\n c", "b\r\nC: d", "b\0", "\x7f"] {
        let error = head("GET", "/", "h", &[("A", value)], PayloadLength::None).unwrap_err();
        assert_eq!(error, BadRequest::HeaderValue("A".to_owned()), "{value:?}");
    }
    for name in ["", "A ", " A", "A:", "A\r\nB", "A\u{e9}", "(A)"] {
        let error = head("GET", "/", "h", &[(name, "b")], PayloadLength::None).unwrap_err();
        assert_eq!(error, BadRequest::HeaderName(name.to_owned()), "{name:?}");
    }
    for method in ["", "G T", "GET\r\n", "G/T"] {
        let error = head(method, "/", "h", &[], PayloadLength::None).unwrap_err();
        assert_eq!(error, BadRequest::Method(method.to_owned()), "{method:?}");
    }
}

/// RFC 9112 sections 6.1, 6.2 and 7.4; RFC 9110 sections 7.6.1, 7.8, 10.1.1 and 10.1.4.
#[test]
fn fields_about_framing_and_the_connection_are_the_codecs() {
    for name in [
        "Connection",
        "Content-Length",
        "Transfer-Encoding",
        "Upgrade",
        "TE",
        "Keep-Alive",
        "HTTP2-Settings",
        "Expect",
    ] {
        let error = head("POST", "/", "h", &[(name, "x")], PayloadLength::Varying).unwrap_err();
        assert_eq!(error, BadRequest::Reserved(name.to_owned()));
    }
}

/// RFC 9110 sections 9.3.7 and 9.3.8.
#[test]
fn content_goes_only_where_its_method_takes_it() {
    let trace = |length| head("TRACE", "/", "h", &[], length);
    assert!(trace(PayloadLength::None).is_ok());
    assert_eq!(trace(PayloadLength::Fixed(1)).unwrap_err(), BadRequest::TraceBody);
    assert_eq!(trace(PayloadLength::Varying).unwrap_err(), BadRequest::TraceBody);
    let typed: Headers<'_> = &[("content-TYPE", "text/plain")];
    let options = |headers| head("OPTIONS", "/", "h", headers, PayloadLength::Varying);
    assert!(options(typed).is_ok());
    assert_eq!(options(&[]).unwrap_err(), BadRequest::OptionsBody);
}
