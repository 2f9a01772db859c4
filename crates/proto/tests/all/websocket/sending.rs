//! What the codecs write: header forms, masks, control frames.

use std::collections::HashSet;
use std::sync::Arc;

use super::wire::{
    BINARY, CLOSE, FINAL, From, LAST, PING, PONG, TEXT, bytes, config, frame, frames_in, goodbye,
    open_client, open_server,
};
use wiretrial_proto::http1::{Http1Client, Http1Server};
use wiretrial_proto::websocket::{WebSocketClient, WebSocketServer};
use wiretrial_proto::{ClientSession, Message, MessageKind, Scratch};

fn encoded(client: &mut WebSocketClient, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    client.encode(&Message::new(0, payload), &mut out);
    out
}

#[test]
fn lengths_take_their_shortest_form() {
    let rows: [(usize, &[u8]); 6] = [
        (0, &[0x80]),
        (125, &[0x80 + 125]),
        (126, &[0x80 + 126, 0, 126]),
        (65_535, &[0x80 + 126, 0xff, 0xff]),
        (65_536, &[0x80 + 127, 0, 0, 0, 0, 0, 1, 0, 0]),
        (100_003, &[0x80 + 127, 0, 0, 0, 0, 0, 1, 0x86, 0xa3]),
    ];
    let mut client = open_client(MessageKind::Binary);
    let mut server = open_server();
    for (length, header) in rows {
        let payload: Vec<u8> = (0..length).map(|at| (at % 253) as u8).collect();
        let sent = encoded(&mut client, &payload);
        assert_eq!(sent[..=header.len()], [&[BINARY], header].concat(), "{length}");
        assert_eq!(frames_in(&sent, From::Client), [(BINARY, payload.clone())], "{length}");

        let mut whole = Vec::new();
        server.message(MessageKind::Text, &payload, &mut whole);
        assert_eq!(whole, bytes(&[frame(TEXT, &payload)], From::Server), "{length}");
        let mut streamed = Vec::new();
        server.message_head(MessageKind::Text, length as u64, &mut streamed);
        streamed.extend_from_slice(&payload);
        assert_eq!(streamed, whole, "{length}");
    }
}

#[test]
fn a_pack_is_several_calls_into_one_buffer() {
    let mut client = open_client(MessageKind::Text);
    let mut out = Vec::new();
    for payload in [&b"one"[..], b"", b"three"] {
        client.encode(&Message::new(0, payload), &mut out);
    }
    let expected = [(TEXT, b"one".to_vec()), (TEXT, vec![]), (TEXT, b"three".to_vec())];
    assert_eq!(frames_in(&out, From::Client), expected);
}

#[test]
fn a_client_can_send_either_kind_on_one_connection() {
    let mut client = open_client(MessageKind::Binary);
    let mut out = Vec::new();
    client.message(MessageKind::Text, b"words", &mut out);
    client.message(MessageKind::Binary, b"bytes", &mut out);
    let expected = [(TEXT, b"words".to_vec()), (BINARY, b"bytes".to_vec())];
    assert_eq!(frames_in(&out, From::Client), expected);
}

/// Section 5.3: a fresh mask for each frame. The seed is fixed, so this cannot fail by chance.
#[test]
fn every_frame_has_a_fresh_mask() {
    const FRAMES: usize = 4_000;
    let mut client = open_client(MessageKind::Text);
    let masks: Vec<[u8; 4]> = (0..FRAMES)
        .map(|_| {
            let sent = encoded(&mut client, b"the same twenty bytes");
            sent[2..6].try_into().unwrap()
        })
        .collect();
    assert_eq!(masks.iter().collect::<HashSet<_>>().len(), FRAMES, "a mask came twice");
    for place in 0..4 {
        let values: HashSet<u8> = masks.iter().map(|mask| mask[place]).collect();
        assert_eq!(values.len(), 256, "byte {place} of the mask does not vary fully");
    }
}

#[test]
fn control_frames_have_fresh_masks_too() {
    let mut scratch = Scratch::new();
    let mut client = open_client(MessageKind::Text);
    let mut out = Vec::new();
    let pings = bytes(&[frame(PING, "abc"), frame(PING, "abc")], From::Server);
    client.receive(&pings, &mut scratch, &mut out).unwrap();
    client.close(&mut out);
    let masks = [&out[2..6], &out[11..15], &out[20..24]];
    assert_eq!(masks.iter().collect::<HashSet<_>>().len(), 3, "{masks:x?}");
    let pong = (PONG, b"abc".to_vec());
    assert_eq!(frames_in(&out, From::Client), [pong.clone(), pong, (CLOSE, goodbye(1000, ""))]);
}

#[test]
fn masks_follow_the_seed() {
    let masks = |seed: [u64; 2]| -> Vec<u8> {
        let config = config(MessageKind::Text);
        let mut client = WebSocketClient::new(Arc::new(config), seed);
        let mut request = Vec::new();
        client.start(&mut request);
        request
    };
    assert_eq!(masks([1, 1]), masks([1, 1]));
    assert_ne!(masks([1, 1]), masks([1, 2]));
    assert_ne!(masks([1, 1]), masks([2, 1]));
    assert_ne!(masks([0, 0]), masks([0, 1]));
}

#[test]
fn a_servers_fragments() {
    let mut server = open_server();
    let mut out = Vec::new();
    server.fragment(MessageKind::Text, b"a", true, false, &mut out);
    server.ping(b"now", &mut out);
    server.fragment(MessageKind::Text, b"", false, false, &mut out);
    server.fragment(MessageKind::Text, b"b", false, true, &mut out);
    server.fragment(MessageKind::Binary, b"c", true, true, &mut out);
    let expected = [
        (TEXT - FINAL, b"a".to_vec()),
        (PING, b"now".to_vec()),
        (0, vec![]),
        (LAST, b"b".to_vec()),
        (BINARY, b"c".to_vec()),
    ];
    assert_eq!(frames_in(&out, From::Server), expected);
}

#[test]
fn a_servers_control_frames_never_pass_their_limit() {
    let mut server = open_server();
    let mut out = Vec::new();
    server.ping(&[7; 200], &mut out);
    server.close(1011, &"é".repeat(100), &mut out);
    server.close(1000, "only the first counts", &mut out);
    let reason = "é".repeat(61);
    assert_eq!(
        frames_in(&out, From::Server),
        [(PING, vec![7; 125]), (CLOSE, goodbye(1011, reason))]
    );
}

#[test]
fn a_payload_in_pieces_is_the_frame_of_the_whole() {
    let payload: Vec<u8> = (0..70_001_u32).map(|at| (at * 7) as u8).collect();
    for length in [0, 1, 125, 126, 65_535, 65_536, 70_001] {
        let whole = encoded(&mut open_client(MessageKind::Binary), &payload[..length]);
        for size in [1, 3, 4, 7, 8192, 70_001] {
            let mut client = open_client(MessageKind::Binary);
            let mut out = Vec::new();
            let mut pieces = client.begin(0, length as u64, &mut out).expect("no compression");
            for piece in payload[..length].chunks(size) {
                pieces.append(piece, &mut out);
            }
            // Their masks differ: what is in the frames is compared.
            let (whole, out) = (frames_in(&whole, From::Client), frames_in(&out, From::Client));
            assert!(whole == out, "{length} bytes in pieces of {size}");
        }
    }
}

/// A million connections: what each of them costs is part of the design. Compression is a pointer
/// here, and neither codec is longer than its HTTP neighbour, whose place in a connection it takes.
#[test]
fn the_codecs_stay_small() {
    assert!(size_of::<WebSocketClient>() <= size_of::<Http1Client>().min(72));
    assert!(size_of::<WebSocketServer>() <= size_of::<Http1Server>().min(48));
}
