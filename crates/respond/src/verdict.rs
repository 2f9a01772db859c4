//! What becomes of a request: the checks of an origin server, in their order.
//!
//! Knows which status each check calls for and which fields a status demands; must not know
//! how an answer is written.

use wiretrial_proto::{Condition, ServerRequest};

use crate::route::{Method, Route, scheme};

/// What the connection's own requests are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Serve,
    /// It is for another scheme than the connection's (RFC 9110 section 7.4).
    Elsewhere,
    /// A method that nobody knows.
    NotImplemented,
    NotFound,
    /// A method that is for other routes.
    NotAllowed,
    /// It asks what it may ask.
    Options,
    /// Its condition does not hold, and it only wanted to read.
    NotModified,
    /// Its condition does not hold.
    Failed,
}

impl Verdict {
    pub(crate) fn on(
        request: &ServerRequest<'_>,
        own: Scheme,
        route: Route<'_>,
        method: Method,
    ) -> Self {
        let own = match own {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        if scheme(request.target).is_some_and(|named| !named.eq_ignore_ascii_case(own)) {
            return Self::Elsewhere;
        }
        match (route, method) {
            (_, Method::Unknown) => return Self::NotImplemented,
            (Route::Unknown, _) => return Self::NotFound,
            (_, Method::Options) => return Self::Options,
            _ if !route.allows(method) => return Self::NotAllowed,
            // Conditions are for what would succeed (RFC 9110 section 13.2.1).
            (Route::Status(300..), _) => return Self::Serve,
            _ => {}
        }
        match (request.condition, method) {
            (Condition::None, _) => Self::Serve,
            (Condition::Missing, Method::Get | Method::Head) => Self::NotModified,
            (Condition::Missing | Condition::Tagged, _) => Self::Failed,
        }
    }
}

/// What an answer with this status must say beside its body, each line with its end.
pub(crate) const fn demanded_fields(status: u16) -> &'static str {
    match status {
        206 => "Content-Range: bytes 0-10/11\r\n",
        401 => "WWW-Authenticate: Basic realm=\"status\"\r\n",
        405 => Route::Status(405).allow(),
        407 => "Proxy-Authenticate: Basic realm=\"status\"\r\n",
        426 => "Upgrade: websocket\r\nConnection: Upgrade\r\n",
        _ => "",
    }
}
