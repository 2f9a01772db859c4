//! New connections to a server that is ten milliseconds away: when the first request goes, and what it may do before the
//! server's settings are there.

use serde_json::{Value, json};
use wiretrial_proto::grpc::framed;

use super::streams::answered;
use super::{Deed, Script};
use crate::measure::http2::Http2Figures;
use crate::simulation::scenario::MS;

/// A server ten milliseconds away.
fn far(deeds: Vec<Vec<(u64, Deed)>>, load: Value, requests: u64) -> Script {
    Script { deeds, way: 10 * MS, load, stop: json!({"requests": requests}), ..Script::default() }
}

/// A connection for each: a round trip for TCP and one for the exchange. The settings are there with the reply.
#[test]
fn a_request_on_a_new_connection_takes_two_round_trips() {
    let load = json!({"connections": 1, "requests_per_connection": 1});
    let told = far(vec![answered(0); 3], load, 3).play();
    assert_eq!(told.summary.counters.ok, 3, "{:?}", told.summary.examples);
    assert_eq!(told.recorded("service_time"), [40_000; 3]);
    assert_eq!(told.recorded("connect_time"), [20_000; 3]);
    assert_eq!(told.recorded("settings_time"), [20_000; 3]);
    assert_eq!(
        told.seen(),
        ["0 ms: 0/1 asks for /page", "40 ms: 1/1 asks for /page", "80 ms: 2/1 asks for /page"]
    );
    assert_eq!(told.summary.connections.opened, 3);
}

/// The server leaves behind its first reply. The next request takes a round trip for TCP, and goes at once.
#[test]
fn a_kept_connection_that_is_opened_anew_carries_the_next_request_at_once() {
    let mut first = answered(0);
    first.push((0, Deed::Leave(1)));
    let told = far(vec![first, answered(0)], json!({"connections": 1}), 2).play();
    assert_eq!(told.summary.counters.ok, 2, "{:?}", told.summary.examples);
    assert_eq!(told.seen(), ["0 ms: 0/1 asks for /page", "40 ms: 1/1 asks for /page"]);
    assert_eq!(told.recorded("service_time"), [20_000; 2], "both connections stood");
    assert_eq!(told.recorded("settings_time"), [20_000; 2]);
}

/// Four are in flight where the server allows two: it refuses the others, which go again when the first are answered.
#[test]
fn what_is_over_the_server_s_limit_goes_again_on_the_same_connection() {
    let load = json!({"connections": 1, "depth": 4, "requests_per_connection": 4});
    let deeds = vec![answered(5), answered(5), answered(0), answered(0)];
    let told = Script { streams: 2, ..far(deeds, load, 4) }.play();
    let summary = &told.summary;
    assert_eq!((summary.counters.ok, summary.counters.sent), (4, 4), "{:?}", summary.examples);
    assert_eq!(summary.http2.map(|it| it.refused), Some(2));
    assert_eq!(told.recorded("service_time"), [45_000, 45_000, 65_000, 65_000]);
    assert_eq!(summary.connections.opened, 1);
    assert_eq!(
        told.seen(),
        [
            "0 ms: 0/1 asks for /page",
            "0 ms: 0/3 asks for /page",
            "25 ms: 0/9 asks for /page",
            "25 ms: 0/11 asks for /page",
        ]
    );
}

/// 65,535 bytes go with the request. The rest waits a round trip until the server allows more, and that is told.
#[test]
fn content_beyond_the_first_window_waits_for_the_settings() {
    let load = json!({"connections": 1, "requests_per_connection": 1});
    let mut script = far(vec![answered(0)], load, 1);
    script.target["message"] = json!({"source": {"from": "sequence", "bytes": 100_000}});
    script.target["expect"] = json!({"content": {"is": "status"}});
    let told = script.play();
    assert_eq!(told.summary.counters.ok, 1, "{:?}", told.summary.examples);
    assert_eq!(told.recorded("service_time"), [60_000]);
    let expected =
        Http2Figures { sends_held: 1, held_by_stream_ns: 20 * MS, ..Http2Figures::default() };
    assert_eq!(told.summary.http2, Some(expected));
}

/// Clients of gRPC wait for the settings: TCP, the settings and the call are three round trips.
#[test]
fn a_call_on_a_new_connection_takes_three_round_trips() {
    let reply = framed([&b"x"[..]]).expect("short");
    let call = vec![
        (0, Deed::Head(200, &[("content-type", "application/grpc")])),
        (0, Deed::Say(reply)),
        (0, Deed::Trailers(&[("grpc-status", "0")])),
    ];
    let load = json!({"connections": 1, "requests_per_connection": 1});
    let target = json!({
        "url": "grpc://127.0.0.1:9/demo.Shop/Get",
        "grpc": {},
        "expect": {"content": {"is": "status"}},
    });
    let told = Script { target, ..far(vec![call], load, 1) }.play();
    assert_eq!(told.summary.counters.ok, 1, "{:?}", told.summary.examples);
    assert_eq!(told.recorded("service_time"), [60_000]);
    assert_eq!(told.recorded("settings_time"), [20_000]);
}
