//! The request to a route, as a session sends it.
//!
//! Knows what fills the holes of a route. Must not know how a request is framed.

use super::called::Messages;
use super::cookies::Jar;
use super::made::Making;
use super::template::{Known, Template, write, write_in_target};
use super::values::Values;
use crate::plan::Plan;
use crate::plan::traffic::{Order, Part, Route};

/// What makes requests to a route.
#[derive(Debug)]
pub struct Requests {
    /// What stands before, between and behind the holes of the target.
    target: Vec<Part>,
    /// What goes into the holes of headers, in order.
    holes: Vec<Part>,
    body: Body,
}

/// What is laid out as a body.
#[derive(Debug)]
enum Body {
    Text(Template),
    /// The messages of a call, which change.
    Call(Messages),
}

impl Body {
    fn of(route: &Route) -> Self {
        let Some(call) = &route.call else { return Self::Text(Template::new(&route.body)) };
        let messages = Messages::new(&call.messages);
        if !messages.are_constant() {
            return Self::Call(messages);
        }
        let mut bytes = Vec::new();
        let (values, making) = (Values::default(), Making::default());
        messages.fill(Known { values: &values, making }, &mut bytes);
        Self::Text(Template::of_bytes(bytes))
    }

    fn fill<'a>(&'a self, known: Known<'_>, room: &'a mut Vec<u8>) -> &'a [u8] {
        match self {
            Self::Text(template) => template.fill(known, room),
            Self::Call(messages) => {
                room.clear();
                messages.fill(known, room);
                room
            }
        }
    }
}

/// How a user's connection is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Path and query.
    pub target: String,
    /// Further header fields.
    pub headers: Vec<(String, String)>,
}

impl Opening {
    /// As the first session of the first flow opens its own; none where there are no conversations.
    pub fn first(plan: &Plan) -> Option<Self> {
        let traffic = plan.traffic.as_ref().filter(|traffic| traffic.is_conversation())?;
        let flow = &traffic.flows[0];
        let mut values = Values::default();
        if let Some(feed) = flow.feed.map(|feed| &traffic.feeds[feed]) {
            // The row that nobody of the load gets, where rows are one user's.
            let row = if feed.order == Order::Unique { feed.rows.len() - 1 } else { 0 };
            for (value, text) in feed.columns.iter().zip(&feed.rows[row]) {
                values.set(*value, text.as_bytes());
            }
        }
        let making = Making { seed: plan.load.seed, seq: u64::MAX, ..Making::default() };
        let route = &traffic.routes[flow.steps[0].route];
        Some(Self::new(route, Known { values: &values, making }))
    }

    /// As this route says it of the first step of a session that knows this.
    pub fn new(route: &Route, known: Known<'_>) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let mut target = Vec::new();
        route.target.iter().for_each(|part| write_in_target(part, known, &mut target));
        let headers = route.headers.iter().map(|(name, value)| {
            let mut out = Vec::new();
            for part in value {
                write(part, known, &mut out);
            }
            (name.clone(), text(out))
        });
        Self { headers: headers.collect(), target: text(target) }
    }
}

/// Where requests are laid out; used again for each.
#[derive(Debug, Default)]
pub struct Room {
    values: Vec<u8>,
    ends: Vec<u32>,
    cookies: Vec<u8>,
    target: Vec<u8>,
    body: Vec<u8>,
}

/// A request, but for what is the same for all of its route.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The values of all holes of the head, one after the other.
    pub values: &'a [u8],
    /// Where each ends in these.
    pub ends: &'a [u32],
    /// Cookies, as they stand in a field; empty: none.
    pub cookies: &'a [u8],
    /// The body.
    pub body: &'a [u8],
}

impl Requests {
    pub(super) fn new(route: &Route) -> Self {
        let headers = route.headers.iter().flat_map(|(_, text)| text);
        Self {
            target: route.target.clone(),
            holes: headers.filter(|part| !matches!(part, Part::Text(_))).cloned().collect(),
            body: Body::of(route),
        }
    }

    /// The length of all bodies, where it is known.
    pub fn body_length(&self) -> Option<usize> {
        match &self.body {
            Body::Text(template) => template.constant().map(<[u8]>::len),
            Body::Call(_) => None,
        }
    }

    /// Lays a request out.
    pub fn lay<'a>(
        &'a self,
        known: Known<'_>,
        jar: Option<&Jar>,
        room: &'a mut Room,
    ) -> Request<'a> {
        let Room { values, ends, cookies, target, body } = room;
        values.clear();
        ends.clear();
        cookies.clear();
        for part in &self.target {
            if !matches!(part, Part::Text(_)) {
                write_in_target(part, known, values);
                ends.push(values.len() as u32);
            }
        }
        self.lay_holes(known, values, ends);
        if let Some(jar) = jar.filter(|jar| !jar.is_empty()) {
            target.clear();
            self.write_target(known, target);
            jar.write(target, cookies);
        }
        Request { values, ends, cookies, body: self.body.fill(known, body) }
    }

    /// Lays a request out whose target another reply has said, with its body or without.
    pub fn lay_for<'a>(
        &'a self,
        target: &[u8],
        has_body: bool,
        known: Known<'_>,
        jar: Option<&Jar>,
        room: &'a mut Room,
    ) -> Request<'a> {
        let Room { values, ends, cookies, body, .. } = room;
        values.clear();
        ends.clear();
        cookies.clear();
        values.extend_from_slice(target);
        ends.push(values.len() as u32);
        self.lay_holes(known, values, ends);
        if let Some(jar) = jar {
            jar.write(target, cookies);
        }
        let body = if has_body { self.body.fill(known, body) } else { &[] };
        Request { values, ends, cookies, body }
    }

    fn lay_holes(&self, known: Known<'_>, values: &mut Vec<u8>, ends: &mut Vec<u32>) {
        for part in &self.holes {
            write(part, known, values);
            ends.push(values.len() as u32);
        }
    }

    /// Appends the target of a request.
    pub fn write_target(&self, known: Known<'_>, out: &mut Vec<u8>) {
        self.target.iter().for_each(|part| write_in_target(part, known, out));
    }
}
