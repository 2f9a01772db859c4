//! Which answer a request asks for.
//!
//! Knows methods and targets; must not know how an answer is written.

/// A method, as far as the routes tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
    Options,
    /// One that HTTP knows and no route takes.
    Other,
    /// One that nobody knows.
    Unknown,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Page,
    Message,
    Echo,
    /// So many bytes of the pattern, with a length in front.
    Bytes(u64),
    /// So many bytes of the pattern, in chunks.
    Chunked(u64),
    Status(u16),
    /// The server as a whole: `*`.
    Server,
    Unknown,
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

impl Route {
    pub(crate) fn of(target: &str) -> Self {
        if target == "*" {
            return Self::Server;
        }
        let path = path(target);
        match path {
            "/" => return Self::Page,
            "/message" => return Self::Message,
            "/echo" => return Self::Echo,
            _ => {}
        }
        let Some((name, number)) = path[1..].split_once('/') else {
            return Self::Unknown;
        };
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::Unknown;
        }
        match (name, number.parse::<u64>()) {
            ("bytes", Ok(length)) => Self::Bytes(length),
            ("chunked", Ok(length)) => Self::Chunked(length),
            // Below 200 a status is not a final answer.
            ("status", Ok(status @ 200..600)) => Self::Status(status as u16),
            _ => Self::Unknown,
        }
    }

    pub(crate) fn allows(self, method: Method) -> bool {
        match self {
            Self::Echo => method == Method::Post,
            Self::Server | Self::Unknown => false,
            _ => matches!(method, Method::Get | Method::Head),
        }
    }

    /// The Allow field: the methods of this route, and OPTIONS, which each has.
    pub(crate) const fn allow(self) -> &'static str {
        match self {
            Self::Echo => "Allow: POST, OPTIONS\r\n",
            Self::Server => "Allow: GET, HEAD, POST, OPTIONS\r\n",
            _ => "Allow: GET, HEAD, OPTIONS\r\n",
        }
    }
}

/// The scheme of a target in absolute form.
pub(crate) fn scheme(target: &str) -> Option<&str> {
    if target.starts_with('/') {
        return None;
    }
    target.split_once("://").map(|(scheme, _)| scheme)
}

/// The path of a target in origin or absolute form, without the query; at least `/`.
fn path(target: &str) -> &str {
    let origin = match target.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => {
            rest.find(['/', '?']).map_or("/", |at| &rest[at..])
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
            ("/messages", Route::Unknown),
            ("//", Route::Unknown),
            ("/a://b", Route::Unknown),
        ];
        for (target, route) in table {
            assert_eq!(Route::of(target), route, "{target}");
        }
    }
}
