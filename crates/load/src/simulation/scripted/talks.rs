//! Calls of gRPC whose messages go one by one: when each goes, and how long its answer took.

use serde_json::{Value, json};
use wiretrial_proto::grpc::framed;
use wiretrial_proto::http2::ErrorCode;

use super::{Deed, Script, Told};
use crate::simulation::scenario::MS;

const HEAD: Deed = Deed::Head(200, &[("content-type", "application/grpc")]);
const OK: Deed = Deed::Trailers(&[("grpc-status", "0")]);

fn answer() -> Deed {
    Deed::Say(framed([&b"x"[..]]).expect("short"))
}

/// One call of three messages of two bytes: what is done to each, and to the end.
fn call(grpc: &Value, on_message: Vec<Vec<(u64, Deed)>>, end: Vec<(u64, Deed)>) -> Script {
    Script {
        deeds: vec![end],
        on_message,
        target: json!({
            "url": "grpc://127.0.0.1:9/demo.Shop/Talk",
            "message": {"source": {"from": "list", "base64": ["AAA=", "AAA=", "AAA="]}},
            "grpc": grpc,
            "expect": {"content": {"is": "status"}},
        }),
        ..Script::default()
    }
}

/// When the messages went, of all that the server saw.
fn said(told: &Told) -> Vec<String> {
    told.seen().into_iter().filter(|what| what.contains("says")).collect()
}

/// A message goes every 10 ms, whatever is answered; its answer counts from when it was due.
#[test]
fn messages_go_at_their_instants() {
    let answers = vec![
        vec![(0, HEAD), (2 * MS, answer())],
        vec![(15 * MS, answer())],
        vec![(9 * MS, answer())],
    ];
    let grpc = json!({"kind": "bidi", "message_interval_ns": 10 * MS});
    let told = call(&grpc, answers, vec![(30 * MS, OK)]).play();
    assert_eq!(told.summary.counters.ok, 1, "{:?}", told.summary.examples);
    let at = |ms: u64| format!("{ms} ms: 0/1 says 7 bytes");
    assert_eq!(said(&told), [at(0), at(10), at(20)]);
    assert_eq!(told.recorded("message_time"), [2_000, 9_000, 15_000]);
    assert_eq!(told.recorded("service_time"), [50_000]);
}

/// The same where the server says nothing before the end.
#[test]
fn messages_of_a_stream_to_the_server_go_at_their_instants() {
    let grpc = json!({"kind": "client", "message_interval_ns": 7 * MS});
    let nothing = vec![vec![]];
    let told = call(&grpc, nothing, vec![(0, HEAD), (0, answer()), (MS, OK)]).play();
    assert_eq!(told.summary.counters.ok, 1, "{:?}", told.summary.examples);
    let at = |ms: u64| format!("{ms} ms: 0/1 says 7 bytes");
    assert_eq!(said(&told), [at(0), at(7), at(14)]);
    assert_eq!(told.recorded("service_time"), [15_000]);
}

/// The next message goes when the one before it is answered, and each has its round trip.
#[test]
fn in_turns_each_message_waits_for_the_answer_before_it() {
    let answers = vec![
        vec![(0, HEAD), (5 * MS, answer())],
        vec![(7 * MS, answer())],
        vec![(3 * MS, answer())],
    ];
    let grpc = json!({"kind": "bidi", "turns": true});
    let told = call(&grpc, answers, vec![(20 * MS, OK)]).play();
    assert_eq!(told.summary.counters.ok, 1, "{:?}", told.summary.examples);
    let at = |ms: u64| format!("{ms} ms: 0/1 says 7 bytes");
    assert_eq!(said(&told), [at(0), at(5), at(12)]);
    assert_eq!(told.recorded("message_time"), [3_000, 5_000, 7_000]);
    assert_eq!(told.recorded("service_time"), [32_000]);
}

/// Answers that nothing was said for count from the one before them, and ask for no message.
#[test]
fn answers_beyond_the_messages_are_counted_as_of_any_stream() {
    let answers = vec![
        vec![(0, HEAD), (5 * MS, answer())],
        vec![(4 * MS, answer())],
        vec![(2 * MS, answer()), (8 * MS, answer())],
    ];
    let grpc = json!({"kind": "bidi", "turns": true});
    let told = call(&grpc, answers, vec![(20 * MS, OK)]).play();
    assert_eq!((told.summary.counters.ok, told.summary.counters.messages), (1, 4));
    assert_eq!(told.recorded("message_time"), [2_000, 4_000, 5_000, 6_000]);
}

/// A server may answer before it has heard all: nothing more is said then, and another call goes on.
#[test]
fn a_call_that_is_over_is_over() {
    for (grpc, of_second) in [
        (json!({"kind": "bidi", "message_interval_ns": 10 * MS}), &[1, 11, 21][..]),
        (json!({"kind": "bidi", "turns": true}), &[1]),
    ] {
        let early = vec![(0, HEAD), (MS, answer()), (MS, OK)];
        let mut script = call(&grpc, vec![early, vec![(0, HEAD), (30 * MS, OK)]], vec![]);
        script.stop = json!({"requests": 2});
        let told = script.play();
        assert_eq!(told.summary.counters.ok, 2, "{:?}", told.summary.examples);
        let first = ["0 ms: 0/1 says 7 bytes".to_owned()].into_iter();
        let second = of_second.iter().map(|ms| format!("{ms} ms: 0/3 says 7 bytes"));
        assert_eq!(said(&told), first.chain(second).collect::<Vec<_>>());
    }
}

/// A call that the server did not look at begins anew, and what was due of it before is not.
#[test]
fn a_call_that_goes_again_begins_anew() {
    let answers = vec![
        vec![(MS, Deed::Reset(ErrorCode::RefusedStream))],
        vec![(0, HEAD), (0, answer())],
        vec![(0, answer())],
        vec![(0, answer())],
    ];
    let grpc = json!({"kind": "bidi", "message_interval_ns": 10 * MS});
    let told = call(&grpc, answers, vec![(0, OK)]).play();
    assert_eq!(told.summary.counters.ok, 1, "{:?}", told.summary.examples);
    let expected = [(0, 1), (1, 3), (11, 3), (21, 3)];
    let expected = expected.map(|(ms, stream)| format!("{ms} ms: 0/{stream} says 7 bytes"));
    assert_eq!(said(&told), expected);
}

/// Messages in gzip go one by one, too.
#[test]
fn messages_in_gzip_go_at_their_instants() {
    let grpc = json!({"kind": "client", "message_interval_ns": 10 * MS, "gzip": true});
    let told = call(&grpc, vec![vec![]], vec![(0, HEAD), (0, answer()), (MS, OK)]).play();
    assert_eq!(told.summary.counters.ok, 1, "{:?}", told.summary.examples);
    let said = said(&told);
    let instants = said.iter().filter_map(|what| what.split_once(':')).map(|(at, _)| at);
    assert_eq!(instants.collect::<Vec<_>>(), ["0 ms", "10 ms", "20 ms"]);
}
