//! Requests to many routes, and what right replies to them are, ready to be sent and asked.
//!
//! Knows what a session knows. Must not know who sends, when, nor how anything is framed.

mod called;
mod check;
mod coding;
mod coming;
mod cookies;
mod deep;
mod filter;
mod made;
mod redirect;
mod reply;
mod request;
mod template;
#[cfg(test)]
mod tests;
mod tree;
mod values;
mod verdicts;

pub(crate) use coding::Codings;
pub use coming::Coming;
pub use cookies::Jar;
pub use deep::Deep;
pub use made::Making;
pub use redirect::{is_redirect, only_gets, resolve};
pub use reply::{Fault, Replies, Scratch};
pub use request::{Opening, Request, Requests, Room};
pub use template::Known;
pub use values::Values;
pub use verdicts::Verdict;

use crate::clock::Nanos;
use crate::plan::Plan;
use crate::plan::traffic::Traffic;

/// All routes of a plan, ready to be used.
#[derive(Debug)]
pub struct Routes(Vec<Route>);

/// One route.
#[derive(Debug)]
pub struct Route {
    /// By which it is counted.
    pub name: String,
    /// What makes its requests.
    pub requests: Requests,
    /// What right replies are.
    pub replies: Replies,
    /// What is looked at in a sample of right replies only; none: nothing is.
    pub deep: Option<Box<Deep>>,
    /// Where redirects are followed: how often, and which heads its requests have then.
    pub follow: Option<Follow>,
    /// Of a step of a conversation: which message is awaited; none: none is.
    pub awaits: Option<Replies>,
    /// Its requests are calls of gRPC: how long each may take.
    pub call: Option<Option<Nanos>>,
}

impl Route {
    /// Why a reply to a call that took so long is too late; none: it is not.
    pub fn late(&self, elapsed: Nanos) -> Option<String> {
        let deadline = self.call.flatten().filter(|deadline| elapsed > *deadline)?;
        let (elapsed, deadline) = (elapsed.0 / 1_000_000, deadline.0 / 1_000_000);
        Some(format!(
            "a reply {elapsed} ms after its call was sent, behind its deadline of {deadline} ms"
        ))
    }

    /// What becomes of each check of a reply of which this is the last piece, those of a sample last.
    pub fn verdicts(
        &self,
        coming: &Coming,
        last: &[u8],
        known: (&Values, Making),
        scratch: &mut Scratch,
    ) -> Vec<Verdict> {
        let mut all = self.replies.verdicts(coming, last, known, scratch);
        let is_right = all.first().is_some_and(|status| status.holds);
        if let Some(deep) = self.deep.as_ref().filter(|_| is_right) {
            let (values, making) = known;
            all.extend(deep.verdicts(coming, last, Known { values, making }));
        }
        all
    }
}

/// How a route's redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Follow {
    /// So many at most.
    pub most: u32,
    /// Number of the head of a request like the route's own, but for its target.
    pub same: usize,
    /// Of one that only gets.
    pub get: usize,
}

impl Routes {
    /// Those of this traffic.
    pub fn new(traffic: &Traffic, plan: &Plan) -> Self {
        let url = &plan.target.url;
        let origin = format!("{}://{}", url.http_scheme(), url.authority);
        // The heads of redirected requests have numbers behind those of routes.
        let mut heads = traffic.routes.len()..;
        let mut follow = |most: u32| {
            let pair = if most > 0 { heads.next().zip(heads.next()) } else { None };
            pair.map(|(same, get)| Follow { most, same, get })
        };
        let route = |route: &crate::plan::traffic::Route| {
            let mut replies = Replies::new(route, &origin);
            Route {
                name: route.name.clone(),
                requests: Requests::new(route),
                deep: Deep::new(&route.checks, &mut replies).map(Box::new),
                replies,
                follow: follow(route.follow),
                call: route.call.as_ref().map(|call| call.deadline),
                awaits: route.line.as_ref().and_then(|line| Replies::which(&line.awaits)),
            }
        };
        Self(traffic.routes.iter().map(route).collect())
    }

    /// Is anything looked at in a sample of replies only?
    pub fn are_deep(&self) -> bool {
        self.0.iter().any(|route| route.deep.is_some())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The one with this index.
    #[inline]
    pub fn get(&self, index: usize) -> &Route {
        &self.0[index]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Route> {
        self.0.iter()
    }
}
