//! Scripts at random, from a seed: some right exchanges, then something wrong.

use std::time::Duration;

use fastrand::Rng;

use crate::scripted::Step::{
    self, Cut, Drip, Finish, Flood, Open, Pause, Raw, Read, Reply, ReplyAs, Reset, Send, Serve,
};
use crate::speech::{BINARY, PAYLOAD, PING, Speech, close_frame, frame, http};

/// The script of one connection. The first one is right: it is the preflight's.
pub(crate) fn script(speech: Speech, seed: u64, number: usize) -> Vec<Step> {
    if number == 0 {
        return vec![Open, Serve];
    }
    let mut rng = Rng::with_seed(seed ^ ((number as u64) << 20));
    if rng.u8(..) < 12 {
        return wrong(speech, &mut rng);
    }
    let mut steps = vec![Open];
    for _ in 0..rng.usize(..40) {
        steps.extend([Read, Reply]);
    }
    if rng.bool() {
        steps.push(Read);
    }
    steps.extend(wrong(speech, &mut rng));
    steps
}

fn wrong(speech: Speech, rng: &mut Rng) -> Vec<Step> {
    let a_while = Pause(Duration::from_millis(rng.u64(..600)));
    match rng.u8(..16) {
        0 => vec![Finish],
        1 => vec![Cut],
        2 => vec![Reset],
        3 => vec![a_while],
        4 => vec![a_while, Reset],
        5 => vec![Send(half(speech)), Finish],
        6 => vec![Send(half(speech)), Reset],
        7 => vec![Send(half(speech)), a_while],
        8 => vec![Send(garbage(rng))],
        9 => vec![Raw(garbage(rng))],
        10 => vec![Flood(garbage(rng), 256 << 10)],
        11 => vec![Drip(half(speech), Duration::from_millis(20)), Finish],
        12 => vec![Send(half(speech).repeat(3))],
        13 => vec![ReplyAs(|payload| payload.repeat(2)), Serve],
        14 => vec![Send(farewell(speech, rng))],
        _ => vec![Send(frame(PING, b"at random")), Serve],
    }
}

fn garbage(rng: &mut Rng) -> Vec<u8> {
    let length = rng.usize(1..3000);
    std::iter::repeat_with(|| rng.u8(..)).take(length).collect()
}

fn half(speech: Speech) -> Vec<u8> {
    let payload = [b'x'; PAYLOAD];
    let mut bytes = match speech {
        Speech::Http => http("200 OK", &[], &payload),
        Speech::WebSocket => frame(BINARY, &payload),
        Speech::Stream => payload.to_vec(),
    };
    bytes.truncate(bytes.len() - PAYLOAD / 2);
    bytes
}

fn farewell(speech: Speech, rng: &mut Rng) -> Vec<u8> {
    match speech {
        Speech::Http => http("503 Service Unavailable", &["Connection: close"], b"later"),
        Speech::WebSocket => close_frame(rng.u16(1000..1020)),
        Speech::Stream => Vec::new(),
    }
}
