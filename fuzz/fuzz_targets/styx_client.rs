//! A Styx player reads anything: events or a protocol error, never a panic, and the same ones
//! however the bytes were cut.
//!
//! Input: one byte (two bits: which encoding, over what; one: does the player sit; the rest: how
//! many cuts), the distances between the cuts, the server's bytes.
#![no_main]

#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;
#[allow(dead_code, reason = "the stage of the tests has more")]
#[path = "../../crates/proto/tests/all/styx/stage.rs"]
mod stage;

use common::{Seen, cuts_from, run_client};
use libfuzzer_sys::fuzz_target;
use stage::{FORMS, seated, started};

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(control >> 3)) else { return };
    let (encoding, websocket) = FORMS[usize::from(control & 3)];
    let sits = control & 4 != 0;
    let fresh = || if sits { seated(encoding, websocket) } else { started(encoding, websocket).0 };
    let cuts = cuts_from(distances, input.len());
    let whole = run_client(&mut fresh(), input, &[], true);
    assert_eq!(run_client(&mut fresh(), input, &cuts, true), whole);
    let mut open = sits;
    for seen in whole.seen {
        match seen {
            Seen::Open => assert!(!std::mem::replace(&mut open, true), "it sits only once"),
            Seen::Delivery(_) => assert!(open, "nobody stands at a table"),
            Seen::Bulletin(_) => {}
            Seen::Close(_) => assert!(websocket),
            Seen::Error(_) => {}
            other => panic!("{other:?}"),
        }
    }
});
