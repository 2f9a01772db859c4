//! Traffic as it crosses the seam: routes, what right replies are, flows of them, feeds of data.
//!
//! Knows the names and defaults of the JSON; must not know what makes traffic runnable.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::call_document::{CallDocument, FieldPlaceDocument, PieceDocument, ScalarDocument};
use super::filter::FilterDocument;
pub use super::part_document::{MadeDocument, PartDocument};
use crate::plan::shape::document::{ShapeDocument, TypeDocument};

/// Requests to many routes in sessions, instead of one message. Each connection is a user's, who has one
/// session after the other; who begins one when is the executor's: `closed`, or `open` with sessions per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficDocument {
    /// Data for sessions.
    #[serde(default)]
    pub feeds: Vec<FeedDocument>,
    /// Requests, each with what a right reply is.
    pub routes: Vec<RouteDocument>,
    /// In place of routes, which are none then: steps of conversations over sockets.
    #[serde(default)]
    pub lines: Vec<LineDocument>,
    /// Sessions.
    pub flows: Vec<FlowDocument>,
    /// Share of right replies, 0 to 1, of which checks with filters are made: drawn by the seed and the message's
    /// number. The first 30 of each route are always among them, for each worker.
    #[serde(default = "hundredth")]
    pub sample: f64,
}

fn hundredth() -> f64 {
    0.01
}

/// Rows of data, of which each session of a flow gets one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedDocument {
    /// Unlike those of other feeds.
    pub name: String,
    /// Names of the values in each row.
    pub columns: Vec<String>,
    /// At least one; each has a value for each column.
    pub rows: Vec<Vec<String>>,
    /// Which row is next.
    #[serde(default)]
    pub order: OrderDocument,
}

/// Which row of a feed is next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OrderDocument {
    /// One after the other, and then again.
    #[default]
    Sequential,
    /// The same, in an order that the seed draws.
    Shuffled,
    /// A row is one user's. Closed loop: each connection keeps its own. Open loop: each session is another user;
    /// where no row is left it fails (`feed`).
    Unique,
}

/// A request, and what a right reply to it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteDocument {
    /// By which it is counted: unlike those of other routes, and no longer than 200 bytes.
    pub name: String,
    /// Request method.
    pub method: String,
    /// Path and query. Of values, bytes that can't stand there are percent-encoded.
    pub target: Vec<PartDocument>,
    /// Further header fields, in order, behind those of `target.http.headers`. Host, Connection, Content-Length and
    /// Cookie are the engine's own.
    #[serde(default)]
    pub headers: Vec<(String, Vec<PartDocument>)>,
    /// Empty: none.
    #[serde(default)]
    pub body: Vec<PartDocument>,
    /// What a right reply is.
    #[serde(default)]
    pub expect: RouteExpectDocument,
    /// So many redirects to the same origin are followed at most: the reply behind the last one is the route's, and its time
    /// is that of all of them.
    #[serde(default)]
    pub follow: u32,
    /// What later requests need of the reply.
    #[serde(default)]
    pub captures: Vec<CaptureDocument>,
    /// It is a call of gRPC, over HTTP/2 or HTTP/3: it has neither target nor body, its method is POST, and statuses
    /// are those of gRPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallDocument>,
}

/// A step of a conversation over a socket, and what a right answer to it is. It is counted as a route is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineDocument {
    /// By which it is counted: unlike those of other lines, and no longer than 200 bytes.
    pub name: String,
    /// What the user does.
    pub does: DeedDocument,
    /// `open`: path and query, as a route's.
    #[serde(default)]
    pub target: Vec<PartDocument>,
    /// `open`: further header fields, as a route's.
    #[serde(default)]
    pub headers: Vec<(String, Vec<PartDocument>)>,
    /// `send`: the message. Socket.IO: the event's name and arguments, an array of JSON.
    #[serde(default)]
    pub text: Vec<PartDocument>,
    /// `send`, of Socket.IO: the event is to be acknowledged, and its acknowledgement is what is awaited, with its
    /// arguments, an array of JSON, as the message.
    #[serde(default)]
    pub acknowledged: bool,
    /// Which message is awaited: the first of which all of these hold. `send`: with none of them nothing is awaited,
    /// but an acknowledgement. Of Socket.IO, a message is an event, an array of JSON with its name and arguments.
    /// Numbers that are made are those of the last message that the session sent.
    #[serde(default)]
    pub awaits: Vec<CheckDocument>,
    /// What else must hold of it.
    #[serde(default)]
    pub checks: Vec<CheckDocument>,
    /// What later steps need of it.
    #[serde(default)]
    pub captures: Vec<CaptureDocument>,
}

/// What a step of a conversation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeedDocument {
    /// Opens the connection: the first step of each flow.
    Open,
    /// Sends a message, and awaits an answer where `awaits` says which.
    Send,
    /// Awaits a message that the server sends by itself.
    Await,
    /// Closes the connection and awaits that the server does: the last step of each flow.
    Close,
}

/// What a right reply is: of this status, with this body, and with all of these checks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RouteExpectDocument {
    /// HTTP status.
    pub status: StatusDocument,
    /// Exactly this text; null: any.
    pub body: Option<Vec<PartDocument>>,
    /// All of them must hold.
    pub checks: Vec<CheckDocument>,
}

/// Which status is right.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StatusDocument {
    /// Each one.
    Any,
    /// 200 to 299.
    #[default]
    Success,
    /// One of these; at least one.
    In(Vec<u16>),
}

/// A check of a reply. What is not there fails each test but `exists`, also where `not` is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckDocument {
    /// What is looked at.
    pub of: FoundDocument,
    /// What is made of it, one after the other. A check that has any is made of a sample of replies only, beside the
    /// load, and not of messages of conversations.
    #[serde(default)]
    pub filters: Vec<FilterDocument>,
    /// Not the value itself: how many it has, of a list its elements, of an object its members, of a text its
    /// characters.
    #[serde(default)]
    pub count: bool,
    /// The test must fail.
    #[serde(default)]
    pub not: bool,
    /// What must hold.
    pub test: TestDocument,
}

/// Something in a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FoundDocument {
    /// The status, a number.
    Status,
    /// The body, as text.
    Body,
    /// The length of the body in bytes, a number.
    Bytes,
    /// What is at this place of the body: `$.a.b[0]["c d"]`; with `[*]` in it the list of all that are there.
    Json(String),
    /// The value of this header field, the first one.
    Header(String),
    /// The value of this cookie, as this reply sets it.
    Cookie(String),
    /// What this pattern matches first in the body; of its first group, where it has one.
    Regex(String),
    /// A field of the first message of a reply of gRPC.
    Field(FieldPlaceDocument),
}

/// What must hold of a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "is", deny_unknown_fields)]
pub enum TestDocument {
    /// It is there.
    Exists,
    /// It has no element, member or character.
    Empty,
    /// It compares so with another one.
    #[serde(rename = "compared")]
    Compared {
        /// How.
        how: ComparisonDocument,
        /// With what.
        with: OperandDocument,
    },
    /// A text that has this one in it, or a list that has this element.
    Contains {
        /// What.
        with: OperandDocument,
    },
    /// A text that begins so.
    Starts {
        /// How.
        with: Vec<PartDocument>,
    },
    /// A text that ends so.
    Ends {
        /// How.
        with: Vec<PartDocument>,
    },
    /// A text in which this pattern matches somewhere.
    Matches {
        /// A regular expression.
        pattern: String,
    },
    /// It is of this type.
    Type {
        /// Which.
        name: TypeDocument,
    },
    /// It is of this shape: of the body, which is JSON, or of a place in it.
    Shape {
        /// Which.
        shape: ShapeDocument,
    },
}

/// How a value compares with another one. Only numbers, and texts with texts, are less or greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ComparisonDocument {
    /// It is equal.
    #[serde(rename = "==")]
    Equal,
    /// It is not equal.
    #[serde(rename = "!=")]
    Unequal,
    /// It is less.
    #[serde(rename = "<")]
    Less,
    /// It is less or equal.
    #[serde(rename = "<=")]
    AtMost,
    /// It is greater.
    #[serde(rename = ">")]
    Greater,
    /// It is greater or equal.
    #[serde(rename = ">=")]
    AtLeast,
}

/// What a value is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OperandDocument {
    /// This value.
    Json(Value),
    /// What this comes to be for the message. A number in the reply is compared with it by its digits, as a number.
    Text(Vec<PartDocument>),
}

/// What later requests need of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaptureDocument {
    /// The value's name; a later capture of the same name takes its place.
    pub name: String,
    /// What is captured. A list or an object is captured as its JSON.
    pub of: FoundDocument,
    /// The longest that it may be, bytes.
    #[serde(default = "most_captured")]
    pub most: u32,
}

fn most_captured() -> u32 {
    8192
}

/// A session: requests one after the other. After one that fails the session ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowDocument {
    /// By which it is counted: unlike those of other flows, and no longer than 200 bytes.
    pub name: String,
    /// So many of all sessions, of the sum of all weights, are of this flow: exactly, not on average.
    #[serde(default = "one")]
    pub weight: u32,
    /// Name of the feed of which each session gets a row; null: none.
    #[serde(default)]
    pub feed: Option<String>,
    /// Cookies that replies set are sent with the later requests of the session.
    #[serde(default = "yes")]
    pub cookies: bool,
    /// Of conversations: messages that match nothing awaited.
    #[serde(default)]
    pub unasked: UnaskedDocument,
    /// At least one.
    pub steps: Vec<StepDocument>,
}

/// What becomes of a message that matches nothing awaited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnaskedDocument {
    /// It is counted by its kind.
    #[default]
    Count,
    /// The session fails.
    Fail,
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

/// A request of a session, or a step of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepDocument {
    /// Index of the route, or of the line.
    pub route: u32,
    /// From the end of the step before, or, closed loop, of the session before, to the instant at which this one is
    /// due.
    #[serde(default)]
    pub think: ThinkDocument,
    /// Of conversations: when it is over, go back.
    #[serde(default)]
    pub back: Option<BackDocument>,
}

/// Steps that are done again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackDocument {
    /// Index of the step to go on with: not the first, and none that another `back` has behind it.
    pub to: u32,
    /// How often all of them are done; null: until the load ends.
    #[serde(default)]
    pub times: Option<u64>,
    /// From the end of the step to the instant at which the one that it goes back to is due, in place of that one's.
    #[serde(default)]
    pub think: ThinkDocument,
}

/// How long a user thinks, nanoseconds; drawn by the seed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "kind", deny_unknown_fields)]
pub enum ThinkDocument {
    /// Not at all.
    #[default]
    None,
    /// Always so long.
    Constant {
        /// How long.
        ns: u64,
    },
    /// Each time between these with the same chance.
    Uniform {
        /// At least.
        low_ns: u64,
        /// At most.
        high_ns: u64,
    },
    /// Exponentially distributed.
    Exponential {
        /// On average.
        mean_ns: u64,
    },
    /// Log-normally distributed.
    Lognormal {
        /// Half of them are shorter.
        median_ns: u64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
}
