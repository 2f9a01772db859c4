//! A scenario: a plan, the peers' manners, the machine's nature.
//!
//! Knows what a seed says. Must not know how that is drawn, nor how it is played.

use wiretrial_net::simulation::Nature;
use wiretrial_proto::websocket::DeflateConfig;

use super::secure::Secrets;
use super::spoken::{Right, Spoken};
use crate::clock::Nanos;
use crate::plan::Plan;

/// One microsecond.
pub(super) const US: u64 = 1_000;
/// One millisecond.
pub(super) const MS: u64 = 1_000_000;

/// All that a seed says.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) plan: Plan,
    pub(super) nature: Nature,
    pub(super) manners: Manners,
    /// The run is asked to stop.
    pub(super) stop_at: Option<u64>,
    /// In one of so many turns a reply is judged that waits for it; 0: never.
    pub(super) judges_once_in: u64,
}

/// How the peers behave.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a world")]
pub(super) struct Manners {
    pub(super) seed: u64,
    pub(super) spoken: Spoken,
    pub(super) right: Right,
    /// Nothing bad ever happens.
    pub(super) good: bool,
    /// Nothing bad happens but to single messages, of which others on their connection know nothing.
    pub(super) mild: bool,
    /// From then on every new connection is served well, and those that are not end.
    pub(super) calm_at: u64,
    /// One connection in so many meets with something bad, until then.
    pub(super) bad_once_in: u64,
    /// Faults to draw from.
    pub(super) lies: bool,
    /// Longest time that a reply takes, nanoseconds.
    pub(super) service: u64,
    /// Longest pieces in which replies come, bytes.
    pub(super) piece: usize,
    /// Longest gap between two pieces, nanoseconds.
    pub(super) gap: u64,
    /// Longest time of a connect, nanoseconds.
    pub(super) connect: u64,
    /// Greetings on each connection.
    pub(super) greetings: u8,
    /// Text messages.
    pub(super) text: bool,
    /// No two requests carry the same.
    pub(super) differ: bool,
    /// How far messages are compressed.
    pub(super) deflate: Option<DeflateConfig>,
    /// Replies that name their message come in any order.
    pub(super) reorders: bool,
    /// Some requests are answered with a redirect first.
    pub(super) redirects: bool,
    /// The players of a table have numbers that do not follow one another.
    pub(super) scattered: bool,
    /// Bytes travel inside TLS.
    pub(super) secrets: Option<Secrets>,
}

impl Manners {
    /// A right reply is right for one request only.
    pub(super) fn is_distinct(&self) -> bool {
        let by_number = matches!(
            self.right,
            Right::Echo { .. } | Right::Copies | Right::Packets | Right::Routes | Right::Talk
        );
        self.differ && by_number
    }

    /// The number of the player with this name.
    pub(super) fn player(&self, name: &str) -> i32 {
        let digits = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let number: i32 = digits.parse().unwrap_or_default();
        if self.scattered { number.wrapping_mul(-7_919_191) } else { number }
    }
}

impl Scenario {
    /// What the plan needs at the latest, were it to run without a fault.
    pub(super) fn latest_end(&self) -> Nanos {
        let phases = self.plan.phases;
        let load = self.plan.stop.duration.unwrap_or(Nanos(60_000 * MS));
        let around = phases.connect + phases.warmup + phases.interval;
        around + load + phases.timeout.max(phases.drain) + Nanos(5_000 * MS)
    }
}
