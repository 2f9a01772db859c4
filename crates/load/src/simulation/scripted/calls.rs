//! Calls of gRPC: statuses, deadlines and streams of messages.

use serde_json::{Value, json};
use wiretrial_proto::grpc::framed;
use wiretrial_proto::http2::ErrorCode;

use super::{Deed, Script};
use crate::simulation::scenario::MS;

const HEAD: Deed = Deed::Head(200, &[("content-type", "application/grpc")]);
const OK: Deed = Deed::Trailers(&[("grpc-status", "0")]);

fn message(text: &[u8]) -> Deed {
    Deed::Say(framed([text]).expect("short"))
}

/// Calls that are all under way on one connection.
fn calls(grpc: &Value, deeds: Vec<Vec<(u64, Deed)>>) -> Script {
    let calls = deeds.len();
    Script {
        deeds,
        target: json!({
            "url": "grpc://127.0.0.1:9/demo.Shop/Get",
            "grpc": grpc,
            "expect": {"content": {"is": "status"}},
        }),
        load: json!({"connections": 1, "depth": calls}),
        stop: json!({"requests": calls}),
        ..Script::default()
    }
}

/// 50 ms are allowed: one call takes 20, one 50, one a microsecond more, and one has no end.
#[test]
fn a_call_has_failed_that_is_over_after_its_deadline() {
    let takes = |ns: u64| vec![(0, HEAD), (MS, message(b"x")), (ns, OK)];
    let deeds = vec![takes(20 * MS), takes(50 * MS), takes(50 * MS + 1_000), vec![(0, HEAD)]];
    let mut script = calls(&json!({"deadline_ns": 50 * MS}), deeds);
    script.timeout = 400 * MS;
    let told = script.play();
    let counters = &told.summary.counters;
    assert_eq!(counters.ok, 2);
    assert_eq!(
        counters.errors,
        [("deadline".to_owned(), 1), ("timeout".to_owned(), 1)].into(),
        "{:?}",
        told.summary.examples
    );
    assert_eq!(told.recorded("service_time"), [20_000, 50_000]);
    assert_eq!(told.seen()[4..], ["400 ms: 0/7 is taken back"]);
}

/// A status stands behind the content, in the head alone, or nowhere.
#[test]
fn what_a_call_came_to_is_what_its_trailers_say() {
    let missing = Deed::Trailers(&[("grpc-status", "5"), ("grpc-message", "no such thing")]);
    let deeds = vec![
        vec![(0, HEAD), (MS, message(b"x")), (2 * MS, OK)],
        vec![(0, HEAD), (3 * MS, missing)],
        vec![(0, HEAD), (MS, message(b"x")), (4 * MS, Deed::End(Vec::new()))],
        vec![(0, HEAD), (5 * MS, Deed::Reset(ErrorCode::Cancel))],
    ];
    let told = calls(&json!({}), deeds).play();
    let counters = &told.summary.counters;
    assert_eq!(counters.ok, 1);
    let classes = ["no_status", "reset", "status"].map(|class| (class.to_owned(), 1));
    assert_eq!(counters.errors, classes.into(), "{:?}", told.summary.examples);
    assert_eq!(counters.statuses.get("NOT_FOUND"), Some(&1), "{:?}", counters.statuses);
    assert_eq!(told.recorded("failed_time"), [3_000, 4_000, 5_000]);
}

/// Each message of a stream has a time of its own, that of the first from the call's send on.
#[test]
fn messages_of_a_stream_are_timed_one_by_one() {
    let deeds = vec![vec![
        (0, HEAD),
        (10 * MS, message(b"a")),
        (13 * MS, message(b"bc")),
        (40 * MS, message(b"")),
        (45 * MS, OK),
    ]];
    let told = calls(&json!({"kind": "server"}), deeds).play();
    assert_eq!((told.summary.counters.ok, told.summary.counters.messages), (1, 3));
    assert_eq!(told.recorded("message_time"), [3_000, 10_000, 27_000]);
    assert_eq!(told.recorded("service_time"), [45_000]);
}
