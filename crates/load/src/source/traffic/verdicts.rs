//! What each check of a route comes to for one reply, where somebody wants to see more than the first fault.
//!
//! Knows whole replies. Must not know who looks: a load stops at the first check that does not hold.

use wiretrial_proto::grpc::Status;

use super::check::{Check, differs};
use super::coming::Coming;
use super::made::Making;
use super::reply::{MOST_LOOKED_AT, Replies, Scratch};
use super::template::Known;
use super::values::Values;
use crate::source::excerpt;
use crate::source::seen::Seen;

/// What became of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// It holds.
    pub holds: bool,
    /// What was looked at, in words.
    pub came: String,
    /// What is said where it does not hold.
    pub fault: Option<String>,
}

impl Verdict {
    pub(super) fn new(came: String, fault: Option<String>) -> Self {
        Self { holds: fault.is_none(), came, fault }
    }
}

impl Replies {
    /// Of a reply of which this is the last piece: its status, its exact body, then each check. Of one with a wrong
    /// status that alone, of one that can't be read nothing behind that.
    pub fn verdicts(
        &self,
        coming: &Coming,
        last: &[u8],
        (values, making): (&Values, Making),
        scratch: &mut Scratch,
    ) -> Vec<Verdict> {
        let known = Known { values, making };
        let mut all = Vec::new();
        let whole = [coming.body(), last].concat();
        let mut content = Vec::new();
        let codings = coming.codings();
        let undone = codings.undo(&whole, &mut content, MOST_LOOKED_AT);
        let body = if undone.is_ok() { &content } else { &whole };
        // Of a call 0 is one, too.
        let called = self.are_of_calls().then_some(coming.status);
        if let Some(status) = called.or(coming.status()) {
            let fault = (!self.is_right(status)).then(|| self.wrong_status(status, body));
            let came = called.map_or_else(|| status.to_string(), |it| Status(it).to_string());
            all.push(Verdict::new(came, fault));
        }
        let is_long = coming.length_with(last) > MOST_LOOKED_AT as u64;
        if all.iter().any(|verdict| !verdict.holds) || undone.is_err() || is_long {
            return all;
        }
        if let Some(exactly) = self.exactly() {
            let mut room = Vec::new();
            let wanted = exactly.fill(known, &mut room);
            let fault = (wanted != body).then(|| differs(body, wanted));
            all.push(Verdict::new(format!("'{}'", excerpt(body)), fault));
        }
        let each = |_, check: &Check, name: &str, seen: &Seen<'_>| {
            let fault = !check.holds(seen, known, &mut Vec::new());
            Verdict::new(check.came(seen), fault.then(|| check.fault(name, seen, known)))
        };
        let length = if codings.is_any() { body.len() as u64 } else { coming.length_with(last) };
        all.extend(self.look(coming, (body, length), scratch, each));
        all
    }
}
