//! A Styx server reads anything: packets or a protocol error, never a panic, the same ones however
//! the bytes were cut; and what was read can be written in either encoding and reads the same.
//!
//! Input: one byte (two bits: which encoding, over what; the rest: how many cuts), the distances
//! between the cuts, the client's bytes.
#![no_main]

#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;
#[allow(dead_code, reason = "the stage of the tests has more")]
#[path = "../../crates/proto/tests/all/styx/stage.rs"]
mod stage;

use common::{cuts_from, pieces};
use libfuzzer_sys::fuzz_target;
use stage::{FORMS, server};
use wiretrial_proto::Scratch;
use wiretrial_proto::styx::{Encoding, StyxEvent};

fuzz_target!(|data: &[u8]| {
    let Some((&control, rest)) = data.split_first() else { return };
    let Some((distances, input)) = rest.split_at_checked(usize::from(control >> 2)) else { return };
    let form = FORMS[usize::from(control & 3)];
    let cuts = cuts_from(distances, input.len());
    assert_eq!(run(form, input, &cuts), run(form, input, &[]));
});

fn run((encoding, websocket): (Encoding, bool), input: &[u8], cuts: &[usize]) -> Vec<String> {
    let mut codec = server(encoding, websocket);
    let (mut scratch, mut out, mut held) = (Scratch::new(), Vec::new(), Vec::new());
    let mut seen = Vec::new();
    for piece in pieces(input, cuts) {
        held.extend_from_slice(piece);
        loop {
            let Ok(step) = codec.receive(&mut held, &mut scratch, &mut out) else {
                seen.push("error".to_owned());
                return seen;
            };
            let over = step.event.is_none();
            match step.event {
                None => {}
                Some(StyxEvent::Close) => seen.push("close".to_owned()),
                Some(StyxEvent::Packet(packet)) => {
                    for encoding in [Encoding::Binary, Encoding::Json] {
                        let mut bytes = Vec::new();
                        encoding.append(&packet, &mut bytes);
                        // Numbers and base64 take more room than bytes.
                        if bytes.len() <= wiretrial_proto::styx::MAX_PACKET {
                            let mut room = Vec::new();
                            assert_eq!(encoding.read(&bytes, &mut room).as_ref(), Ok(&packet));
                        }
                    }
                    seen.push(format!("{packet:?}"));
                }
            }
            let consumed = step.consumed;
            held.drain(..consumed);
            if over {
                break;
            }
        }
    }
    seen
}
