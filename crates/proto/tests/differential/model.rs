//! What bytes mean, told apart from the code under test: the grammar is `httparse`'s and the
//! `http` crate's, the rules of framing are written down once more.
#![allow(dead_code, reason = "each fuzz target uses its own part of this")]

use httparse::{EMPTY_HEADER, Header, Status, parse_chunk_size, parse_headers};

/// Fields of one head that are read.
pub(crate) const MOST_FIELDS: usize = 500;

/// What one side of a conversation made of bytes, up to the first whole message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// More bytes are needed before anything is known.
    Nothing,
    /// Something is forbidden. Where both a head and its body are there, this is the body's.
    Refused,
    /// A message whose body has not all come, or will not.
    Cut,
    Request {
        method: String,
        target: String,
        persists: bool,
        body: Vec<u8>,
    },
    Reply {
        status: u16,
        persists: bool,
        body: Vec<u8>,
    },
}

/// How a body is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    Length(u64),
    Chunked,
    UntilEnd,
}

/// What the fields say about framing and persistence; none where they contradict each other.
pub(crate) struct Framing {
    pub(crate) length: Option<u64>,
    pub(crate) chunked: bool,
    pub(crate) persists: bool,
}

pub(crate) fn framing(fields: &[Header<'_>], minor: u8) -> Option<Framing> {
    let lengths = values(fields, "content-length");
    let mut length = None;
    for text in lengths.iter().flat_map(|value| value.split(',')).map(str::trim_ascii) {
        let number =
            text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())??;
        if length.is_some_and(|known: u64| known != number) {
            return None;
        }
        length = Some(number);
    }
    let codings = values(fields, "transfer-encoding");
    let named: Vec<&str> = members(&codings).collect();
    let chunked = !codings.is_empty();
    if chunked && (length.is_some() || minor == 0 || named.len() != 1) {
        return None;
    }
    if named.iter().any(|coding| !coding.eq_ignore_ascii_case("chunked")) {
        return None;
    }
    let options = values(fields, "connection");
    let has = |option: &str| members(&options).any(|member| member.eq_ignore_ascii_case(option));
    let persists = !has("close") && (minor > 0 || has("keep-alive"));
    Some(Framing { length, chunked, persists })
}

/// The values of all fields of this name; what is no text in them stands as U+FFFD.
pub(crate) fn values(fields: &[Header<'_>], name: &str) -> Vec<String> {
    let named = fields.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
    named.map(|field| String::from_utf8_lossy(field.value).into_owned()).collect()
}

fn members(values: &[String]) -> impl Iterator<Item = &str> {
    let parts = values.iter().flat_map(|value| value.split(',')).map(str::trim_ascii);
    parts.filter(|part| !part.is_empty())
}

/// A body that a head announced. None: it is not all there.
pub(crate) fn body(framing: Body, bytes: &[u8]) -> Result<Option<Vec<u8>>, ()> {
    match framing {
        Body::UntilEnd => Ok(Some(bytes.to_vec())),
        Body::Length(length) => {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            Ok(bytes.get(..length).map(<[u8]>::to_vec))
        }
        Body::Chunked => dechunk(bytes),
    }
}

fn dechunk(mut bytes: &[u8]) -> Result<Option<Vec<u8>>, ()> {
    let mut body = Vec::new();
    loop {
        // Without a digit there is no size (RFC 9112 section 7.1); httparse takes it for zero.
        if bytes.first().is_some_and(|byte| !byte.is_ascii_hexdigit()) {
            return Err(());
        }
        let (head, size) = match parse_chunk_size(bytes) {
            Ok(Status::Complete(found)) => found,
            Ok(Status::Partial) => return Ok(None),
            Err(_) => return Err(()),
        };
        bytes = &bytes[head..];
        if size == 0 {
            let mut fields = [EMPTY_HEADER; MOST_FIELDS];
            return match parse_headers(bytes, &mut fields) {
                Ok(Status::Complete(_)) => Ok(Some(body)),
                Ok(Status::Partial) => Ok(None),
                Err(_) => Err(()),
            };
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let Some((data, behind)) = bytes.split_at_checked(size) else { return Ok(None) };
        body.extend_from_slice(data);
        match behind {
            [b'\r', b'\n', rest @ ..] => bytes = rest,
            [] | [b'\r'] => return Ok(None),
            _ => return Err(()),
        }
    }
}
