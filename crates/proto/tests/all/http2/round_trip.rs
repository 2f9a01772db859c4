//! Our client and our server, with every byte cut at random.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use wiretrial_proto::http1::{HeadPart, PayloadLength};
use wiretrial_proto::http2::{Http2Client, Http2Event, Http2Limits, Http2Request, Http2Server};
use wiretrial_proto::{ClientSession as _, Event, Message, Scratch, Tag};

/// Echoes: what came on each stream, answered at its end.
struct Peer {
    server: Http2Server,
    came: BTreeMap<u32, Vec<u8>>,
}

fn hear(peer: &mut Peer, input: &[u8], out: &mut Vec<u8>) -> usize {
    let (mut offset, mut scratch) = (0, Scratch::new());
    loop {
        let step = peer.server.receive(&input[offset..], &mut scratch, out).unwrap();
        offset += step.consumed;
        match step.event {
            None => return offset,
            Some(Http2Event::Chunk { stream, piece }) => {
                peer.came.entry(stream).or_default().extend_from_slice(piece);
            }
            Some(Http2Event::End { stream }) => {
                let whole = peer.came.remove(&stream).unwrap_or_default();
                peer.server.respond(stream, 200, &[("server", b"x")], whole.is_empty(), out);
                if !whole.is_empty() {
                    peer.server.content(stream, &whole, true, out);
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
        window in 1_u32..5000,
        seed: u64,
    ) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let text = |text| vec![HeadPart::Text(text)];
        let request = Http2Request::with_holes(
            "http", "POST", &text("/echo"), "h", &[], false, PayloadLength::Varying,
        ).unwrap();
        let limits = Http2Limits { stream_window: window, ..Http2Limits::default() };
        let mut client = Http2Client::new(Arc::from([request]), limits);
        let mut peer = Peer { server: Http2Server::new(limits), came: BTreeMap::new() };
        let (mut there, mut back, mut scratch) = (Vec::new(), Vec::new(), Scratch::new());
        let ask = |client: &mut Http2Client, there: &mut Vec<u8>| {
            for (number, payload) in (0..).zip(&messages) {
                client.encode(&Message::new(number, payload), there);
            }
        };
        // Behind the preface, or once the settings have come.
        let is_early = rng.bool();
        if is_early {
            client.hasten();
        }
        client.start(&mut there);
        if is_early {
            ask(&mut client, &mut there);
        }
        let mut content: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        let mut done = 0;
        // What is on its way, of which each side gets a piece at a time.
        let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
        for _ in 0..1_000_000 {
            to_server.append(&mut there);
            to_client.append(&mut back);
            if rng.bool() {
                let cut = rng.usize(..=to_server.len());
                let taken = hear(&mut peer, &to_server[..cut], &mut back);
                to_server.drain(..taken);
            } else {
                let cut = rng.usize(..=to_client.len());
                let mut offset = 0;
                loop {
                    let step =
                        client.receive(&to_client[offset..cut], &mut scratch, &mut there).unwrap();
                    offset += step.consumed;
                    match step.event {
                        None => break,
                        Some(Event::Open) if is_early => {}
                        Some(Event::Open) => ask(&mut client, &mut there),
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
                        Some(other) => prop_assert!(matches!(other, Event::Room), "{:?}", other),
                    }
                }
                to_client.drain(..offset);
            }
            if done == messages.len() {
                break;
            }
        }
        prop_assert_eq!(done, messages.len());
        prop_assert_eq!(peer.server.open_streams(), 0);
    }
}
