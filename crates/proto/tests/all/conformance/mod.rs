//! RFC 9110 and RFC 9112, requirement by requirement, as they bind the two codecs.
//!
//! `docs/conformance-http.md` names the test of each requirement; `tests/test_conformance.py`
//! keeps the two together. What needs sockets is in `crates/respond/tests/all/conformance.rs`.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod reading;
mod refusing;
mod sending;
mod serving;
mod smuggling;
