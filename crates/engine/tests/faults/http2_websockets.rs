//! Rows about WebSockets on streams of HTTP/2 (RFC 8441): what fails on one costs no other a message.

use std::ops::RangeInclusive;

use crate::http2::{Row, STREAMS, check_websockets, impatient, row};

#[test]
fn a_wrong_echo_on_a_stream_is_a_mismatch_there() {
    let rows = [
        Row { fail: &[("mismatch", 100..=100)], ..row("wrong@7", 700) },
        // Each of them is two, unless there was nobody to change places with.
        Row { fail: &[("mismatch", 100..=200)], ..row("swap@7", 700) },
    ];
    check_websockets(&rows, |_| {});
}

#[test]
fn a_websocket_whose_stream_is_reset_is_opened_again() {
    let rows = [
        Row { fail: &[("reset", 100..=100)], ..row("cancel@7", 700) },
        Row { fail: &[("reset", 100..=100)], ..row("refuse@7", 700) },
    ];
    check_websockets(&rows, |_| {});
}

#[test]
fn a_silent_websocket_times_out_alone() {
    let rows = [Row { fail: &[("timeout", 4..=4)], ..row("silent@50", 200) }];
    check_websockets(&rows, impatient);
}

#[test]
fn a_goaway_between_websockets_loses_no_message() {
    check_websockets(&[Row { ends: true, ..row("goaway@50", 700) }], |_| {});
}

#[test]
fn a_connection_that_breaks_off_fails_the_messages_of_its_websockets() {
    const ALL: RangeInclusive<u64> = 1..=4 * STREAMS;
    let rows = [
        Row { fail: &[("truncated", ALL)], ends: true, ..row("truncate@90", 300) },
        Row { fail: &[("truncated", ALL)], ends: true, ..row("close@90", 300) },
        Row { fail: &[("reset", ALL)], ends: true, ..row("reset@90", 300) },
        Row { fail: &[("protocol", ALL)], ends: true, ..row("garbage@90", 300) },
    ];
    check_websockets(&rows, |_| {});
}
