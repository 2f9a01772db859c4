//! Streams of events over HTTP/2: what comes, what is missing, and when a stream is asked for again.

use serde_json::{Value, json};
use wiretrial_proto::http2::ErrorCode;
use wiretrial_proto::sse::NumberedEvent;

use super::{Deed, Script};
use crate::simulation::scenario::MS;

/// Events of the reference server, whose clock is another machine's.
const NUMBERED: Deed =
    Deed::Head(200, &[("content-type", "text/event-stream"), ("wiretrial-clock", "another")]);

fn event(number: u64) -> Deed {
    let mut data = Vec::new();
    NumberedEvent { number, due_ns: 0 }.write(40, &mut data);
    let text = [format!("id: {number}\ndata: ").as_bytes(), &data, b"\n\n"].concat();
    Deed::Say(text)
}

/// As long as those that are told.
fn published() -> Value {
    json!({"url": "http://127.0.0.1:9/publish", "rate": 100.0, "bytes": 40, "settle_ns": 0})
}

fn script(deeds: Vec<Vec<(u64, Deed)>>, duration: u64) -> Script {
    Script {
        deeds,
        target: json!({"url": "http://127.0.0.1:9/events", "http": {"version": "2", "sse": true}}),
        stop: json!({"duration_ns": duration * MS}),
        ..Script::default()
    }
}

/// A stream that ends, one that is reset, one whose connection ends: each is asked for again 70 ms later, behind its
/// last event.
#[test]
fn a_stream_that_ends_is_asked_for_again_behind_its_last_event() {
    let first = vec![
        (MS, NUMBERED),
        (MS, Deed::Say(b"retry: 70\n\n".to_vec())),
        (10 * MS, event(0)),
        (25 * MS, event(1)),
        (30 * MS, Deed::End(Vec::new())),
    ];
    let second =
        vec![(0, NUMBERED), (10 * MS, event(2)), (20 * MS, Deed::Reset(ErrorCode::InternalError))];
    let third = vec![(0, NUMBERED), (5 * MS, event(3)), (10 * MS, Deed::Finish)];
    let told =
        script(vec![first, second, third, vec![(0, NUMBERED), (5 * MS, event(4))]], 400).play();
    assert_eq!(
        told.seen()[..4],
        [
            "0 ms: 0/1 asks for /events",
            "100 ms: 0/3 asks for /events behind event 1",
            "190 ms: 0/5 asks for /events behind event 2",
            "270 ms: 1/1 asks for /events behind event 3",
        ]
    );
    let counters = &told.summary.counters;
    assert_eq!(counters.ok, 5, "{:?} {:?}", counters, told.summary.examples);
    // Of the first one of each stream, from its head on.
    assert_eq!(told.recorded("message_time"), [5_000, 5_000, 9_000, 10_000, 15_000]);
    assert_eq!(told.recorded("upgrade_time"), [0, 0, 0, 1_000]);
    assert_eq!(told.recorded("settings_time"), [0, 0], "of two connections");
}

/// Two streams tell what is published: how late each is, how late the last of both, and what one leaves out.
#[test]
fn each_copy_of_what_is_published_has_its_time_and_so_has_the_last_one() {
    /// Of any server: events are numbered and stamped by who publishes them.
    const PLAIN: Deed = Deed::Head(200, &[("content-type", "text/event-stream")]);
    /// The streams are asked for so long after offset 0 of the run.
    const BEGIN: u64 = 100 * MS;
    let told = |at: u64, number: u64, due: u64| {
        let mut data = Vec::new();
        NumberedEvent { number, due_ns: BEGIN + due * MS }.write(40, &mut data);
        (at * MS, Deed::Say([b"id: any\ndata: ", &data[..], b"\n\n"].concat()))
    };
    let one = vec![(0, PLAIN), told(10, 0, 5), told(20, 1, 15), told(31, 2, 25), told(36, 3, 35)];
    let other = vec![(0, PLAIN), told(30, 0, 5), told(30, 1, 15), told(40, 3, 35), told(41, 1, 15)];
    let mut script = script(vec![one, other], 100);
    script.load = json!({"connections": 1, "depth": 2, "executor": {"kind": "hold"}});
    script.publish = published();
    let told = script.play();
    assert_eq!(told.recorded("delivery_time"), [1_000, 5_000, 5_000, 5_000, 6_000, 15_000, 25_000]);
    assert_eq!(told.recorded("reach_time"), [5_000, 15_000, 25_000], "one has not heard event 2");
    let errors = &told.summary.counters.errors;
    assert_eq!(told.summary.counters.ok, 7, "{errors:?}");
    assert_eq!((errors.get("missing"), errors.get("order")), (Some(&1), Some(&1)), "{errors:?}");
    assert_eq!(errors.len(), 2, "{errors:?}");
}

/// Who hears of what is published first with event 2 has missed two.
#[test]
fn what_was_published_before_a_stream_stood_is_missing() {
    let head = Deed::Head(200, &[("content-type", "text/event-stream")]);
    let mut script = script(vec![vec![(0, head), (10 * MS, event(2))]], 50);
    script.publish = published();
    let told = script.play();
    assert_eq!(told.summary.counters.errors.get("missing"), Some(&2));
    assert_eq!(told.summary.counters.ok, 1, "{:?}", told.summary.examples);
}

#[test]
fn what_is_missing_and_what_comes_again_is_counted_at_its_place() {
    let deeds = vec![
        (0, NUMBERED),
        (MS, event(0)),
        (2 * MS, event(3)),
        (3 * MS, event(3)),
        (4 * MS, event(4)),
    ];
    let told = script(vec![deeds], 100).play();
    let errors = &told.summary.counters.errors;
    assert_eq!(told.summary.counters.ok, 3);
    assert_eq!(errors.get("missing"), Some(&2), "{errors:?}");
    assert_eq!(errors.get("order"), Some(&1), "{errors:?}");
    assert_eq!(errors.len(), 2, "{errors:?}");
}

/// Of two streams on one connection one falls silent: it is given up alone.
#[test]
fn a_silent_stream_is_given_up_alone() {
    let talks = (0..10).map(|number| (number * 30 * MS, event(number)));
    let talks = std::iter::once((0, NUMBERED)).chain(talks).collect();
    let mut script = script(vec![talks, vec![(0, NUMBERED), (10 * MS, event(0))]], 280);
    script.load = json!({"connections": 1, "depth": 2});
    script.timeout = 80 * MS;
    let told = script.play();
    assert_eq!(told.summary.counters.errors.get("timeout"), Some(&1));
    assert_eq!(told.summary.connections.opened, 1);
    assert_eq!(told.seen()[2], "90 ms: 0/3 is taken back");
    assert_eq!(told.recorded("failed_time"), [80_000]);
}
