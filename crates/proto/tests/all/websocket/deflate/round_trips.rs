//! Client to server to client under all parameters, however the bytes are cut.

use proptest::collection::vec;
use proptest::prelude::*;
use zlib_rs::{Inflate, InflateFlush};

use super::super::wire::{From, frames_in};
use super::{COMPRESSED, agreed, open_pair};
use crate::common::{Seen, cuts_from, run_client, run_server};
use wiretrial_proto::websocket::DeflateConfig;
use wiretrial_proto::{ClientSession, Message, MessageKind};

fn config() -> impl Strategy<Value = DeflateConfig> {
    (any::<bool>(), any::<bool>(), 8..=15_u8, 8..=15_u8, 1..=9_u8).prop_map(
        |(server, client, server_bits, client_bits, level)| DeflateConfig {
            server_no_context_takeover: server,
            client_no_context_takeover: client,
            server_max_window_bits: server_bits,
            client_max_window_bits: client_bits,
            level,
        },
    )
}

/// Noise, runs, and what repeats at a distance.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    let noise = vec(any::<u8>(), 0..300);
    let run = (any::<u8>(), 0..60_000_usize).prop_map(|(byte, count)| vec![byte; count]);
    let cycle =
        (vec(any::<u8>(), 1..700), 1..60_usize).prop_map(|(unit, times)| unit.repeat(times));
    prop_oneof![noise, run, cycle]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_comes_back(
        offer in config(),
        wishes in config(),
        messages in vec(payload(), 1..5),
        pieces in vec(0..20_000_usize, 0..6),
        to_server in vec(any::<u8>(), 0..100),
        to_client in vec(any::<u8>(), 0..100),
    ) {
        let kind = MessageKind::Binary;
        let (mut client, mut server) = agreed(kind, offer, wishes).expect("agreed");
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

        let mut echoed = Vec::new();
        for payload in &messages {
            let (mut rest, mut first) = (&payload[..], true);
            for length in &pieces {
                let (piece, behind) = rest.split_at((*length).min(rest.len()));
                server.fragment(kind, piece, first, false, &mut echoed);
                (rest, first) = (behind, false);
            }
            server.fragment(kind, rest, first, true, &mut echoed);
            server.message(kind, payload, &mut echoed);
        }
        let heard = run_client(&mut client, &echoed, &cuts_from(&to_client, echoed.len()), false);
        let replies: Vec<Seen> = messages
            .into_iter()
            .flat_map(|payload| vec![Seen::Reply { status: 0, kind, payload, last: false }; 2])
            .collect();
        prop_assert_eq!(heard.seen, replies);
        prop_assert_eq!(heard.out, b"");
    }

    /// Whatever a peer sends, the splitting never shows.
    #[test]
    fn noise_reads_the_same_however_it_is_cut(
        payload in vec(any::<u8>(), 0..60),
        header in prop_oneof![Just(0xc1_u8), Just(0xc2), Just(0x41), any::<u8>()],
        distances in vec(any::<u8>().prop_map(|distance| distance % 8), 0..60),
    ) {
        let noise = [&[header, payload.len() as u8][..], &payload, &[0x80, 1, 0]].concat();
        let cuts = cuts_from(&distances, noise.len());
        let kind = MessageKind::Text;
        let whole = run_client(&mut open_pair(kind).0, &noise, &[], true);
        prop_assert_eq!(run_client(&mut open_pair(kind).0, &noise, &cuts, true), whole);
    }

    /// A peer with as small a window as was agreed on can read it: here one that keeps no more
    /// than that, because it gives a byte at a time.
    #[test]
    fn nothing_refers_back_further_than_the_window(
        bits in 8..=10_u8,
        level in 1..=9_u8,
        units in vec((vec(any::<u8>(), 200..1500), 2..4_usize), 1..4),
    ) {
        let offer = DeflateConfig { client_max_window_bits: bits, level, ..DeflateConfig::default() };
        let (mut client, _) = agreed(MessageKind::Binary, offer, DeflateConfig::default()).unwrap();
        let payload: Vec<u8> = units.iter().flat_map(|(unit, times)| unit.repeat(*times)).collect();
        let mut sent = Vec::new();
        client.encode(&Message::new(0, &payload), &mut sent);
        let (first, mut deflated) = frames_in(&sent, From::Client).remove(0);
        prop_assert_eq!(first, 0x82 | COMPRESSED);
        deflated.extend([0, 0, 0xff, 0xff]);
        let mut inflate = Inflate::new(false, bits);
        let mut inflated = Vec::new();
        loop {
            let mut byte = [0];
            let (taken, given) = (inflate.total_in(), inflate.total_out());
            let rest = &deflated[taken as usize..];
            let done = inflate.decompress(rest, &mut byte, InflateFlush::NoFlush);
            prop_assert!(done.is_ok(), "{done:?} behind {given} bytes");
            if inflate.total_out() == given {
                break;
            }
            inflated.push(byte[0]);
        }
        prop_assert_eq!(inflated, payload);
    }
}

/// A small message is one frame, however it was put together, and takes no more than its bytes.
#[test]
fn small_fragments_are_gathered_into_one_frame() {
    let (_, mut server) = open_pair(MessageKind::Text);
    let mut out = Vec::new();
    server.fragment(MessageKind::Text, b"Hel", true, false, &mut out);
    assert_eq!(out, b"");
    server.fragment(MessageKind::Text, b"lo", false, true, &mut out);
    server.fragment(MessageKind::Text, b"", true, true, &mut out);
    server.message(MessageKind::Text, b"", &mut out);
    let frames = frames_in(&out, From::Server);
    let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00].to_vec();
    assert_eq!(frames, [(0xc1, hello), (0xc1, vec![0]), (0xc1, vec![0])]);
}

/// What came before makes what follows shorter, unless each message is to stand for itself.
#[test]
fn takeover_shows_in_the_bytes() {
    let payload: Vec<u8> = (0..2000_u32).flat_map(|n| (n * n).to_be_bytes()).collect();
    let lengths = |client_no_context_takeover| {
        let offer = DeflateConfig { client_no_context_takeover, ..DeflateConfig::default() };
        let (mut client, _) = agreed(MessageKind::Binary, offer, DeflateConfig::default()).unwrap();
        let mut sent = Vec::new();
        client.encode(&Message::new(0, &payload), &mut sent);
        client.encode(&Message::new(0, &payload), &mut sent);
        let frames = frames_in(&sent, From::Client);
        [frames[0].1.len(), frames[1].1.len()]
    };
    let [first, second] = lengths(false);
    assert!(second * 20 < first, "{second} behind {first}");
    let [first, second] = lengths(true);
    assert_eq!(first, second);
}

#[test]
fn a_compressed_payload_is_needed_whole() {
    let mut out = Vec::new();
    let (mut client, _) = open_pair(MessageKind::Text);
    assert!(client.begin(0, 3 << 20, &mut out).is_none());
    assert!(out.is_empty(), "nothing went");
}
