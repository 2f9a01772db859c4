//! Traffic of a plan: requests to many routes, in sessions, with every name resolved.
//!
//! Knows what runnable traffic is. Must not know sockets or time.

pub mod document;
mod names;
mod parse;
mod path;
mod replies;
#[cfg(test)]
mod tests;
mod text;

pub use document::{
    ComparisonDocument as Comparison, MadeDocument as Made, OrderDocument as Order,
    TypeDocument as Type,
};
pub(super) use parse::traffic;
pub use path::{Path, Place};

use serde_json::Value;

use super::redaction::is_secret;
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
    /// How many sessions or users there are over time; empty: as many all the time.
    pub stages: Vec<Stage>,
    /// Names of all values that sessions have: columns of feeds, and captures.
    pub values: Vec<String>,
}

impl Traffic {
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

/// A time in which the share of sessions per second, or of users, changes evenly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// How long.
    pub time: Nanos,
    /// At its begin, 0 to 1.
    pub from: f64,
    /// At its end.
    pub to: f64,
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

/// A request, and what a right reply to it is.
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
    /// What later requests need.
    pub captures: Vec<Capture>,
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
    /// Never empty.
    pub steps: Vec<FlowStep>,
}

/// A request of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowStep {
    /// Index of the route.
    pub route: usize,
    /// What is waited for before it.
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
