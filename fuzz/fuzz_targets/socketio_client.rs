//! A Socket.IO client reads anything: events or a protocol error, never a panic, and the same ones
//! however the bytes were cut.
//!
//! Input: one byte (its lowest bit: is the namespace entered; the next: are the rest lines of text,
//! each a message, or frames as they are; the rest: how many cuts), the distances between the cuts,
//! the server's bytes.
#![no_main]

#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;
#[allow(dead_code, reason = "the stage of the tests has more")]
#[path = "../../crates/proto/tests/all/socketio/stage.rs"]
mod stage;

use std::borrow::Cow;

use common::{Seen, cuts_from, run_client};
use libfuzzer_sys::fuzz_target;
use stage::{LIMIT, messages, open, told_events, told_events_upgraded, upgraded};

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let Some((distances, rest)) = rest.split_at_checked(usize::from(control >> 2)) else { return };
    let entered = control & 1 != 0;
    let input = if control & 2 == 0 {
        Cow::Borrowed(rest)
    } else {
        let text = String::from_utf8_lossy(rest);
        Cow::Owned(messages(&text.split('\n').collect::<Vec<_>>()))
    };
    let cuts = cuts_from(distances, input.len());
    // One that reports events, and one that does not.
    let clients = if entered { [open, told_events] } else { [upgraded, told_events_upgraded] };
    for fresh in clients {
        let whole = run_client(&mut fresh(), &input, &[], true);
        assert_eq!(run_client(&mut fresh(), &input, &cuts, true), whole);
        let mut open = entered;
        for seen in whole.seen {
            match seen {
                Seen::Open => assert!(!std::mem::replace(&mut open, true), "it opens only once"),
                Seen::Reply { payload, .. } => {
                    assert!(open, "nothing is reported before");
                    assert_eq!(payload.first(), Some(&b'['));
                    assert!(payload.len() as u64 <= LIMIT);
                }
                _ => {}
            }
        }
    }
});
