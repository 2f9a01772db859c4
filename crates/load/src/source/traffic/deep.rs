//! Checks that are too dear for each reply: those with filters.
//!
//! Knows whole replies, kept for it. Must not know which of them are looked at, nor on whose time.

use super::check::Check;
use super::coming::Coming;
use super::filter::{Came, Filter};
use super::reply::{MOST_LOOKED_AT, Replies};
use super::template::Known;
use super::verdicts::Verdict;
use crate::plan::traffic::{Check as Planned, Filter as PlannedFilter, Found};
use crate::source::excerpt;
use crate::source::seen::Seen;

/// What must hold of those replies of a route that are looked at so.
#[derive(Debug)]
pub struct Deep {
    /// What is looked at, and how it is tested.
    looks: Replies,
    /// By check: what is made of it between the two, and its name after that.
    filters: Vec<(Vec<Filter>, String)>,
}

impl Deep {
    /// What the plan says of replies that these are right ones of; none: nothing that is too dear.
    pub(super) fn new(checks: &[Planned], replies: &mut Replies) -> Option<Self> {
        let checks: Vec<_> =
            checks.iter().filter(|check| !check.filters.is_empty()).cloned().collect();
        if checks.is_empty() {
            return None;
        }
        let looks = replies.beside(&checks);
        let filters = checks.iter().zip(looks.names()).map(|(check, name)| {
            let filters: Vec<_> = check.filters.iter().map(Filter::new).collect();
            let name = name_after(check, &filters, name);
            (filters, name)
        });
        Some(Self { filters: filters.collect(), looks })
    }

    /// What is wrong with a reply that is [kept](Coming::keep) whole, if anything is.
    pub fn fault(&self, coming: &Coming, known: Known<'_>) -> Option<String> {
        match content(coming, &coming.body) {
            Err(fault) => Some(fault),
            Ok(content) => {
                let all = self.look(coming, &content, known);
                let fault = all.into_iter().find_map(|verdict| verdict.fault)?;
                Some(format!("{fault}: '{}'", excerpt(&content)))
            }
        }
    }

    /// What becomes of each check of a reply of which this is the last piece; nothing of one that can't be read.
    pub(super) fn verdicts(&self, coming: &Coming, last: &[u8], known: Known<'_>) -> Vec<Verdict> {
        let whole = [coming.body(), last].concat();
        content(coming, &whole).map_or(Vec::new(), |content| self.look(coming, &content, known))
    }

    fn look(&self, coming: &Coming, body: &[u8], known: Known<'_>) -> Vec<Verdict> {
        let (body, mut scratch) = ((body, body.len() as u64), self.looks.scratch());
        self.looks.look(coming, body, &mut scratch, |place, check, _, seen| {
            self.verdict(place, check, seen, known)
        })
    }

    fn verdict(&self, place: usize, check: &Check, seen: &Seen<'_>, known: Known<'_>) -> Verdict {
        let (filters, name) = &self.filters[place];
        let made = filters.iter().try_fold(Came::of(seen), |came, filter| filter.apply(&came));
        match made {
            Err(fault) => Verdict::new(seen.shown(), Some(format!("{name}: {fault}"))),
            Ok(made) => made.seen(|seen| {
                let holds = check.holds(seen, known, &mut Vec::new());
                Verdict::new(check.came(seen), (!holds).then(|| check.fault(name, seen, known)))
            }),
        }
    }
}

/// What a body was before it was compressed.
fn content(coming: &Coming, body: &[u8]) -> Result<Vec<u8>, String> {
    if coming.length.max(body.len() as u64) > MOST_LOOKED_AT as u64 {
        return Err(format!("it is over {} MiB, too much to look at", MOST_LOOKED_AT >> 20));
    }
    let mut content = Vec::new();
    coming.codings.undo(body, &mut content, MOST_LOOKED_AT)?;
    Ok(content)
}

/// What people are told by: what is looked at, and the words of the filters. A path of the body stands for both.
fn name_after(check: &Planned, filters: &[Filter], name: &str) -> String {
    let (mut words, mut first) = (vec![name.to_owned()], 0);
    if let (Found::Body, Some(PlannedFilter::Jsonpath(path))) = (&check.of, check.filters.first()) {
        (words, first) = (vec![path.clone()], 1);
    }
    for (planned, filter) in check.filters.iter().zip(filters).skip(first) {
        words.push(match planned {
            PlannedFilter::Jsonpath(path) => path.clone(),
            _ => filter.word(),
        });
    }
    words.join(" ")
}
