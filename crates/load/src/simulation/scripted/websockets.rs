//! WebSockets on streams: how long their set-up takes, apart from that of their connection.

use serde_json::json;
use wiretrial_proto::http2::ErrorCode;

use super::{Deed, Script};
use crate::simulation::scenario::MS;

const ACCEPTED: Deed = Deed::Head(200, &[]);

/// A server's frame with the right content.
fn here() -> Deed {
    Deed::Say(b"\x82\x04here".to_vec())
}

fn script(deeds: Vec<Vec<(u64, Deed)>>, streams: u32, requests: u32) -> Script {
    Script {
        deeds,
        target: json!({
            "url": "ws://127.0.0.1:9/chat",
            "http": {"version": "2"},
            "message": {"source": {"from": "sequence", "bytes": 4}},
            // "here"
            "expect": {"content": {"is": "fixed", "base64": "aGVyZQ=="}},
        }),
        load: json!({"connections": 1, "depth": streams}),
        stop: json!({"requests": requests}),
        ..Script::default()
    }
}

/// A server that looks at what came 1 ms later, and takes 5 ms for the first WebSocket and 9 ms for the second.
#[test]
fn each_websocket_is_timed_from_its_own_request_and_the_settings_apart() {
    let deeds = [5, 9].map(|after| vec![(after * MS, ACCEPTED), (20 * MS, here())]);
    let told = Script { reads_after: MS, ..script(deeds.to_vec(), 2, 2) }.play();
    assert_eq!(told.summary.counters.ok, 2, "{:?}", told.summary.examples);
    assert_eq!(told.recorded("settings_time"), [1_000]);
    assert_eq!(told.recorded("upgrade_time"), [6_000, 10_000]);
    // Nothing is sent before both stand, which is 11 ms before the replies are due.
    assert_eq!(told.recorded("service_time"), [11_000, 11_000]);
}

#[test]
fn a_websocket_in_the_place_of_another_has_a_time_of_its_own() {
    let first = vec![(2 * MS, ACCEPTED), (10 * MS, Deed::Reset(ErrorCode::InternalError))];
    let second = vec![(3 * MS, ACCEPTED), (8 * MS, here())];
    let told = script(vec![first, second], 1, 2).play();
    assert_eq!(told.summary.counters.errors.get("reset"), Some(&1));
    assert_eq!(told.summary.counters.ok, 1, "{:?}", told.summary.examples);
    assert_eq!(told.recorded("settings_time"), [0]);
    assert_eq!(told.recorded("upgrade_time"), [2_000, 3_000]);
    assert_eq!(
        told.seen()[..2],
        ["0 ms: 0/1 asks for /chat".to_owned(), "10 ms: 0/3 asks for /chat".to_owned()]
    );
}
