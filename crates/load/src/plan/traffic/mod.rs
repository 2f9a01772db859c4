//! Traffic of a plan: requests to many routes, or conversations over sockets, in sessions, with every name resolved.
//!
//! Knows what runnable traffic is. Must not know sockets or time.

mod call;
mod call_document;
pub mod document;
mod filter;
mod lines;
#[cfg(test)]
mod lines_tests;
mod names;
mod needed;
mod parse;
mod part_document;
mod path;
mod replies;
#[cfg(test)]
mod tests;
mod text;

pub use call::{Call, FieldPlace, Piece};
pub use call_document::ScalarDocument as Scalar;
pub use document::{
    ComparisonDocument as Comparison, DeedDocument as Deed, MadeDocument as Made,
    OrderDocument as Order,
};
pub use filter::{
    FilterDocument as Filter, ReplacedDocument as Replaced,
    ReplacedPatternDocument as ReplacedPattern,
};
pub(super) use parse::traffic;
pub use path::{Path, Place};

use serde_json::Value;

use super::redaction::is_secret;
use super::shape::{Shape, Type};
use crate::clock::Nanos;

/// Requests to many routes, in sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// Data for sessions.
    pub feeds: Vec<Feed>,
    /// Requests, with what right replies are; never empty.
    pub routes: Vec<Route>,
    /// Sessions; never empty.
    pub flows: Vec<Flow>,
    /// Names of all values that sessions have: columns of feeds, and captures.
    pub values: Vec<String>,
    /// Share of right replies that checks with filters are made of, 0 to 1.
    pub sample: f64,
}

impl Traffic {
    /// Its sessions are conversations over sockets.
    pub fn is_conversation(&self) -> bool {
        self.routes.iter().any(|route| route.line.is_some())
    }

    /// The same, each flow as often as the others, and each of its steps once and without thought.
    pub(crate) fn straight(&self) -> Self {
        let mut straight = self.clone();
        for flow in &mut straight.flows {
            flow.weight = 1;
            for step in &mut flow.steps {
                (step.think, step.back) = (Think::None, None);
            }
        }
        straight
    }

    /// Texts that have a name, by which they may be known as secrets: values of header fields, as far as they
    /// stand in the plan, and of so many rows of data.
    pub fn named_texts(&self, rows: usize) -> Vec<(String, String)> {
        let headers = self.routes.iter().flat_map(|route| &route.headers);
        let words = headers.flat_map(|(name, text)| text.iter().map(move |part| (name, part)));
        let mut named: Vec<_> = words
            .filter_map(|(name, part)| match part {
                Part::Text(words) => Some((name.clone(), words.clone())),
                Part::Value(..) | Part::Make(_) => None,
            })
            .collect();
        for feed in &self.feeds {
            for row in feed.rows.iter().take(rows) {
                let values = feed.columns.iter().zip(row);
                named.extend(values.map(|(at, text)| (self.values[*at].clone(), text.clone())));
            }
        }
        named.retain(|(name, _)| is_secret(name));
        named
    }
}

/// Rows of data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feed {
    /// Which values its columns are: indices among those of all sessions.
    pub columns: Vec<usize>,
    /// Never empty; each as long as `columns`.
    pub rows: Vec<Vec<String>>,
    /// Which row is next.
    pub order: Order,
}

/// A request, and what a right reply to it is; or a step of a conversation, and what a right answer is.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// By which it is counted.
    pub name: String,
    /// HTTP method.
    pub method: String,
    /// Path and query.
    pub target: Text,
    /// All further header fields.
    pub headers: Vec<(String, Text)>,
    /// Empty: none.
    pub body: Text,
    /// Statuses of right replies, from and to and with; never empty.
    pub statuses: Vec<(u16, u16)>,
    /// The whole of a right body; none: any.
    pub exactly: Option<Text>,
    /// What must hold.
    pub checks: Vec<Check>,
    /// So many redirects are followed at most.
    pub follow: u32,
    /// What later requests need.
    pub captures: Vec<Capture>,
    /// What a step of a conversation is; none: it is a request.
    pub line: Option<Line>,
    /// The call of gRPC that the request is; none: it is another one.
    pub call: Option<Call>,
}

/// A step of a conversation. The connection is opened with its route's target and headers, its message is the
/// route's body.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What the user does.
    pub deed: Deed,
    /// Its event is to be acknowledged, and that is awaited.
    pub acknowledged: bool,
    /// All of these hold of the message that is awaited; empty: none is, but an acknowledgement.
    pub awaits: Vec<Check>,
}

impl Line {
    /// Is a message awaited?
    pub fn listens(&self) -> bool {
        self.acknowledged || !self.awaits.is_empty()
    }
}

/// A text with holes.
pub type Text = Vec<Part>;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// As it stands; never empty.
    Text(String),
    /// A value of the session, by its index, and how it is written.
    Value(usize, Written),
    /// Made for the message.
    Make(Made),
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// As it is.
    Plain,
    /// Percent-encoded but for what is reserved for nothing.
    Url,
    /// As it stands inside a string of JSON.
    Json,
}

/// A check of a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What is looked at.
    pub of: Found,
    /// What is made of it first; empty: nothing, and each reply is checked.
    pub filters: Vec<Filter>,
    /// How many it has, not itself.
    pub count: bool,
    /// The test must fail.
    pub not: bool,
    /// What must hold.
    pub test: Test,
}

/// Something in a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The status.
    Status,
    /// The body.
    Body,
    /// The length of the body.
    Bytes,
    /// What is at this place of the body.
    Json(Path),
    /// The value of a header field.
    Header(String),
    /// The value of a cookie that the reply sets.
    Cookie(String),
    /// What a pattern matches in the body. It compiles.
    Regex(String),
    /// A field of the first message of a reply of gRPC.
    Field(FieldPlace),
}

/// What must hold of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// It is there.
    Exists,
    /// It has nothing in it.
    Empty,
    /// It compares so with another one.
    Compared(Comparison, Operand),
    /// It has this in it.
    Contains(Operand),
    /// It begins so.
    Starts(Text),
    /// It ends so.
    Ends(Text),
    /// This pattern matches somewhere in it. It compiles.
    Matches(String),
    /// It is of this type.
    Type(Type),
    /// It is of this shape.
    Shape(Box<Shape>),
}

/// What a value is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A value.
    Json(Value),
    /// What a text comes to be for the message.
    Text(Text),
}

/// What later requests need of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// Index of the value that it becomes.
    pub value: usize,
    /// What is captured.
    pub of: Found,
    /// The longest that it may be, bytes.
    pub most: usize,
    /// It comes to stand in a header field, where no line may end.
    pub in_head: bool,
    /// It comes to stand at the begin of a target, which is a path of the same origin.
    pub leads: bool,
}

/// A session.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// By which it is counted.
    pub name: String,
    /// Its share of all sessions, of the sum of all weights.
    pub weight: u32,
    /// Index of its feed.
    pub feed: Option<usize>,
    /// Cookies are kept.
    pub cookies: bool,
    /// A session fails with the first message that matches nothing awaited.
    pub fails_unasked: bool,
    /// Never empty.
    pub steps: Vec<FlowStep>,
}

impl Flow {
    /// Which step follows this one, after so many rounds, and what round it is of; none: it was the last.
    pub fn after(&self, step: usize, round: u64) -> Option<(usize, u64)> {
        match self.steps[step].back {
            Some(Back { to, times, .. }) if times.is_none_or(|times| round + 1 < times) => {
                Some((to, round + 1))
            }
            Some(_) => self.behind(step),
            None => Some((step + 1, round)).filter(|_| step + 1 < self.steps.len()),
        }
    }

    /// What is waited for between a step and the one that follows it.
    pub fn think_between(&self, step: usize, next: usize) -> &Think {
        match &self.steps[step].back {
            Some(back) if next <= step => &back.think,
            _ => &self.steps[next].think,
        }
    }

    /// Which step stands behind this one, whatever it goes back to.
    pub fn behind(&self, step: usize) -> Option<(usize, u64)> {
        Some((step + 1, 0)).filter(|_| step + 1 < self.steps.len())
    }

    /// Its sessions end with the load only.
    pub fn is_endless(&self) -> bool {
        self.steps.iter().any(|step| step.back.is_some_and(|back| back.times.is_none()))
    }
}

/// A request of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowStep {
    /// Index of the route.
    pub route: usize,
    /// What is waited for before it.
    pub think: Think,
    /// Where it goes on when it is over; none: behind it.
    pub back: Option<Back>,
}

/// Steps that are done again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Back {
    /// Index of the step to go on with.
    pub to: usize,
    /// How often all of them are done; none: until the load ends.
    pub times: Option<u64>,
    /// What is waited for before they are done again.
    pub think: Think,
}

/// How long a user thinks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Think {
    /// Not at all.
    None,
    /// Always so long.
    Constant(Nanos),
    /// Between these.
    Uniform(Nanos, Nanos),
    /// So long on average.
    Exponential(Nanos),
    /// So long or less in half of all cases; standard deviation of the logarithm.
    Lognormal(Nanos, f64),
}
