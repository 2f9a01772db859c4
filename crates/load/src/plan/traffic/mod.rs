//! Traffic of a plan: requests to many routes, in sessions.
//!
//! Knows what runnable traffic is. Must not know sockets or time.

pub mod document;
