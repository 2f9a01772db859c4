//! HTTP/1.1 against `httparse`: one request, one response, whole or not.
#![allow(dead_code, reason = "each fuzz target uses its own part of this")]

use httparse::{EMPTY_HEADER, ParserConfig, Status};
use wiretrial_proto::http1::{Http1Client, Http1Server, PayloadLength, RequestHead};
use wiretrial_proto::{ClientSession, ErrorClass, Message};

use super::common::{Seen, run_client, run_server};
use super::known::{self, Known};
use super::model::{self, Body, MOST_FIELDS, Outcome};

/// Longer input may have more fields than the model holds.
const LONGEST: usize = MOST_FIELDS * "A:\r\n".len();

/// Panics where the server's codec and the model differ without a known reason.
pub(crate) fn compare_request(input: &[u8]) {
    explain(input, &ours_of_request(input), &theirs_of_request(input), known::IN_REQUESTS);
}

/// As [`compare_request`], for the client's codec and the answer to one GET.
pub(crate) fn compare_response(input: &[u8]) {
    explain(input, &ours_of_response(input), &theirs_of_response(input), known::IN_RESPONSES);
}

pub(crate) fn request_differs(input: &[u8]) -> bool {
    ours_of_request(input) != theirs_of_request(input)
}

pub(crate) fn response_differs(input: &[u8]) -> bool {
    ours_of_response(input) != theirs_of_response(input)
}

fn explain(input: &[u8], ours: &Outcome, theirs: &Outcome, known: &[Known]) {
    if input.len() > LONGEST {
        return;
    }
    let undecided = |it: &Outcome| matches!(it, Outcome::Nothing | Outcome::Cut);
    // When a wrong message is found out, before or after its last byte, is free.
    let early = (*ours == Outcome::Refused && undecided(theirs))
        || (*theirs == Outcome::Refused && undecided(ours));
    if ours == theirs || early || known.iter().any(|row| (row.applies)(input)) {
        return;
    }
    panic!("{:?}\n  ours: {ours:?}\ntheirs: {theirs:?}", String::from_utf8_lossy(input));
}

fn ours_of_request(input: &[u8]) -> Outcome {
    let seen = run_server(&mut Http1Server::new(), input, &[]).seen;
    let Some(first) = seen.first() else { return Outcome::Nothing };
    let Seen::Request(request) = first else { return Outcome::Refused };
    match seen.get(1) {
        Some(Seen::End(body)) => Outcome::Request {
            method: request.method.clone(),
            target: request.target.clone(),
            persists: request.keep_alive,
            body: body.clone(),
        },
        Some(Seen::Error(_)) => Outcome::Refused,
        _ => Outcome::Cut,
    }
}

fn theirs_of_request(input: &[u8]) -> Outcome {
    let mut fields = [EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let length = match request.parse(input) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return Outcome::Nothing,
        Err(_) => return Outcome::Refused,
    };
    let (Some(method), Some(target), Some(minor)) = (request.method, request.path, request.version)
    else {
        return Outcome::Refused;
    };
    let Some(framing) = model::framing(request.headers, minor) else { return Outcome::Refused };
    if !is_target(method, target) || !names_one_host(request.headers, minor) {
        return Outcome::Refused;
    }
    let kind =
        if framing.chunked { Body::Chunked } else { Body::Length(framing.length.unwrap_or(0)) };
    match model::body(kind, &input[length..]) {
        Err(()) => Outcome::Refused,
        Ok(None) => Outcome::Cut,
        Ok(Some(body)) => Outcome::Request {
            method: method.to_owned(),
            target: target.to_owned(),
            persists: framing.persists,
            body,
        },
    }
}

/// The `http` crate's word on the target, with the method's.
fn is_target(method: &str, target: &str) -> bool {
    let Ok(uri) = target.parse::<http::Uri>() else { return false };
    let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
    // The crate takes a user, and any port.
    let port = authority.split_once(':').filter(|_| !authority.contains('['));
    let odd_port = port.is_some_and(|(_, port)| !port.bytes().all(|byte| byte.is_ascii_digit()));
    if target.contains('#') || authority.contains('@') || odd_port {
        return false;
    }
    match (method, target) {
        ("CONNECT", _) => uri.port_u16().is_some_and(|port| port > 0) && uri.scheme().is_none(),
        ("OPTIONS", "*") => true,
        (_, "*") => false,
        _ if target.starts_with('/') => true,
        _ => {
            let scheme = uri.scheme_str().unwrap_or_default();
            // The crate does not ask what a scheme is made of.
            let named = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && !scheme.contains(|it: char| !it.is_ascii_alphanumeric() && !"+-.".contains(it));
            named && !authority.is_empty() && !authority.starts_with(':')
        }
    }
}

fn names_one_host(fields: &[httparse::Header<'_>], minor: u8) -> bool {
    let is_host = |host: &str| {
        host.is_empty() || (host.parse::<http::uri::Authority>().is_ok() && !host.contains('@'))
    };
    match &model::values(fields, "host")[..] {
        [] => minor == 0,
        [host] => is_host(host),
        _ => false,
    }
}

fn ours_of_response(input: &[u8]) -> Outcome {
    let head = RequestHead::new("GET", "/", "h", &[], false, PayloadLength::None).expect("a head");
    let mut codec = Http1Client::new([head].into());
    codec.encode(&Message::new(0, b""), &mut Vec::new());
    let seen = run_client(&mut codec, input, &[], true).seen;
    match seen.first() {
        None => Outcome::Nothing,
        Some(Seen::Reply { status, payload, last, .. }) => {
            Outcome::Reply { status: *status, persists: !last, body: payload.clone() }
        }
        Some(Seen::Error(ErrorClass::Truncated)) => Outcome::Cut,
        Some(_) => Outcome::Refused,
    }
}

fn theirs_of_response(mut input: &[u8]) -> Outcome {
    if input.is_empty() {
        return Outcome::Nothing;
    }
    let mut config = ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true);
    loop {
        let mut fields = [EMPTY_HEADER; MOST_FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        let length = match config.parse_response(&mut response, input) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) => return Outcome::Cut,
            Err(_) => return Outcome::Refused,
        };
        let (Some(status), Some(minor)) = (response.code, response.version) else {
            return Outcome::Refused;
        };
        let Some(framing) = model::framing(response.headers, minor) else {
            return Outcome::Refused;
        };
        input = &input[length..];
        let body = match (status, framing.length) {
            (101 | ..100 | 600.., _) => return Outcome::Refused,
            (..200, _) => continue,
            (204 | 304, _) => Body::Length(0),
            _ if framing.chunked => Body::Chunked,
            (_, Some(length)) => Body::Length(length),
            (_, None) => Body::UntilEnd,
        };
        let persists = framing.persists && body != Body::UntilEnd;
        return match model::body(body, input) {
            Err(()) => Outcome::Refused,
            Ok(None) => Outcome::Cut,
            Ok(Some(body)) => Outcome::Reply { status, persists, body },
        };
    }
}
