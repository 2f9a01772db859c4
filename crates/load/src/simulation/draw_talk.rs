//! From a seed to think times, and to the flows of conversations.
//!
//! Knows what [`Right::Talk`](super::spoken::Right) answers. Must not know how a world is played.

use serde_json::{Value, json};
use wiretrial_net::simulation::Random;

use super::scenario::{MS, US};
use super::spoken::Spoken;

const OPEN: u64 = 0;
const HELLO: u64 = 1;
const SAY: u64 = 2;
const SAID: u64 = 3;
const TELL: u64 = 4;
const CLOSE: u64 = 5;

/// A greeting first, and then messages that are answered, echoed, or neither.
pub(super) fn talk(random: &mut Random, number: u64, may_be_endless: bool) -> Value {
    let mut steps = vec![json!({"route": OPEN}), step(random, HELLO)];
    for _ in 0..random.between(1, 3) {
        let first = steps.len();
        if random.once_in(3) {
            steps.push(step(random, TELL));
        }
        steps.push(step(random, SAY));
        if random.once_in(2) {
            steps.push(step(random, SAID));
        }
        if random.once_in(3) {
            let last = steps.len() - 1;
            let times = random.between(1, 4);
            steps[last]["back"] = json!({"to": first, "times": times, "think": think(random)});
        }
    }
    if may_be_endless && random.once_in(5) {
        let last = steps.len() - 1;
        if let Some(to) = steps[last].get("back").map(|back| back["to"].clone()) {
            steps[last]["back"] = json!({"to": to});
        }
    }
    steps.push(step(random, CLOSE));
    json!({
        "name": number.to_string(), "weight": random.between(1, 4), "feed": "users",
        "steps": steps,
    })
}

fn step(random: &mut Random, line: u64) -> Value {
    json!({"route": line, "think": think(random)})
}

/// How long a user thinks before a step.
pub(super) fn think(random: &mut Random) -> Value {
    match random.up_to(5) {
        0 => json!({"kind": "constant", "ns": random.up_to(5 * MS)}),
        1 => json!({"kind": "uniform", "low_ns": US, "high_ns": 4 * MS}),
        2 => json!({"kind": "exponential", "mean_ns": 2 * MS}),
        3 => json!({"kind": "lognormal", "median_ns": MS, "sigma": 0.6}),
        _ => json!({"kind": "none"}),
    }
}

/// The lines of all conversations, by the numbers above. Over Socket.IO, what is said is the argument of an event of
/// this type, and what is acknowledged that of the acknowledgement.
pub(super) fn lines(spoken: Spoken) -> Value {
    let is_socketio = spoken == Spoken::SocketIo;
    let event = |member: &str| format!("${}.{member}", if is_socketio { "[1]" } else { "" });
    let answer = |member: &str| format!("${}.{member}", if is_socketio { "[0]" } else { "" });
    let is = |path: &str, with: Value| json!({"of": {"json": path}, "test": {"is": "compared", "how": "==", "with": with}});
    let kind = |name: &str| {
        let path = if is_socketio { "$[0]" } else { "$.type" };
        is(path, json!({"json": name}))
    };
    let number = |path: &str| is(path, json!({"text": [{"make": "seq"}]}));
    let message = |name: &str| {
        let quoted = |before: &str, value: &str| {
            [
                json!({"text": format!(",\"{before}\":\"")}),
                json!({"json": value}),
                json!({"text": "\""}),
            ]
        };
        let begin = if is_socketio { format!("[\"{name}\",") } else { String::new() };
        let begin = format!("{begin}{{\"type\":\"{name}\",\"id\":");
        let mut text = vec![json!({"text": begin}), json!({"make": "seq"})];
        text.extend(quoted("user", "user"));
        text.extend(quoted("token", "token"));
        text.push(json!({"text": if is_socketio { "}]" } else { "}" }}));
        text
    };
    let ack = is(&answer("type"), json!({"json": "ack"}));
    json!([
        {"name": "open", "does": "open", "target": [{"text": "/talk?of="}, {"url": "user"}],
         "headers": [["X-User", [{"value": "user"}]]]},
        {"name": "hello", "does": "await", "awaits": [kind("hello")],
         "captures": [{"name": "token", "of": {"json": event("token")}}]},
        {"name": "say", "does": "send", "text": message("say"), "acknowledged": is_socketio,
         "awaits": [ack, number(&answer("id"))],
         "checks": [is(&answer("user"), json!({"text": [{"value": "user"}]}))]},
        {"name": "said", "does": "await", "awaits": [kind("said"), number(&event("id"))]},
        {"name": "tell", "does": "send", "text": message("tell")},
        {"name": "close", "does": "close"},
    ])
}
