//! The protocols of a world, and what a right reply is in each.
//!
//! Knows URLs and contents. Must not know codecs, nor when anything is said.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use wiretrial_net::simulation::Random;
use wiretrial_proto::styx::Encoding;

use super::acks::{acknowledged, mistaken};

/// Which protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spoken {
    Raw,
    Http,
    WebSocket,
    /// WebSocket, and each message goes to all connections.
    Broadcast,
    SocketIo,
    /// Frames of replies that interleave, which exist in tests alone.
    Multiplexed,
    /// Over WebSocket, or over a byte stream.
    Styx(Encoding, Over),
}

/// What the packets of Styx travel over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Stream,
    WebSocket,
}

impl Spoken {
    /// Where its peers are; inside TLS, where it has that.
    pub(super) fn url(self, secure: bool) -> String {
        let scheme = match self {
            Self::Raw if secure => "tls",
            Self::Raw => "tcp",
            // For the multiplexed one there is no scheme, and HTTP's leaves all possible.
            Self::Http | Self::Multiplexed => "http",
            Self::WebSocket | Self::Broadcast => "ws",
            Self::SocketIo => "socketio+ws",
            Self::Styx(Encoding::Binary, Over::Stream) => "styx",
            Self::Styx(Encoding::Json, Over::Stream) => "styx+json",
            Self::Styx(Encoding::Binary, Over::WebSocket) => "styx+ws",
            Self::Styx(Encoding::Json, Over::WebSocket) => "styx+json+ws",
        };
        let s = if secure && self != Self::Raw { "s" } else { "" };
        let path = match self {
            Self::Http => "page",
            Self::WebSocket | Self::Broadcast => "talk",
            _ => "",
        };
        format!("{scheme}{s}://127.0.0.1:9/{path}")
    }

    /// There is a scheme for it inside TLS.
    pub(super) fn may_be_secure(self) -> bool {
        !matches!(self, Self::Styx(_, Over::Stream))
    }

    /// Each message has many receivers.
    pub(super) fn has_company(self) -> bool {
        matches!(self, Self::Broadcast | Self::Styx(..))
    }

    /// Replies name their message.
    pub(super) fn is_numbered(self) -> bool {
        matches!(self, Self::SocketIo | Self::Multiplexed) || self.has_company()
    }
}

/// What a right reply is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Right {
    /// What was asked; of a byte stream, so many bytes each time.
    Echo { length: usize },
    /// These bytes, as the plan says.
    Constant(&'static [u8]),
    /// These bytes, as the first reply was.
    Learned(&'static [u8]),
    /// JSON with a certain member.
    Json,
    /// Anything.
    Anything,
    /// A copy of what was asked, for each one of the company.
    Copies,
    /// The number of what was asked, in a packet, for each one at the table.
    Packets,
    /// JSON with the number and the user of what was asked, and a token where a login asks for it.
    Routes,
    /// JSON with the number and the user of what was said, on a connection that was greeted.
    Talk,
}

/// The right reply to a request of a session; one with another's token gets none that is right.
fn routed(asked: &[u8], random: &mut Random) -> Vec<u8> {
    let asked: Value = serde_json::from_slice(asked).unwrap_or_default();
    let user = asked["user"].as_str().unwrap_or_default();
    let own = |token: &str| token.split_once('-').is_some_and(|(owner, _)| owner == user);
    if asked.get("token").is_some_and(|token| !token.as_str().is_some_and(own)) {
        return br#"{"error": "another's token"}"#.to_vec();
    }
    let items = json!([{"n": random.up_to(1_000_000), "tags": []}, {"user": user, "n": null}]);
    let mut reply = json!({"seq": asked["seq"], "items": items});
    if asked.get("token").is_none() && asked.get("plain").is_none() {
        reply["token"] = json!(format!("{user}-{}", random.any()));
    }
    reply.to_string().into_bytes()
}

/// The same with one thing that is wrong.
fn misrouted(right: &[u8], random: &mut Random) -> Vec<u8> {
    let mut reply: Value = serde_json::from_slice(right).unwrap_or_default();
    let has_token = reply.get("token").is_some();
    match random.up_to(5) {
        5 => {
            // Only a check that is made beside the load sees that.
            if let Some(number) = reply.pointer_mut("/items/0/n") {
                *number = json!(-1);
            }
        }
        0 | 1 if has_token => drop(reply.as_object_mut().map(|it| it.remove("token"))),
        0 => reply["seq"] = json!(random.any()),
        1 => reply["items"][1]["user"] = json!("another"),
        2 => drop(reply["items"].as_array_mut().map(Vec::pop)),
        3 => return right[..right.len() - 1].to_vec(),
        _ => reply = json!([reply]),
    }
    reply.to_string().into_bytes()
}

/// Is this wrong in a way that only checks of a sample see?
pub(super) fn is_subtle(reply: &[u8]) -> bool {
    let reply: Value = serde_json::from_slice(reply).unwrap_or_default();
    reply.pointer("/items/0/n") == Some(&json!(-1))
}

impl Right {
    /// As a plan says it.
    pub(super) fn document(self) -> Value {
        match self {
            Self::Echo { .. } => json!({"is": "echo"}),
            Self::Constant(bytes) => {
                json!({"is": "fixed", "base64": BASE64_STANDARD.encode(bytes)})
            }
            Self::Learned(_) => json!({"is": "learned"}),
            Self::Json => json!({"is": "matching", "rules": ["json:ok=true", "json:n"]}),
            Self::Anything => json!({"is": "status"}),
            Self::Copies => json!({"is": "broadcast"}),
            Self::Packets | Self::Routes | Self::Talk => json!({"is": "auto"}),
        }
    }

    /// A right reply to this message.
    pub(super) fn reply(self, asked: &[u8], random: &mut Random) -> Vec<u8> {
        match self {
            Self::Echo { .. } | Self::Copies | Self::Packets => asked.to_vec(),
            Self::Constant(bytes) | Self::Learned(bytes) => bytes.to_vec(),
            Self::Json => format!(r#"{{"n": {}, "ok": true}}"#, random.any()).into_bytes(),
            Self::Anything => vec![b'x'; random.up_to(300) as usize],
            Self::Routes => routed(asked, random),
            Self::Talk => acknowledged(asked),
        }
    }

    /// A reply to the same that is not right; none where every one is.
    pub(super) fn lie(self, asked: &[u8], random: &mut Random) -> Option<Vec<u8>> {
        let mut reply = self.reply(asked, random);
        match self {
            Self::Anything => return None,
            Self::Json => return Some(br#"{"n": 1, "ok": false}"#.to_vec()),
            Self::Routes => return Some(misrouted(&reply, random)),
            Self::Talk => return Some(mistaken(asked, random)),
            _ if reply.is_empty() => return None,
            _ => {}
        }
        let index = random.up_to(reply.len() as u64 - 1) as usize;
        // Text stays text.
        reply[index] = if reply[index] == b'#' { b'~' } else { b'#' };
        Some(reply)
    }
}
