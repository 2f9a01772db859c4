//! Which answer a request asks for.
//!
//! Knows methods and targets. Must not know how an answer is encoded.

use crate::events::Asked;

/// Where what is published can be heard: as a stream of events, and as messages of a WebSocket.
const SUBSCRIBE: &str = "/subscribe";

/// A request's method, as far as the routes distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
    Options,
    /// One that HTTP defines and no route allows.
    Other,
    /// One that HTTP does not define.
    Unknown,
}

/// The resource that is asked for. Names stand as in the target: [`decoded`] decodes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    Page,
    Message,
    Echo,
    /// The request's body, behind a prefix.
    Test,
    TestStatus,
    /// The label itself.
    TestLabel(&'a str),
    /// The message with this id.
    MessageById(&'a str),
    /// This many bytes of the pattern, with `Content-Length`.
    Bytes(u64),
    /// This many bytes of the pattern, in chunks.
    Chunked(u64),
    Status(u16),
    /// A stream of events; none: there is no such one.
    Events(Option<Asked>),
    /// The request's body becomes an event of everybody who subscribes.
    Publish,
    /// A stream of what is published.
    Subscribe,
    /// What was published behind this number, or, where nothing was, is next; none: what is the last number?
    Next(Option<u64>),
    /// The server as a whole: `*`.
    Server,
    Unknown,
}

/// What is spoken after an upgrade to WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebSocketRoute {
    /// At every path that has no other one.
    Echo,
    Styx,
    SocketIo,
    Broadcast,
}

impl WebSocketRoute {
    pub(crate) fn of(target: &str) -> Self {
        match path(target) {
            "/socket" => Self::Styx,
            "/socket.io/" => Self::SocketIo,
            "/broadcast" | SUBSCRIBE => Self::Broadcast,
            _ => Self::Echo,
        }
    }
}

impl Method {
    pub(crate) fn of(text: &str) -> Self {
        match text {
            "GET" => Self::Get,
            "HEAD" => Self::Head,
            "POST" => Self::Post,
            "OPTIONS" => Self::Options,
            "PUT" | "DELETE" | "PATCH" | "TRACE" | "CONNECT" => Self::Other,
            _ => Self::Unknown,
        }
    }
}

impl<'a> Route<'a> {
    pub(crate) fn of(target: &'a str) -> Self {
        if target == "*" {
            return Self::Server;
        }
        let path = path(target);
        match path {
            "/" => return Self::Page,
            "/message" => return Self::Message,
            "/echo" => return Self::Echo,
            "/test" => return Self::Test,
            "/test/status" => return Self::TestStatus,
            "/events" => return Self::Events(Asked::of(query(target))),
            "/publish" => return Self::Publish,
            SUBSCRIBE => return Self::Subscribe,
            "/next" => return Self::Next(after(query(target))),
            _ => {}
        }
        let Some((folder, name)) = path.rsplit_once('/') else {
            return Self::Unknown;
        };
        match folder {
            _ if name.is_empty() => Self::Unknown,
            "/messages" => Self::MessageById(name),
            "/test/labels" => Self::TestLabel(name),
            _ => Self::of_number(folder, name).unwrap_or(Self::Unknown),
        }
    }

    fn of_number(folder: &str, digits: &str) -> Option<Self> {
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        match (folder, digits.parse().ok()?) {
            ("/bytes", length) => Some(Self::Bytes(length)),
            ("/chunked", length) => Some(Self::Chunked(length)),
            // Below 200 a status is not a final answer.
            ("/status", status @ 200..600) => Some(Self::Status(status as u16)),
            _ => None,
        }
    }

    pub(crate) fn allows(self, method: Method) -> bool {
        match self {
            Self::Echo | Self::Test | Self::Publish => method == Method::Post,
            Self::Server | Self::Unknown => false,
            Self::Next(_) => method == Method::Get,
            _ => matches!(method, Method::Get | Method::Head),
        }
    }

    /// The Allow field: the methods of this route, and OPTIONS, which every route allows.
    pub(crate) const fn allow(self) -> &'static str {
        match self {
            Self::Echo | Self::Test | Self::Publish => "Allow: POST, OPTIONS\r\n",
            Self::Server => "Allow: GET, HEAD, POST, OPTIONS\r\n",
            Self::Next(_) => "Allow: GET, OPTIONS\r\n",
            _ => "Allow: GET, HEAD, OPTIONS\r\n",
        }
    }

    /// Is the body of a request used, rather than discarded?
    pub(crate) const fn takes_body(self) -> bool {
        matches!(self, Self::Publish) || self.echoes()
    }

    /// Does it come back?
    pub(crate) const fn echoes(self) -> bool {
        matches!(self, Self::Echo | Self::Test)
    }
}

/// Decodes a part of a path (RFC 3986 section 2.1). A percent sign that encodes nothing is kept;
/// bytes that are not UTF-8 become U+FFFD.
pub(crate) fn decoded(written: &str) -> String {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.as_bytes();
    while let [first, behind @ ..] = rest {
        let (byte, next) = encoded_byte(rest).unwrap_or((*first, behind));
        bytes.push(byte);
        rest = next;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte that the first three characters of the text encode, and the text behind them.
fn encoded_byte(text: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, behind @ ..] = text else {
        return None;
    };
    let digit = |letter: &u8| char::from(*letter).to_digit(16);
    Some((u8::try_from(digit(high)? * 16 + digit(low)?).ok()?, behind))
}

/// The scheme of a target in absolute form.
pub(crate) fn scheme(target: &str) -> Option<&str> {
    if target.starts_with('/') {
        return None;
    }
    target.split_once("://").map(|(scheme, _)| scheme)
}

/// The number that a query asks behind.
fn after(query: &str) -> Option<u64> {
    query.split('&').find_map(|pair| pair.strip_prefix("after="))?.parse().ok()
}

/// The query of a target; empty where there is none.
fn query(target: &str) -> &str {
    target.split_once('?').map_or("", |(_, query)| query)
}

/// The path of a target in origin or absolute form, without the query; at least `/`.
fn path(target: &str) -> &str {
    let origin = match target.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => {
            rest.find(['/', '?']).map_or("/", |end| &rest[end..])
        }
        _ => target,
    };
    let path = origin.split('?').next().unwrap_or(origin);
    if path.starts_with('/') { path } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_lead_to_routes() {
        let table = [
            ("/", Route::Page),
            ("/?a=/message", Route::Page),
            ("http://host:80", Route::Page),
            ("http://host?x", Route::Page),
            ("http://host/message", Route::Message),
            ("/message?seq=1", Route::Message),
            ("/echo", Route::Echo),
            ("/bytes/0", Route::Bytes(0)),
            ("/bytes/18446744073709551615", Route::Bytes(u64::MAX)),
            ("/bytes/18446744073709551616", Route::Unknown),
            ("/bytes/", Route::Unknown),
            ("/bytes/+1", Route::Unknown),
            ("/chunked/10", Route::Chunked(10)),
            ("*", Route::Server),
            ("/status/200", Route::Status(200)),
            ("/status/599", Route::Status(599)),
            ("/status/101", Route::Unknown),
            ("/status/600", Route::Unknown),
            ("/status/65736", Route::Unknown),
            ("/test", Route::Test),
            ("/test/", Route::Unknown),
            ("/test/status", Route::TestStatus),
            ("/events", Route::Events(Asked::of(""))),
            ("http://host/events?rate=1", Route::Events(Asked::of("rate=1"))),
            ("/events?rate=x", Route::Events(None)),
            ("/events/", Route::Unknown),
            ("/publish?x", Route::Publish),
            ("/subscribe", Route::Subscribe),
            ("/subscribe/", Route::Unknown),
            ("/next", Route::Next(None)),
            ("/next?after=x", Route::Next(None)),
            ("/next?a=1&after=70", Route::Next(Some(70))),
            ("/test/labels/", Route::Unknown),
            ("/test/labels/a%20b?c", Route::TestLabel("a%20b")),
            ("/test/labels/a/b", Route::Unknown),
            ("/messages", Route::Unknown),
            ("/messages/", Route::Unknown),
            ("http://host/messages/7", Route::MessageById("7")),
            ("/messages/7/8", Route::Unknown),
            ("/bytes/1/2", Route::Unknown),
            ("//", Route::Unknown),
            ("/a://b", Route::Unknown),
        ];
        for (target, route) in table {
            assert_eq!(Route::of(target), route, "{target}");
        }
    }

    #[test]
    fn upgrades_lead_to_protocols() {
        let table = [
            ("/", WebSocketRoute::Echo),
            ("/socket", WebSocketRoute::Styx),
            ("http://host/socket?x", WebSocketRoute::Styx),
            ("/socket/", WebSocketRoute::Echo),
            ("/socket.io/?EIO=4&transport=websocket", WebSocketRoute::SocketIo),
            ("/socket.io", WebSocketRoute::Echo),
            ("/broadcast", WebSocketRoute::Broadcast),
            ("/subscribe", WebSocketRoute::Broadcast),
        ];
        for (target, route) in table {
            assert_eq!(WebSocketRoute::of(target), route, "{target}");
        }
    }

    #[test]
    fn percent_encoding_is_decoded() {
        let table = [
            ("plain", "plain"),
            ("", ""),
            ("a%2Db%5fc", "a-b_c"),
            ("%c3%A9", "é"),
            ("%", "%"),
            ("%4", "%4"),
            ("100%zz%2", "100%zz%2"),
            ("%%41", "%A"),
            ("%ff.", "\u{fffd}."),
        ];
        for (written, meant) in table {
            assert_eq!(decoded(written), meant, "{written}");
        }
    }
}
