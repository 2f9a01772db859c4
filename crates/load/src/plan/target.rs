//! The target's URL: which protocol, over which transport, where.

use http::Uri;
use wiretrial_proto::socketio;
use wiretrial_proto::styx::Encoding;

use super::{PlanError, redaction};

/// Protocol of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP: `http`, `https`; and what is spoken over it: `grpc`, `grpcs`.
    Http,
    /// WebSocket: `ws`, `wss`.
    WebSocket,
    /// A byte stream: `tcp`, `tls`.
    Stream,
    /// Packets of a game: `styx`, `styx+json`, over WebSocket `styx+ws`, `styx+json+ws`.
    Styx(Encoding, Carrier),
    /// Socket.IO: `socketio+ws`, `socketio+wss`.
    SocketIo,
}

/// What packets travel over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// A byte stream.
    Stream,
    /// A message each.
    WebSocket,
}

/// A parsed URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetUrl {
    /// As given, for people: without secrets.
    pub text: String,
    /// Protocol.
    pub scheme: Scheme,
    /// Calls of gRPC, over HTTP/2 or HTTP/3: `grpc`, `grpcs`.
    pub grpc: bool,
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

const SCHEMES: &str =
    "http, https, ws, wss, tcp, tls, styx, styx+json, styx+ws, styx+json+ws, socketio+ws, grpc";
/// Where a game server has its packets over WebSocket.
const STYX_PATH: &str = "/socket";

impl TargetUrl {
    /// The scheme as HTTP has it, whatever is spoken over it.
    pub(crate) const fn http_scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }

    /// Reads a URL.
    ///
    /// # Errors
    /// What is wrong with it, and what a right one looks like.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let shown = redaction::url(text);
        let wrong = |what: &str| {
            PlanError(format!("'{shown}' is not a target: {what}; e.g. ws://127.0.0.1:9001/"))
        };
        if !text.contains("://") {
            return Err(wrong(&format!("no scheme (one of {SCHEMES})")));
        }
        let uri: Uri = text.parse().map_err(|error| wrong(&format!("{error}")))?;
        let (scheme, secure, default_port) = match uri.scheme_str().unwrap_or_default() {
            "http" | "grpc" => (Scheme::Http, false, Some(80)),
            "https" | "grpcs" => (Scheme::Http, true, Some(443)),
            "ws" => (Scheme::WebSocket, false, Some(80)),
            "wss" => (Scheme::WebSocket, true, Some(443)),
            "tcp" => (Scheme::Stream, false, None),
            "tls" => (Scheme::Stream, true, None),
            "styx" => (Scheme::Styx(Encoding::Binary, Carrier::Stream), false, None),
            "styx+json" => (Scheme::Styx(Encoding::Json, Carrier::Stream), false, None),
            "styx+ws" => (Scheme::Styx(Encoding::Binary, Carrier::WebSocket), false, Some(80)),
            "styx+wss" => (Scheme::Styx(Encoding::Binary, Carrier::WebSocket), true, Some(443)),
            "styx+json+ws" => (Scheme::Styx(Encoding::Json, Carrier::WebSocket), false, Some(80)),
            "styx+json+wss" => (Scheme::Styx(Encoding::Json, Carrier::WebSocket), true, Some(443)),
            "socketio+ws" => (Scheme::SocketIo, false, Some(80)),
            "socketio+wss" => (Scheme::SocketIo, true, Some(443)),
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
        let path = match scheme {
            Scheme::Stream | Scheme::Styx(_, Carrier::Stream) if path != "/" => {
                return Err(wrong("a byte stream has no path"));
            }
            Scheme::Styx(_, Carrier::WebSocket) if path == "/" => STYX_PATH.to_owned(),
            Scheme::SocketIo => socketio_path(path),
            _ => path.to_owned(),
        };
        Ok(Self {
            text: shown,
            scheme,
            grpc: matches!(uri.scheme_str(), Some("grpc" | "grpcs")),
            secure,
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            path,
            authority: if Some(port) == default_port {
                host.to_owned()
            } else {
                format!("{host}:{port}")
            },
        })
    }
}

/// The path, with the query that asks for what we speak where there is none.
fn socketio_path(path: &str) -> String {
    match path.split_once('?') {
        Some(_) => path.to_owned(),
        None if path == "/" => socketio::TARGET.to_owned(),
        None => format!("{path}?EIO=4&transport=websocket"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYX: Scheme = Scheme::Styx(Encoding::Binary, Carrier::Stream);

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
            ("styx://h:7", STYX, false, "h", 7, "/", "h:7"),
            (
                "styx+json+ws://h",
                Scheme::Styx(Encoding::Json, Carrier::WebSocket),
                false,
                "h",
                80,
                "/socket",
                "h",
            ),
            (
                "socketio+wss://h/",
                Scheme::SocketIo,
                true,
                "h",
                443,
                "/socket.io/?EIO=4&transport=websocket",
                "h",
            ),
            (
                "socketio+ws://h/chat/",
                Scheme::SocketIo,
                false,
                "h",
                80,
                "/chat/?EIO=4&transport=websocket",
                "h",
            ),
            ("socketio+ws://h/x?EIO=4", Scheme::SocketIo, false, "h", 80, "/x?EIO=4", "h"),
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
            ("styx://h", "no port"),
            ("styx://h:1/path", "has no path"),
            ("socketio://h:1/", "unknown scheme 'socketio'"),
            ("http://user:secret@h/", "user names"),
            ("http://h h/", "not a target"),
        ];
        for (text, expected) in cases {
            let error = TargetUrl::parse(text).expect_err(text).to_string();
            assert!(error.contains(expected) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
