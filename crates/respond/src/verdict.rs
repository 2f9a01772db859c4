//! The checks of an origin server on a request, in their order.
//!
//! Knows the status that each check demands, and the fields that a status demands. Must not know how
//! an answer is encoded.

use wiretrial_proto::Condition;

use crate::route::{Method, Route, scheme};

/// The scheme that a connection serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

/// The outcome of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Serve,
    /// It is for another scheme than the connection's (RFC 9110 section 7.4).
    Elsewhere,
    /// The method is unknown to HTTP.
    NotImplemented,
    NotFound,
    /// The route does not allow the method.
    NotAllowed,
    /// It asks for the allowed methods.
    Options,
    /// Its condition does not hold, and its method only reads.
    NotModified,
    /// Its condition does not hold.
    Failed,
}

impl Verdict {
    pub(crate) fn on(
        target: &str,
        condition: Condition,
        own: Scheme,
        route: Route<'_>,
        method: Method,
    ) -> Self {
        let own = match own {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        if scheme(target).is_some_and(|named| !named.eq_ignore_ascii_case(own)) {
            return Self::Elsewhere;
        }
        match (route, method) {
            (_, Method::Unknown) => return Self::NotImplemented,
            (Route::Unknown, _) => return Self::NotFound,
            (_, Method::Options) => return Self::Options,
            _ if !route.allows(method) => return Self::NotAllowed,
            // Conditions apply only to requests that would succeed (RFC 9110 section 13.2.1).
            (Route::Status(300..), _) => return Self::Serve,
            _ => {}
        }
        match (condition, method) {
            (Condition::None, _) => Self::Serve,
            (Condition::Missing, Method::Get | Method::Head) => Self::NotModified,
            (Condition::Missing | Condition::Tagged, _) => Self::Failed,
        }
    }
}

/// The field lines that an answer with this status must have, each with its end.
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
