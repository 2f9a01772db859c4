//! What is counted and timed.
//!
//! Knows counters, histograms, intervals and snapshots. Must not know sockets,
//! protocols or who sends: it is handed timelines and outcomes.

pub mod figures;
pub mod http2;
pub mod http3;
pub mod metrics;
mod outcome;
mod recorder;
pub mod snapshot;
mod timeline;
mod times;
mod traffic;

pub use metrics::Metric;
pub use outcome::{Arrival, Class};
pub use recorder::{IntervalRecord, Recorder};
pub use timeline::Timeline;
pub use traffic::{FlowRecord, RouteRecord, TrafficStanding};
