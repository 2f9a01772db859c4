//! What the scripted server can say rightly: one request read, one reply made, per protocol.

use std::io::{self, BufRead as _, Read as _, Write as _};

use wiretrial_proto::websocket::accept_key;

use crate::wire::Wire;

/// Payload of every message of these tests, bytes.
pub(crate) const PAYLOAD: usize = 20;

/// Which protocol a scripted server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    Http,
    WebSocket,
    Stream,
}

/// Kinds of WebSocket frames, with the final bit.
pub(crate) const TEXT: u8 = 0x81;
pub(crate) const BINARY: u8 = 0x82;
pub(crate) const CLOSE: u8 = 0x88;
pub(crate) const PING: u8 = 0x89;
pub(crate) const PONG: u8 = 0x8a;

impl Speech {
    /// Of a URL's scheme.
    pub(crate) fn of(scheme: &str) -> Self {
        match scheme {
            "http" | "https" => Self::Http,
            "ws" | "wss" => Self::WebSocket,
            _ => Self::Stream,
        }
    }

    /// Answers the upgrade, with a further header line; nothing where there is none.
    pub(crate) fn open(self, wire: &mut Wire, line: &str) -> io::Result<()> {
        if self != Self::WebSocket {
            return Ok(());
        }
        let head = read_head(wire)?;
        let key = field(&head, "sec-websocket-key").ok_or(io::ErrorKind::InvalidData)?;
        wire.write_all(&upgrade_answer(&key, line))
    }

    /// Reads one whole request and gives its payload. Control frames before it are kept apart.
    pub(crate) fn read(
        self,
        wire: &mut Wire,
        control: &mut Vec<(u8, Vec<u8>)>,
    ) -> io::Result<Vec<u8>> {
        match self {
            Self::Stream => exactly(wire, PAYLOAD),
            Self::Http => {
                let head = read_head(wire)?;
                let length = field(&head, "content-length").and_then(|text| text.parse().ok());
                exactly(wire, length.unwrap_or(0))
            }
            Self::WebSocket => loop {
                let (first, payload) = read_frame(wire)?;
                if first & 0x08 == 0 {
                    return Ok(payload);
                }
                control.push((first, payload));
            },
        }
    }

    /// The right reply to a request with this payload.
    pub(crate) fn reply(self, payload: &[u8]) -> Vec<u8> {
        match self {
            Self::Stream => payload.to_vec(),
            Self::Http => http("200 OK", &[], payload),
            Self::WebSocket => frame(BINARY, payload),
        }
    }
}

/// An HTTP reply with these header lines, and the length of the body.
pub(crate) fn http(status: &str, lines: &[&str], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status}\r\n").into_bytes();
    for line in lines {
        bytes.extend_from_slice(format!("{line}\r\n").as_bytes());
    }
    bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// A server's frame of up to 125 bytes.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    assert!(payload.len() <= 125, "a short frame");
    let mut bytes = vec![first, payload.len() as u8];
    bytes.extend_from_slice(payload);
    bytes
}

/// A close frame with a code.
pub(crate) fn close_frame(code: u16) -> Vec<u8> {
    frame(CLOSE, &code.to_be_bytes())
}

/// The client's frames in these bytes, unmasked, as far as they are whole.
pub(crate) fn frames(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut all = Vec::new();
    while let [first, second, a, b, c, d, rest @ ..] = bytes {
        assert_ne!(second & 0x80, 0, "a client masks its frames");
        let length = usize::from(second & 0x7f);
        let Some((payload, behind)) = rest.split_at_checked(length) else { break };
        all.push((*first, unmask(payload, [*a, *b, *c, *d])));
        bytes = behind;
    }
    all
}

fn upgrade_answer(key: &str, line: &str) -> Vec<u8> {
    let mut bytes = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
        Connection: Upgrade\r\nSec-WebSocket-Accept: "
        .to_vec();
    bytes.extend_from_slice(&accept_key(key));
    if !line.is_empty() {
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(line.as_bytes());
    }
    bytes.extend_from_slice(b"\r\n\r\n");
    bytes
}

fn read_frame(wire: &mut Wire) -> io::Result<(u8, Vec<u8>)> {
    let head = exactly(wire, 6)?;
    let payload = exactly(wire, usize::from(head[1] & 0x7f))?;
    Ok((head[0], unmask(&payload, [head[2], head[3], head[4], head[5]])))
}

fn unmask(payload: &[u8], mask: [u8; 4]) -> Vec<u8> {
    payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect()
}

fn exactly(wire: &mut Wire, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    wire.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The lines of a head, without their ends.
fn read_head(wire: &mut Wire) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if wire.take(8192).read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end() {
            "" => return Ok(lines),
            text => lines.push(text.to_owned()),
        }
    }
}

fn field(lines: &[String], name: &str) -> Option<String> {
    let fields = lines.iter().filter_map(|line| line.split_once(':'));
    let mut values = fields.filter(|(key, _)| key.eq_ignore_ascii_case(name));
    values.next().map(|(_, value)| value.trim().to_owned())
}
