//! The observer's parsers read any text of a kernel's file: an answer, never a panic.
#![no_main]

#[path = "../../crates/observe/tests/observe/parsers.rs"]
mod parsers;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    parsers::read_all(&String::from_utf8_lossy(data));
});
