//! What servers of HTTP/2 do to streams, and what comes of it.

use serde_json::json;
use wiretrial_proto::http2::ErrorCode;

use super::{Deed, Script};
use crate::measure::http2::Http2Figures;
use crate::simulation::scenario::MS;

/// A right answer, whole, after so many milliseconds.
pub(super) fn answered(after: u64) -> Vec<(u64, Deed)> {
    vec![(after * MS, Deed::Head(200, &[])), (after * MS, Deed::End(b"here".to_vec()))]
}

/// Requests that are all in flight on one connection.
fn together(deeds: Vec<Vec<(u64, Deed)>>, requests: u64) -> Script {
    Script {
        deeds,
        load: json!({"connections": 1, "depth": requests}),
        stop: json!({"requests": requests}),
        ..Script::default()
    }
}

#[test]
fn a_reply_takes_as_long_as_its_own_stream() {
    let slow = vec![
        (5 * MS, Deed::Head(200, &[])),
        (6 * MS, Deed::Say(b"he".to_vec())),
        (30 * MS, Deed::End(b"re".to_vec())),
    ];
    let told = together(vec![slow, answered(10), answered(20)], 3).play();
    assert_eq!(told.summary.counters.ok, 3);
    assert_eq!(told.recorded("service_time"), [10_000, 20_000, 30_000]);
    assert_eq!(told.recorded("first_byte_time"), [6_000, 10_000, 20_000]);
    let lasted = told.summary.measure_end_ns - told.summary.first_send_ns;
    assert_eq!(lasted, 30 * MS, "no stream waits for another");
}

/// 100 bytes through a window of 40, whose server looks 25 ms after they came: 40, 40, 20.
#[test]
fn content_waits_for_a_window_as_long_as_its_server_does() {
    let script = Script {
        deeds: vec![answered(0)],
        window: 40,
        reads_after: 25 * MS,
        target: json!({
            "url": "http://127.0.0.1:9/page",
            "http": {"version": "2"},
            "message": {"source": {"from": "sequence", "bytes": 100}},
            "expect": {"content": {"is": "status"}},
        }),
        ..Script::default()
    };
    let told = script.play();
    assert_eq!(told.summary.counters.ok, 1);
    assert_eq!(told.recorded("service_time"), [75_000]);
    let expected =
        Http2Figures { sends_held: 1, held_by_stream_ns: 50 * MS, ..Http2Figures::default() };
    assert_eq!(told.summary.http2, Some(expected));
}

/// The server answers two of four, and says that it has not begun the others.
#[test]
fn what_a_goodbye_leaves_out_goes_again_on_a_new_connection() {
    let mut first = answered(10);
    first.push((10 * MS, Deed::Leave(3)));
    let told =
        together(vec![first, answered(30), vec![], vec![], answered(5), answered(7)], 4).play();
    assert_eq!(told.summary.counters.sent, 4, "nothing is sent twice");
    assert_eq!((told.summary.counters.ok, told.summary.http2.map(|it| it.goaways)), (4, Some(1)));
    assert_eq!(
        told.seen(),
        [
            "0 ms: 0/1 asks for /page",
            "0 ms: 0/3 asks for /page",
            "0 ms: 0/5 asks for /page",
            "0 ms: 0/7 asks for /page",
            "30 ms: 1/1 asks for /page",
            "30 ms: 1/3 asks for /page",
        ]
    );
    assert_eq!(told.recorded("service_time"), [10_000, 30_000, 35_000, 37_000]);
    assert_eq!((told.summary.connections.opened, told.summary.counters.errors.len()), (2, 0));
}

/// Of two that the server goes on with one fails at last. What it left out goes again, and does not wait for more of it.
#[test]
fn a_server_that_has_left_is_left_behind_a_reply_that_fails() {
    let mut first = answered(10);
    first.push((10 * MS, Deed::Leave(3)));
    let broken_off = vec![(20 * MS, Deed::Reset(ErrorCode::InternalError))];
    let told = together(vec![first, broken_off, vec![], answered(5)], 3).play();
    assert_eq!((told.summary.counters.sent, told.summary.counters.ok), (3, 2));
    assert_eq!(told.summary.counters.errors, [("reset".to_owned(), 1)].into());
    assert_eq!(told.seen()[3..], ["20 ms: 1/1 asks for /page"]);
    assert_eq!(told.recorded("service_time"), [10_000, 25_000]);
    assert_eq!(told.summary.connections.closed, [("server".to_owned(), 1)].into());
}

/// The one that it goes on with is never answered: it is taken back, and nothing else follows on that connection.
#[test]
fn a_server_that_has_left_is_left_behind_a_reply_that_does_not_come() {
    let mut first = vec![(9 * MS, Deed::Leave(3))];
    first.extend(answered(10));
    let mut script = together(vec![first, vec![], answered(5)], 3);
    script.load["depth"] = json!(2);
    script.timeout = 80 * MS;
    let told = script.play();
    assert_eq!((told.summary.counters.sent, told.summary.counters.ok), (3, 2));
    assert_eq!(told.summary.counters.errors, [("timeout".to_owned(), 1)].into());
    assert_eq!(
        told.seen()[2..],
        ["80 ms: 0/3 is taken back", "80 ms: 1/1 asks for /page"],
        "the third waited for a connection on which it may go"
    );
    assert_eq!(told.recorded("service_time"), [5_000, 10_000]);
}

#[test]
fn a_reset_is_its_own_message_s_alone_and_a_refusal_goes_again() {
    let broken_off = vec![
        (5 * MS, Deed::Head(200, &[])),
        (8 * MS, Deed::Say(b"he".to_vec())),
        (20 * MS, Deed::Reset(ErrorCode::InternalError)),
    ];
    let refused = vec![(5 * MS, Deed::Reset(ErrorCode::RefusedStream))];
    let cancelled = vec![(7 * MS, Deed::Reset(ErrorCode::Cancel))];
    let told = together(vec![refused, cancelled, broken_off, answered(10)], 3).play();
    assert_eq!(told.summary.counters.ok, 1);
    assert_eq!(told.summary.counters.errors, [("reset".to_owned(), 2)].into());
    assert_eq!(told.recorded("failed_time"), [7_000, 20_000]);
    assert_eq!(told.summary.http2.map(|it| it.refused), Some(1));
    assert_eq!(told.log.last().map(|(at, _)| *at), Some(5 * MS), "at once, on the same connection");
    assert_eq!(told.summary.connections.opened, 1);
}

#[test]
fn what_is_in_flight_is_lost_with_its_connection_and_nothing_else() {
    let mut first = answered(10);
    first.push((12 * MS, Deed::Finish));
    let mut script = together(vec![first, vec![], vec![], answered(4)], 4);
    script.load["depth"] = json!(3);
    let told = script.play();
    assert_eq!((told.summary.counters.sent, told.summary.counters.ok), (4, 1));
    assert_eq!(told.summary.counters.errors, [("truncated".to_owned(), 3)].into());
    // Two were asked for at first, and one when the first was answered.
    assert_eq!(told.recorded("failed_time"), [2_000, 12_000, 12_000]);
}

#[test]
fn what_a_broken_connection_takes_with_it_is_told_from_what_an_ended_one_does() {
    let mut first = vec![(5 * MS, Deed::Head(200, &[])), (6 * MS, Deed::Say(b"he".to_vec()))];
    first.push((12 * MS, Deed::Break));
    let told = together(vec![first, vec![]], 2).play();
    assert_eq!(told.summary.counters.errors, [("reset".to_owned(), 2)].into());
    assert_eq!(told.recorded("failed_time"), [12_000, 12_000]);
}

/// What is not answered in time fails alone, and its server is told so.
#[test]
fn a_message_without_an_answer_is_taken_back_while_others_go_on() {
    let mut script = together(vec![vec![], answered(50), answered(50), answered(50)], 4);
    script.load["depth"] = json!(2);
    script.timeout = 80 * MS;
    let told = script.play();
    assert_eq!(told.summary.counters.ok, 3);
    assert_eq!(told.summary.counters.errors, [("timeout".to_owned(), 1)].into());
    assert_eq!(told.seen()[3..], ["80 ms: 0/1 is taken back", "80 ms: 0/7 asks for /page"]);
    assert_eq!(told.recorded("service_time"), [50_000, 50_000, 50_000]);
}
