//! Fields that came: are they a message? (RFC 9113 section 8, RFC 9114 section 4.)
//!
//! Knows which fields may stand where, and how much content they promise; must not know streams. What
//! is malformed is the stream's error, not the connection's.

use crate::fields::FieldList;
use crate::head::scan;

/// About the connection, which HTTP/2 and HTTP/3 say in other ways (RFC 9113 section 8.2.2).
pub(super) const OF_CONNECTIONS: [&[u8]; 5] =
    [b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"];

/// The message is not one, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// What matters of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) content_length: Option<u64>,
}

impl Response {
    /// Is it the final one? `is_end`: nothing comes behind it.
    #[inline]
    pub(crate) fn is_final(self, is_end: bool) -> Result<bool, &'static str> {
        match self.status {
            101 => Err("a reply with 101, which this version of HTTP does not have"),
            100..200 if is_end => Err("a reply that ends before its final head"),
            status => Ok(status >= 200),
        }
    }

    /// How much content it has, where that is known; `is_head`: it answers HEAD.
    #[inline]
    pub(crate) fn promised(self, is_head: bool) -> Option<u64> {
        let has_none = is_head || matches!(self.status, 204 | 304);
        if has_none { Some(0) } else { self.content_length }
    }
}

/// So much more content comes, and the end with it: does it agree with what is missing by the head,
/// where that told the length?
#[inline]
pub(crate) fn takes(
    missing: &mut Option<u64>,
    content: u64,
    is_end: bool,
) -> Result<(), &'static str> {
    let Some(missing) = missing else { return Ok(()) };
    *missing = missing.checked_sub(content).ok_or("more content than Content-Length says")?;
    if is_end && *missing > 0 {
        return Err("less content than Content-Length says");
    }
    Ok(())
}

/// What matters of a request, beside its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    /// None: CONNECT without a protocol.
    pub(crate) path: Option<&'a str>,
    /// Of CONNECT: what is spoken then (RFC 8441).
    pub(crate) protocol: Option<&'a [u8]>,
    pub(crate) content_length: Option<u64>,
}

/// Looks at a response's fields.
pub(crate) fn response(fields: &FieldList) -> Result<Response, Malformed> {
    let mut status = None;
    let mut regular = Regular::default();
    for (name, value) in fields.iter() {
        if !regular.is_pseudo(name)? {
            regular.take(name, value)?;
        } else if name != b":status" || status.is_some() {
            return Err(Malformed("a pseudo-field that no response has, or one twice"));
        } else {
            status = Some(code(value)?);
        }
    }
    let status = status.ok_or(Malformed("a response without a status"))?;
    Ok(Response { status, content_length: regular.content_length })
}

/// Looks at a request's fields; `connects`: CONNECT with a protocol is taken.
pub(crate) fn request(fields: &FieldList, connects: bool) -> Result<Request<'_>, Malformed> {
    let (mut method, mut scheme, mut path) = (None::<&[u8]>, None::<&[u8]>, None::<&[u8]>);
    let (mut authority, mut protocol) = (None::<&[u8]>, None::<&[u8]>);
    let mut regular = Regular { is_request: true, ..Regular::default() };
    for (name, value) in fields.iter() {
        if !regular.is_pseudo(name)? {
            regular.take(name, value)?;
            continue;
        }
        let slot = match name {
            b":method" => &mut method,
            b":scheme" => &mut scheme,
            b":path" => &mut path,
            b":authority" => &mut authority,
            b":protocol" if connects => &mut protocol,
            _ => return Err(Malformed("a pseudo-field that no request has")),
        };
        if slot.replace(value).is_some() {
            return Err(Malformed("a pseudo-field twice"));
        }
    }
    let method = method.filter(|method| is_token(method)).ok_or(Malformed("no method"))?;
    let tunnels = method == b"CONNECT" && protocol.is_none();
    if protocol.is_some() && method != b"CONNECT" {
        return Err(Malformed("a protocol without CONNECT"));
    }
    // A tunnel has neither (section 8.5); all else has both, and a path says something.
    let is_placed = match (scheme, path) {
        (None, None) => tunnels,
        (Some(_), Some(path)) => !tunnels && !path.is_empty(),
        _ => false,
    };
    if !is_placed || (tunnels && authority.is_none()) {
        return Err(Malformed("a request without a scheme, a path, or where to"));
    }
    // Their URIs have an authority (section 8.3.1).
    let needs_one = matches!(scheme, Some(b"http" | b"https"));
    if needs_one && authority.is_none() && !regular.has_host {
        return Err(Malformed("a request to nobody"));
    }
    Ok(Request {
        method: text(method)?,
        path: path.map(text).transpose()?,
        protocol,
        content_length: regular.content_length,
    })
}

/// Looks for whom a request is: where it is said twice it is the same, and it is never nobody (RFC 9114
/// section 4.3.1, stricter than RFC 9113).
pub(crate) fn check_host(fields: &FieldList) -> Result<(), Malformed> {
    let (authority, host) = (fields.get(b":authority"), fields.get(b"host"));
    let is_one = match (authority, host) {
        (Some(authority), Some(host)) => !authority.is_empty() && authority == host,
        (Some(one), None) | (None, Some(one)) => !one.is_empty(),
        (None, None) => true,
    };
    if is_one { Ok(()) } else { Err(Malformed("a request to nobody, or to two")) }
}

/// Looks at fields behind a message's content.
pub(crate) fn trailers(fields: &FieldList) -> Result<(), Malformed> {
    let mut regular = Regular::default();
    for (name, value) in fields.iter() {
        if regular.is_pseudo(name)? {
            return Err(Malformed("a pseudo-field in trailers"));
        }
        regular.take(name, value)?;
    }
    Ok(())
}

/// What is common to all lists.
#[derive(Debug, Default)]
struct Regular {
    is_request: bool,
    /// A field came that is not a pseudo-field: none of those may follow.
    begun: bool,
    content_length: Option<u64>,
    has_host: bool,
}

impl Regular {
    fn is_pseudo(&self, name: &[u8]) -> Result<bool, Malformed> {
        match name {
            [b':', ..] if self.begun => Err(Malformed("a pseudo-field behind others")),
            [b':', ..] => Ok(true),
            _ => Ok(false),
        }
    }

    fn take(&mut self, name: &[u8], value: &[u8]) -> Result<(), Malformed> {
        self.begun = true;
        if !is_token(name) || name.iter().any(u8::is_ascii_uppercase) {
            return Err(Malformed("a field's name that is none, or in upper case"));
        }
        // Section 8.2.1.
        let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
        if is_blank(value.first())
            || is_blank(value.last())
            || value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'))
        {
            return Err(Malformed("a field's value with what may not stand there"));
        }
        match name {
            b"content-length" => {
                let length = number(value).ok_or(Malformed("a Content-Length that is none"))?;
                if self.content_length.is_some_and(|before| before != length) {
                    return Err(Malformed("two values of Content-Length"));
                }
                self.content_length = Some(length);
            }
            b"host" => self.has_host = true,
            b"te" if self.is_request && value != b"trailers" => {
                return Err(Malformed("a TE that says more than trailers"));
            }
            _ if OF_CONNECTIONS.contains(&name) => {
                return Err(Malformed("a field about the connection"));
            }
            _ => {}
        }
        Ok(())
    }
}

fn text(bytes: &[u8]) -> Result<&str, Malformed> {
    str::from_utf8(bytes).map_err(|_| Malformed("bytes that are no text"))
}

fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|&byte| scan::is_token(byte))
}

fn code(value: &[u8]) -> Result<u16, Malformed> {
    match value {
        &[a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            let digit = |byte| u16::from(byte - b'0');
            Ok(100 * digit(a) + 10 * digit(b) + digit(c))
        }
        _ => Err(Malformed("a status that is none")),
    }
}

fn number(value: &[u8]) -> Option<u64> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    is_number.then(|| str::from_utf8(value).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses() {
        let status = (":status", "200");
        let good =
            response(&FieldList::of(&[status, ("content-length", "5"), ("content-length", "5")]));
        assert_eq!(good, Ok(Response { status: 200, content_length: Some(5) }));
        let bad: [&[(&str, &str)]; 13] = [
            &[],
            &[("a", "b")],
            &[status, status],
            &[(":status", "20")],
            &[(":status", "099")],
            &[("a", "b"), status],
            &[status, (":path", "/")],
            &[status, ("Upper", "b")],
            &[status, ("", "b")],
            &[status, ("a", " b")],
            &[status, ("a", "b\r\nc: d")],
            &[status, ("content-length", "5"), ("content-length", "6")],
            &[status, ("transfer-encoding", "chunked")],
        ];
        for fields in bad {
            assert!(response(&FieldList::of(fields)).is_err(), "{fields:?}");
        }
    }

    #[test]
    fn requests() {
        let (get, https, path) = ((":method", "GET"), (":scheme", "https"), (":path", "/a"));
        let good = FieldList::of(&[get, https, path, (":authority", "a"), ("te", "trailers")]);
        let found = request(&good, false).map(|it| (it.method, it.path));
        assert_eq!(found, Ok(("GET", Some("/a"))));
        let connect = (":method", "CONNECT");
        assert!(request(&FieldList::of(&[connect, (":authority", "a:1")]), false).is_ok());
        let to = (":authority", "a");
        let websocket = FieldList::of(&[connect, https, path, to, (":protocol", "websocket")]);
        assert_eq!(request(&websocket, true).map(|it| it.protocol), Ok(Some(&b"websocket"[..])));
        assert!(request(&websocket, false).is_err());
        assert!(request(&FieldList::of(&[get, https, path, ("host", "a")]), false).is_ok());
        assert!(request(&FieldList::of(&[get, (":scheme", "urn"), path]), false).is_ok());
        let bad: [&[(&str, &str)]; 12] = [
            &[https, path, to],
            &[get, path, to],
            &[get, https, to],
            &[get, https, path],
            &[get, https, (":path", ""), to],
            &[get, get, https, path, to],
            &[get, https, path, to, (":status", "200")],
            &[get, https, path, to, ("te", "gzip")],
            &[get, https, path, to, ("connection", "close")],
            &[("a", "b"), get, https, path, to],
            &[connect, https, path, to],
            &[connect],
        ];
        for fields in bad {
            assert!(request(&FieldList::of(fields), true).is_err(), "{fields:?}");
        }
    }

    #[test]
    fn a_request_is_to_one_and_to_somebody() {
        for (fields, is_one) in [
            (&[(":authority", "a")][..], true),
            (&[("host", "a")], true),
            (&[(":authority", "a"), ("host", "a")], true),
            (&[(":authority", "a"), ("host", "b")], false),
            (&[(":authority", "")], false),
            (&[("host", "")], false),
            (&[(":authority", ""), ("host", "")], false),
            (&[(":scheme", "urn")], true),
        ] {
            assert_eq!(check_host(&FieldList::of(fields)).is_ok(), is_one, "{fields:?}");
        }
    }

    #[test]
    fn a_head_says_how_much_content_there_is() {
        let of = |status| Response { status, content_length: Some(5) };
        for (status, is_head, promised) in
            [(200, false, 5), (200, true, 0), (204, false, 0), (304, false, 0), (404, false, 5)]
        {
            assert_eq!(of(status).promised(is_head), Some(promised), "{status}");
        }
        assert_eq!(of(200).is_final(true), Ok(true));
        assert_eq!(of(103).is_final(false), Ok(false));
        assert!(of(103).is_final(true).is_err() && of(101).is_final(false).is_err());
        let mut missing = Some(5);
        assert!(takes(&mut missing, 3, false).is_ok() && takes(&mut missing, 1, true).is_err());
        assert!(takes(&mut missing, 1, true).is_ok() && takes(&mut missing, 1, false).is_err());
        assert!(takes(&mut None, 7, true).is_ok());
    }

    #[test]
    fn trailers_have_no_pseudo_fields() {
        assert_eq!(trailers(&FieldList::of(&[("grpc-status", "0")])), Ok(()));
        assert!(trailers(&FieldList::of(&[(":status", "200")])).is_err());
        assert!(trailers(&FieldList::of(&[("upgrade", "x")])).is_err());
    }
}
