//! Exchanges one by one, each with all that was sent and all that came.
//!
//! Knows the JSON that `wiretrial-engine ask` writes, and how it is taped while users act. Must not know what is
//! right, nor sockets.

mod reply;
mod tape;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use tape::{Begun, OneMessage, Tape};

/// One line of output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Told {
    /// An exchange is over.
    Exchange(Box<Exchange>),
    /// The last line.
    End {
        /// What came of all.
        end: End,
    },
}

/// What came of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// Exchanges that were told.
    pub asked: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Sessions that did not begin or did not end before the time limit.
    pub left: u64,
}

/// What became of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// It holds.
    pub holds: bool,
    /// What was looked at, in words.
    pub came: String,
    /// What is said where it does not hold; null where it does.
    pub fault: Option<String>,
}

/// A request and its reply, or a step of a conversation and the message that it waited for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exchange {
    /// Name of the flow; null where the plan has one message.
    pub flow: Option<String>,
    /// Number of the session, from 0, over all flows.
    pub session: u64,
    /// Number of the connection, from 0.
    pub connection: u32,
    /// Name of the route; of one message its method and path.
    pub route: String,
    /// HTTP method. Steps of conversations have OPEN, SEND, AWAIT and CLOSE.
    pub method: String,
    /// The whole URL, as it was asked for.
    pub url: String,
    /// Header fields that were sent, all of them, as pairs.
    pub request_headers: Vec<(String, String)>,
    /// Content of the request, base64.
    pub request_body: String,
    /// HTTP status, or that of a call of gRPC; null where no reply began, and in conversations.
    pub status: Option<u16>,
    /// Header fields of the reply, as pairs.
    pub headers: Vec<(String, String)>,
    /// Content of the reply, its codings undone as far as they are known; base64.
    pub body: String,
    /// Length of the whole content, its codings undone.
    pub body_bytes: u64,
    /// `body` is not all of it: it was longer than is told, or the reply did not come whole.
    pub is_cut: bool,
    /// From the request to the last byte of its reply; null without a whole reply.
    pub service_ns: Option<u64>,
    /// What was captured, by name; of a right reply only.
    pub captures: BTreeMap<String, String>,
    /// What became of each check of a reply that came whole: its status, its exact body, and those of the plan in
    /// their order. Where the status is wrong it stands alone, where content can't be decoded nothing stands behind
    /// it; empty in a plan with one message.
    #[serde(default)]
    pub checks: Vec<Verdict>,
    /// `ok`, or the class of the failure, as a load counts it.
    pub outcome: String,
    /// What was wrong, in words; null where nothing was.
    pub fault: Option<String>,
}
