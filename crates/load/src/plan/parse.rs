//! From the document to the typed plan: every rule that makes a plan runnable stands here.

mod load;
mod share;
mod sse;
mod target;
mod traffic;

use std::sync::Arc;

use super::document::{ContentDocument, PLAN_SCHEMA, PLAN_VERSION, PlanDocument, SourceDocument};
use super::{ContentRule, PLACEHOLDER, PayloadPlan, Plan, PlanError, Publish, TargetUrl};

use load::{load, phases, stop};
use share::{generator, in_broadcast, in_company, share};
use target::target;
use traffic::{fits, is_origin, origin_alone, pools, speaks};

/// The most workers where the number of one stands in JSON, of which whole numbers are read up to 2 to
/// the power of 53.
const MAX_WORKERS_IN_JSON: u32 = 1 << 13;

impl Plan {
    /// Makes a document into a runnable plan.
    ///
    /// # Errors
    /// One line that names the member that is wrong, and the remedy.
    pub fn parse(mut document: PlanDocument) -> Result<Self, PlanError> {
        if document.schema != PLAN_SCHEMA {
            return wrong(format!("schema: '{}' instead of '{PLAN_SCHEMA}'", document.schema));
        }
        if document.version != PLAN_VERSION {
            return wrong(format!(
                "version: this engine reads plans of version {PLAN_VERSION}, not {}; use matching versions of both halves",
                document.version
            ));
        }
        let generator = generator(document.generator)?;
        let is_traffic = document.traffic.is_some();
        if is_traffic {
            is_origin(&TargetUrl::parse(&document.target.url)?)?;
            origin_alone(&document.target)?;
            document.target.expect.content = ContentDocument::Status;
        }
        let is_told = document.publish.is_some() && !document.target.http.sse;
        if is_told && document.target.message.source != SourceDocument::None {
            return wrong(
                "message: who hears what is published sends nothing; leave the payload out"
                    .to_owned(),
            );
        }
        let is_judged = document.target.expect.content != ContentDocument::Auto;
        if is_told && !is_judged {
            // An event says by itself which one it is.
            document.target.expect.content = ContentDocument::Status;
        }
        let headers = document.target.http.headers.clone();
        let mut target = target(document.target)?;
        if is_told && target.grpc.is_some() {
            if is_judged {
                return wrong(
                    "expect.content: a message that tells of an event says by itself which one it is; leave it out".to_owned(),
                );
            }
            // How many messages there are is no matter of a call that has no end.
            target.expect.content = ContentRule::Any;
        }
        let traffic = document
            .traffic
            .as_ref()
            .map(|it| super::traffic::traffic(it, &headers))
            .transpose()?;
        let mut load = load(&document.load, &generator, &target)?;
        let share = share(document.share.as_ref(), &load, &generator)?;
        if matches!(target.payload, PayloadPlan::Json(_)) && share.workers > MAX_WORKERS_IN_JSON {
            return wrong(format!(
                "share.workers: {} are over {MAX_WORKERS_IN_JSON}, too many for numbers in JSON; write {PLACEHOLDER} inside a string",
                share.workers
            ));
        }
        if let Some(styx) = &target.styx {
            in_company(styx.table_size, ["players", "tables"], &load, &generator)?;
        }
        if target.expect.content == ContentRule::Broadcast {
            in_broadcast(&load, share)?;
            let names = ["the connections of a broadcast", "broadcasts"];
            in_company(load.connections, names, &load, &generator)?;
        }
        let stop = stop(&document.stop, &load, is_traffic)?;
        if target.sse {
            if is_traffic {
                return wrong(
                    "http.sse: a traffic file waits for whole replies; leave --sse out".to_owned(),
                );
            }
            sse::streams(&target, &load, &stop)?;
        }
        if is_told {
            if is_traffic {
                return wrong(
                    "publish: a traffic file waits for replies; publish while streams are held, without one".to_owned(),
                );
            }
            let polls = document.publish.as_ref().is_some_and(|publish| publish.long_poll);
            sse::listeners(&target, polls, &load, &stop)?;
        }
        pools(traffic.as_ref(), &load, share, &generator)?;
        if let Some(traffic) = &traffic {
            speaks(traffic, &target)?;
            fits((traffic, target.has_streams()), &load, share, &stop)?;
            if traffic.is_conversation() {
                // A session closes its own, whatever it carried.
                load.requests_per_connection = Some(u64::MAX);
            }
        }
        let phases = phases(&document.phases)?;
        if let Some(calls) = &target.grpc {
            super::grpc::paced(calls, &target.payload, phases.timeout)?;
        }
        let publish = document.publish.as_ref();
        let heard = |it| Publish::parse(it, &target, &load, (&stop, phases, share)).map(Box::new);
        let publish = publish.map(heard).transpose()?;
        let traffic = traffic.map(Arc::new);
        Ok(Self { target, traffic, load, stop, phases, generator, share, publish })
    }
}

fn wrong<T>(what: String) -> Result<T, PlanError> {
    Err(PlanError(what))
}
