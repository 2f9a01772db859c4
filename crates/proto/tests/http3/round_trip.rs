//! Our client and our server, with streams that come in any order and every byte cut at random.

use std::collections::BTreeMap;

use proptest::prelude::*;
use wiretrial_proto::http3::{
    Action, ErrorCode, Http3Client, Http3Event, Http3Limits, Http3Server, Outgoing,
};
use wiretrial_proto::{Event, Message, Scratch, Tag};

use super::client::requests;

const POST: usize = 2;

/// What is on its way to one side.
#[derive(Default)]
struct Network {
    streams: BTreeMap<u64, (Vec<u8>, bool)>,
    resets: Vec<(u64, u64)>,
}

impl Network {
    fn take(&mut self, out: &mut Outgoing) {
        for action in out.actions() {
            match action {
                Action::Write { stream, bytes, fin } => {
                    let (there, ends) = self.streams.entry(stream).or_default();
                    assert!(!*ends, "nothing is written behind the end");
                    there.extend_from_slice(bytes);
                    *ends |= fin;
                }
                Action::Reset { stream, code } => self.resets.push((stream, code)),
                Action::Stop { .. } => {}
                Action::Close { code } => panic!("closed: {:?}", ErrorCode::of(code)),
            }
        }
        out.clear();
    }

    /// Some of what is on its way, of any stream.
    fn some(&mut self, rng: &mut fastrand::Rng) -> Option<(u64, Vec<u8>, bool)> {
        let place = rng.usize(..self.streams.len().max(1));
        let (&id, (bytes, ends)) = self.streams.iter_mut().nth(place)?;
        let piece: Vec<_> = bytes.drain(..rng.usize(..=bytes.len())).collect();
        let fin = *ends && bytes.is_empty() && rng.bool();
        if fin || (bytes.is_empty() && !*ends) {
            self.streams.remove(&id);
        }
        Some((id, piece, fin))
    }
}

/// Answers each request with its content, and refuses some.
fn serve(
    server: &mut Http3Server,
    (stream, mut input, fin): (u64, &[u8], bool),
    came: &mut BTreeMap<u64, Vec<u8>>,
    rng: &mut fastrand::Rng,
    out: &mut Outgoing,
) {
    let mut scratch = Scratch::new();
    loop {
        let step = server.receive(stream, input, fin, &mut scratch, out).unwrap();
        input = &input[step.consumed..];
        match step.event {
            None => return assert!(input.is_empty()),
            Some(Http3Event::Request { stream, .. }) if rng.u8(..8) == 0 => {
                server.give_up(stream, ErrorCode::RequestRejected, out);
            }
            Some(Http3Event::Request { stream, .. }) if rng.u8(..4) == 0 => {
                server.respond(stream, 103, &[("link", b"x")], false, out);
            }
            Some(Http3Event::Chunk { stream, piece }) => {
                came.entry(stream).or_default().extend_from_slice(piece);
            }
            Some(Http3Event::End { stream }) => {
                let whole = came.remove(&stream).unwrap_or_default();
                let behind = rng.bool();
                let is_end = whole.is_empty() && !behind;
                server.respond(stream, 200, &[("server", b"x")], is_end, out);
                if !whole.is_empty() {
                    server.content(stream, &whole, !behind, out);
                }
                if behind {
                    server.trailers(stream, &[("checksum", b"0")], out);
                }
            }
            Some(_) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn what_is_sent_comes_back(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 1..20),
        seed: u64,
    ) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut client = Http3Client::new(requests(), Http3Limits::default());
        let mut server = Http3Server::new(Http3Limits::default());
        let (mut out, mut back, mut scratch) = (Outgoing::new(), Outgoing::new(), Scratch::new());
        let (mut to_server, mut to_client) = (Network::default(), Network::default());
        let (mut came, mut content) = (BTreeMap::new(), BTreeMap::<u64, Vec<u8>>::new());
        client.start(&mut out);
        server.start(&mut back);
        // Those to be sent, and again where the server has not processed them.
        let mut waiting: Vec<u64> = (0..messages.len() as u64).collect();
        let mut done = 0;
        for _ in 0..1_000_000 {
            if done == messages.len() {
                break;
            }
            if rng.bool() && let Some(number) = waiting.pop() {
                client.allow(u64::MAX);
                let payload = &messages[number as usize];
                client.encode(&Message { number, route: POST, payload, fill: None }, &mut out);
            }
            to_server.take(&mut out);
            to_client.take(&mut back);
            if rng.bool() {
                if let Some((stream, bytes, fin)) = to_server.some(&mut rng) {
                    serve(&mut server, (stream, &bytes, fin), &mut came, &mut rng, &mut back);
                }
                continue;
            }
            // A stream that is reset loses what is on its way.
            if let Some((stream, code)) = to_client.resets.pop() {
                to_client.streams.remove(&stream);
                to_server.streams.remove(&stream);
                match client.reset(stream, code, &mut out).unwrap() {
                    Some(Event::Unprocessed { tag: Tag::Number(number) }) => waiting.push(number),
                    other => prop_assert!(other.is_none(), "{:?}", other),
                }
                to_server.take(&mut out);
                to_server.resets.clear();
                continue;
            }
            let Some((stream, bytes, fin)) = to_client.some(&mut rng) else { continue };
            let mut input = &bytes[..];
            loop {
                let step = client.receive(stream, input, fin, &mut scratch, &mut out).unwrap();
                input = &input[step.consumed..];
                match step.event {
                    None => break,
                    Some(Event::Chunk { tag: Tag::Number(number), piece }) => {
                        content.entry(number).or_default().extend_from_slice(piece);
                    }
                    Some(Event::Reply(reply)) => {
                        let Tag::Number(number) = reply.tag else { panic!("numbered") };
                        let whole = content.entry(number).or_default();
                        whole.extend_from_slice(reply.payload);
                        prop_assert_eq!(&*whole, &messages[number as usize]);
                        done += 1;
                    }
                    Some(other) => prop_assert!(false, "{:?}", other),
                }
            }
            prop_assert!(input.is_empty());
        }
        prop_assert_eq!(done, messages.len());
        prop_assert_eq!(server.open_streams(), 0);
        prop_assert!(client.settings().is_some() || !to_client.streams.is_empty());
    }
}
