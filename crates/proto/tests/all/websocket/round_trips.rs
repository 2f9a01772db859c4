//! Client to server to client: whatever is said comes back, however the bytes are cut.

use proptest::collection::vec;
use proptest::prelude::*;

use super::wire::{From, PONG, frames_in, open_client, open_server};
use crate::common::{Seen, cuts_from, run_client, run_server};
use wiretrial_proto::{ClientSession, Message, MessageKind};

/// Messages of one kind, as a client sends them.
fn messages() -> impl Strategy<Value = (MessageKind, Vec<Vec<u8>>)> {
    let texts = vec("\\PC{0,80}".prop_map(String::into_bytes), 1..6);
    let sizes = prop_oneof![4 => 0..40_usize, 1 => 120..130_usize, 1 => 65_530..65_540_usize];
    let bytes = vec(sizes.prop_flat_map(|size| vec(any::<u8>(), size)), 1..4);
    prop_oneof![
        texts.prop_map(|texts| (MessageKind::Text, texts)),
        bytes.prop_map(|bytes| (MessageKind::Binary, bytes)),
    ]
}

/// How a server cuts a message into fragments, and which of them a ping precedes.
fn fragmentation() -> impl Strategy<Value = Vec<(usize, bool)>> {
    vec((prop_oneof![0..9_usize, 100..40_000_usize], any::<bool>()), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_comes_back(
        (kind, messages) in messages(),
        fragmentation in fragmentation(),
        to_server in vec(any::<u8>(), 0..200),
        to_client in vec(any::<u8>(), 0..200),
    ) {
        let (mut client, mut server) = (open_client(kind), open_server());
        let mut sent = Vec::new();
        for payload in &messages {
            client.encode(&Message::new(0, payload), &mut sent);
        }
        let heard = run_server(&mut server, &sent, &cuts_from(&to_server, sent.len()));
        let expected: Vec<Seen> = messages
            .iter()
            .flat_map(|payload| [Seen::Message(kind), Seen::End(payload.clone())])
            .collect();
        prop_assert_eq!(heard.seen, expected);
        prop_assert_eq!(heard.out, b"");

        let mut echoed = Vec::new();
        let mut pings = 0;
        for payload in &messages {
            let mut rest = &payload[..];
            let mut first = true;
            for (length, ping) in &fragmentation {
                let (piece, behind) = rest.split_at((*length).min(rest.len()));
                server.fragment(kind, piece, first, false, &mut echoed);
                if *ping {
                    server.ping(b"still there?", &mut echoed);
                    pings += 1;
                }
                (rest, first) = (behind, false);
            }
            server.fragment(kind, rest, first, true, &mut echoed);
        }
        let heard = run_client(&mut client, &echoed, &cuts_from(&to_client, echoed.len()), false);
        let replies: Vec<Seen> = messages
            .into_iter()
            .map(|payload| Seen::Reply { status: 0, kind, payload, last: false })
            .collect();
        prop_assert_eq!(heard.seen, replies);
        let pong = (PONG, b"still there?".to_vec());
        prop_assert_eq!(frames_in(&heard.out, From::Client), vec![pong; pings]);
        prop_assert_eq!(run_server(&mut server, &heard.out, &[]).seen, []);

        let mut goodbye = Vec::new();
        client.close(&mut goodbye);
        let heard = run_server(&mut server, &goodbye, &cuts_from(&to_server, goodbye.len()));
        prop_assert_eq!(heard.seen, [Seen::Close(1000)]);
        let heard = run_client(&mut client, &heard.out, &[], true);
        prop_assert_eq!(heard.seen, [Seen::Close(1000)]);
        prop_assert_eq!(heard.out, b"");
    }

    /// Whatever a peer sends, the splitting never shows.
    #[test]
    fn noise_reads_the_same_however_it_is_cut(
        noise in vec(prop_oneof![3 => 0..16_u8, 2 => 0x80..0x90_u8, 1 => any::<u8>()], 0..60),
        distances in vec(any::<u8>().prop_map(|distance| distance % 8), 0..60),
    ) {
        let cuts = cuts_from(&distances, noise.len());
        let kind = MessageKind::Text;
        let whole = run_client(&mut open_client(kind), &noise, &[], true);
        prop_assert_eq!(run_client(&mut open_client(kind), &noise, &cuts, true), whole);
        let whole = run_server(&mut open_server(), &noise, &[]);
        prop_assert_eq!(run_server(&mut open_server(), &noise, &cuts), whole);
    }
}
