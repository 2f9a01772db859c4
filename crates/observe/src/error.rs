//! Why an observation could not begin or go on.

use std::io;

/// What went wrong, in one line with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// What was asked for makes no sense; nothing was observed.
    #[error("{0}")]
    Usage(String),
    /// A line of the input is no order. The last snapshot was written.
    #[error("standard input: {0}; write `mark NAME` or `stop`")]
    Order(String),
    /// A target is not there.
    #[error("{0}")]
    Target(String),
    /// The reader of our output is gone, or its disk is full.
    #[error("the output can't be written: {0}")]
    Output(io::Error),
    /// The kernel refused to let us wait for orders.
    #[error("can't wait for orders: {0}")]
    Wait(io::Error),
}
