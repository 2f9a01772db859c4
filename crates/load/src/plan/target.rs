//! The target's URL: which protocol, over which transport, where.

use http::Uri;

use super::PlanError;

/// Protocol of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP/1.1: `http`, `https`.
    Http,
    /// WebSocket: `ws`, `wss`.
    WebSocket,
    /// A byte stream: `tcp`, `tls`.
    Stream,
}

/// A parsed URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetUrl {
    /// As given, for people.
    pub text: String,
    /// Protocol.
    pub scheme: Scheme,
    /// Inside TLS?
    pub secure: bool,
    /// Host, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// Value of the Host field: the port is left out where it is the scheme's own.
    pub authority: String,
}

const SCHEMES: &str = "http, https, ws, wss, tcp, tls";

impl TargetUrl {
    /// Reads a URL.
    ///
    /// # Errors
    /// What is wrong with it, and what a right one looks like.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let wrong = |what: &str| {
            PlanError(format!("'{text}' is not a target: {what}; e.g. ws://127.0.0.1:9001/"))
        };
        if !text.contains("://") {
            return Err(wrong(&format!("no scheme (one of {SCHEMES})")));
        }
        let uri: Uri = text.parse().map_err(|error| wrong(&format!("{error}")))?;
        let (scheme, secure, default_port) = match uri.scheme_str().unwrap_or_default() {
            "http" => (Scheme::Http, false, Some(80)),
            "https" => (Scheme::Http, true, Some(443)),
            "ws" => (Scheme::WebSocket, false, Some(80)),
            "wss" => (Scheme::WebSocket, true, Some(443)),
            "tcp" => (Scheme::Stream, false, None),
            "tls" => (Scheme::Stream, true, None),
            other => return Err(wrong(&format!("unknown scheme '{other}' (one of {SCHEMES})"))),
        };
        let authority = uri.authority().ok_or_else(|| wrong("no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("user names belong into a header, not into the URL"));
        }
        let host = authority.host();
        if host.is_empty() {
            return Err(wrong("no host"));
        }
        let after_host = authority.as_str().get(host.len()..).unwrap_or_default();
        let port = match after_host.strip_prefix(':') {
            Some(digits) => digits
                .parse::<u16>()
                .map_err(|_| wrong(&format!("'{digits}' is not a port, 1 to 65535")))?,
            None => default_port.ok_or_else(|| wrong("no port"))?,
        };
        if port == 0 {
            return Err(wrong("port 0 can't be connected to"));
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        if scheme == Scheme::Stream && path != "/" {
            return Err(wrong("a byte stream has no path"));
        }
        Ok(Self {
            text: text.to_owned(),
            scheme,
            secure,
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            path: path.to_owned(),
            authority: if Some(port) == default_port {
                host.to_owned()
            } else {
                format!("{host}:{port}")
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_right_urls() {
        let cases = [
            (
                "ws://127.0.0.1:9001",
                Scheme::WebSocket,
                false,
                "127.0.0.1",
                9001,
                "/",
                "127.0.0.1:9001",
            ),
            ("http://a.example/x?y=1", Scheme::Http, false, "a.example", 80, "/x?y=1", "a.example"),
            ("https://a.example", Scheme::Http, true, "a.example", 443, "/", "a.example"),
            ("wss://[::1]:8443/chat", Scheme::WebSocket, true, "::1", 8443, "/chat", "[::1]:8443"),
            ("tcp://localhost:7", Scheme::Stream, false, "localhost", 7, "/", "localhost:7"),
            ("tls://h:7/", Scheme::Stream, true, "h", 7, "/", "h:7"),
        ];
        for (text, scheme, secure, host, port, path, authority) in cases {
            let url = TargetUrl::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(
                (url.scheme, url.secure, url.host.as_str(), url.port, url.path.as_str()),
                (scheme, secure, host, port, path),
                "{text}"
            );
            assert_eq!(url.authority, authority, "{text}");
        }
    }

    #[test]
    fn table_of_wrong_urls() {
        let cases = [
            ("127.0.0.1:9001", "no scheme"),
            ("ftp://h/", "unknown scheme 'ftp'"),
            ("ws://", "not a target"),
            ("ws://h:99999/", "'99999' is not a port"),
            ("ws://h:/", "'' is not a port"),
            ("ws://h:0/", "port 0"),
            ("tcp://h", "no port"),
            ("tcp://h:1/path", "has no path"),
            ("http://user:secret@h/", "user names"),
            ("http://h h/", "not a target"),
        ];
        for (text, expected) in cases {
            let error = TargetUrl::parse(text).expect_err(text).to_string();
            assert!(error.contains(expected) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
