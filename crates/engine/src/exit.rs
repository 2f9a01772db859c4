//! Exit codes, and the one line that goes with a bad one.

use std::io::{self, Write as _};
use std::process::ExitCode;

use wiretrial_link::LinkError;
use wiretrial_load::measure::Class;
use wiretrial_load::measure::snapshot::{End, Summary};
use wiretrial_load::plan::PlanError;
use wiretrial_load::{Refusal, RunError};
use wiretrial_observe::ObserveError;
use wiretrial_respond::RespondError;

/// The run failed.
const FAILED: u8 = 1;
/// The command line or the plan makes no sense.
const USAGE: u8 = 2;
/// It ran, and its figures can't be used.
const INVALID: u8 = 4;
/// Added to a signal's number, as shells do.
const SIGNAL: u8 = 128;

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error("{0}")]
    Usage(String),
    /// What this machine is short of, a line each.
    #[error("{0}")]
    Capacity(String),
    #[error("{0}")]
    Plan(#[from] PlanError),
    #[error("{0}")]
    Run(#[from] RunError),
    #[error("{0}")]
    Respond(#[from] RespondError),
    #[error("{0}")]
    Link(#[from] LinkError),
    #[error("{0}")]
    Observe(#[from] ObserveError),
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Failed {
    /// Says it in one line, and gives the code.
    pub(crate) fn report(&self) -> ExitCode {
        // Standard error may be closed; the code still tells.
        let _ = writeln!(io::stderr(), "wiretrial-engine: {self}");
        ExitCode::from(match self {
            Self::Usage(_)
            | Self::Plan(_)
            | Self::Link(LinkError::Name(_))
            | Self::Observe(ObserveError::Usage(_) | ObserveError::Order(_))
            | Self::Run(RunError::Refused(Refusal::Plan(_))) => USAGE,
            Self::Run(RunError::Refused(Refusal::Interrupted { signal })) => {
                signal.and_then(|number| u8::try_from(number).ok()).map_or(FAILED, |n| SIGNAL + n)
            }
            Self::Run(RunError::Worker { class: Class::Client, .. }) => INVALID,
            Self::Capacity(_)
            | Self::Run(_)
            | Self::Respond(_)
            | Self::Link(_)
            | Self::Observe(_)
            | Self::Io(_) => FAILED,
        })
    }
}

/// The code of a run that came to its end.
pub(crate) fn of(summary: &Summary) -> ExitCode {
    if summary.end == End::Interrupted {
        let signal = summary.signal.and_then(|signal| u8::try_from(signal).ok());
        return signal.map_or(ExitCode::SUCCESS, |signal| ExitCode::from(SIGNAL + signal));
    }
    let counters = &summary.counters;
    if counters.errors.contains_key("client") {
        return ExitCode::from(INVALID);
    }
    if counters.ok == 0 && counters.deliveries.ok == 0 && counters.sent > 0 {
        return ExitCode::from(FAILED);
    }
    ExitCode::SUCCESS
}
