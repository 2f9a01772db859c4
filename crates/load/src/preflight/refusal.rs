//! Why a run can't begin: a class each, and the words for people.
//!
//! Must not know how that was found.

use std::net::SocketAddr;

use wiretrial_net::{NetError, NetErrorClass};

use super::Shortage;
use crate::measure::Class;
use crate::plan::PlanError;

/// Why a run can't begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The plan itself.
    #[error("{0}")]
    Plan(#[from] PlanError),
    /// This machine: what is short, and the remedy.
    #[error("{0}")]
    Machine(String),
    /// This machine, or a server on it: too few of something for so many connections.
    #[error("{0}")]
    Capacity(Shortage),
    /// The target.
    #[error("{message}")]
    Target {
        /// How it failed.
        class: Class,
        /// One line.
        message: String,
    },
    /// Somebody stopped it first.
    #[error("interrupted before the load began")]
    Interrupted {
        /// The signal that did.
        signal: Option<i32>,
    },
}

/// What the sockets said, of which address.
pub(super) fn target(error: &NetError, address: Option<SocketAddr>) -> Refusal {
    let message = match (address, error.class()) {
        (Some(address), NetErrorClass::Refused) => {
            format!("{address}: {error}; is the server running?")
        }
        (Some(address), _) => format!("{address}: {error}"),
        (None, _) => error.to_string(),
    };
    Refusal::Target { class: Class::from(error.class()), message }
}
