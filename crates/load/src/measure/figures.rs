//! What leaves the engine of traffic: figures of routes and flows, in the order of the plan.
//!
//! Knows the names of the JSON; must not know how the figures were made.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names of routes and flows, by whose order figures are given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficNames {
    /// Of routes.
    pub routes: Vec<String>,
    /// Of flows.
    pub flows: Vec<String>,
}

/// Traffic of an interval or a run. The counters, bytes and times of all messages are the sums of those of routes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficFigures {
    /// By route, in the order of the plan.
    pub routes: Vec<RouteFigures>,
    /// By flow, in the order of the plan.
    pub flows: Vec<FlowFigures>,
    /// Open loop: sessions that were due and have not begun, at the end of the interval.
    pub waiting: u64,
    /// Open loop: sessions that were due and were given up, because the run ended.
    pub dropped: u64,
}

/// Messages of a route. Over a whole run, `sent` = `ok` + the sum of `errors` + `in_flight`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RouteFigures {
    /// Messages whose first byte was handed to the kernel.
    pub sent: u64,
    /// Replies that came whole and were right; of conversations also messages sent that nobody is to answer.
    pub ok: u64,
    /// Messages that failed, by class.
    pub errors: BTreeMap<String, u64>,
    /// Messages sent and neither right nor failed, at the end of the interval or run.
    pub in_flight: u64,
    /// Replies of the sample that the plan's checks with filters were made of. Until they are, they are in flight.
    #[serde(default)]
    pub checked: u64,
    /// Those of them that were wrong, which are errors of the class `mismatch`, too.
    #[serde(default)]
    pub wrong: u64,
    /// Replies of the sample that were not checked, because too many waited for it: right as far as each reply is
    /// looked at.
    #[serde(default)]
    pub left_out: u64,
    /// Redirects that were followed. Neither they nor the requests that they lead to are messages of their own.
    pub followed: u64,
    /// Steps that are due and wait for a connection of a pool, at the end of the interval or of the load.
    pub blocked: u64,
    /// Bytes of requests, heads included, before TLS.
    pub bytes_sent: u64,
    /// Bytes of replies that came whole, heads included and what frames chunks left out, after TLS.
    pub bytes_received: u64,
    /// Of a run: the first excerpt per error class, for people.
    pub examples: BTreeMap<String, String>,
    /// `service_time`, in an open loop and with a pool of connections `response_time`, and with a pool `blocked_time`:
    /// HdrHistogram V2 compressed, base64; empty ones are left out.
    pub histograms: BTreeMap<String, String>,
}

/// Sessions of a flow. Over a whole run, `begun` = `done` + the sum of `failed` + `open`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlowFigures {
    /// Sessions whose first message was sent, or for which no row of data was left.
    pub begun: u64,
    /// Sessions whose every step was right.
    pub done: u64,
    /// Sessions that have ended otherwise, by the class of what failed; `feed`: no row of data was left.
    pub failed: BTreeMap<String, u64>,
    /// Of conversations: messages that came and that nothing awaited matches, by kind, which is what stands at
    /// `$.type`, or else `text` or `binary`; of too many kinds the rest are `others`.
    pub unasked: BTreeMap<String, u64>,
    /// Sessions that have begun and not ended, at the end of the interval or run.
    pub open: u64,
    /// `iteration_time` and `session_wait`, HdrHistogram V2 compressed, base64; empty ones are left out.
    pub histograms: BTreeMap<String, String>,
}
