//! Is the reply to a route right, and what does it leave to later requests?
//!
//! Knows a whole reply: status, head, body. Must not know how it came, nor how outcomes are counted.

use std::borrow::Cow;
use std::ops::Range;

use regex::bytes::{CaptureLocations, Regex};

use super::called::{self, Fields};
use super::check::{Check, compiled, differs};
use super::coding::Codings;
use super::coming::Coming;
use super::cookies;
use super::made::Making;
use super::template::{Known, Template};
use super::tree::{Places, Tree};
use super::values::Values;
use crate::plan::traffic::{Capture, Check as PlannedCheck, FieldPlace, Found, Path, Route};
use crate::plan::wire::Messages;
use crate::source::excerpt;
use crate::source::seen::Seen;
use crate::source::wire::Come;

/// The largest body that is looked at, bytes.
pub(super) const MOST_LOOKED_AT: usize = 16 << 20;
/// More than is shown of a body that is not looked at, bytes.
const SHOWN: usize = 200;

/// How a reply was not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It has another status.
    Status(String),
    /// A test does not hold.
    Mismatch(String),
    /// What a later request needs is not in it.
    Capture(String),
}

/// What right replies to a route are.
#[derive(Debug)]
pub struct Replies {
    statuses: Vec<(u16, u16)>,
    exactly: Option<Template>,
    checks: Vec<(Check, At, String)>,
    captures: Vec<(Capture, At, String)>,
    /// Names of the header fields and cookies that are looked at.
    heads: Vec<HeadName>,
    tree: Option<Tree>,
    patterns: Vec<Regex>,
    /// Fields of messages that are looked at, and what right messages are, of replies to calls.
    fields: Vec<FieldPlace>,
    messages: Option<Messages>,
    looks_at_body: bool,
    counts_bytes: bool,
    /// The body is looked at in a sample of replies.
    keeps_body: bool,
    /// Origins of the target's URL, as a server may write them.
    origin: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HeadName {
    Field(String),
    Cookie(String),
}

/// Where in a reply something is.
#[derive(Debug, Clone, Copy)]
enum At {
    Status,
    Body,
    Bytes,
    /// The path with this index: one place, or many.
    One(usize),
    Many(usize),
    Head(usize),
    Pattern(usize),
    Field(usize),
}

/// What judging takes; used again for each reply.
#[derive(Debug, Default)]
pub struct Scratch {
    places: Places,
    room: Vec<u8>,
    /// What was compressed, as it was before.
    content: Vec<u8>,
    locations: Vec<CaptureLocations>,
    fields: Fields,
    /// How far the messages of a reply to a call are.
    come: Come,
}

/// A reply that came whole.
struct Whole<'a> {
    coming: &'a Coming,
    body: &'a [u8],
    /// Of the body, of which not all may be here.
    length: u64,
    places: &'a Places,
    /// By pattern: what it matches first.
    locations: &'a mut [CaptureLocations],
    fields: &'a Fields,
}

impl Replies {
    /// What a plan says of a route of this origin.
    pub(super) fn new(route: &Route, origin: &str) -> Self {
        let each: Vec<_> =
            route.checks.iter().filter(|check| check.filters.is_empty()).cloned().collect();
        let looked_at = Self::of(&each, &route.captures, Vec::new());
        Self {
            statuses: route.statuses.clone(),
            exactly: route.exactly.as_ref().map(|text| Template::new(text)),
            messages: route.call.as_ref().map(|call| call.replies.clone()),
            looks_at_body: looked_at.looks_at_body
                || route.exactly.is_some()
                || route.call.is_some(),
            origin: origin.to_owned(),
            ..looked_at
        }
    }

    /// What is looked at by these checks, in a sample of the same replies: from now on they are kept for that.
    pub(super) fn beside(&mut self, checks: &[PlannedCheck]) -> Self {
        let looks = Self::of(checks, &[], std::mem::take(&mut self.heads));
        self.heads.clone_from(&looks.heads);
        self.keeps_body = true;
        looks
    }

    /// What the message is of which these checks hold; none: no message is awaited.
    pub(super) fn which(awaits: &[PlannedCheck]) -> Option<Self> {
        (!awaits.is_empty()).then(|| Self::of(awaits, &[], Vec::new()))
    }

    /// What is looked at, beside these heads; of no status, and of no exact body.
    fn of(checks: &[PlannedCheck], captures: &[Capture], heads: Vec<HeadName>) -> Self {
        let mut all = Self {
            statuses: Vec::new(),
            exactly: None,
            checks: Vec::new(),
            captures: Vec::new(),
            heads,
            tree: None,
            patterns: Vec::new(),
            fields: Vec::new(),
            messages: None,
            looks_at_body: false,
            counts_bytes: false,
            keeps_body: false,
            origin: String::new(),
        };
        let mut paths = Vec::new();
        for check in checks {
            let (at, name) = all.at(&check.of, &mut paths);
            all.checks.push((Check::new(check), at, name));
        }
        for capture in captures {
            let (at, name) = all.at(&capture.of, &mut paths);
            all.captures.push((capture.clone(), at, name));
        }
        all.tree = (!paths.is_empty()).then(|| Tree::new(&paths));
        all
    }

    fn at(&mut self, of: &Found, paths: &mut Vec<Path>) -> (At, String) {
        self.looks_at_body |= matches!(of, Found::Body | Found::Json(_) | Found::Regex(_));
        self.counts_bytes |= *of == Found::Bytes;
        match of {
            Found::Status => (At::Status, "status".to_owned()),
            Found::Body => (At::Body, "body".to_owned()),
            Found::Bytes => (At::Bytes, "length in bytes".to_owned()),
            Found::Json(path) => {
                let index = paths.iter().position(|known| known == path).unwrap_or(paths.len());
                if index == paths.len() {
                    paths.push(path.clone());
                }
                let at = if path.names_many() { At::Many(index) } else { At::One(index) };
                (at, path.text.clone())
            }
            Found::Header(name) => {
                (self.head_name(HeadName::Field(name.clone())), format!("header {name}"))
            }
            Found::Cookie(name) => {
                (self.head_name(HeadName::Cookie(name.clone())), format!("cookie {name}"))
            }
            Found::Regex(pattern) => {
                self.patterns.push(compiled(pattern));
                (At::Pattern(self.patterns.len() - 1), format!("match of {pattern}"))
            }
            Found::Field(place) => {
                self.fields.push(place.clone());
                (At::Field(self.fields.len() - 1), place.name.clone())
            }
        }
    }

    fn head_name(&mut self, name: HeadName) -> At {
        let index = self.heads.iter().position(|known| *known == name).unwrap_or(self.heads.len());
        if index == self.heads.len() {
            self.heads.push(name);
        }
        At::Head(index)
    }

    /// The origin that it is a route of.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// What judging its replies takes.
    pub fn scratch(&self) -> Scratch {
        let locations = self.patterns.iter().map(Regex::capture_locations);
        Scratch { locations: locations.collect(), ..Scratch::default() }
    }

    /// Another reply begins, with this head of so many bytes.
    pub fn begin<'f>(
        &self,
        coming: &mut Coming,
        status: u16,
        length: usize,
        fields: impl Iterator<Item = (&'f [u8], &'f [u8])>,
    ) {
        let Coming { heads, places, body, codings, .. } = coming;
        *codings = Codings::default();
        heads.clear();
        body.clear();
        places.clear();
        (coming.status, coming.head_length, coming.length) = (status, length as u64, 0);
        places.resize(self.heads.len(), None);
        for (name, value) in fields {
            if name.eq_ignore_ascii_case(b"content-encoding") {
                codings.add(value);
            }
            for (index, wanted) in self.heads.iter().enumerate() {
                let value = match wanted {
                    HeadName::Field(wanted) if places[index].is_some() => {
                        debug_assert!(!wanted.is_empty());
                        continue;
                    }
                    HeadName::Field(wanted) => {
                        name.eq_ignore_ascii_case(wanted.as_bytes()).then_some(value)
                    }
                    HeadName::Cookie(wanted) if name.eq_ignore_ascii_case(b"set-cookie") => {
                        let (name, value) = cookies::pair(value);
                        (name == wanted.as_bytes()).then_some(value)
                    }
                    HeadName::Cookie(_) => None,
                };
                let Some(value) = value else { continue };
                heads.extend_from_slice(value);
                places[index] = Some(heads.len() - value.len()..heads.len());
            }
        }
    }

    /// A piece of the body came, and more will.
    pub fn piece(&self, coming: &mut Coming, piece: &[u8]) {
        coming.length += piece.len() as u64;
        let is_kept = self.looks_at_body || self.keeps_body || coming.codings.is_any();
        let most = if is_kept { MOST_LOOKED_AT } else { SHOWN };
        let room = most.saturating_sub(coming.body.len());
        coming.body.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// The last piece of the body came: is the reply right? What is captured of a right one goes to the
    /// session's values.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn finish(
        &self,
        coming: &mut Coming,
        last: &[u8],
        (values, making): (&mut Values, Making),
        scratch: &mut Scratch,
    ) -> Result<(), Fault> {
        let is_at_once = coming.length == 0;
        if is_at_once {
            coming.length = last.len() as u64;
        } else {
            self.piece(coming, last);
        }
        let whole = if is_at_once { last } else { &coming.body };
        self.judge(coming, whole, (values, making), scratch)
    }

    /// Is a whole message right? What is captured of a right one goes to the session's values.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn message(
        &self,
        message: &[u8],
        known: (&mut Values, Making),
        scratch: &mut Scratch,
    ) -> Result<(), Fault> {
        let coming = Coming { length: message.len() as u64, ..Coming::default() };
        self.judge(&coming, message, known, scratch)
    }

    /// Is this whole message the one that all checks hold of? As [`message`](Self::message), without words.
    pub fn is_of(&self, message: &[u8], known: Known<'_>, scratch: &mut Scratch) -> bool {
        let Scratch { places, room, locations, fields, .. } = scratch;
        if self.tree.as_ref().is_some_and(|tree| tree.find(message, places).is_err()) {
            return false;
        }
        let (coming, length) = (&Coming::default(), message.len() as u64);
        let mut whole = Whole { coming, body: message, length, places, locations, fields };
        self.checks
            .iter()
            .all(|(check, at, _)| check.holds(&whole.seen(*at, &self.patterns), known, room))
    }

    fn judge(
        &self,
        coming: &Coming,
        body: &[u8],
        (values, making): (&mut Values, Making),
        scratch: &mut Scratch,
    ) -> Result<(), Fault> {
        let Scratch { places, room, content, locations, fields, come } = scratch;
        let (status, codings) = (coming.status, coming.codings);
        let is_long = coming.length > MOST_LOOKED_AT as u64;
        let is_right = self.is_right(status);
        // An error is shown as it was meant.
        let needed = self.looks_at_body || self.counts_bytes || !is_right;
        let undone = if codings.is_any() && needed && !is_long {
            codings.undo(body, content, MOST_LOOKED_AT).map(|()| content.as_slice())
        } else {
            Ok(body)
        };
        if !is_right {
            return Err(Fault::Status(self.wrong_status(status, undone.unwrap_or(body))));
        }
        if is_long && (self.looks_at_body || codings.is_any() && self.counts_bytes) {
            let text = format!("it is over {} MiB, too much to look at", MOST_LOOKED_AT >> 20);
            return Err(Fault::Mismatch(text));
        }
        let body = undone.map_err(Fault::Mismatch)?;
        let known = Known { values, making };
        if let Some(exactly) = &self.exactly {
            let wanted = exactly.fill(known, room);
            if wanted != body {
                return Err(Fault::Mismatch(differs(body, wanted)));
            }
        }
        if let Some(tree) = &self.tree {
            tree.find(body, places).map_err(|error| {
                Fault::Mismatch(format!("it is no JSON ({error}): '{}'", excerpt(body)))
            })?;
        }
        if let Some(messages) = self.messages.as_ref().filter(|_| status == 0) {
            come.all(messages, body, room).map_err(Fault::Mismatch)?;
            fields.find(body, &self.fields).map_err(Fault::Mismatch)?;
        }
        let length = if codings.is_any() && needed { body.len() as u64 } else { coming.length };
        let mut whole = Whole { coming, body, length, places, locations, fields };
        for (check, at, name) in &self.checks {
            let seen = whole.seen(*at, &self.patterns);
            if !check.holds(&seen, known, room) {
                let fault = check.fault(name, &seen, known);
                return Err(Fault::Mismatch(format!("{fault}: '{}'", excerpt(body))));
            }
        }
        for (capture, at, name) in &self.captures {
            let seen = whole.seen(*at, &self.patterns);
            let value = self.captured(capture, &seen).map_err(|fault| {
                Fault::Capture(format!("{name} can't be captured: {fault}, in '{}'", excerpt(body)))
            })?;
            values.set(capture.value, &value);
        }
        Ok(())
    }

    pub(super) fn are_of_calls(&self) -> bool {
        self.messages.is_some()
    }

    /// By check: what people call what it looks at.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().map(|(_, _, name)| name.as_str())
    }

    pub(super) fn exactly(&self) -> Option<&Template> {
        self.exactly.as_ref()
    }

    /// What this makes of each check, its place, its name and what it looks at; nothing of those in a document that is none.
    pub(super) fn look<T>(
        &self,
        coming: &Coming,
        (body, length): (&[u8], u64),
        scratch: &mut Scratch,
        each: impl Fn(usize, &Check, &str, &Seen<'_>) -> T,
    ) -> Vec<T> {
        let Scratch { places, locations, fields, .. } = scratch;
        // What can't be read has none of them.
        let _ = fields.find(body, &self.fields);
        let is_json = self.tree.as_ref().is_none_or(|tree| tree.find(body, places).is_ok());
        let mut whole = Whole { coming, body, length, places, locations, fields };
        let mut all = Vec::new();
        for (index, (check, at, name)) in self.checks.iter().enumerate() {
            let seen = match at {
                At::One(_) | At::Many(_) if !is_json => Seen::Nothing,
                at => whole.seen(*at, &self.patterns),
            };
            all.push(each(index, check, name, &seen));
        }
        all
    }

    pub(super) fn is_right(&self, status: u16) -> bool {
        self.statuses.iter().any(|(least, most)| (*least..=*most).contains(&status))
    }

    /// What is captured.
    fn captured<'a>(&self, capture: &Capture, seen: &Seen<'a>) -> Result<Cow<'a, [u8]>, String> {
        let Some(mut value) = seen.captured() else { return Err("it is not there".to_owned()) };
        if value.len() > capture.most {
            return Err(format!("it has {} bytes, over {}", value.len(), capture.most));
        }
        if capture.in_head && value.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
            return Err("it has a control character, and is to stand in a header field".to_owned());
        }
        if capture.leads {
            if let Some(path) = value.strip_prefix(self.origin.as_bytes()) {
                value = Cow::Owned(if path.is_empty() { b"/".to_vec() } else { path.to_vec() });
            }
            if !value.starts_with(b"/") {
                return Err(format!(
                    "it is '{}', and the target of a request begins with / or is of {}",
                    excerpt(&value),
                    self.origin
                ));
            }
        }
        Ok(value)
    }

    #[cold]
    pub(super) fn wrong_status(&self, status: u16, body: &[u8]) -> String {
        if self.are_of_calls() {
            return called::wrong_status(status, &self.statuses);
        }
        let redirect = match status {
            301 | 302 | 303 | 307 | 308 => ", a redirect, which is not followed",
            _ => "",
        };
        let wanted = self.statuses.iter().map(|(least, most)| match (least, most) {
            (200, 299) => "2xx".to_owned(),
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        });
        let wanted = wanted.collect::<Vec<_>>().join(", ");
        let shown = if body.is_empty() { String::new() } else { format!(": '{}'", excerpt(body)) };
        format!("status {status}{redirect}, not {wanted}{shown}")
    }
}

impl<'a> Whole<'a> {
    fn seen(&mut self, at: At, patterns: &[Regex]) -> Seen<'a> {
        let body = self.body;
        // Places are those of values in JSON, which is UTF-8.
        let json = |place: Range<usize>| str::from_utf8(&body[place]).unwrap_or_default();
        match at {
            At::Status => Seen::Number(self.coming.status.into()),
            At::Bytes => Seen::Number(self.length),
            At::Body => Seen::Text(body),
            At::One(path) => {
                self.places.single(path).map_or(Seen::Nothing, |place| Seen::Json(json(place)))
            }
            At::Many(path) => {
                let all = self.places.many(path);
                all.map_or(Seen::Nothing, |places| Seen::List { body, places })
            }
            At::Field(index) => self.fields.get(index).map_or(Seen::Nothing, Seen::Text),
            At::Head(index) => self.coming.head(index).map_or(Seen::Nothing, Seen::Text),
            At::Pattern(index) => {
                let (pattern, locations) = (&patterns[index], &mut self.locations[index]);
                if pattern.captures_len() == 1 {
                    return pattern
                        .find(body)
                        .map_or(Seen::Nothing, |it| Seen::Text(it.as_bytes()));
                }
                let found = pattern.captures_read(locations, body);
                let group = found.and_then(|_| locations.get(1));
                group.map_or(Seen::Nothing, |(begin, end)| Seen::Text(&body[begin..end]))
            }
        }
    }
}
